//! Flags generated from the library's tables of settings, with the names, help and values of model files.

use crate::text::failure::as_flags;
use adaann::fit::{
    Overlay,
    overlay::{ANNEALING, Form, Setting, Table, Written},
};
use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches,
    builder::{PossibleValue, TypedValueParser},
};
use std::ffi::OsStr;

/// The settings of a table, read from flags.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags<T>(pub(crate) T);

impl<T: Table> Args for Flags<T> {
    fn augment_args(command: Command) -> Command {
        command.args(T::TABLE.iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Table> FromArgMatches for Flags<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        read(T::TABLE.iter(), matches, &mut self.0);
        Ok(())
    }
}

/// The settings of the annealing: path, schedule and base. All annealed methods share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnnealingFlags(pub(crate) Overlay);

fn annealing() -> impl Iterator<Item = &'static Setting<Overlay>> {
    Overlay::TABLE.iter().filter(|setting| setting.heading == ANNEALING)
}

impl Args for AnnealingFlags {
    fn augment_args(command: Command) -> Command {
        command.args(annealing().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AnnealingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        read(annealing(), matches, &mut self.0);
        Ok(())
    }
}

/// The flag of a setting.
fn arg<T: Table>(setting: &'static Setting<T>) -> Arg {
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .help(as_flags(setting.about()))
        .help_heading(setting.heading);
    match setting.form {
        Form::Switch => arg.action(ArgAction::SetTrue),
        form => arg
            .value_name(setting.symbol)
            .value_parser(Word(setting))
            .allow_negative_numbers(matches!(form, Form::Count | Form::Number | Form::NumberOr(_)))
            .allow_hyphen_values(form == Form::Numbers),
    }
}

/// Reads the flags on the command line into a table.
fn read<T: Table>(
    settings: impl Iterator<Item = &'static Setting<T>>,
    matches: &ArgMatches,
    into: &mut T,
) {
    for setting in settings {
        let read = match setting.form {
            Form::Switch if matches.get_flag(setting.name) => {
                setting.read(into, Written::Switch(true))
            }
            Form::Switch => Ok(()),
            _ => match matches.get_one::<String>(setting.name) {
                Some(word) => setting.read(into, Written::Word(word)),
                None => Ok(()),
            },
        };
        read.expect("clap has parsed the value before");
    }
}

/// Parses a word with the reader of its setting.
struct Word<T: 'static>(&'static Setting<T>);

impl<T> Clone for Word<T> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<T: Table> TypedValueParser for Word<T> {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        let setting = self.0;
        let read = move |word: &str| {
            setting.read(&mut T::default(), Written::Word(word)).map(|()| word.to_owned())
        };
        read.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        match self.0.form {
            Form::Name(all) | Form::Joined(all) => {
                Some(Box::new(all.iter().map(|(name, line)| PossibleValue::new(*name).help(*line))))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::args::Cli;
    use adaann::{
        answer,
        fit::{Overlay, overlay::Table},
        model::Output,
    };
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    /// The flags of `adaann fit`, except `--data`, are exactly the keys of the table `fit`, and their help
    /// is the description in the schema.
    #[test]
    fn flags_are_keys_and_keys_are_flags() {
        let cli = Cli::command();
        let fit = cli.find_subcommand("fit").unwrap();
        let flags = fit.get_arguments().filter_map(clap::Arg::get_long);
        let flags: BTreeSet<&str> = flags.filter(|name| *name != "data").collect();
        let schema = adaann::model::schema();
        let keys = schema["properties"]["fit"]["properties"].as_object().unwrap();
        assert_eq!(flags, keys.keys().map(String::as_str).collect());
        let tables = answer::Overlay::TABLE.len() + Overlay::TABLE.len() + Output::TABLE.len();
        assert_eq!(keys.len(), tables);
        for (name, key) in keys {
            let arg = fit.get_arguments().find(|arg| arg.get_long() == Some(name)).unwrap();
            let help = arg.get_help().unwrap().to_string();
            let about = key["description"].as_str().unwrap();
            assert_eq!(help.replace("--", ""), about.replace('`', ""), "{name}");
        }
    }
}
