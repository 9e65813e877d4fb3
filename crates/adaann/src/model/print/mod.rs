//! Prints formulas in mathematical notation, for a terminal and for a page.

mod latex;
mod letters;
mod syntax;

use super::expression::{Ast, Kind, Level, Operator};
use super::trajectory_functions::TrajectoryFunction;
pub(crate) use latex::latex;
use syntax::{level, needs_parentheses, number, of_trajectory, rows_back};

/// A formula for a terminal: a·x² + σ₁.
pub(crate) fn plain(ast: &Ast) -> String {
    let mut line = Line { text: String::new(), pretty: true };
    line.write(ast);
    line.text
}

/// A formula in the syntax of a model file, with only the necessary parentheses.
#[cfg(test)]
fn ascii(ast: &Ast) -> String {
    let mut line = Line { text: String::new(), pretty: false };
    line.write(ast);
    line.text
}

struct Line {
    text: String,
    /// Use mathematical symbols rather than the syntax of a model file.
    pretty: bool,
}

impl Line {
    fn write(&mut self, ast: &Ast) {
        match &ast.kind {
            Kind::Number(value) => self.number(*value),
            Kind::Name(name) if self.pretty => self.text.push_str(&letters::plain(name)),
            Kind::Name(name) => self.text.push_str(name),
            Kind::Call { name, arguments, .. } => self.call(name, arguments),
            Kind::Named { name, value } => {
                self.text.push_str(name);
                self.text.push_str(" = ");
                self.write(value);
            }
            Kind::Index { of, indices } => self.index(of, indices),
            Kind::Range { first, last } => {
                first.iter().for_each(|first| self.write(first));
                self.text.push(':');
                last.iter().for_each(|last| self.write(last));
            }
            Kind::List(values) => self.sequence("[", values, "]"),
            Kind::Negate(value) => {
                self.text.push_str(self.minus());
                // -(a·b) is printed as -a·b, which a model file would read as (-a)·b.
                let least = if self.pretty { Level::Product } else { Level::Negation };
                self.operand(value, level(value) < least || level(value) == Level::Negation);
            }
            Kind::Not(value) => {
                self.text.push_str("not ");
                self.operand(value, level(value) < Level::Not);
            }
            Kind::Binary { operator, left, right } => self.binary(*operator, left, right),
        }
    }

    fn binary(&mut self, operator: Operator, left: &Ast, right: &Ast) {
        let exponent = if self.pretty { superscript(operator, right) } else { None };
        if let Some(exponent) = exponent {
            // √x² could be read as the root of a square.
            let root = matches!(&left.kind, Kind::Call { name, .. } if name == "sqrt");
            self.operand(left, root || level(left) < Level::Whole);
            return self.text.push_str(&exponent);
        }
        let exact = !self.pretty;
        self.operand(left, needs_parentheses(operator, left, false, exact));
        self.text.push_str(&self.sign(operator));
        self.operand(right, needs_parentheses(operator, right, true, exact));
    }

    fn operand(&mut self, ast: &Ast, parentheses: bool) {
        if parentheses {
            self.text.push('(');
        }
        self.write(ast);
        if parentheses {
            self.text.push(')');
        }
    }

    fn call(&mut self, name: &str, arguments: &[Ast]) {
        match (name, arguments) {
            ("sqrt", [value]) if self.pretty => {
                self.text.push('√');
                let bare = matches!(value.kind, Kind::Name(_) | Kind::Number(_));
                self.operand(value, !bare || level(value) < Level::Whole);
            }
            ("abs", [_]) if self.pretty => self.sequence("|", arguments, "|"),
            ("before", [of, ..]) if self.pretty && rows_back(arguments).is_some() => {
                self.write(of);
                let back = rows_back(arguments).unwrap_or_default();
                self.text.push_str(&format!("[t−{back}]"));
            }
            _ => match of_trajectory(name, arguments) {
                Some((function, formula, times)) if self.pretty => {
                    self.text.push_str(match function {
                        TrajectoryFunction::At => "at",
                        TrajectoryFunction::Integral => "∫",
                        TrajectoryFunction::Maximum => "max",
                        TrajectoryFunction::TimeOfMaximum => "argmax",
                        TrajectoryFunction::Minimum => "min",
                        TrajectoryFunction::TimeOfMinimum => "argmin",
                    });
                    self.sequence("[", times, "]");
                    self.operand(formula, true);
                }
                _ => {
                    self.text.push_str(name);
                    self.sequence("(", arguments, ")");
                }
            },
        }
    }

