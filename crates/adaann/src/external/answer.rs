//! The lines exchanged with an external program.

use crate::external::pipes::quoted;
use crate::{Batch, Error, Result};
use serde::{Deserialize, Serialize};
use std::io::Write;

/// The first line to the program.
#[derive(Serialize)]
struct Greeting<'a> {
    /// The version of the protocol.
    adaann: u32,
    parameters: &'a [String],
}

/// The first line from the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Abilities {
    /// Whether it returns gradients.
    #[serde(default)]
    pub(super) gradient: bool,
    /// The largest number of points in a batch.
    #[serde(default)]
    pub(super) batch: Option<usize>,
}

/// The line with the parameters' names.
pub(super) fn greeting(names: &[String]) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Greeting { adaann: 1, parameters: names })
        .map_err(|error| Error::Target(error.to_string()))?;
    line.push(b'\n');
    Ok(line)
}

/// Reads the program's first line; the error says what is wrong with it.
pub(super) fn abilities(line: &[u8]) -> Result<Abilities, String> {
    let expected = "but must be {\"gradient\": true} or {\"gradient\": false}, with \"batch\", the \
                    most points at once, if there is a limit";
    match serde_json::from_slice::<Abilities>(line) {
        Ok(Abilities { batch: Some(0), .. }) => {
            Err(format!("its first line is {}, but \"batch\" must be at least 1", quoted(line)))
        }
        Ok(abilities) => Ok(abilities),
        Err(error) => Err(format!("its first line is {}, {expected} ({error})", quoted(line))),
    }
}

/// The lines that request the log likelihood at some points of a batch.
pub(super) fn request(points: &Batch, chosen: &[usize], gradient: bool) -> Result<Vec<u8>> {
    let mut text = Vec::with_capacity(32 + chosen.len() * points.dim() * 20);
    let word = if gradient { " gradient" } else { "" };
    let mut write = || -> std::io::Result<()> {
        writeln!(text, "batch {}{word}", chosen.len())?;
        for &i in chosen {
            for d in 0..points.dim() {
                if d > 0 {
                    text.push(b' ');
                }
                // The shortest digits that read back as the same number.
                serde_json::to_writer(&mut text, &points.row(d)[i])?;
            }
            text.push(b'\n');
        }
        Ok(())
    };
    write().map_err(|error| Error::Target(error.to_string()))?;
    Ok(text)
}

/// Reads the log likelihood and `slopes` derivatives from a line and appends them to `numbers`; the
/// error says what is wrong with the line. `spare` unrequested derivatives are dropped. A point
/// without a likelihood, or with derivatives that are not finite, is non-finite: −∞ and zeros.
pub(super) fn answer(
    line: &[u8],
    slopes: usize,
    spare: usize,
    numbers: &mut Vec<f64>,
) -> Result<(), String> {
    let start = numbers.len();
    let text = std::str::from_utf8(line).map_err(|_| String::from("is not UTF-8 text"))?;
    for word in text.split_ascii_whitespace() {
        numbers
            .push(number(word).ok_or_else(|| format!("has '{word}' where a number is expected"))?);
    }
    let found = numbers.len() - start;
    if spare > 0 && found == 1 + slopes + spare {
        numbers.truncate(start + 1 + slopes);
    }
    let answer = &numbers[start..];
    let is_non_finite = answer.iter().any(|number| !number.is_finite());
    if answer.len() != 1 + slopes && !(found == 1 && is_non_finite) {
        let found = match found {
            0 => "is empty".into(),
            1 => "has 1 number".into(),
            found => format!("has {found} numbers"),
        };
        return Err(match slopes {
            0 => format!("{found}, but must have one, the log likelihood"),
            _ => format!(
                "{found}, but must have {}: the log likelihood and its derivatives",
                1 + slopes
            ),
        });
    }
    if is_non_finite {
        numbers.truncate(start);
        numbers.push(f64::NEG_INFINITY);
        numbers.resize(start + 1 + slopes, 0.0);
    }
    Ok(())
}

