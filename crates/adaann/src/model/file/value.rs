//! TOML as a tree with the place of every value, in the order of the file.

use super::brief::brief;
use crate::model::diagnostic::{Report, Source};
use crate::model::expression::{self, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Maximum number of TOML errors that are reported.
const MOST_ERRORS: usize = 20;

/// A word of the file with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct Value {
    pub(super) node: Node,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    Whole(i64),
    Real(f64),
    Boolean(bool),
    Date,
    /// A number out of range, which has been reported.
    TooLarge,
    List(Vec<Value>),
    Table(Vec<(Name, Value)>),
}

impl Value {
    /// The kind of value, as described in errors.
    pub(super) fn found(&self) -> &'static str {
        match &self.node {
            Node::Text(_) => "text",
            Node::Whole(_) => "a whole number",
            Node::Real(_) | Node::TooLarge => "a number",
            Node::Boolean(_) => "a boolean",
            Node::Date => "a date",
            Node::List(_) => "a list",
            Node::Table(_) => "a table",
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self.node {
            Node::Whole(value) => Some(value as f64),
            Node::Real(value) => Some(value),
            _ => None,
        }
    }

    /// The text with its place.
    pub(super) fn text(&self) -> Option<Name> {
        match &self.node {
            Node::Text(text) => Some(Name { text: text.clone(), span: self.span.clone() }),
            _ => None,
        }
    }

    pub(super) fn list(&self) -> Option<&[Value]> {
        match &self.node {
            Node::List(values) => Some(values),
            _ => None,
        }
    }

    pub(super) fn table(&self) -> Option<&[(Name, Value)]> {
        match &self.node {
            Node::Table(entries) => Some(entries),
            _ => None,
        }
    }
}

/// Parses the whole file; if it is not valid TOML, the errors are reported and nothing is read.
pub(super) fn parse(source: &Source, report: &mut Report) -> Option<Value> {
    let (root, errors) = DeTable::parse_recoverable(&source.text);
    // Further errors are usually consequences of the first ones.
    for error in errors.iter().take(MOST_ERRORS) {
        let span = error.span().unwrap_or(source.text.len()..source.text.len());
        let (span, message, help) = unquoted(&source.text, &span)
            .unwrap_or_else(|| explained(error.message(), &source.text, span));
        report.error(source, span, message, help);
    }
    let span = root.span();
    let root = Spanned::new(span, DeValue::Table(root.into_inner()));
    errors.is_empty().then(|| converted(root, source, report))
}

/// Replaces TOML's messages where a better one is known.
fn explained(message: &str, text: &str, span: Span) -> (Span, String, Option<String>) {
    if message.contains("duplicate key") {
        let key = text.get(span.clone()).unwrap_or_default();
        let message = format!("`{}` is defined twice", brief(key));
        return (span, message, Some("remove one of them".to_owned()));
    }
    if message.contains("recursion limit") {
        // This error has no place.
        let help = "tables are at most two levels deep, and names contain no dots".to_owned();
        return (longest_key(text), "this key has too many parts".to_owned(), Some(help));
    }
    if message.contains("recursion depth") {
        let help = "lists and tables are at most two levels deep".to_owned();
        return (span, "this is nested too deeply".to_owned(), Some(help));
    }
    (span, message.to_owned(), None)
}

/// The span of the key with the most dots.
fn longest_key(text: &str) -> Span {
    let (mut start, mut most, mut found) = (0, 0, 0..0);
    for line in text.split_inclusive('\n') {
        let key = line.split(['=', '#']).next().unwrap_or_default().trim_end();
        let dots = key.matches('.').count();
        if dots > most {
            (most, found) = (dots, start..start + key.len());
        }
        start += line.len();
    }
    found
}

/// The message for the most frequent mistake, if a span is in a line `name = formula`.
fn unquoted(text: &str, span: &Span) -> Option<(Span, String, Option<String>)> {
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next()?;
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next()?.trim();
    let bare =
        !value.starts_with(['"', '\'', '[', '{']) && !key.contains(['"', '\'', '[', '{', '#']);
    // The line may be part of a value that began earlier.
    if !bare || value.is_empty() || expression::parse(value, |offset| offset).is_err() {
        return None;
    }
    let from = start + key.len() + 1 + line[key.len() + 1..].find(value)?;
    if span.start < from {
        return None;
    }
    let help = (value.len() <= 60).then(|| format!("write `{} = \"{value}\"`", key.trim()));
    Some((from..from + value.len(), "this formula has no quotes".to_owned(), help))
}

fn converted(value: Spanned<DeValue<'_>>, source: &Source, report: &mut Report) -> Value {
    let span = value.span();
    let mut too_large = |help: &str| {
        let help = Some(help.to_owned());
        report.error(source, span.clone(), "this number is too large", help);
        Node::TooLarge
    };
    let node = match value.into_inner() {
        DeValue::String(text) => Node::Text(text.into_owned()),
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(value) => Node::Whole(value),
            Err(_) => too_large("whole numbers have at most 64 bits; write it as `1e20`"),
        },
        DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
            Ok(value) if value.is_finite() => Node::Real(value),
            Ok(value) if !digits.as_str().contains(|c: char| c.is_ascii_digit()) => {
                Node::Real(value)
            }
            _ => too_large("at most 1.79e308; or write `inf`"),
        },
        DeValue::Boolean(value) => Node::Boolean(value),
        DeValue::Datetime(_) => Node::Date,
        DeValue::Array(values) => {
            Node::List(values.into_iter().map(|value| converted(value, source, report)).collect())
        }
        DeValue::Table(table) => {
            let entry = |(key, value): (Spanned<_>, _)| {
                let name = Name { span: key.span(), text: String::from(key.into_inner()) };
                (name, converted(value, source, report))
            };
            let mut entries: Vec<_> = table.into_iter().map(entry).collect();
            entries.sort_by_key(|(name, _)| name.span.start);
            Node::Table(entries)
        }
    };
    Value { node, span }
}
