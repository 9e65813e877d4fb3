//! The table `fit`: settings that override the defaults of the model, each with its place.

use super::brief::brief;
use super::check::meant;
use super::keys::FILE;
use super::read::{Reader, numbers};
use super::value::{Name, Node, Value};
use crate::answer;
use crate::fit::overlay::{Overlay, Setting, Table, Written};
use crate::model::expression::Span;
use crate::model::{Given, Output};

/// The contents of the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fit {
    /// The table's name; empty if the file has no such table.
    pub span: Span,
    pub settings: Given,
    /// The place of each value that was read, by its key.
    pub given: Vec<(Name, Span)>,
    /// Keys of values that could not be read.
    pub unread: Vec<Name>,
}

impl Reader<'_> {
    pub(super) fn fit(&mut self, name: &Name, entries: &[(Name, Value)]) -> Fit {
        let mut fit = Fit { span: name.span.clone(), ..Fit::default() };
        for (key, value) in entries {
            let Given { answer, fit: overlay, output } = &mut fit.settings;
            let read = read(key, value, answer)
                .or_else(|| read(key, value, overlay))
                .or_else(|| read(key, value, output));
            match read {
                Some(Ok(())) => fit.given.push((key.clone(), value.span.clone())),
                Some(Err(message)) => {
                    if !matches!(value.node, Node::TooLarge) {
                        self.error(&value.span, message, None);
                    }
                    fit.unread.push(key.clone());
                }
                None => self.unknown_setting(key),
            }
        }
        fit
    }

    fn unknown_setting(&mut self, key: &Name) {
        let known = names::<answer::Overlay>().chain(names::<Overlay>()).chain(names::<Output>());
        let help = match FILE.get(&key.text) {
            Some(key) => format!("`{}` concerns the whole file: move it above [fit]", key.name),
            None => meant(&key.text, known)
                .unwrap_or_else(|| "no setting has a similar name".to_owned()),
        };
        self.error(&key.span, format!("unknown key `{}`", brief(&key.text)), Some(&help));
    }
}

fn names<T: Table>() -> impl Iterator<Item = &'static str> {
    T::TABLE.iter().map(|setting: &Setting<T>| setting.name)
}

/// Reads a value into the table if the table has its key; the error is a message.
fn read<T: Table>(key: &Name, value: &Value, into: &mut T) -> Option<Result<(), String>> {
    let setting = T::find(&key.text)?;
    let list: Vec<f64>;
    let written = match &value.node {
        Node::Text(text) => Written::Text(text),
        Node::Whole(whole) => Written::Whole(*whole),
        Node::Real(real) => Written::Real(*real),
        Node::Boolean(on) => Written::Switch(*on),
        Node::List(values) => match numbers(values) {
            Some(numbers) => {
                list = numbers;
                Written::Numbers(&list)
            }
            None => Written::Other,
        },
        Node::Date | Node::TooLarge | Node::Table(_) => Written::Other,
    };
    Some(setting.read(into, written).map_err(|message| {
        // Some messages begin with "must", others describe the mistake.
        if message.starts_with("must") {
            format!("`{}` {message}", setting.name)
        } else {
            format!("`{}`: {message}", setting.name)
        }
    }))
}
