//! Checks a file against the table of its keys: unknown keys, missing keys and values of the wrong
//! form.

use super::brief::brief;
use super::keys::{FILE, Form, Keys};
use super::value::{Name, Node, Value};
use crate::model::diagnostic::{Report, Source};
use crate::model::expression::Span;
use crate::suggest::nearest;

pub(super) struct Checker<'a> {
    pub(super) source: &'a Source,
    pub(super) report: &'a mut Report,
}

impl Checker<'_> {
    /// Reports everything that does not match the form; a missing key is reported at `place`.
    pub(super) fn value(&mut self, value: &Value, form: &Form, place: &Name) {
        let number = value.number();
        match (form, &value.node) {
            (_, Node::TooLarge) => {}
            (Form::Value | Form::Number, Node::Real(real)) if real.is_nan() => {
                self.error(&value.span, "nan is not allowed here".to_owned(), None);
            }
            (Form::Text | Form::Formula | Form::Value | Form::Size, Node::Text(_))
            | (Form::Value | Form::Number | Form::Cell, Node::Whole(_) | Node::Real(_))
            | (Form::Size | Form::Count, Node::Whole(1..))
            | (Form::Switch, Node::Boolean(_))
            | (Form::Settings, Node::Table(_)) => {}
            (Form::Positive, _) if number.is_some_and(|value| value > 0.0 && value.is_finite()) => {
            }
            (Form::Choice(words), Node::Text(text)) => {
                // Other programs use underscores.
                if !words.contains(&text.replace('_', "-").as_str()) {
                    let message = format!("`{}` must be {}", brief(&place.text), form.expected());
                    let help = meant(text, words.iter().copied());
                    self.error(&value.span, message, help);
                }
            }
            (Form::List(form), Node::List(values)) => {
                for value in values {
                    // Report only one mistake in a long list.
                    if !form.fits(value) {
                        return self.value(value, form, place);
                    }
                }
                if let Form::Either(_) | Form::List(_) | Form::Table(_) = form {
                    values.iter().for_each(|value| self.value(value, form, place));
                }
            }
            (Form::Table(keys), Node::Table(entries)) => self.table(entries, keys, place),
            (Form::Either(forms), _) => match forms.iter().find(|form| form.fits(value)) {
                Some(form) => self.value(value, form, place),
                None => self.mismatch(value, form),
            },
            _ => self.mismatch(value, form),
        }
    }

    fn table(&mut self, entries: &[(Name, Value)], keys: &Keys, place: &Name) {
        for (name, value) in entries {
            let meant = meant(&name.text, keys.known.iter().map(|key| key.name));
            match (keys.get(&name.text), keys.others) {
                (Some(key), _) => self.value(value, &key.form, name),
                (None, Some(form)) if form.fits(value) || meant.is_none() => {
                    self.value(value, form, name);
                }
                _ => self.unknown(name, keys, meant),
            }
        }
        for required in keys.required {
            if !entries.iter().any(|(name, _)| name.text == *required) {
                let message = format!("`{}` has no `{required}`", brief(&place.text));
                let about = keys.get(required).map_or("", |key| key.about);
                self.error(&place.span, message, Some(format!("{required}: {about}")));
            }
        }
    }

    fn unknown(&mut self, name: &Name, keys: &Keys, meant: Option<String>) {
        let here = std::ptr::eq(keys.known, FILE.known);
        let help = if FILE.get(&name.text).is_some() && !here {
            format!("`{}` concerns the whole file: move it above the first [table]", name.text)
        } else if let Some(meant) = meant {
            meant
        } else {
            let known: Vec<_> = keys.known.iter().map(|key| key.name).collect();
            format!("the keys are {}", known.join(", "))
        };
        self.error(&name.span, format!("unknown key `{}`", brief(&name.text)), Some(help));
    }

    fn mismatch(&mut self, value: &Value, form: &Form) {
        let found = match &value.node {
            Node::Whole(number) => number.to_string(),
            Node::Real(number) => number.to_string(),
            _ => value.found().to_owned(),
        };
        self.error(&value.span, format!("expected {}, found {found}", form.expected()), None);
    }

    fn error(&mut self, span: &Span, message: String, help: Option<String>) {
        self.report.error(self.source, span.clone(), message, help);
    }
}

impl Form {
    /// Does a value have the right type? Its contents are not checked.
    fn fits(&self, value: &Value) -> bool {
        match self {
            Form::Text | Form::Formula | Form::Choice(_) => matches!(value.node, Node::Text(_)),
            Form::Value | Form::Size => matches!(value.node, Node::Text(_)) || is_number(value),
            Form::Number => {
                is_number(value) && value.number().is_none_or(|number| !number.is_nan())
            }
            Form::Cell | Form::Positive | Form::Count => is_number(value),
            Form::Switch => matches!(value.node, Node::Boolean(_)),
            Form::List(_) => matches!(value.node, Node::List(_)),
            Form::Table(_) | Form::Settings => matches!(value.node, Node::Table(_)),
            Form::Either(forms) => forms.iter().any(|form| form.fits(value)),
        }
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value.node, Node::Whole(_) | Node::Real(_) | Node::TooLarge)
}

/// A suggestion if a word is close to a known one.
pub(super) fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // A longer word is not a typo.
    let short = word.len() <= 64;
    let nearest = if short { nearest(word, known) } else { None };
    nearest.map(|nearest| format!("did you mean `{nearest}`?"))
}
