//! Distributions built from other distributions, from probabilities, or with named arguments, in
//! formulas.

use super::chances;
use super::evaluate::{Evaluator, nearest};
use super::expression::{Ast, Kind};
use super::value::{Censoring, Law, Truth, Value, constants};
use crate::distribution::Range;
use crate::program::Expr;

/// The syntax of each, and a one-line description.
pub(super) const COMPOUND: [(&str, &str); 7] = [
    (
        "censored(distribution, lower = l, upper = u, left = condition, right = condition, until = x)",
        "values at or beyond a limit, where a condition holds, or up to x are known only as bounds",
    ),
    (
        "truncated(distribution, lower = l, upper = u)",
        "a distribution restricted to its bounds and renormalised",
    ),
    ("categorical(probabilities)", "1, 2, ... with these probabilities, which sum to 1"),
    ("categorical_logit(logits)", "1, 2, ... with probabilities softmax(logits)"),
    (
        "ordered_logistic(location, cutpoints)",
        "1, 2, ... by the two cutpoints between which a logistic variable around the location falls",
    ),
    ("zero_inflated(p, distribution)", "0 with probability p, else a count, which may also be 0"),
    ("hurdle(p, distribution)", "0 with probability p, else a count above 0"),
];

/// The names of the arguments of `censored`.
pub(super) const CENSORED: [&str; 5] = ["lower", "upper", "left", "right", "until"];

/// The names of these distributions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    COMPOUND.iter().map(|(usage, _)| name_of(usage))
}

fn name_of(usage: &'static str) -> &'static str {
    usage.split('(').next().unwrap_or(usage)
}

/// The value of a named argument.
pub(super) fn named<'a>(arguments: &'a [Ast], wanted: &str) -> Option<&'a Ast> {
    arguments.iter().find_map(|argument| match &argument.kind {
        Kind::Named { name, value } if name == wanted => Some(&**value),
        _ => None,
    })
}

