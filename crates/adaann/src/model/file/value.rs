//! TOML as a tree with the place of everything, in the order of the file.

use super::brief::brief;
use crate::model::diagnostic::{Report, Source};
use crate::model::expression::{self, Span};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Errors of TOML itself that are reported.
const MOST_ERRORS: usize = 20;

/// A word of the file and its place.
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
    /// A number that was reported already.
    TooLarge,
    List(Vec<Value>),
    Table(Vec<(Name, Value)>),
}

impl Value {
    /// What it is, in an error.
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

    /// The text and its place.
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

/// The whole file; what TOML does not allow is reported, and nothing is read then.
pub(super) fn parse(source: &Source, report: &mut Report) -> Option<Value> {
    let (root, errors) = DeTable::parse_recoverable(&source.text);
    // After so many the rest is noise.
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

/// TOML's own words, unless there are better ones.
fn explained(message: &str, text: &str, span: Span) -> (Span, String, Option<String>) {
    if message.contains("duplicate key") {
        let key = text.get(span.clone()).unwrap_or_default();
        let message = format!("`{}` is here twice", brief(key));
        return (span, message, Some("keep one of them".to_owned()));
    }
    if message.contains("recursion limit") {
        // It is said without a place.
        let help = "tables are one or two deep, and names have no dots".to_owned();
        return (longest_key(text), "this key has too many parts".to_owned(), Some(help));
    }
    if message.contains("recursion depth") {
        let help = "lists are one or two deep, and so are tables".to_owned();
        return (span, "this is nested too deeply".to_owned(), Some(help));
    }
    (span, message.to_owned(), None)
}

/// Where the key with most dots stands.
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

/// What to say of the most frequent mistake, if a span is in the line `name = formula`.
fn unquoted(text: &str, span: &Span) -> Option<(Span, String, Option<String>)> {
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next()?;
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next()?.trim();
    let bare =
        !value.starts_with(['"', '\'', '[', '{']) && !key.contains(['"', '\'', '[', '{', '#']);
    // A value from an earlier line may go on here.
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
