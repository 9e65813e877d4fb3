//! Runs everything that is done with the text of a model file, for the fuzz target and a small test
//! here.

use super::diagnostic::{Report, Source};
use super::expression::{Ast, Kind};
use super::file::{Constant, Event, Events, File, Formula, State, read};
use super::print::{latex, plain};
use super::{Model, Notation};

/// Reads a text, formats its mistakes and prints its formulas; returns the total length of the
/// output.
pub fn exercise(text: &str) -> usize {
    let source = Source::new("model.toml", text);
    let (file, report) = read(&source);
    let formulas = formulas(&file);
    formulas.iter().for_each(|formula| check_spans(&formula.ast, text));
    let printed =
        formulas.iter().map(|formula| plain(&formula.ast).len() + latex(&formula.ast).len());
    let understood = match Model::parse("model.toml", text) {
        Ok(model) => model.mathematics(Notation::Plain).len(),
        Err(diagnostics) => diagnostics.to_string().len(),
    };
    printed.sum::<usize>() + shown(report) + understood
}

fn shown(report: Report) -> usize {
    report.into_result().map_or_else(|errors| errors.to_string().len(), |()| 0)
}

fn formulas(file: &File) -> Vec<&Formula> {
    let constants = file.constants.iter().filter_map(|(_, constant)| match constant {
        Constant::Formula(formula) => Some(formula),
        _ => None,
    });
    let parameters = file.parameters.iter();
    let parts = parameters.flat_map(|one| {
        let given = [&one.prior, &one.lower, &one.upper].into_iter().flatten();
        given.chain(&one.size)
    });
    let lines = file.quantities.iter().chain(&file.likelihood).map(|(_, formula)| formula);
    let states = file.ode.iter().flat_map(|ode| &ode.states);
    let events = file.ode.iter().filter_map(|ode| match &ode.events {
        Events::List(list) => Some(list.iter().flat_map(Event::formulas)),
        _ => None,
    });
    constants
        .chain(parts)
        .chain(lines)
        .chain(file.weights.iter().flatten())
        .chain(file.data.iter().flat_map(|data| data.derived.iter().map(|(_, formula)| formula)))
        .chain(file.density.iter().chain(&file.log_likelihood))
        .chain(file.ode.iter().flat_map(|ode| ode.start.iter().chain(&ode.settle)))
        .chain(file.series.iter().flat_map(|series| series.formulas()))
        .chain(states.flat_map(|state| [&state.start, &state.rate]))
        .chain(events.flatten())
        .chain(file.ode.iter().flat_map(|ode| &ode.states).flat_map(State::of_doses))
        .collect()
}

/// Checks that the span of every part of a formula is inside the whole and the file.
fn check_spans(ast: &Ast, text: &str) {
    let inside = |inner: &Ast| {
        debug_assert!(text.get(inner.span.clone()).is_some(), "{:?} of {text:?}", inner.span);
        let within = ast.span.start <= inner.span.start && inner.span.end <= ast.span.end;
        debug_assert!(within, "{:?} outside {:?}", inner.span, ast.span);
        check_spans(inner, text);
    };
    match &ast.kind {
        Kind::Number(_) | Kind::Name(_) => {}
        Kind::Call { arguments: values, .. } | Kind::List(values) => values.iter().for_each(inside),
        Kind::Index { of, indices } => indices.iter().chain([&**of]).for_each(inside),
        Kind::Range { first, last } => first.iter().chain(last).for_each(|side| inside(side)),
        Kind::Negate(value) | Kind::Not(value) | Kind::Named { value, .. } => inside(value),
        Kind::Binary { left, right, .. } => [left, right].into_iter().for_each(|side| inside(side)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::file::examples;

    const TOKENS: &[&str] = &[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        "\"\"\"",
        "'''",
        "\\",
        "\\u00e9",
        "=",
        "==",
        "@",
        ":",
        "<",
        "^",
        "-",
        "**",
        "&&",
        "#",
        ",",
        ".",
        "_",
        "\n",
        "\r\n",
        "\t",
        "\0",
        "\u{1b}",
        "é",
        "日",
        "²",
        "−",
        "nan",
        "inf",
        "1e999",
        "99999999999999999999",
        "1979-05-27",
        "true",
        " and ",
        " not ",
        "if(",
        "[ode]",
        "[series]",
        "[series.states]",
        "before(y, 2, 0)",
        "integral(u, 0, 2)",
        "maximum(u, 0, 2)",
        "at(u, 1)",
        "[[data]]",
        "size = ",
        "a.b.c = 1\n",
        "\u{feff}",
        "0x",
        "1_0",
    ];

    /// Numbers below a bound, the same in every run.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, bound: usize) -> usize {
            // Knuth's multiplier; the upper bits are the most random.
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % bound.max(1)
        }
    }

    fn mutated(bytes: &mut Vec<u8>, dice: &mut Dice) {
        let at = dice.below(bytes.len() + 1);
        let token = TOKENS[dice.below(TOKENS.len())];
        match dice.below(7) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => {
                let other = dice.below(bytes.len());
                bytes.swap(at, other);
            }
            2 if at < bytes.len() => bytes[at] = dice.below(256) as u8,
            3 => drop(bytes.splice(at..at, token.repeat(1 + 300 * (dice.below(10) / 9)).bytes())),
            4 => drop(bytes.drain(at..(at + dice.below(40)).min(bytes.len()))),
            5 => {
                let copy = bytes[at..(at + dice.below(80)).min(bytes.len())].to_vec();
                let to = dice.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            _ => drop(bytes.splice(at..at, token.bytes())),
        }
    }

    #[test]
    fn no_text_is_too_strange() {
        let mut dice = Dice(7);
        let seeds = examples();
        let mut faulty = 0;
        for round in 0..4_000 {
            let mut bytes = seeds[round % seeds.len()].clone().into_bytes();
            (0..1 + dice.below(6)).for_each(|_| mutated(&mut bytes, &mut dice));
            let text = String::from_utf8_lossy(&bytes);
            faulty += usize::from(!read(&Source::new("model.toml", &*text)).1.is_empty());
            exercise(&text);
        }
        // Otherwise the mutations would cause only errors of TOML, or none.
        assert!((2_000..3_990).contains(&faulty), "{faulty}");
    }
}
