//! Flags that take a name: the help lists all names, an error suggests the nearest one.

use adaann::{Error, Result, fit::overlay::Names};
use clap::{
    Arg, Command,
    builder::{PossibleValue, TypedValueParser},
};
use std::ffi::OsStr;

/// Parses a name with the library's function, and lists its table in the help.
#[derive(Debug, Clone)]
pub(crate) struct Named<T>(pub(crate) Names, pub(crate) fn(&str) -> Result<T>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let Self(all, read) = self.clone();
        let read = move |name: &str| read(name).map_err(|error| expected(&error, all));
        read.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        Some(Box::new(self.0.iter().map(|(name, line)| PossibleValue::new(*name).help(*line))))
    }
}

/// The error message: a suggestion if there is a near name, otherwise the list of all names.
fn expected(error: &Error, all: Names) -> String {
    if let Error::UnknownName { nearest: Some(_), .. } = error {
        return error.to_string();
    }
    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    match &names[..] {
        [first @ .., last] if !first.is_empty() => {
            format!("must be {} or {last}", first.join(", "))
        }
        names => format!("must be {}", names.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::smc::Move;

    #[test]
    fn errors_have_the_nearest_name_or_all() {
        let say = |name: &str| expected(&Move::named(name).unwrap_err(), Move::ALL);
        assert!(say("hcm").ends_with("did you mean 'hmc'?"), "{}", say("hcm"));
        assert!(say("gibbs").starts_with("must be "), "{}", say("gibbs"));
    }
}
