//! The settings of rules by name; keeps parsing independent of the rules.

use super::Rule;

/// A mutable setting of a rule.
pub(crate) enum Setting<'a> {
    /// A number.
    Number(&'a mut f64),
    /// A count.
    Count(&'a mut usize),
    /// A list of numbers.
    List(&'a mut Vec<f64>),
    /// A feature that is on by default; giving the setting's name turns it off.
    On(&'a mut bool),
}

/// A rule with named settings, used in files and as flags.
pub(crate) trait Tuned: Rule {
    /// Its settings.
    fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)>;
}
