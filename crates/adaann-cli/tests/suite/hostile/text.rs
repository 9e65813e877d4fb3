//! Mutations of a text: bytes, lines, numbers, nesting.

use super::{dice::Dice, values::BORDERS};

pub(crate) fn mutated(text: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..1 + dice.below(3) {
        text = once(text, dice);
    }
    text
}

fn once(mut text: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    match dice.below(12) {
        0 => flip(&mut text, dice),
        1 => text.truncate(dice.below(text.len())),
        2..7 => return with_number(&text, dice),
        kind => return with_lines(&text, kind, dice),
    }
    text
}

/// Changes one bit of one byte, or the whole byte.
pub(crate) fn flip(text: &mut [u8], dice: &mut Dice) {
    let at = dice.below(text.len());
    if let Some(byte) = text.get_mut(at) {
        *byte = if dice.one_in(2) { *byte ^ (1 << dice.below(8)) } else { dice.below(256) as u8 };
    }
}

/// Replaces one number by another.
pub(crate) fn with_number(text: &[u8], dice: &mut Dice) -> Vec<u8> {
    let is_part = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let starts: Vec<usize> = (0..text.len())
        .filter(|&at| text[at].is_ascii_digit() && (at == 0 || !is_part(text[at - 1])))
        .collect();
    if starts.is_empty() {
        return text.to_vec();
    }
    let start = *dice.of(&starts);
    let length = text[start..].iter().take_while(|byte| is_part(**byte)).count();
    let number = dice.of(BORDERS).as_bytes();
    [&text[..start], number, &text[start + length..]].concat()
}

fn with_lines(text: &[u8], kind: usize, dice: &mut Dice) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
    match kind {
        7 => lines.swap(at, other),
        8 => lines.insert(other, lines[at].clone()),
        9 => drop(lines.remove(at)),
        10 => nest(&mut lines[at], dice),
        _ => {
            let more = dice.of(&[" ", "#", "1,", "x", "+1", "🦀", "=", "\"", "\0"]);
            lines[at].extend(more.repeat(*dice.of(&[1, 3, 100_000])).bytes());
        }
    }
    lines.join(&b'\n')
}

/// Nests brackets, signs or calls after the line's `=`, inside its quotes if it has any.
fn nest(line: &mut Vec<u8>, dice: &mut Dice) {
    let depth = *dice.of(&[2, 50, 1000, 100_000]);
    let (open, close) = dice.of(&[
        ("(", ")"),
        ("[", "]"),
        ("{a=", "}"),
        ("exp(", ")"),
        ("-", ""),
        ("1^", ""),
        ("a.", ""),
    ]);
    let start =
        line.iter().position(|byte| [b'=', b':', b','].contains(byte)).map_or(0, |at| at + 1);
    let quote =
        line[start..].iter().position(|byte| *byte == b'"').map_or(start, |at| start + at + 1);
    let end = line
        .iter()
        .rposition(|byte| *byte == b'"')
        .filter(|end| *end >= quote)
        .unwrap_or(line.len());
    let inner = line[quote..end].to_vec();
    let nested = [open.repeat(depth).as_bytes(), &inner, close.repeat(depth).as_bytes()].concat();
    line.splice(quote..end, nested);
}
