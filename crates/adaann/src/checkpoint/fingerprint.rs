//! The named values that a run depends on: a checkpoint can be resumed only if all of them are the
//! same.

use super::checksum::checksum;
use serde::{Deserialize, Serialize};

/// Longer texts are represented by their hash.
const LONG: usize = 200;

/// Named values that a run depends on: its model, data, settings, seed.
///
/// ```
/// use adaann::checkpoint::Fingerprint;
///
/// let model = "[parameters]\nmu = \"normal(0, 1)\"\n".repeat(20);
/// let before = Fingerprint::new().with("data.rows", 41).with("tau", 0.01).with("model file", &model);
/// let edited = model.replace("mu", "nu");
/// let now = Fingerprint::new().with("data.rows", 40).with("tau", 0.01).with("model file", edited);
///
/// let differences = now.differences(&before);
/// assert_eq!(differences, ["data.rows 40, was 41", "the model file is another one"]);
/// assert!(now.differences(&now).is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint {
    values: Vec<(String, Told)>,
}

/// A value as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Told {
    /// A value that is shown.
    Text(String),
    /// The hash and length of a value that is too long to show.
    Long { hash: u64, length: u64 },
}

impl Told {
    fn new(text: String) -> Self {
        if text.len() <= LONG {
            return Self::Text(text);
        }
        Self::Long { hash: checksum(text.as_bytes()), length: text.len() as u64 }
    }

    /// A description of the difference to the earlier value, if any.
    fn difference(&self, was: &Self, name: &str) -> Option<String> {
        match (self, was) {
            _ if self == was => None,
            (Self::Text(now), Self::Text(was)) => Some(format!("{name} {now}, was {was}")),
            _ => Some(format!("the {name} is another one")),
        }
    }
}

impl Fingerprint {
    /// A fingerprint without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value, or replaces the value with this name.
    ///
    /// A text of more than 200 bytes, such as a model file, is stored as its hash and length.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        let (name, told) = (name.into(), Told::new(value.to_string()));
        match self.values.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = told,
            None => self.values.push((name, told)),
        }
        self
    }

    fn get(&self, name: &str) -> Option<&Told> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, told)| told)
    }

    /// A description of each difference from `was`; empty if there is none. The order of names does
    /// not matter.
    pub fn differences(&self, was: &Self) -> Vec<String> {
        let both = self.values.iter().filter_map(|(name, now)| Some((name, now, was.get(name)?)));
        let mut differences: Vec<String> =
            both.filter_map(|(name, now, was)| now.difference(was, name)).collect();
        let added = self.values.iter().filter(|(name, _)| was.get(name).is_none());
        differences.extend(added.map(|(name, now)| match now {
            Told::Text(now) => format!("{name} {now}, was not given"),
            Told::Long { .. } => format!("the {name} was not given"),
        }));
        let gone = was.values.iter().filter(|(name, _)| self.get(name).is_none());
        differences.extend(gone.map(|(name, was)| match was {
            Told::Text(was) => format!("{name} is not given, was {was}"),
            Told::Long { .. } => format!("the {name} is not given"),
        }));
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_has_its_words() {
        let (a, b) = ("a".repeat(201), "a".repeat(202));
        let before =
            Fingerprint::new().with("seed", 1).with("method", "smc").with("model file", &a);
        let now = Fingerprint::new().with("model file", &b).with("seed", 1).with("tau", 0.5);
        let expected = [
            "the model file is another one",
            "tau 0.5, was not given",
            "method is not given, was smc",
        ];
        assert_eq!(now.differences(&before), expected);
        let expected = [
            "the model file is another one",
            "method smc, was not given",
            "tau is not given, was 0.5",
        ];
        assert_eq!(before.differences(&now), expected);
        let short = Fingerprint::new().with("model file", "short").with("seed", 1);
        assert_eq!(short.differences(&before)[0], "the model file is another one");
        let without = Fingerprint::new().with("seed", 1).with("method", "smc");
        assert_eq!(without.differences(&before), ["the model file is not given"]);
        assert_eq!(before.differences(&without), ["the model file was not given"]);
    }

    #[test]
    fn order_does_not_matter_and_the_last_value_counts() {
        let one = Fingerprint::new().with("a", 1).with("b", 2);
        let other = Fingerprint::new().with("b", 3).with("a", 1).with("b", 2);
        assert!(one.differences(&other).is_empty() && other.differences(&one).is_empty());
    }

    #[test]
    fn texts_of_one_length_are_told_apart() {
        let text = "x".repeat(500);
        let edited = format!("{}y", "x".repeat(499));
        let now = Fingerprint::new().with("data", edited);
        assert_eq!(now.differences(&Fingerprint::new().with("data", text)).len(), 1);
    }

    #[test]
    fn it_survives_json() {
        let told = Fingerprint::new().with("tau", 0.01).with("model file", "z".repeat(300));
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(serde_json::from_str::<Fingerprint>(&text).unwrap(), told);
        assert!(text.len() < 150, "{text}");
    }
}
