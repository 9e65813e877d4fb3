//! Parsers for flags that are not settings of a fit: counts, numbers, lists and target parameters.
//!
//! Error messages state what is expected; clap puts the flag and the value before them.

use adaann::fit::overlay::LAST_SEED;

/// Up to this number a float represents every whole number exactly.
const EXACT: f64 = (1_u64 << 53) as f64;

/// Parses a count.
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

/// Parses a seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(seed) if seed <= LAST_SEED => Ok(seed),
        _ => Err(format!("must be a whole number from 0 to {LAST_SEED}")),
    }
}

/// Parses a number of any size.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "must be a number, like 0.5 or 1e-3".to_owned())
}

/// Numbers separated by commas.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct List(pub(crate) Vec<f64>);

/// Parses a list.
pub(crate) fn list(text: &str) -> Result<List, String> {
    let numbers: Result<_, _> = text.split(',').map(|field| field.trim().parse()).collect();
    numbers.map(List).map_err(|_| "must be numbers separated by commas, like 0.5,1".to_owned())
}

/// Parses `NAME=NUMBER`.
pub(crate) fn parameter(text: &str) -> Result<(String, f64), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| "write it as NAME=NUMBER, like mu=4".to_owned())?;
    let value = value.trim();
    match value.parse() {
        Ok(number) => Ok((name.trim().to_owned(), number)),
        Err(_) => Err(format!("'{value}' is not a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
