//! Installs Python with ArviZ once, and reads files with it.

#![allow(dead_code, reason = "the command line's tests use a part")]

use adaann_netcdf::{File, Value, Values};
use std::{
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// The interpreter, which stays in the target folder between runs. `None` if it cannot be installed.
static PYTHON: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../adaann-netcdf/tests/install-arviz.sh");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("arviz");
    let output = Command::new("sh").arg(script).arg(&folder).output().expect("sh starts");
    if output.status.success() {
        return Some(folder.join("bin/python"));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or("no reason given").trim();
    // Not `eprintln!`, whose output the test harness captures.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: tests with ArviZ, which could not be installed ({last}); they need Python 3.11 or \
         later with venv ($PYTHON, or python3) and the network once"
    );
    None
});

/// Is Python available, for models with a Python program? Reports once if not.
pub(crate) fn has_python() -> bool {
    static FOUND: LazyLock<bool> = LazyLock::new(|| {
        let found = Command::new("python3").args(["-c", ""]).output();
        let found = found.is_ok_and(|output| output.status.success());
        if !found {
            let _ =
                writeln!(std::io::stderr(), "skipped: a model with a program: python3 not found");
        }
        found
    });
    *FOUND
}

/// Is ArviZ available? Reports once if not.
pub(crate) fn is_there() -> bool {
    PYTHON.is_some()
}

/// The contents that a reader of `read.py` finds in the file, as sorted lines.
pub(crate) fn read(reader: &str, path: &Path) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../adaann-netcdf/tests/read.py");
    let python = PYTHON.as_ref().expect("asked whether it is there");
    let output = Command::new(python).args([script, reader]).arg(path).output().expect("python");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reader} does not read the file:\n{errors}");
    let text = String::from_utf8(output.stdout).expect("read.py prints UTF-8");
    sorted(text.lines().map(str::to_owned).collect())
}

/// The lines that `read.py` should print for the file.
pub(crate) fn expected(file: &File) -> Vec<String> {
    let mut lines = Vec::new();
    attributes("/", &file.attributes, &mut lines);
    for group in &file.groups {
        let place = &group.name;
        attributes(place, &group.attributes, &mut lines);
        for dimension in &group.dimensions {
            let name = &dimension.name;
            lines.push(format!("dimension {place} {name} {}", dimension.length));
            if let Some(values) = &dimension.coordinate {
                lines.push(format!("variable {place} {name} ({name}) {}", spelled(values)));
            }
        }
        for variable in &group.variables {
            let (name, dimensions) = (&variable.name, variable.dimensions.join(", "));
            let values = spelled(&variable.values);
            lines.push(format!("variable {place} {name} ({dimensions}) {values}"));
            attributes(&format!("{place}/{name}"), &variable.attributes, &mut lines);
        }
    }
    sorted(lines)
}

fn attributes(place: &str, attributes: &[(String, Value)], lines: &mut Vec<String>) {
    for (name, value) in attributes {
        // Readers do not distinguish a value from a list of one.
        let values = match value {
            Value::Number(value) => spelled(&Values::Numbers(vec![*value])),
            Value::Integer(value) => spelled(&Values::Integers(vec![*value])),
            Value::Text(text) => spelled(&Values::Texts(vec![text.clone()])),
            Value::List(values) => spelled(values),
        };
        lines.push(format!("attribute {place} {name} {values}"));
    }
}

pub(crate) fn spelled(values: &Values) -> String {
    let (kind, words): (&str, Vec<String>) = match values {
        Values::Numbers(values) => {
            ("numbers", values.iter().map(|value| format!("{:016x}", value.to_bits())).collect())
        }
        Values::Integers(values) => ("integers", values.iter().map(i64::to_string).collect()),
        Values::Texts(texts) => ("texts", texts.iter().map(|text| digits(text)).collect()),
    };
    [&[kind.to_owned()], &words[..]].concat().join(" ")
}

fn digits(text: &str) -> String {
    text.bytes().fold("x".to_owned(), |digits, byte| format!("{digits}{byte:02x}"))
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}
