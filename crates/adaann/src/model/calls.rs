//! Calls in formulas: functions, `if`, and distributions with their arguments.

use super::compound;
use super::evaluate::{Evaluator, nearest};
use super::expression::{Ast, Span};
use super::functions::{self, Function};
use super::matrix_functions::MatrixFunction;
use super::names::{BEFORE, Meaning};
use super::scope::Place;
use super::trajectory_functions::TrajectoryFunction;
use super::value::Law;
use super::value::{Value, constants};
use crate::distribution::Family;
use crate::program::Expr;

/// Distributions of vectors and matrices, and mixtures.
pub(super) const JOINT: [&str; 6] =
    ["multi_normal", "multi_normal_cholesky", "dirichlet", "lkj", "lkj_cholesky", "mixture"];

/// Names that other programs use for functions of delayed states.
const DELAYS: [&str; 3] = ["delay", "lag", "lagvalue"];

/// Error for delayed states, and a suggestion.
const NO_DELAYS: &str = "delayed states such as u(t - 3) are not supported: rates can depend on current states \
                         only";
const CHAIN: &str = "to approximate a lag, use a chain of states, each fed by the one before it";

impl<'g> Evaluator<'_, 'g> {
    /// f(...)
    pub(super) fn call(
        &mut self,
        whole: &Ast,
        name: &str,
        name_span: &Span,
        arguments: &[Ast],
    ) -> Value<'g> {
        match name {
            "if" => return self.conditional(whole, arguments),
            "logpdf" => return self.log_density(whole, arguments),
            "multi_normal" => return self.multi_normal(whole, arguments),
            "multi_normal_cholesky" => return self.multi_normal_cholesky(whole, arguments),
            "lkj" | "lkj_cholesky" => return self.lkj(whole, name, arguments),
            "dirichlet" => return self.dirichlet(whole, arguments),
            "mixture" => return self.mixture(whole, arguments),
            BEFORE => return self.before(whole, arguments),
            _ if compound::names().any(|known| known == name) => {
                return self.compound(whole, name, arguments);
            }
            _ => {}
        }
        if let Some(function) = TrajectoryFunction::named(name) {
            return self.trajectory(whole, function, arguments);
        }
        if let Some(function) = MatrixFunction::named(name) {
            return self.matrix_function(whole, function, arguments);
        }
        let family = Family::named(name);
        match functions::find(name) {
            // `logistic` is both: one argument makes the function.
            Some(function) if family.is_none() || arguments.len() == 1 => {
                self.apply(whole, name, function, arguments)
            }
            _ => match family {
                Some(family) => self.family(whole, family, arguments),
                None => self.no_function(name, name_span),
            },
        }
    }

    fn no_function(&mut self, name: &str, span: &Span) -> Value<'g> {
        // A delayed state such as x(t − lag), or a delay function of another program.
        let is_delay = match self.names.find(name) {
            Some(meaning) => matches!(meaning, Meaning::State(_)),
            None => DELAYS.contains(&name) && !self.place.is_at_row(),
        };
        if is_delay && self.place == Place::Quantity {
            let message = format!("`{name}` is a state, not a function");
            let help = format!("at({name}, time) is its value at that time");
            return self.unknown(span, message, Some(help));
        }
        if is_delay {
            return self.no_delays(span);
        }
        let message = if self.names.find(name).is_some() {
            format!("`{name}` is not a function; for a product, write {name} * (...)")
        } else {
            format!("unknown function `{name}`")
        };
        if DELAYS.contains(&name) {
            let help = "before(column, k) is the value of a column k rows earlier".to_owned();
            return self.unknown(span, message, Some(help));
        }
        let families = Family::ALL.iter().map(|family| family.name());
        let known = functions::names().chain(families).chain(JOINT).chain(compound::names());
        let help = nearest(name, known);
        self.unknown(span, message, help)
    }

    /// Reports that delayed states are not supported.
    pub(super) fn no_delays(&mut self, span: &Span) -> Value<'g> {
        self.unknown(span, NO_DELAYS.to_owned(), Some(CHAIN.to_owned()))
    }

    /// Reports an error and returns an unknown value.
    pub(super) fn unknown(
        &mut self,
        span: &Span,
        message: String,
        help: Option<String>,
    ) -> Value<'g> {
        self.fault(span, message, help);
        Value::Unknown
    }

    /// Reports a call with the wrong number of arguments.
    pub(super) fn wrong_count(&mut self, whole: &Ast, usage: &str, found: usize) -> Value<'g> {
        let name = usage.split('(').next().unwrap_or(usage);
        let plural = if found == 1 { "" } else { "s" };
        let message = format!("`{name}` does not take {found} argument{plural}: write {usage}");
        self.fault(&whole.span, message, None);
        Value::Unknown
    }

    fn apply(
        &mut self,
        whole: &Ast,
        name: &str,
        function: Function,
        arguments: &[Ast],
    ) -> Value<'g> {
        let usage = match function {
            Function::Each(_) => format!("{name}(x)"),
            Function::Pair(_) => format!("{name}(x, y)"),
            Function::Reduce(_) | Function::Whole(_) => format!("{name}(vector)"),
            Function::Fold(_) => format!("{name}(x, y, ...) or {name}(vector)"),
            Function::Dot => format!("{name}(vector, vector)"),
        };
        let values: Vec<Value<'g>> =
            arguments.iter().map(|argument| self.evaluate(argument)).collect();
        if values.iter().any(Value::is_unknown) {
            return Value::Unknown;
        }
        let spans: Vec<&Span> = arguments.iter().map(|argument| &argument.span).collect();
        match (function, &values[..]) {
            (Function::Each(f), [x]) => self.each(x.clone(), spans[0], f),
            (Function::Pair(f), [x, y]) => {
                self.pair([x.clone(), y.clone()], [spans[0], spans[1], &whole.span], f)
            }
            (Function::Reduce(f), [Value::Matrix(rows)]) if !rows.is_empty() => {
                Value::Number(f(&rows.concat()))
            }
            (Function::Reduce(f), [x]) => match self.vector(x, spans[0]) {
                Some(elements) => Value::Number(f(&elements)),
                None => Value::Unknown,
            },
            (Function::Whole(f), [x]) => match self.vector(x, spans[0]) {
                Some(elements) => Value::Vector(f(&elements)),
                None => Value::Unknown,
            },
            (Function::Fold(f), [Value::Vector(elements)]) if !elements.is_empty() => {
                Value::Number(elements[1..].iter().fold(elements[0], |a, &b| f(a, b)))
            }
            (Function::Fold(f), [first, others @ ..]) if !others.is_empty() => {
                let mut value = first.clone();
                for (other, span) in others.iter().zip(&spans[1..]) {
                    value = self.pair([value, other.clone()], [spans[0], span, &whole.span], f);
                }
                value
            }
            (Function::Dot, [x, y]) => {
                let product =
                    self.pair([x.clone(), y.clone()], [spans[0], spans[1], &whole.span], |x, y| {
                        x * y
                    });
                match product {
                    Value::Vector(products) => Value::Number(products.iter().sum()),
                    Value::Unknown => Value::Unknown,
                    _ => {
                        self.fault(
                            &whole.span,
                            format!("expected vectors, found two numbers: write {usage}"),
                            None,
                        );
                        Value::Unknown
                    }
                }
            }
            _ => self.wrong_count(whole, &usage, values.len()),
        }
    }

    /// The elements of a vector; a number is an error.
    pub(super) fn vector(&mut self, value: &Value<'g>, span: &Span) -> Option<Vec<Expr<'g>>> {
        match value {
            Value::Vector(elements) if !elements.is_empty() => Some(elements.clone()),
            Value::Unknown => None,
            other => {
                let is_of_row = matches!(other, Value::Number(_)) && self.place.is_at_row();
                let help = is_of_row.then(|| {
                    "in a likelihood, a column is its value at the row; compute sums over a column under \
                     [constants]"
                        .to_owned()
                });
                self.fault(span, format!("expected a vector, found {}", other.kind()), help);
                None
            }
        }
    }

    fn conditional(&mut self, whole: &Ast, arguments: &[Ast]) -> Value<'g> {
        let [condition, yes, no] = arguments else {
            return self.wrong_count(whole, "if(condition, value, other)", arguments.len());
        };
        let truth = self.truth(condition);
        let values = [self.evaluate(yes), self.evaluate(no)];
        let Some(truth) = truth else { return Value::Unknown };
        self.pair(values, [&yes.span, &no.span, &whole.span], |yes, no| truth.select(yes, no))
    }

    fn log_density(&mut self, whole: &Ast, arguments: &[Ast]) -> Value<'g> {
        let [law, x] = arguments else {
            return self.wrong_count(whole, "logpdf(distribution, x)", arguments.len());
        };
        let (law, value) = (self.law(law), self.evaluate(x));
        let Some(law) = law else { return Value::Unknown };
        let numbers = match &value {
            Value::Unknown => return Value::Unknown,
            Value::Matrix(rows) if matches!(law, Law::Lkj { .. }) => {
                match self.is_square(rows, &x.span) {
                    true => value.numbers(),
                    false => return Value::Unknown,
                }
            }
            other if matches!(law, Law::Lkj { .. }) => {
                let message = format!("expected a matrix, found {}", other.kind());
                self.fault(&x.span, message, None);
                return Value::Unknown;
            }
            Value::Number(_) | Value::Vector(_) => value.numbers(),
            other => return self.no_numbers(other, &x.span),
        };
        if law.size().is_some_and(|size| size != numbers.len()) {
            let size = law.size().unwrap_or_default();
            let message = format!("the distribution needs {size} numbers, found {}", value.kind());
            self.fault(&x.span, message, None);
            return Value::Unknown;
        }
        Value::Number(law.log_density(&numbers))
    }

    fn family(&mut self, whole: &Ast, family: Family, arguments: &[Ast]) -> Value<'g> {
        let expected = family.arguments();
        if expected.len() != arguments.len() {
            let names: Vec<&str> = expected.iter().map(|argument| argument.name).collect();
            let usage = format!("{}({})", family.name(), names.join(", "));
            return self.wrong_count(whole, &usage, arguments.len());
        }
        let (mut values, mut size): (Vec<Value<'g>>, Option<usize>) = (Vec::new(), None);
        for (ast, argument) in arguments.iter().zip(expected) {
            let value = self.evaluate(ast);
            match &value {
                Value::Number(_) => {}
                Value::Vector(elements) if size.is_none_or(|size| size == elements.len()) => {
                    size = Some(elements.len());
                }
                Value::Vector(_) => {
                    let message = "the arguments are vectors of different lengths";
                    self.fault(&whole.span, message, None);
                    return Value::Unknown;
                }
                Value::Unknown => {}
                other => {
                    self.no_numbers(other, &ast.span);
                    values.push(Value::Unknown);
                    continue;
                }
            }
            let bad = value.numbers().iter().filter_map(|x| x.as_constant()).find(|&x| {
                // Columns are constants while one row is evaluated; they are checked there.
                !argument.range.contains(x)
            });
            if let Some(bad) = bad {
                let range = argument.range.in_words();
                let message =
                    format!("{} of {} is {bad}, but must be {range}", argument.name, family.name());
                self.fault(&ast.span, message, None);
            }
            values.push(value);
        }
        if values.iter().any(Value::is_unknown) {
            return Value::Unknown;
        }
        Value::Law(Law::Of { family, arguments: values })
    }

    fn dirichlet(&mut self, whole: &Ast, arguments: &[Ast]) -> Value<'g> {
        let [concentrations] = arguments else {
            return self.wrong_count(whole, "dirichlet([a, b, ...])", arguments.len());
        };
        let value = self.evaluate(concentrations);
        if matches!(value, Value::Number(_)) {
            let message = "dirichlet needs a vector with one concentration for each part of the \
                           simplex, found one number";
            let help = "write, for example, dirichlet([1, 1, 1])".to_owned();
            return self.unknown(&concentrations.span, message.to_owned(), Some(help));
        }
        let Some(elements) = self.vector(&value, &concentrations.span) else {
            return Value::Unknown;
        };
        if elements.iter().any(|x| x.as_constant().is_some_and(|x| !x.is_finite() || x <= 0.0)) {
            let message = "the concentrations of dirichlet must be positive and finite";
            self.fault(&concentrations.span, message, None);
            return Value::Unknown;
        }
        Value::Law(Law::Dirichlet { concentrations: elements })
    }

    /// mixture([w, ...], D, ...) or mixture(w, D, w, D, ...)
    fn mixture(&mut self, whole: &Ast, arguments: &[Ast]) -> Value<'g> {
        const USAGE: &str = "mixture(weight, distribution, weight, distribution, ...) or \
                             mixture([weights], distribution, ...)";
        let (mut weights, mut parts, mut is_known) = (Vec::new(), Vec::new(), true);
        for argument in arguments {
            match self.evaluate(argument) {
                Value::Law(law) => parts.push(law),
                Value::Unknown => is_known = false,
                value @ (Value::Number(_) | Value::Vector(_)) => weights.extend(value.numbers()),
                other => {
                    let message =
                        format!("expected a weight or a distribution, found {}", other.kind());
                    self.fault(&argument.span, message, None);
                    is_known = false;
                }
            }
        }
        if !is_known {
            return Value::Unknown;
        }
        if parts.is_empty() || weights.len() != parts.len() {
            let message = format!(
                "{} weights for {} distributions: write {USAGE}",
                weights.len(),
                parts.len()
            );
            self.fault(&whole.span, message, None);
            return Value::Unknown;
        }
        if let Some(plain) = constants(&weights) {
            let sum: f64 = plain.iter().sum();
            if plain.iter().any(|w| w.is_nan() || *w < 0.0) || (sum - 1.0).abs() > 1e-9 {
                let message =
                    format!("the weights are {plain:?}: they must be positive and sum to 1");
                self.fault(&whole.span, message, None);
                return Value::Unknown;
            }
        }
        Value::Law(Law::Mixture { weights, parts })
    }
}
