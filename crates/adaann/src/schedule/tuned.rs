//! The settings of rules by name, so that who reads settings knows no rule.

use super::Rule;

/// A setting of a rule, to be changed.
pub(crate) enum Setting<'a> {
    /// A number.
    Number(&'a mut f64),
    /// A number of things.
    Count(&'a mut usize),
    /// Numbers.
    List(&'a mut Vec<f64>),
    /// Something that is on unless its name, which says so, is given.
    On(&'a mut bool),
}

/// A rule whose settings have names: those of files and flags.
pub(crate) trait Tuned: Rule {
    /// Its settings.
    fn settings(&mut self) -> Vec<(&'static str, Setting<'_>)>;
}
