//! Settings by name, as arguments of a function.

use crate::{embed::Failure, embed::failure::as_argument};
use adaann::{
    answer,
    fit::{
        Overlay,
        overlay::{Form, Names, Table, Written},
    },
    model::{Given, Output},
};

/// The value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    /// A word as on the command line, which may be a number or a list.
    Text(String),
    /// On or off.
    Switch(bool),
}

/// Settings for the output of commands, which front ends handle themselves.
const NOT_HERE: [&str; 3] = ["quiet", "json", "dry-run"];

/// Reads settings by name, with `_` in place of `-`.
///
/// # Errors
/// If a name is unknown or a value is invalid.
pub fn settings<N: AsRef<str>>(
    words: impl IntoIterator<Item = (N, Word)>,
) -> Result<Given, Failure> {
    let mut given = Given::default();
    for (name, word) in words {
        let name = name.as_ref().replace('_', "-");
        let read = if NOT_HERE.contains(&&name[..]) {
            None
        } else {
            read(&mut given.answer, &name, &word)
                .or_else(|| read(&mut given.fit, &name, &word))
                .or_else(|| read(&mut given.output, &name, &word))
        };
        match read {
            Some(Ok(())) => {}
            Some(Err(why)) => {
                let name = as_argument(&name);
                let value = match &word {
                    Word::Text(text) => text.clone(),
                    Word::Switch(is_on) => is_on.to_string(),
                };
                return Err(Failure::usage(format!("{name} is {value}, but {why}")));
            }
            None => return Err(unknown(&name)),
        }
    }
    Ok(given)
}

fn read<T: Table>(into: &mut T, name: &str, word: &Word) -> Option<Result<(), String>> {
    let setting = T::find(name)?;
    Some(match (setting.form, word) {
        (Form::Switch, Word::Switch(is_on)) => setting.read(into, Written::Switch(*is_on)),
        (Form::Switch, Word::Text(_)) => Err("must be True or False".to_owned()),
        (_, Word::Switch(is_on)) => setting.read(into, Written::Switch(*is_on)),
        (_, Word::Text(text)) => setting.read(into, Written::Word(text)),
    })
}

/// The error for an unknown name, with the nearest setting.
fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = all().map(|(name, ..)| name).collect();
    let nearest = adaann::support::suggest::nearest(name, names);
    let hint =
        nearest.map_or(String::new(), |near| format!("; did you mean {}?", as_argument(&near)));
    Failure::usage(format!("there is no setting called {}{hint}", as_argument(name)))
}

/// Every setting with its description and its possible values.
fn all() -> impl Iterator<Item = (&'static str, &'static str, Names)> {
    fn of<T: Table>() -> impl Iterator<Item = (&'static str, &'static str, Names)> {
        T::TABLE.iter().map(|setting| {
            let names = match setting.form {
                Form::Name(names) | Form::Joined(names) => names,
                _ => &[],
            };
            (setting.name, setting.about(), names)
        })
    }
    let all = of::<answer::Overlay>().chain(of::<Overlay>()).chain(of::<Output>());
    all.filter(|(name, ..)| !NOT_HERE.contains(name))
}

/// A setting as an argument: its name, its help text from the command line, and its possible values with a
/// description each, if there is a fixed list.
pub type Help = (String, String, Vec<(&'static str, &'static str)>);

/// Every setting as an argument.
pub fn settings_help() -> Vec<Help> {
    let plain = |text: &str| {
        let parts = text.split('`').enumerate();
        let part = |(i, part)| if i % 2 == 1 { as_argument(part) } else { part.to_owned() };
        parts.map(part).collect()
    };
    all().map(|(name, about, names)| (as_argument(name), plain(about), names.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_those_of_flags() {
        let text = |text: &str| Word::Text(text.to_owned());
        let given = settings([
            ("seed", text("3")),
            ("target_ess", text("500")),
            ("base_sd", text("1,2")),
            ("force", Word::Switch(true)),
        ]);
        let given = given.unwrap();
        assert_eq!((given.fit.seed, given.answer.target_ess), (Some(3), Some(500.0)));
        assert_eq!(given.fit.base_sd, Some(vec![1.0, 2.0]));
        assert_eq!(given.output.force, Some(true));
        let said = |name, word| settings([(name, word)]).unwrap_err().to_string();
        assert!(said("taget_ess", text("1")).ends_with("did you mean target_ess?"));
        assert!(said("quiet", Word::Switch(true)).starts_with("there is no setting called quiet"));
        assert!(said("seed", text("x")).starts_with("seed is x, but"));
        assert!(said("force", text("x")).contains("True or False"));
    }
}
