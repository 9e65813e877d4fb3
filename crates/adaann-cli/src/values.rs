//! Values of flags that are more than a number: learning-rate rules and target parameters.

use adaann::optim::RateRule;
use clap::builder::{PossibleValue, PossibleValuesParser};

/// Accepts the names of a table, and shows its lines in the help.
pub(crate) fn names(all: &'static [(&'static str, &'static str)]) -> PossibleValuesParser {
    PossibleValuesParser::new(all.iter().map(|(name, line)| PossibleValue::new(*name).help(*line)))
}

/// `NAME=NUMBER`
pub(crate) fn parameter(text: &str) -> Result<(String, f64), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| "write it as NAME=NUMBER, like mu=4".to_owned())?;
    let value = value.trim();
    match value.parse() {
        Ok(number) => Ok((name.trim().to_owned(), number)),
        Err(_) => Err(format!("'{value}' is not a number")),
    }
}

/// A gradient norm: positive, or `none`.
pub(crate) fn clip(text: &str) -> Result<Clip, String> {
    if text == "none" {
        return Ok(Clip(None));
    }
    match text.parse() {
        Ok(norm) if norm > 0.0 => Ok(Clip(Some(norm))),
        _ => Err("must be a number above 0, or none".to_owned()),
    }
}

/// The largest gradient norm, if there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Clip(pub(crate) Option<f64>);

/// `constant`, `step:EVERY:FACTOR`, `exponential:FACTOR` or `cosine:OVER[:FLOOR]`.
pub(crate) fn rate_rule(text: &str) -> Result<RateRule, String> {
    let fields: Vec<&str> = text.split(':').collect();
    let rule = match fields[..] {
        ["constant"] => RateRule::Constant,
        ["step", every, factor] => {
            RateRule::Step { every: field(every, "EVERY")?, factor: field(factor, "FACTOR")? }
        }
        ["exponential", factor] => RateRule::Exponential { factor: field(factor, "FACTOR")? },
        ["cosine", over] => RateRule::Cosine { over: field(over, "OVER")?, floor: 0.0 },
        ["cosine", over, floor] => {
            RateRule::Cosine { over: field(over, "OVER")?, floor: field(floor, "FLOOR")? }
        }
        _ => {
            return Err("must be constant, step:EVERY:FACTOR, exponential:FACTOR or \
                        cosine:OVER[:FLOOR], like step:1000:0.5"
                .to_owned());
        }
    };
    rule.check().map_err(|error| error.to_string())?;
    Ok(rule)
}

fn field<T: std::str::FromStr>(text: &str, name: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} is '{text}', but must be a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_checked() {
        assert_eq!(rate_rule("constant"), Ok(RateRule::Constant));
        assert_eq!(rate_rule("step:1000:0.5"), Ok(RateRule::Step { every: 1000, factor: 0.5 }));
        assert_eq!(rate_rule("exponential:0.999"), Ok(RateRule::Exponential { factor: 0.999 }));
        assert_eq!(rate_rule("cosine:100"), Ok(RateRule::Cosine { over: 100, floor: 0.0 }));
        assert_eq!(rate_rule("cosine:100:0.1"), Ok(RateRule::Cosine { over: 100, floor: 0.1 }));
        for bad in ["", "step", "step:0:0.5", "step:10:2", "step:1.5:0.5", "cosine:9:-1", "warm"] {
            assert!(rate_rule(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn parameters_are_pairs() {
        assert_eq!(parameter("mu=4"), Ok(("mu".into(), 4.0)));
        assert_eq!(parameter("sd = -1e-3"), Ok(("sd".into(), -1e-3)));
        assert!(parameter("mu").is_err() && parameter("mu=four").is_err());
    }

    #[test]
    fn clipping_needs_a_norm() {
        assert_eq!(clip("none"), Ok(Clip(None)));
        assert_eq!(clip("2.5"), Ok(Clip(Some(2.5))));
        assert!(clip("0").is_err() && clip("nan").is_err());
    }
}