    fn index(&mut self, of: &Ast, indices: &[Ast]) {
        self.operand(of, level(of) < Level::Whole);
        let subscript = match (&of.kind, indices) {
            (Kind::Name(name), [Ast { kind: Kind::Number(index), .. }]) if self.pretty => {
                letters::subscript_of(&letters::plain(name), *index)
            }
            _ => None,
        };
        match subscript {
            Some(subscript) => self.text.push_str(&subscript),
            None => self.sequence("[", indices, "]"),
        }
    }

    fn sequence(&mut self, open: &str, values: &[Ast], close: &str) {
        self.text.push_str(open);
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            self.write(value);
        }
        self.text.push_str(close);
    }

    fn number(&mut self, value: f64) {
        if value.is_sign_negative() {
            self.text.push_str(self.minus());
        }
        let infinite = self.pretty && value.is_infinite();
        let digits = if infinite { "∞".to_owned() } else { number(value.abs()) };
        self.text.push_str(&digits);
    }

    fn minus(&self) -> &'static str {
        if self.pretty { "−" } else { "-" }
    }

    fn sign(&self, operator: Operator) -> String {
        let sign = match operator {
            Operator::Power => return "^".to_owned(),
            Operator::Divide => return "/".to_owned(),
            Operator::Multiply if self.pretty => return "·".to_owned(),
            Operator::Multiply => return "*".to_owned(),
            Operator::Subtract => self.minus(),
            Operator::LessOrEqual if self.pretty => "≤",
            Operator::GreaterOrEqual if self.pretty => "≥",
            Operator::NotEqual if self.pretty => "≠",
            Operator::Equal if self.pretty => "=",
            other => other.symbol(),
        };
        format!(" {sign} ")
    }
}

