//! Evaluates formulas: looks up names, checks shapes, and records the arithmetic.
//!
//! Numbers are recorded expressions. If everything that a formula names is constant, its value is
//! constant too, so the same code compiles a likelihood and evaluates it at a draw.

use super::expression::{Ast, Fault, Kind, Operator, Span};
use super::functions;
use super::names::Names;
use super::scope::{Place, Scope};
use super::trajectory_functions::TrajectoryFunction;
use super::value::Law;
use super::value::{Truth, Value};
use crate::distribution::Family;
use crate::program::{Expr, times};
use crate::suggest;

/// A longer vector can be indexed by row only if it is the same for all rows.
const MOST_SELECTED: usize = 64;

/// Maximum number of values that the formulas of a model may compute, counting each element of a vector:
/// larger graphs take gigabytes.
pub(super) const MOST_NUMBERS: usize = 2_000_000;

/// Records the element of a vector that each row selects by its own index.
pub(super) type Gathering<'e, 'g> =
    dyn FnMut(&[Expr<'g>], &[Index<'_>]) -> Result<Expr<'g>, Fault> + 'e;

/// An index that the data gives row by row, and the number of elements that it selects from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Index<'a> {
    pub(super) ast: &'a Ast,
    pub(super) len: usize,
}

/// Evaluates formulas in a scope and collects mistakes.
pub(super) struct Evaluator<'e, 'g> {
    pub(super) names: &'e Names,
    pub(super) scope: &'e mut Scope<'g>,
    pub(super) place: Place,
    pub(super) faults: &'e mut Vec<Fault>,
    /// Records elements that each row selects by its own index.
    pub(super) gather: Option<&'e mut Gathering<'e, 'g>>,
}

