//! The rooms of ARCHITECTURE.md stand in the order of its table: none uses one that comes after it.

mod graph;
mod source;

use graph::{Graph, Step, cycles, room};
use std::{collections::BTreeSet, fs, path::Path};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The rooms of the table, lowest first: the first cell of each row is a room in backticks.
fn rooms(text: &str) -> Vec<String> {
    let table = text.lines().skip_while(|line| !line.starts_with("| Room |")).skip(2);
    table
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('`').nth(1).expect("a room in backticks").to_owned())
        .collect()
}

/// Steps to a room that stands later in the order, or is not in it.
fn upwards(steps: &BTreeSet<Step>, order: &[String]) -> Vec<String> {
    let storey = |file: &str| order.iter().position(|name| name == room(file));
    let climbs = |step: &&Step| match (storey(&step.from), storey(&step.to)) {
        (Some(from), Some(to)) => to > from,
        _ => true,
    };
    // The root of the crate stands outside: it hands on what the rooms have.
    let inside = |step: &&Step| room(&step.from) != "lib";
    steps
        .iter()
        .filter(inside)
        .filter(climbs)
        .map(|step| format!("{} uses {} by {}", step.from, step.to, step.path))
        .collect()
}

#[test]
fn a_room_uses_only_those_before_it() {
    let architecture = fs::read_to_string(root().join("../../ARCHITECTURE.md")).unwrap();
    let order = rooms(&architecture);
    let steps = Graph::read(&root().join("src")).steps();
    let known: BTreeSet<&str> = order.iter().map(String::as_str).collect();
    let there: BTreeSet<&str> =
        steps.iter().flat_map(|step| [room(&step.from), room(&step.to)]).collect();
    let there: BTreeSet<&str> = there.into_iter().filter(|name| *name != "lib").collect();
    let missing: Vec<_> = there.difference(&known).collect();
    assert!(missing.is_empty(), "the table of ARCHITECTURE.md lacks {missing:?}");
    let gone: Vec<_> = known.difference(&there).collect();
    assert!(gone.is_empty(), "the table of ARCHITECTURE.md has {gone:?}, which are not there");
    let upwards = upwards(&steps, &order);
    assert!(upwards.is_empty(), "{} steps upwards:\n{}", upwards.len(), upwards.join("\n"));
}

#[test]
fn files_form_no_cycle() {
    let steps = Graph::read(&root().join("src")).steps();
    let cycles: Vec<String> = cycles(&steps)
        .iter()
        .map(|files| {
            let inside: Vec<String> = steps
                .iter()
                .filter(|step| files.contains(&step.from) && files.contains(&step.to))
                .map(|step| format!("    {} -> {} by {}", step.from, step.to, step.path))
                .collect();
            format!("{files:?}\n{}", inside.join("\n"))
        })
        .collect();
    assert!(cycles.is_empty(), "{} cycles:\n{}", cycles.len(), cycles.join("\n"));
}

fn small(texts: &[(&str, &str)]) -> BTreeSet<Step> {
    let owned: Vec<_> = texts.iter().map(|(f, t)| ((*f).to_owned(), (*t).to_owned())).collect();
    Graph::of(&owned).steps()
}

#[test]
fn a_step_upwards_is_seen_through_groups_and_re_exports() {
    let steps = small(&[
        ("lib.rs", "mod low; mod high; pub use high::Top;"),
        ("low/mod.rs", "mod inner; pub use inner::Bottom;"),
        (
            "low/inner.rs",
            "pub struct Bottom; use crate::{Top, low::Other}; fn f() { super::super::high::g() }",
        ),
        ("high.rs", "use crate::low::Bottom; #[cfg(test)] mod tests { use super::*; }"),
    ]);
    let order = ["low".to_owned(), "high".to_owned()];
    let expected = [
        "low/inner.rs uses high.rs by crate::Top",
        "low/inner.rs uses high.rs by super::super::high::g",
    ];
    assert_eq!(upwards(&steps, &order), expected);
    let fine = ["high".to_owned(), "low".to_owned()];
    assert_eq!(upwards(&steps, &fine), ["high.rs uses low/inner.rs by crate::low::Bottom"]);
    assert_eq!(upwards(&steps, &order[..1]).len(), 3, "an unknown room is no way out");
}

#[test]
fn a_cycle_is_seen_and_handing_on_is_none() {
    let tangled = [
        ("fit/mod.rs", "mod run; use run::Run; pub struct Outcome;"),
        ("fit/run.rs", "use super::Outcome;"),
    ];
    let found = cycles(&small(&tangled));
    assert_eq!(found, [BTreeSet::from(["fit/mod.rs".to_owned(), "fit/run.rs".to_owned()])]);
    let handed_on = [
        ("fit/mod.rs", "mod run; mod outcome; pub use run::Run; pub(crate) use outcome::Outcome;"),
        ("fit/run.rs", "use super::Outcome;"),
        ("fit/outcome.rs", "pub struct Outcome;"),
    ];
    let steps = small(&handed_on);
    assert!(cycles(&steps).is_empty(), "{steps:?}");
    assert_eq!(steps.len(), 1);
}

#[test]
fn handing_on_what_another_room_has_is_a_step() {
    let steps = small(&[
        ("lib.rs", "mod low; mod high; mod support; pub use high::Top;"),
        ("support.rs", "pub mod high { pub use crate::high::Top; }"),
        ("low.rs", "pub use crate::Top;"),
        ("high.rs", "pub struct Top;"),
    ]);
    let order = ["low".to_owned(), "high".to_owned()];
    assert_eq!(upwards(&steps, &order), ["low.rs uses high.rs by crate::Top"]);
}

#[test]
fn the_table_is_read() {
    let text =
        "# A\n| Room | Idea |\n| --- | --- |\n| `batch` | points |\n| `fit` | `x` |\n\n| `no` |";
    assert_eq!(rooms(text), ["batch", "fit"]);
}