/// The superscript for a small whole power.
fn superscript(operator: Operator, exponent: &Ast) -> Option<String> {
    let power = match &exponent.kind {
        _ if operator != Operator::Power => return None,
        Kind::Number(value) => *value,
        Kind::Negate(value) => match value.kind {
            Kind::Number(value) => -value,
            _ => return None,
        },
        _ => return None,
    };
    (power.fract() == 0.0 && power.abs() < 100.0).then(|| letters::superscript(power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::expression::parse;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn tree(text: &str) -> Ast {
        parse(text, |offset| offset).unwrap_or_else(|faults| panic!("{text}: {faults:?}"))
    }

    #[test]
    fn a_terminal_shows_mathematics() {
        for (text, expected) in [
            ("a + b*x^2", "a + b·x²"),
            ("-(x - mu)^2 / (2*sigma^2)", "−(x − μ)²/(2·σ²)"),
            ("theta1*x + theta_2[3] + beta[12]", "θ₁·x + θ₂[3] + β₁₂"),
            ("sqrt(x) + sqrt(a + b) + sqrt(x)^2", "√x + √(a + b) + (√x)²"),
            ("abs(x - 1)^-1", "|x − 1|⁻¹"),
            ("(a + (b + c)) * (d * e1)", "(a + b + c)·d·e₁"),
            ("a - (b + c) - (-d)", "a − (b + c) − (−d)"),
            ("a / (b * c) / (d / f)", "a/(b·c)/(d/f)"),
            ("-(a*b) + (-2)^3 + 2^-x", "−a·b + (−2)³ + 2^−x"),
            ("2^(a + b)^c", "2^(a + b)^c"),
            ("sin(x)^2.5", "sin(x)^2.5"),
            (
                "if(x >= 0 and not (y == 1 or z != 2), inf, 1e-12)",
                "if(x ≥ 0 and not (y = 1 or z ≠ 2), ∞, 1e-12)",
            ),
            ("sigma_obs + Omega + x[i, 2] + [1, 2][1]", "σ_obs + Ω + x[i, 2] + [1, 2][1]"),
            ("gamma(2, lambda)", "gamma(2, λ)"),
            ("integral(u / V, 0, 24)^2 + at(u, 3)", "∫[0, 24](u/V)² + at[3](u)"),
            ("time_of_maximum(u, 0, b) - minimum(u)", "argmax[0, b](u) − minimum(u)"),
            (
                "mu + s*(L @ z) + x[2:n-1] + m[1, :] + y[-1:]",
                "μ + s·(L @ z) + x[2:n − 1] + m[1, :] + y[−1:]",
            ),
            ("censored(normal(mu, 1), lower = -2)", "censored(normal(μ, 1), lower = −2)"),
            ("(a < b) == (c < d)", "(a < b) = (c < d)"),
        ] {
            assert_eq!(plain(&tree(text)), expected, "{text}");
        }
    }

    #[test]
    fn numbers_below_zero_have_their_parentheses() {
        let span = 0..0;
        let below = Ast { kind: Kind::Number(-2.5), span: span.clone() };
        let operand = |kind| Box::new(Ast { kind, span: span.clone() });
        let (left, right) = (Box::new(below), operand(Kind::Name("x".to_owned())));
        let power = Kind::Binary { operator: Operator::Power, left, right };
        assert_eq!(plain(&Ast { kind: power, span: 0..0 }), "(−2.5)^x");
    }

    /// The same tree without spans.
    fn nowhere(ast: &Ast) -> Ast {
        let all = |values: &[Ast]| values.iter().map(nowhere).collect();
        let one = |value: &Ast| Box::new(nowhere(value));
        let kind = match &ast.kind {
            Kind::Number(value) => Kind::Number(*value),
            Kind::Name(name) => Kind::Name(name.clone()),
            Kind::Call { name, arguments, .. } => {
                Kind::Call { name: name.clone(), name_span: 0..0, arguments: all(arguments) }
            }
            Kind::Named { name, value } => Kind::Named { name: name.clone(), value: one(value) },
            Kind::Index { of, indices } => Kind::Index { of: one(of), indices: all(indices) },
            Kind::Range { first, last } => {
                Kind::Range { first: first.as_deref().map(one), last: last.as_deref().map(one) }
            }
            Kind::List(values) => Kind::List(all(values)),
            Kind::Negate(value) => Kind::Negate(one(value)),
            Kind::Not(value) => Kind::Not(one(value)),
            Kind::Binary { operator, left, right } => {
                Kind::Binary { operator: *operator, left: one(left), right: one(right) }
            }
        };
        Ast { kind, span: 0..0 }
    }

    fn any_tree() -> impl Strategy<Value = Ast> {
        use Operator::*;
        let at = |kind| Ast { kind, span: 0..0 };
        let number = prop_oneof![
            (0..4000_u32).prop_map(|n| f64::from(n) / 8.0),
            any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::abs),
        ];
        let name = prop::sample::select(vec!["a", "sigma", "x1", "θ₁", "_k", "nota", "e", "inf"]);
        let leaf = prop_oneof![
            number.prop_map(move |value| at(Kind::Number(value))),
            name.prop_map(move |name| at(Kind::Name(name.to_owned()))),
        ];
        let operators = vec![
            Add,
            Subtract,
            Multiply,
            Divide,
            MatMul,
            Power,
            Less,
            LessOrEqual,
            Greater,
            GreaterOrEqual,
            Equal,
            NotEqual,
            And,
            Or,
        ];
        leaf.prop_recursive(7, 80, 3, move |inner| {
            let many = |least| prop::collection::vec(inner.clone(), least..4);
            let one = inner.clone().prop_map(Box::new);
            let operator = prop::sample::select(operators.clone());
            let call = ("[f-h]", many(0), prop::option::of(inner.clone()));
            prop_oneof![
                6 => (operator, one.clone(), one.clone()).prop_map(move |(operator, left, right)| {
                    at(Kind::Binary { operator, left, right })
                }),
                1 => call.prop_map(move |(name, mut arguments, named)| {
                    arguments.extend(named.map(|value| {
                        at(Kind::Named { name: "lower".to_owned(), value: Box::new(value) })
                    }));
                    at(Kind::Call { name, name_span: 0..0, arguments })
                }),
                1 => (one.clone(), many(1)).prop_map(move |(of, indices)| {
                    at(Kind::Index { of, indices })
                }),
                1 => (one.clone(), prop::option::of(one.clone()), prop::option::of(one.clone()))
                    .prop_map(move |(of, first, last)| {
                        at(Kind::Index { of, indices: vec![at(Kind::Range { first, last })] })
                    }),
                1 => many(0).prop_map(move |values| at(Kind::List(values))),
                2 => one.clone().prop_map(move |value| at(Kind::Negate(value))),
                2 => one.prop_map(move |value| at(Kind::Not(value))),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            ..ProptestConfig::with_cases(1_000)
        })]

        #[test]
        fn what_is_printed_is_read_as_the_same(ast in any_tree()) {
            let text = ascii(&ast);
            let read = parse(&text, |offset| offset);
            let read = read.map_err(|faults| TestCaseError::fail(format!("{text}: {faults:?}")))?;
            prop_assert_eq!(nowhere(&read), ast, "{}", text);
        }

        #[test]
        fn parentheses_are_balanced(ast in any_tree()) {
            for text in [plain(&ast), latex(&ast)] {
                for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("\\left", "\\right")] {
                    prop_assert_eq!(text.matches(open).count(), text.matches(close).count(), "{}", text);
                }
            }
        }
    }
}