impl<'g> Evaluator<'_, 'g> {
    /// The value of a formula.
    pub(super) fn evaluate(&mut self, ast: &Ast) -> Value<'g> {
        let value = self.evaluate_within(ast);
        if let Some(budget) = &mut self.scope.budget {
            let spent = value.size();
            if *budget == 0 {
                return Value::Unknown;
            }
            *budget = budget.saturating_sub(spent);
            if *budget == 0 {
                let message = format!("the model has more than {MOST_NUMBERS} numbers to compute");
                let help = "use shorter vectors, or use rows of the data instead".to_owned();
                self.fault(&ast.span, message, Some(help));
                return Value::Unknown;
            }
        }
        value
    }

    fn evaluate_within(&mut self, ast: &Ast) -> Value<'g> {
        match &ast.kind {
            Kind::Number(x) => Value::Number((*x).into()),
            Kind::Name(name) => self.name(name, &ast.span),
            Kind::Call { name, name_span, arguments } => self.call(ast, name, name_span, arguments),
            Kind::Named { name, .. } => {
                let help = format!("write `{name} == ...` to compare");
                let message = format!("there is no argument called `{name}` here");
                self.fault(&ast.span, message, Some(help));
                Value::Unknown
            }
            Kind::Index { of, indices } => self.index(ast, of, indices),
            Kind::Range { .. } => {
                self.fault(&ast.span, "a range is only allowed in brackets, like x[2:10]", None);
                Value::Unknown
            }
            Kind::List(items) => self.list(ast, items),
            Kind::Negate(x) => {
                let value = self.evaluate(x);
                self.each(value, &x.span, |x| -x)
            }
            Kind::Not(x) => match self.truth(x) {
                Some(truth) => Value::Truth(Truth::Not(Box::new(truth))),
                None => Value::Unknown,
            },
            Kind::Binary { .. } => self.chain(ast),
        }
    }

    /// The value of a formula; reports a mistake if it is not a number.
    pub(super) fn number(&mut self, ast: &Ast) -> Option<Expr<'g>> {
        match self.evaluate(ast) {
            Value::Number(x) => Some(x),
            Value::Unknown => None,
            other => {
                let help = matches!(other, Value::Law(_))
                    .then(|| "logpdf(distribution, x) is the log density at x".to_owned());
                self.fault(&ast.span, format!("expected a number, found {}", other.kind()), help);
                None
            }
        }
    }

    /// The value of a formula; reports a mistake if it is not a distribution.
    pub(super) fn law(&mut self, ast: &Ast) -> Option<Law<'g>> {
        match self.evaluate(ast) {
            Value::Law(law) => Some(law),
            Value::Unknown => None,
            other => {
                let help = "write a distribution, like normal(0, 1)".to_owned();
                let message = format!("expected a distribution, found {}", other.kind());
                self.fault(&ast.span, message, Some(help));
                None
            }
        }
    }

    pub(super) fn fault(&mut self, span: &Span, message: impl Into<String>, help: Option<String>) {
        self.faults.push(Fault { span: span.clone(), message: message.into(), help });
    }

    fn name(&mut self, name: &str, span: &Span) -> Value<'g> {
        let Some(meaning) = self.names.find(name) else {
            match name {
                "pi" => return Value::Number(std::f64::consts::PI.into()),
                "e" => return Value::Number(std::f64::consts::E.into()),
                "inf" => return Value::Number(f64::INFINITY.into()),
                _ => {}
            }
            if self.names.is_partial {
                return Value::Unknown;
            }
            let is_function = functions::find(name).is_some()
                || Family::named(name).is_some()
                || TrajectoryFunction::named(name).is_some();
            let help = if is_function {
                Some(format!("`{name}` is a function: write {name}(...)"))
            } else {
                nearest(name, self.names.known().chain(["pi", "e", "inf"]))
            };
            self.fault(span, format!("unknown name `{name}`"), help);
            return Value::Unknown;
        };
        if let Some(reason) = self.place.refuses(self.names.of(meaning)) {
            let help = self.names.difference(meaning).map(str::to_owned);
            self.fault(span, format!("`{name}` cannot be used here: {reason}"), help);
            return Value::Unknown;
        }
        self.scope.value(meaning)
    }

    /// Operators in a row, evaluated from the left without recursion: a sum of thousands of terms is not
    /// a deep tree.
    fn chain(&mut self, ast: &Ast) -> Value<'g> {
        let (mut first, mut rest) = (ast, Vec::new());
        while let Kind::Binary { operator, left, right } = &first.kind {
            rest.push((*operator, &**right, &first.span));
            first = left;
        }
        let mut value = self.evaluate(first);
        let mut span = first.span.clone();
        for (operator, right, whole) in rest.into_iter().rev() {
            value = self.binary(operator, (value, &span), right, whole);
            span = whole.clone();
        }
        value
    }

    fn binary(
        &mut self,
        operator: Operator,
        (left, left_span): (Value<'g>, &Span),
        right: &Ast,
        whole: &Span,
    ) -> Value<'g> {
        let right_value = self.evaluate(right);
        let spans = [left_span, &right.span, whole];
        match operator {
            Operator::Add => self.pair([left, right_value], spans, |a, b| a + b),
            Operator::Subtract => self.pair([left, right_value], spans, |a, b| a - b),
            // The zeros of a matrix remain zeros.
            Operator::Multiply
                if matches!(
                    (&left, &right_value),
                    (Value::Matrix(_), _) | (_, Value::Matrix(_))
                ) =>
            {
                self.pair([left, right_value], spans, times)
            }
            Operator::Multiply => self.pair([left, right_value], spans, |a, b| a * b),
            Operator::Divide => self.pair([left, right_value], spans, |a, b| a / b),
            Operator::Power => self.pair([left, right_value], spans, functions::power),
            Operator::MatMul => self.product([left, right_value], spans),
            Operator::And | Operator::Or => {
                let left = self.as_truth(left, left_span);
                let right = self.as_truth(right_value, &right.span);
                let Some(both) = left.zip(right) else { return Value::Unknown };
                let both = Box::new([both.0, both.1]);
                let is_and = operator == Operator::And;
                Value::Truth(if is_and { Truth::And(both) } else { Truth::Or(both) })
            }
            comparison => {
                let left = self.as_number(left, left_span);
                let right = self.as_number(right_value, &right.span);
                let Some((a, b)) = left.zip(right) else { return Value::Unknown };
                Value::Truth(match comparison {
                    Operator::Less => Truth::Compare(a.lt(b)),
                    Operator::LessOrEqual => Truth::Compare(a.le(b)),
                    Operator::Greater => Truth::Compare(a.gt(b)),
                    Operator::GreaterOrEqual => Truth::Compare(a.ge(b)),
                    Operator::Equal => Truth::equal(a, b),
                    _ => Truth::Not(Box::new(Truth::equal(a, b))),
                })
            }
        }
    }

    /// Applies a function to each element.
    pub(super) fn each(
        &mut self,
        value: Value<'g>,
        span: &Span,
        function: impl Fn(Expr<'g>) -> Expr<'g>,
    ) -> Value<'g> {
        match value.into_numbers() {
            Value::Number(x) => Value::Number(function(x)),
            Value::Vector(elements) => Value::Vector(elements.into_iter().map(function).collect()),
            Value::Matrix(rows) => {
                let row = |row: Vec<Expr<'g>>| row.into_iter().map(&function).collect();
                Value::Matrix(rows.into_iter().map(row).collect())
            }
            Value::Unknown => Value::Unknown,
            other => self.no_numbers(&other, span),
        }
    }

    /// Applies a function of two numbers element by element; a number is paired with every element.
    pub(super) fn pair(
        &mut self,
        [a, b]: [Value<'g>; 2],
        [a_span, b_span, whole]: [&Span; 3],
        function: impl Fn(Expr<'g>, Expr<'g>) -> Expr<'g>,
    ) -> Value<'g> {
        match (a.into_numbers(), b.into_numbers()) {
            (Value::Unknown, _) | (_, Value::Unknown) => Value::Unknown,
            (Value::Number(a), Value::Number(b)) => Value::Number(function(a, b)),
            (Value::Vector(a), Value::Number(b)) => {
                Value::Vector(a.into_iter().map(|a| function(a, b)).collect())
            }
            (Value::Number(a), Value::Vector(b)) => {
                Value::Vector(b.into_iter().map(|b| function(a, b)).collect())
            }
            (Value::Vector(a), Value::Vector(b)) if a.len() == b.len() => {
                Value::Vector(a.into_iter().zip(b).map(|(a, b)| function(a, b)).collect())
            }
            (Value::Vector(a), Value::Vector(b)) => {
                let message =
                    format!("cannot combine a vector of {} with a vector of {}", a.len(), b.len());
                self.fault(whole, message, None);
                Value::Unknown
            }
            (
                a @ Value::Matrix(_),
                b @ (Value::Number(_) | Value::Vector(_) | Value::Matrix(_)),
            )
            | (a @ (Value::Number(_) | Value::Vector(_)), b @ Value::Matrix(_)) => {
                self.pair_of_matrices(a, b, whole, function)
            }
            (Value::Number(_) | Value::Vector(_) | Value::Matrix(_), other) => {
                self.no_numbers(&other, b_span)
            }
            (other, _) => self.no_numbers(&other, a_span),
        }
    }

    pub(super) fn no_numbers(&mut self, value: &Value<'g>, span: &Span) -> Value<'g> {
        let message = format!("expected a number or a vector, found {}", value.kind());
        self.fault(span, message, None);
        Value::Unknown
    }

    pub(super) fn as_number(&mut self, value: Value<'g>, span: &Span) -> Option<Expr<'g>> {
        match value {
            Value::Number(x) => Some(x),
            Value::Unknown => None,
            other => {
                self.fault(span, format!("expected a number, found {}", other.kind()), None);
                None
            }
        }
    }

    pub(super) fn truth(&mut self, ast: &Ast) -> Option<Truth<'g>> {
        let value = self.evaluate(ast);
        self.as_truth(value, &ast.span)
    }

    pub(super) fn as_truth(&mut self, value: Value<'g>, span: &Span) -> Option<Truth<'g>> {
        match value {
            Value::Truth(truth) => Some(truth),
            // A column of zeros and ones is also a condition.
            Value::Number(x) => Some(Truth::Not(Box::new(Truth::equal(x, 0.0.into())))),
            Value::Unknown => None,
            other => {
                self.fault(span, format!("expected a condition, found {}", other.kind()), None);
                None
            }
        }
    }

    fn list(&mut self, ast: &Ast, items: &[Ast]) -> Value<'g> {
        let (mut numbers, mut rows, mut is_known) = (Vec::new(), Vec::new(), true);
        for item in items {
            match self.evaluate(item) {
                Value::Number(x) => numbers.push(x),
                Value::Vector(row) => rows.push(row),
                Value::Unknown => is_known = false,
                other => {
                    self.no_numbers(&other, &item.span);
                    is_known = false;
                }
            }
        }
        let rectangular = rows.windows(2).all(|pair| pair[0].len() == pair[1].len());
        match (numbers.is_empty(), rows.is_empty()) {
            _ if !is_known => Value::Unknown,
            (_, true) => Value::Vector(numbers),
            (true, false) if rectangular => Value::Matrix(rows),
            _ => {
                let message =
                    "the elements of a list must be numbers, or vectors of the same length";
                self.fault(&ast.span, message, None);
                Value::Unknown
            }
        }
    }

    /// Does an index differ between the rows of the data, or in the equations of a system between
    /// subjects?
    pub(super) fn is_by_row(&self, index: &Ast) -> bool {
        let reach = self.names.reach(index);
        match self.place {
            Place::Row | Place::First => reach.is_of_rows(),
            Place::Rate | Place::Start | Place::Path => {
                reach.columns && !reach.time && !reach.states
            }
            Place::Constant | Place::Shared | Place::Quantity => false,
        }
    }

    /// An element of a vector, by a constant index or by an index that differs by row.
    pub(super) fn element(&mut self, of: &Ast, elements: &[Expr<'g>], index: &Ast) -> Value<'g> {
        let reach = self.names.reach(index);
        if !self.is_by_row(index) {
            let place = self.place_in(elements.len(), index);
            return place.map_or(Value::Unknown, |i| Value::Number(elements[i]));
        }
        if self.gather.is_some() && reach.is_of_data() && !self.names.reach(of).is_of_rows() {
            return self.gathered(elements, &[Index { ast: index, len: elements.len() }]);
        }
        let Some(chosen) = self.number(index) else { return Value::Unknown };
        if let Some(chosen) = chosen.as_constant() {
            let inside = chosen.fract() == 0.0 && (1.0..=elements.len() as f64).contains(&chosen);
            let nothing = f64::NAN.into();
            return Value::Number(if inside { elements[chosen as usize - 1] } else { nothing });
        }
        if elements.len() > MOST_SELECTED {
            let message = format!(
                "an index that differs between rows must depend on the data alone, and the \
                 vector must be the same for all rows, if it has more than {MOST_SELECTED} \
                 elements; this one has {}",
                elements.len()
            );
            self.fault(&index.span, message, None);
            return Value::Unknown;
        }
        let mut value: Expr<'g> = f64::NAN.into();
        for (i, &element) in elements.iter().enumerate() {
            value = Truth::equal(chosen, (i as f64 + 1.0).into()).select(element, value);
        }
        Value::Number(value)
    }

    /// The element that the data selects row by row; for a matrix, with two indices into its elements row
    /// by row.
    pub(super) fn gathered(&mut self, elements: &[Expr<'g>], indices: &[Index<'_>]) -> Value<'g> {
        let Some(gather) = &mut self.gather else { return Value::Unknown };
        match gather(elements, indices) {
            Ok(element) => Value::Number(element),
            Err(fault) => {
                self.faults.push(fault);
                Value::Unknown
            }
        }
    }

    /// A constant index as a position from 0.
    fn place_in(&mut self, len: usize, index: &Ast) -> Option<usize> {
        let number = self.number(index)?;
        self.place_of(len, number, &index.span)
    }
}

/// A suggestion of the known name that may have been meant.
pub(super) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    if name.chars().count() < 3 {
        // Any short name is close to any other.
        known.retain(|other| other.eq_ignore_ascii_case(name));
    }
    suggest::nearest(name, known).map(|name| format!("did you mean `{name}`?"))
}
