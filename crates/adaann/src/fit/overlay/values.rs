//! Values other than names: counts, numbers, lists, switches, learning-rate rules.
//!
//! An error says what the value must be; the caller puts the setting's name before it.

use super::names::{one_of, word};
use super::table::{Form, Names, Value, Written};
use crate::{flow::Mask, optim::RateRule};
use std::{path::PathBuf, str::FromStr, time::Duration};

/// The largest integer up to which a float represents every integer exactly.
const EXACT: f64 = (1_u64 << 53) as f64;

/// The largest seed: TOML has no integers beyond i64, and a run must be reproducible.
pub const LAST_SEED: u64 = i64::MAX as u64;

impl Value for bool {
    const FORM: Form = Form::Switch;

    fn read(written: Written<'_>) -> Result<Self, String> {
        match written {
            Written::Switch(on) => Ok(on),
            _ => Err("must be true or false".to_owned()),
        }
    }
}

impl Value for usize {
    const FORM: Form = Form::Count;

    fn read(written: Written<'_>) -> Result<Self, String> {
        let number = match written {
            Written::Word(word) => match word.parse() {
                Ok(count) => return Ok(count),
                Err(_) => word.parse().ok(),
            },
            Written::Whole(whole) => match usize::try_from(whole) {
                Ok(count) => return Ok(count),
                Err(_) => None,
            },
            Written::Real(real) => Some(real),
            _ => None,
        };
        Err(match number {
            Some(number) if number.fract() == 0.0 && (0.0..=EXACT).contains(&number) => {
                format!("must be a whole number, written as {number}")
            }
            Some(number) if number.fract() == 0.0 && number > EXACT => {
                format!("must be a whole number up to {}", usize::MAX)
            }
            _ => "must be a whole number".to_owned(),
        })
    }
}

/// A seed.
impl Value for u64 {
    const FORM: Form = Form::Count;

    fn read(written: Written<'_>) -> Result<Self, String> {
        let seed = match written {
            Written::Word(word) => word.parse().ok().filter(|seed| *seed <= LAST_SEED),
            Written::Whole(whole) => u64::try_from(whole).ok(),
            _ => None,
        };
        seed.ok_or_else(|| format!("must be a whole number from 0 to {LAST_SEED}"))
    }
}

/// A number in any notation for numbers.
fn real(written: Written<'_>) -> Option<f64> {
    match written {
        Written::Word(word) => word.parse().ok(),
        Written::Whole(whole) => Some(whole as f64),
        Written::Real(real) => Some(real),
        _ => None,
    }
}

impl Value for f64 {
    const FORM: Form = Form::Number;

    fn read(written: Written<'_>) -> Result<Self, String> {
        real(written).ok_or_else(|| "must be a number, like 0.5 or 1e-3".to_owned())
    }
}

impl Value for Vec<f64> {
    const FORM: Form = Form::Numbers;

    fn read(written: Written<'_>) -> Result<Self, String> {
        match written {
            Written::Word(word) => {
                let numbers: Result<_, _> = word.split(',').map(|x| x.trim().parse()).collect();
                numbers.map_err(|_| "must be numbers separated by commas, like 0.5,1".to_owned())
            }
            Written::Numbers(numbers) => Ok(numbers.to_vec()),
            one => {
                let list = real(one).map(|number| vec![number]);
                list.ok_or_else(|| {
                    "must be a number or a list of numbers, like [0.5, 1]".to_owned()
                })
            }
        }
    }
}

/// The start of annealing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum First {
    /// At this t.
    At(f64),
    /// At the t that the run finds best.
    Auto,
}

impl Value for First {
    const FORM: Form = Form::NumberOr(&[("auto", "found before the first update")]);

    fn read(written: Written<'_>) -> Result<Self, String> {
        match (word(written), real(written)) {
            (Some("auto"), _) => Ok(Self::Auto),
            (_, Some(t)) => Ok(Self::At(t)),
            _ => Err("must be a number, like 0.5 or 1e-3, or auto".to_owned()),
        }
    }
}

/// An optional limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit(pub Option<f64>);

impl Value for Limit {
    const FORM: Form = Form::NumberOr(&[("none", "no limit")]);

    fn read(written: Written<'_>) -> Result<Self, String> {
        match (word(written), real(written)) {
            (Some("none"), _) => Ok(Self(None)),
            (_, Some(limit)) if limit > 0.0 => Ok(Self(Some(limit))),
            _ => Err("must be a number above 0, or none".to_owned()),
        }
    }
}

const MASKS: Names = &[
    ("alternating", "every other coordinate"),
    ("halves", "the first half"),
    ("random", "a random half, another for every two couplings"),
];

impl Value for Mask {
    const FORM: Form = Form::Coordinates(MASKS);