/// A number as any language writes it; R writes NA where others write nan.
fn number(word: &str) -> Option<f64> {
    if word == "NA" { Some(f64::NAN) } else { word.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, slopes: usize) -> Result<Vec<f64>, String> {
        let mut numbers = vec![7.0];
        answer(line.as_bytes(), slopes, 0, &mut numbers)?;
        assert_eq!(numbers.remove(0), 7.0, "earlier numbers stay");
        Ok(numbers)
    }

    #[test]
    fn numbers_of_any_language_are_read() {
        assert_eq!(read("-12.5 3 +1e-3", 2).unwrap(), [-12.5, 3.0, 1e-3]);
        assert_eq!(read("\t .5   -0 \r", 1).unwrap(), [0.5, 0.0]);
        assert_eq!(read("-1.25E+02", 0).unwrap(), [-125.0]);
    }

    #[test]
    fn lost_points_need_no_derivatives() {
        for line in ["-inf", "nan", "-Inf NaN 0", "NA", "inf 1 2", "-3 nan 0", "-Infinity NA NA"] {
            assert_eq!(read(line, 2).unwrap(), [f64::NEG_INFINITY, 0.0, 0.0], "{line}");
        }
    }

    #[test]
    fn derivatives_that_nobody_asked_for_are_dropped() {
        let read = |line: &str| {
            let mut numbers = Vec::new();
            answer(line.as_bytes(), 0, 2, &mut numbers).map(|()| numbers)
        };
        assert_eq!(read("-3 1 2").unwrap(), [-3.0]);
        assert_eq!(
            read("-3 nan 2").unwrap(),
            [-3.0],
            "spare derivatives do not make a point non-finite"
        );
        assert_eq!(read("-3").unwrap(), [-3.0]);
        assert!(read("-3 1").unwrap_err().contains("has 2 numbers, but must have one"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |line, slopes, message: &str| {
            let said = read(line, slopes).unwrap_err();
            assert!(said.contains(message), "{said}");
        };
        wrong("-12.5 1", 2, "has 2 numbers, but must have 3");
        wrong("-12.5", 2, "has 1 number, but must have 3");
        wrong("-inf 1", 2, "has 2 numbers");
        wrong("1 2 3 4", 0, "has 4 numbers, but must have one");
        wrong("  ", 0, "is empty");
        wrong("x = 3", 0, "has 'x' where");
        wrong("-1,2", 0, "has '-1,2' where");
    }

    #[test]
    fn the_first_line_is_checked() {
        let read = |line: &str| abilities(line.as_bytes());
        let with = |gradient, batch| Ok(Abilities { gradient, batch });
        assert_eq!(read("{\"gradient\": true}\r"), with(true, None));
        assert_eq!(read("{\"batch\": 5}"), with(false, Some(5)));
        for bad in ["", "hello", "{\"gradients\": true}", "{\"gradient\": 1}", "{\"batch\": -1}"] {
            let said = read(bad).unwrap_err();
            assert!(said.contains(&format!("is '{}', but must", bad.escape_debug())), "{said}");
        }
        assert!(read("{\"batch\": 0}").unwrap_err().contains("must be at least 1"));
    }

    #[test]
    fn what_is_sent_reads_back_as_the_same_numbers() {
        let points = [[0.1 + 0.2, -0.0], [5e-324, -1e300], [1.0 / 3.0, 12_345_678_901.0]];
        let text = request(&Batch::from_points(2, &points), &[2, 0], true).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "batch 2 gradient");
        for (line, point) in lines[1..].iter().zip([points[2], points[0]]) {
            let bits: Vec<u64> =
                line.split(' ').map(|word| word.parse::<f64>().unwrap().to_bits()).collect();
            assert_eq!(bits, point.map(f64::to_bits));
        }
        assert_eq!(lines.len(), 3);
        assert_eq!(
            greeting(&["a".into(), "b\"".into()]).unwrap(),
            b"{\"adaann\":1,\"parameters\":[\"a\",\"b\\\"\"]}\n"
        );
    }
}
