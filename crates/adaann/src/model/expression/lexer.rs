//! Splits a formula into tokens; reports unknown symbols and substitutes the nearest token.

use super::ast::{Fault, Operator, Span};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    Operator(Operator),
    Not,
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
    Colon,
    /// `=`, which names an argument.
    Assign,
    /// An invalid token that has been reported.
    Unknown,
    End,
}

/// All tokens with their spans; the last is `End`.
pub(super) fn tokens<'a>(text: &'a str, faults: &mut Vec<Fault>) -> Vec<(Token<'a>, Span)> {
    let mut tokens = Vec::new();
    let mut place = 0;
    while let Some(first) = text[place..].chars().next() {
        let rest = &text[place..];
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            let digits = rest.strip_prefix('.').unwrap_or(rest);
            let (token, length) = if digits.starts_with(|c: char| c.is_ascii_digit()) {
                number(rest, place, faults)
            } else if begins_name(first) {
                word(rest)
            } else {
                symbol(rest, place, faults)
            };
            tokens.push((token, place..place + length));
            length
        };
        place += length;
    }
    tokens.push((Token::End, place..place));
    tokens
}

/// Is the text a valid name in formulas?
pub(crate) fn is_name(text: &str) -> bool {
    text.chars().next().is_some_and(begins_name)
        && text.chars().all(continues_name)
        && !["and", "or", "not"].contains(&text)
}

fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    begins_name(c) || c.is_ascii_digit() || ('₀'..='₉').contains(&c)
}

fn word(rest: &str) -> (Token<'_>, usize) {
    let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
    let token = match &rest[..length] {
        "and" => Token::Operator(Operator::And),
        "or" => Token::Operator(Operator::Or),
        "not" => Token::Not,
        name => Token::Name(name),
    };
    (token, length)
}

fn number<'a>(rest: &'a str, place: usize, faults: &mut Vec<Fault>) -> (Token<'a>, usize) {
    let digits = |from: usize| {
        let tail = &rest[from..];
        from + tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len())
    };
    let mut end = digits(0);
    if rest[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    let mut fault = |end: usize, message: String, help: &str| {
        faults.push(Fault { span: place..place + end, message, help: Some(help.to_owned()) });
        (Token::Unknown, end)
    };
    // Also consume characters that look like a continuation of the number.
    let swallow = |c: char| !(c.is_ascii_digit() || c == '.' || c == '_');
    let longer = rest.find(swallow).unwrap_or(rest.len());
    if rest[end..].starts_with('_') {
        let written = &rest[..longer];
        let help = format!("write `{}`", written.replace('_', ""));
        return fault(longer, format!("`{written}` is not a number"), &help);
    }
    if rest[end..].starts_with('.') && longer > end + 1 {
        let message = format!("`{}` is not a number", &rest[..longer]);
        return fault(longer, message, "a number has one decimal point");
    }
    match rest[..end].parse::<f64>() {
        Ok(value) if value.is_finite() => (Token::Number(value), end),
        _ => fault(end, "this number is too large".to_owned(), "at most 1.79e308; or write `inf`"),
    }
}

/// A symbol, its token, and what to write instead if the symbol is not valid.
type Symbol = (&'static str, Token<'static>, Option<&'static str>);

/// Longer symbols come before their prefixes.
const SYMBOLS: &[Symbol] = {
    use Operator::*;
    use Token::Operator as Op;
    &[
        ("**", Op(Power), Some("write `^` for a power")),
        ("&&", Op(And), Some("write `and`")),
        ("&", Op(And), Some("write `and`")),
        ("||", Op(Or), Some("write `or`")),
        ("|", Op(Or), Some("write `or`; `abs(x)` is the absolute value")),
        ("<=", Op(LessOrEqual), None),
        (">=", Op(GreaterOrEqual), None),
        ("===", Op(Equal), Some("write `==`")),
        ("==", Op(Equal), None),
        ("!=", Op(NotEqual), None),
        ("<>", Op(NotEqual), Some("write `!=`")),
        ("≤", Op(LessOrEqual), None),
        ("≥", Op(GreaterOrEqual), None),
        ("≠", Op(NotEqual), None),
        ("<", Op(Less), None),
        (">", Op(Greater), None),
        ("=", Token::Assign, None),
        ("!", Token::Not, Some("write `not`")),
        ("%", Op(Divide), Some("formulas have no remainder operator; for percent, write `/100`")),
        ("+", Op(Add), None),
        ("-", Op(Subtract), None),
        ("−", Op(Subtract), None),
        ("–", Op(Subtract), None),
        ("*", Op(Multiply), None),
        ("×", Op(Multiply), None),
        ("·", Op(Multiply), None),
        ("⋅", Op(Multiply), None),
        ("/", Op(Divide), None),
        ("^", Op(Power), None),
        (".*", Op(Multiply), Some("write `*`: it works element by element")),
        ("./", Op(Divide), Some("write `/`: it works element by element")),
        (".^", Op(Power), Some("write `^`: it works element by element")),
        ("(", Token::Open, None),
        (")", Token::Close, None),
        ("[", Token::OpenList, None),
        ("]", Token::CloseList, None),
        (",", Token::Comma, None),
        (":", Token::Colon, None),
        ("@", Op(MatMul), None),
        ("²", Token::Unknown, Some("write `^2`")),
        ("³", Token::Unknown, Some("write `^3`")),
        ("√", Token::Unknown, Some("write `sqrt(x)`")),
        ("∞", Token::Unknown, Some("write `inf`")),
        ("?", Token::Unknown, Some("write `if(condition, a, b)` for a choice")),
        (";", Token::Unknown, Some("a formula is one expression; `,` separates arguments")),
        ("{", Token::Unknown, Some("use parentheses")),
        ("}", Token::Unknown, Some("use parentheses")),
        ("~", Token::Unknown, Some("write distributions under [likelihood], or in `logpdf`")),
    ]
};

fn symbol<'a>(rest: &'a str, place: usize, faults: &mut Vec<Fault>) -> (Token<'a>, usize) {
    let known = SYMBOLS.iter().find(|(written, ..)| rest.starts_with(written));
    let (token, length, help) = match known {
        Some(&(written, token, None)) => return (token, written.len()),
        Some(&(written, token, help)) => (token, written.len(), help),
        None => {
            let first = rest.chars().next().unwrap_or_default();
            // Report a run of the same unknown character once.
            let length = rest.find(|c| c != first).unwrap_or(rest.len());
            (Token::Unknown, length, None)
        }
    };
    let written = rest.chars().next().unwrap_or_default();
    let message = match &rest[..length] {
        known if help.is_some() => format!("`{known}` is not part of formulas"),
        _ if written.is_control() || written.len_utf8() > 1 => {
            format!(
                "the character {} (U+{:04X}) is not part of formulas",
                quoted(written),
                written as u32
            )
        }
        _ => format!("`{written}` is not part of formulas"),
    };
    faults.push(Fault { span: place..place + length, message, help: help.map(str::to_owned) });
    (token, length)
}

fn quoted(c: char) -> String {
    format!("`{}`", c.escape_debug())
}
