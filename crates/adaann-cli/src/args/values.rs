//! Values of flags: counts, numbers, lists, learning-rate rules and target parameters.
//!
//! Errors say what is expected; clap writes the flag and the value before them.

use adaann::{
    flow::{Mask, Ordering},
    optim::RateRule,
};
use std::str::FromStr;

/// The largest whole number that a float holds exactly, with all below it.
const EXACT: f64 = (1_u64 << 53) as f64;

/// The largest seed: TOML has no integers beyond i64, and a run must be repeatable.
pub(crate) const LAST_SEED: u64 = i64::MAX as u64;

/// How many.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| match text.parse::<f64>() {
        Ok(number) if number.fract() == 0.0 && (0.0..=EXACT).contains(&number) => {
            format!("must be a whole number, written as {number}")
        }
        Ok(number) if number.fract() == 0.0 && number > EXACT => {
            format!("must be a whole number up to {}", usize::MAX)
        }
        _ => "must be a whole number".to_owned(),
    })
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(seed) if seed <= LAST_SEED => Ok(seed),
        _ => Err(format!("must be a whole number from 0 to {LAST_SEED}")),
    }
}

/// Which coordinates couplings keep.
pub(crate) fn mask(text: &str) -> Result<Mask, String> {
    match text {
        "alternating" => Ok(Mask::Alternating),
        "halves" => Ok(Mask::Halves),
        "random" => Ok(Mask::Random { seed: 1 }),
        list => {
            let kept: Result<_, _> = list.split(',').map(|d| d.trim().parse()).collect();
            kept.map(Mask::Kept).map_err(|_| {
                "must be alternating, halves, random or coordinates such as 0,2,5".to_owned()
            })
        }
    }
}

/// The order of coordinates in autoregressive layers.
pub(crate) fn order(text: &str) -> Result<Ordering, String> {
    match text {
        "alternating" => Ok(Ordering::Alternating),
        "sequential" => Ok(Ordering::Sequential),
        "reversed" => Ok(Ordering::Reversed),
        "random" => Ok(Ordering::Random { seed: 1 }),
        _ => Err("must be alternating, sequential, reversed or random".to_owned()),
    }
}

/// A number, of any size.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "must be a number, like 0.5 or 1e-3".to_owned())
}

/// Where annealing starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum First {
    At(f64),
    /// Wherever the run finds it best.
    Auto,
}

impl First {
    /// The number, if it is one.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::At(t) => Some(t),
            Self::Auto => None,
        }
    }
}

/// A number, or `auto`.
pub(crate) fn first(text: &str) -> Result<First, String> {
    match text {
        "auto" => Ok(First::Auto),
        _ => text
            .parse()
            .map(First::At)
            .map_err(|_| "must be a number, like 0.5 or 1e-3, or auto".to_owned()),
    }
}

/// Numbers separated by commas.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct List(pub(crate) Vec<f64>);

/// Reads a list.
pub(crate) fn list(text: &str) -> Result<List, String> {
    let numbers: Result<_, _> = text.split(',').map(|field| field.trim().parse()).collect();
    numbers.map(List).map_err(|_| "must be numbers separated by commas, like 0.5,1".to_owned())
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
            RateRule::Step { every: whole(every, "EVERY")?, factor: real(factor, "FACTOR")? }
        }
        ["exponential", factor] => RateRule::Exponential { factor: real(factor, "FACTOR")? },
        ["cosine", over] => RateRule::Cosine { over: whole(over, "OVER")?, floor: 0.0 },
        ["cosine", over, floor] => {
            RateRule::Cosine { over: whole(over, "OVER")?, floor: real(floor, "FLOOR")? }
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

fn whole<T: FromStr>(text: &str, name: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} is '{text}', but must be a whole number"))
}

fn real(text: &str, name: &str) -> Result<f64, String> {
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
    fn rules_name_the_bad_field() {
        let said = rate_rule("step:1.5:0.5").unwrap_err();
        assert_eq!(said, "EVERY is '1.5', but must be a whole number");
        let said = rate_rule("exponential:half").unwrap_err();
        assert_eq!(said, "FACTOR is 'half', but must be a number");
    }

    #[test]
    fn counts_are_whole_and_written_out() {
        assert_eq!(count("1000"), Ok(1000));
        for (text, said) in [
            ("1e3", "must be a whole number, written as 1000"),
            ("20.", "must be a whole number, written as 20"),
            ("1e30", "must be a whole number up to 18446744073709551615"),
            ("2.5", "must be a whole number"),
            ("-5", "must be a whole number"),
            ("many", "must be a whole number"),
            ("", "must be a whole number"),
        ] {
            assert_eq!(count(text), Err(said.to_owned()), "{text}");
        }
    }

    #[test]
    fn seeds_end_where_files_do() {
        assert_eq!(seed("9223372036854775807"), Ok(LAST_SEED));
        for bad in ["9223372036854775808", "-1", "1e3", "1.0"] {
            let said = seed(bad).unwrap_err();
            assert_eq!(said, "must be a whole number from 0 to 9223372036854775807", "{bad}");
        }
    }

    #[test]
    fn lists_are_separated_by_commas() {
        assert_eq!(list("-1, 2e1"), Ok(List(vec![-1.0, 20.0])));
        for bad in ["", "1,,2", "1;2", "1,x"] {
            let said = list(bad).unwrap_err();
            assert_eq!(said, "must be numbers separated by commas, like 0.5,1", "{bad}");
        }
    }

    #[test]
    fn parameters_are_pairs() {
        assert_eq!(parameter("mu=4"), Ok(("mu".into(), 4.0)));
        assert_eq!(parameter("sd = -1e-3"), Ok(("sd".into(), -1e-3)));
        assert!(parameter("mu").is_err() && parameter("mu=four").is_err());
    }

    #[test]
    fn annealing_starts_at_a_number_or_finds_one() {
        assert_eq!(first("1e-3"), Ok(First::At(1e-3)));
        assert_eq!(first("auto"), Ok(First::Auto));
        assert!(first("Auto").is_err() && first("").is_err());
    }

    #[test]
    fn clipping_needs_a_norm() {
        assert_eq!(clip("none"), Ok(Clip(None)));
        assert_eq!(clip("2.5"), Ok(Clip(Some(2.5))));
        assert!(clip("0").is_err() && clip("nan").is_err());
    }
}