impl<'g> Evaluator<'_, 'g> {
    /// Evaluates one of these distributions, by its name.
    pub(super) fn compound(&mut self, whole: &Ast, name: &str, arguments: &[Ast]) -> Value<'g> {
        let law = match name {
            "censored" => self.censored(whole, arguments),
            "truncated" => self.truncated(whole, arguments),
            "categorical" => self.categorical(whole, arguments),
            "categorical_logit" => self.categorical_logit(whole, arguments),
            "ordered_logistic" => self.ordered_logistic(whole, arguments),
            _ => self.with_zeros(whole, name, arguments),
        };
        law.map_or(Value::Unknown, Value::Law)
    }

    fn write(&mut self, whole: &Ast, name: &str, message: &str) {
        let usage = COMPOUND.iter().map(|(usage, _)| *usage).find(|usage| name_of(usage) == name);
        let help = usage.map(|usage| format!("write {usage}"));
        self.fault(&whole.span, message, help);
    }

    /// The distribution in a call's first argument; checks the names of the other arguments.
    fn part_and_names(&mut self, whole: &Ast, call: &str, arguments: &[Ast]) -> Option<Law<'g>> {
        let known: &[&str] = match call {
            "censored" => &CENSORED,
            _ => &["lower", "upper"],
        };
        let Some((first, others)) = arguments.split_first().filter(|(_, rest)| !rest.is_empty())
        else {
            self.write(whole, call, &format!("`{call}` needs a distribution and its limits"));
            return None;
        };
        let part = self.law(first);
        let mut seen: Vec<&str> = Vec::new();
        for other in others {
            let Kind::Named { name, .. } = &other.kind else {
                let message = format!("the limits of `{call}` must be named arguments");
                self.write(other, call, &message);
                return None;
            };
            if !known.contains(&&name[..]) {
                let message = format!("`{call}` has no argument `{name}`");
                let help = nearest(name, known.iter().copied())
                    .unwrap_or_else(|| format!("the arguments are {}", known.join(", ")));
                self.fault(&other.span, message, Some(help));
                return None;
            }
            if seen.contains(&&name[..]) {
                self.fault(&other.span, format!("`{name}` is given twice"), None);
                return None;
            }
            seen.push(name);
        }
        let part = part?;
        if part.is_joint() {
            let message = format!("`{call}` needs a distribution of single numbers");
            self.fault(&first.span, message, None);
            return None;
        }
        // Whether the distribution function is available does not depend on the value.
        if part.at(0).log_tails(0.5.into()).is_none() {
            let message = format!(
                "`{call}` needs the distribution function, which is not available for this distribution"
            );
            let help = "skew_normal, von_mises, beta_binomial and distributions that are already censored or truncated \
                        have none; write the density as a formula in log-likelihood";
            self.fault(&first.span, message, Some(help.to_owned()));
            return None;
        }
        Some(part)
    }

    /// A limit by its name; Err if it is not a number, which has been reported.
    fn limit(&mut self, arguments: &[Ast], name: &str) -> Result<Option<Expr<'g>>, ()> {
        let Some(ast) = named(arguments, name) else { return Ok(None) };
        let x = self.number(ast).ok_or(())?;
        if x.as_constant().is_some_and(f64::is_nan) {
            return Err(());
        }
        Ok(Some(x))
    }

    /// Both limits; checks their order if both are constants.
    fn limits(&mut self, whole: &Ast, arguments: &[Ast]) -> Option<[Option<Expr<'g>>; 2]> {
        let (lower, upper) = (self.limit(arguments, "lower"), self.limit(arguments, "upper"));
        let (lower, upper) = (lower.ok()?, upper.ok()?);
        if let (Some(low), Some(high)) =
            (lower.and_then(Expr::as_constant), upper.and_then(Expr::as_constant))
            && low >= high
        {
            self.fault(
                &whole.span,
                format!("lower is {low}, but must be below upper, which is {high}"),
                None,
            );
            return None;
        }
        Some([lower, upper])
    }

    fn censored(&mut self, whole: &Ast, arguments: &[Ast]) -> Option<Law<'g>> {
        let part = self.part_and_names(whole, "censored", arguments)?;
        let [lower, upper] = self.limits(whole, arguments)?;
        let mut side = |name| -> Result<Option<Truth<'g>>, ()> {
            let Some(ast) = named(arguments, name) else { return Ok(None) };
            self.truth(ast).map(Some).ok_or(())
        };
        let (left, right) = (side("left").ok()?, side("right").ok()?);
        let until = match named(arguments, "until") {
            Some(ast) => Some(self.number(ast)?),
            None => None,
        };
        let limits = Censoring { lower, upper, left, right, until };
        Some(Law::Censored { part: Box::new(part), limits })
    }

    fn truncated(&mut self, whole: &Ast, arguments: &[Ast]) -> Option<Law<'g>> {
        let part = self.part_and_names(whole, "truncated", arguments)?;
        let [lower, upper] = self.limits(whole, arguments)?;
        if let (Some(low), Some(high)) = (lower, upper) {
            let mass = part.at(0).log_between(Some(low), Some(high)).and_then(Expr::as_constant);
            if mass == Some(f64::NEG_INFINITY) {
                self.fault(
                    &whole.span,
                    "the distribution has no probability between the bounds",
                    None,
                );
                return None;
            }
        }
        Some(Law::Truncated { part: Box::new(part), lower, upper })
    }

    /// The elements of a vector with at least `least` elements.
    fn categories(&mut self, ast: &Ast, name: &str, least: usize) -> Option<Vec<Expr<'g>>> {
        let value = self.evaluate(ast);
        match value {
            Value::Vector(elements) if elements.len() >= least => Some(elements),
            Value::Unknown => None,
            other => {
                let message = format!(
                    "`{name}` needs a vector of at least {least} elements, found {}",
                    other.kind()
                );
                self.write(ast, name, &message);
                None
            }
        }
    }

    fn categorical(&mut self, whole: &Ast, arguments: &[Ast]) -> Option<Law<'g>> {
        let [argument] = arguments else {
            self.write(whole, "categorical", "`categorical` needs one vector");
            return None;
        };
        let p = self.categories(argument, "categorical", 2)?;
        if let Some(plain) = constants(&p) {
            let sum: f64 = plain.iter().sum();
            if plain.iter().any(|p| p.is_nan() || *p < 0.0) || (sum - 1.0).abs() > 1e-9 {
                let message =
                    format!("the probabilities are {plain:?}: they must be positive and sum to 1");
                let help = "softmax(x) is such a vector; categorical_logit(x) accepts x itself";
                self.fault(&argument.span, message, Some(help.to_owned()));
                return None;
            }
        }
        Some(Law::Categorical { log_p: p.iter().map(|p| p.ln()).collect(), is_ordered: false })
    }

    fn categorical_logit(&mut self, whole: &Ast, arguments: &[Ast]) -> Option<Law<'g>> {
        let [argument] = arguments else {
            self.write(whole, "categorical_logit", "`categorical_logit` needs one vector");
            return None;
        };
        let logits = self.categories(argument, "categorical_logit", 2)?;
        Some(Law::Categorical { log_p: chances::from_logits(&logits), is_ordered: false })
    }

    fn ordered_logistic(&mut self, whole: &Ast, arguments: &[Ast]) -> Option<Law<'g>> {
        let [location, cutpoints] = arguments else {
            self.write(whole, "ordered_logistic", "`ordered_logistic` needs a number and a vector");
            return None;
        };
        let location = self.number(location);
        let points = self.categories(cutpoints, "ordered_logistic", 1)?;
        if constants(&points).is_some_and(|plain| !plain.is_sorted_by(|a, b| a < b)) {
            let help = "a parameter with support = \"ordered\" keeps its elements in order";
            let message = "the cutpoints must increase";
            self.fault(&cutpoints.span, message, Some(help.to_owned()));
            return None;
        }
        let log_p = chances::between_cutpoints(location?, &points);
        Some(Law::Categorical { log_p, is_ordered: true })
    }

    fn with_zeros(&mut self, whole: &Ast, name: &str, arguments: &[Ast]) -> Option<Law<'g>> {
        let [p, part] = arguments else {
            self.write(whole, name, &format!("`{name}` needs a probability and a distribution"));
            return None;
        };
        let (chance, law) = (self.number(p), self.law(part));
        let (chance, law) = (chance?, law?);
        if let Some(bad) = chance.as_constant().filter(|p| !Range::UnitInterval.contains(*p)) {
            let words = Range::UnitInterval.in_words();
            self.fault(&p.span, format!("p of {name} is {bad}, but must be {words}"), None);
            return None;
        }
        if !law.is_discrete() || matches!(law, Law::Categorical { .. }) {
            let message = format!("`{name}` needs a distribution of counts, like poisson(mean)");
            self.fault(&part.span, message, None);
            return None;
        }
        let is_hurdle = name == "hurdle";
        Some(Law::WithZeros { p: chance, part: Box::new(law), is_hurdle })
    }
}