    fn read(written: Written<'_>) -> Result<Self, String> {
        let kept: Option<Vec<usize>> = match written {
            Written::Word("alternating") | Written::Text("alternating") => {
                return Ok(Self::Alternating);
            }
            Written::Word("halves") | Written::Text("halves") => return Ok(Self::Halves),
            Written::Word("random") | Written::Text("random") => {
                return Ok(Self::Random { seed: 1 });
            }
            Written::Word(list) => list.split(',').map(|d| d.trim().parse().ok()).collect(),
            Written::Numbers(numbers) => {
                let whole = |d: &f64| (d.fract() == 0.0 && *d >= 0.0).then_some(*d as usize);
                numbers.iter().map(whole).collect()
            }
            Written::Whole(d) => usize::try_from(d).ok().map(|d| vec![d]),
            _ => None,
        };
        let list = if matches!(written, Written::Word(_)) { "0,2,5" } else { "[0, 2, 5]" };
        kept.map(Self::Kept).ok_or_else(|| {
            let names = one_of(MASKS).replace(" or ", ", ");
            format!("{names} or coordinates such as {list}")
        })
    }
}

/// `constant`, `step:EVERY:FACTOR`, `exponential:FACTOR` or `cosine:OVER[:FLOOR]`.
impl Value for RateRule {
    const FORM: Form = Form::Text;

    fn read(written: Written<'_>) -> Result<Self, String> {
        let fields: Vec<&str> = word(written).unwrap_or_default().split(':').collect();
        let rule = match fields[..] {
            ["constant"] => Self::Constant,
            ["step", every, factor] => Self::Step {
                every: field(every, "EVERY", "a whole number")?,
                factor: field(factor, "FACTOR", "a number")?,
            },
            ["exponential", factor] => {
                Self::Exponential { factor: field(factor, "FACTOR", "a number")? }
            }
            ["cosine", over] => {
                Self::Cosine { over: field(over, "OVER", "a whole number")?, floor: 0.0 }
            }
            ["cosine", over, floor] => Self::Cosine {
                over: field(over, "OVER", "a whole number")?,
                floor: field(floor, "FLOOR", "a number")?,
            },
            _ => {
                return Err("must be constant, step:EVERY:FACTOR, exponential:FACTOR or \
                            cosine:OVER[:FLOOR], like step:1000:0.5"
                    .to_owned());
            }
        };
        rule.check().map_err(|error| error.to_string())?;
        Ok(rule)
    }
}

fn field<T: FromStr>(text: &str, name: &str, what: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} is '{text}', but must be {what}"))
}

/// A length of time, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// This length of time.
    Every(Duration),
    /// Never.
    Off,
}

impl Interval {
    /// Its length; none for never.
    pub fn time(self) -> Option<Duration> {
        match self {
            Self::Every(time) => Some(time),
            Self::Off => None,
        }
    }

    /// Its length in seconds; none for never.
    pub fn seconds(self) -> Option<f64> {
        self.time().map(|time| time.as_secs_f64())
    }
}

impl FromStr for Interval {
    type Err = String;

    /// A number with a unit: `30s`, `1.5m`, `2h`; or `off`.
    fn from_str(text: &str) -> Result<Self, String> {
        let refusal = || "must be a time like 30s, 5m or 2h, or off".to_owned();
        if text == "off" {
            return Ok(Self::Off);
        }
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let seconds = match unit {
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(refusal()),
        };
        let number: f64 = text[..text.len() - unit.len()].parse().map_err(|_| refusal())?;
        Duration::try_from_secs_f64(number * seconds).map(Self::Every).map_err(|_| refusal())
    }
}

impl Value for Interval {
    const FORM: Form = Form::Text;

    fn read(written: Written<'_>) -> Result<Self, String> {
        word(written).unwrap_or_default().parse()
    }
}

impl Value for PathBuf {
    const FORM: Form = Form::Text;

    fn read(written: Written<'_>) -> Result<Self, String> {
        word(written).map(Self::from).ok_or_else(|| "must be text in quotes".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Written::{Numbers, Other, Real, Switch, Text, Whole, Word};

    #[test]
    fn times_have_units() {
        let every = |seconds| Ok(Interval::Every(Duration::from_secs_f64(seconds)));
        assert_eq!(Interval::read(Word("30s")), every(30.0));
        assert_eq!(Interval::read(Text("1.5m")), every(90.0));
        assert_eq!(Interval::read(Word("0s")), every(0.0));
        assert_eq!(Interval::read(Word("off")), Ok(Interval::Off));
        for bad in ["30", "s", "-1s", "1e3s", "1d", "", "9999999999999999999999h"] {
            let said = Interval::read(Word(bad)).unwrap_err();
            assert_eq!(said, "must be a time like 30s, 5m or 2h, or off", "{bad}");
        }
        assert!(Interval::read(Whole(30)).is_err());
    }

    #[test]
    fn rules_are_read_and_checked() {
        let rule = |text| RateRule::read(Word(text));
        assert_eq!(rule("constant"), Ok(RateRule::Constant));
        assert_eq!(rule("step:1000:0.5"), Ok(RateRule::Step { every: 1000, factor: 0.5 }));
        assert_eq!(rule("exponential:0.999"), Ok(RateRule::Exponential { factor: 0.999 }));
        assert_eq!(rule("cosine:100"), Ok(RateRule::Cosine { over: 100, floor: 0.0 }));
        assert_eq!(rule("cosine:100:0.1"), Ok(RateRule::Cosine { over: 100, floor: 0.1 }));
        assert_eq!(RateRule::read(Text("constant")), Ok(RateRule::Constant));
        for bad in ["", "step", "step:0:0.5", "step:10:2", "step:1.5:0.5", "cosine:9:-1", "warm"] {
            assert!(rule(bad).is_err(), "{bad}");
        }
        assert!(RateRule::read(Real(0.5)).unwrap_err().starts_with("must be constant, step:"));
    }

    #[test]
    fn rules_name_the_bad_field() {
        let said = RateRule::read(Word("step:1.5:0.5")).unwrap_err();
        assert_eq!(said, "EVERY is '1.5', but must be a whole number");
        let said = RateRule::read(Word("exponential:half")).unwrap_err();
        assert_eq!(said, "FACTOR is 'half', but must be a number");
    }

    #[test]
    fn counts_are_whole_and_written_out() {
        assert_eq!(usize::read(Word("1000")), Ok(1000));
        assert_eq!(usize::read(Whole(1000)), Ok(1000));
        for (written, said) in [
            (Word("1e3"), "must be a whole number, written as 1000"),
            (Real(1e3), "must be a whole number, written as 1000"),
            (Word("20."), "must be a whole number, written as 20"),
            (Word("1e30"), "must be a whole number up to 18446744073709551615"),
            (Word("2.5"), "must be a whole number"),
            (Real(2.5), "must be a whole number"),
            (Word("-5"), "must be a whole number"),
            (Whole(-5), "must be a whole number"),
            (Word("many"), "must be a whole number"),
            (Word(""), "must be a whole number"),
            (Text("20"), "must be a whole number"),
            (Switch(true), "must be a whole number"),
        ] {
            assert_eq!(usize::read(written), Err(said.to_owned()), "{written:?}");
        }
    }

    #[test]
    fn seeds_end_where_files_do() {
        assert_eq!(u64::read(Word("9223372036854775807")), Ok(LAST_SEED));
        assert_eq!(u64::read(Whole(i64::MAX)), Ok(LAST_SEED));
        for bad in [Word("9223372036854775808"), Word("-1"), Whole(-1), Word("1e3"), Real(1.0)] {
            let said = u64::read(bad).unwrap_err();
            assert_eq!(said, "must be a whole number from 0 to 9223372036854775807", "{bad:?}");
        }
    }

    #[test]
    fn lists_are_of_numbers() {
        assert_eq!(Vec::read(Word("-1, 2e1")), Ok(vec![-1.0, 20.0]));
        assert_eq!(Vec::read(Numbers(&[-1.0, 20.0])), Ok(vec![-1.0, 20.0]));
        assert_eq!(Vec::read(Whole(2)), Ok(vec![2.0]));
        for bad in ["", "1,,2", "1;2", "1,x"] {
            let said = Vec::read(Word(bad)).unwrap_err();
            assert_eq!(said, "must be numbers separated by commas, like 0.5,1", "{bad}");
        }
        for bad in [Text("1,2"), Other, Switch(true)] {
            let said = Vec::read(bad).unwrap_err();
            assert_eq!(said, "must be a number or a list of numbers, like [0.5, 1]", "{bad:?}");
        }
    }

    #[test]
    fn annealing_starts_at_a_number_or_finds_one() {
        assert_eq!(First::read(Word("1e-3")), Ok(First::At(1e-3)));
        assert_eq!(First::read(Whole(0)), Ok(First::At(0.0)));
        assert_eq!(First::read(Text("auto")), Ok(First::Auto));
        assert!(First::read(Word("Auto")).is_err() && First::read(Text("0.1")).is_err());
    }

    #[test]
    fn limits_are_above_0_or_none() {
        assert_eq!(Limit::read(Word("none")), Ok(Limit(None)));
        assert_eq!(Limit::read(Real(2.5)), Ok(Limit(Some(2.5))));
        assert!(Limit::read(Word("0")).is_err() && Limit::read(Real(f64::NAN)).is_err());
    }

    #[test]
    fn masks_are_named_or_listed() {
        assert_eq!(Mask::read(Text("halves")), Ok(Mask::Halves));
        assert_eq!(Mask::read(Word("0,2")), Ok(Mask::Kept(vec![0, 2])));
        assert_eq!(Mask::read(Numbers(&[0.0, 2.0])), Ok(Mask::Kept(vec![0, 2])));
        assert_eq!(
            Mask::read(Word("half")).unwrap_err(),
            "must be alternating, halves, random or coordinates such as 0,2,5"
        );
        assert!(Mask::read(Numbers(&[0.5])).is_err() && Mask::read(Numbers(&[-1.0])).is_err());
    }
}
