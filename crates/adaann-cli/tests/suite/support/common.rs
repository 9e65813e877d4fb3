//! Runs the real binary in a temporary folder.
#![allow(dead_code, reason = "each test file uses its own part")]

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// Settings that take milliseconds.
pub(crate) const TINY: &[&str] = &[
    "--layers",
    "4",
    "--tau",
    "0.3",
    "--warmup",
    "20",
    "--updates",
    "1",
    "--refine",
    "30",
    "--samples",
    "20",
    "--refine-samples",
    "200",
    "--variance-samples",
    "50",
    "--draws",
    "500",
    "--check-particles",
    "100",
];

/// A folder to run in, removed at the end.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adaann"));
        command.current_dir(self.0.path());
        command
    }

    /// Runs the binary with the words of a text and further arguments.
    pub(crate) fn adaann(&self, words: &str, more: &[&str]) -> Output {
        self.command()
            .args(words.split_whitespace())
            .args(more)
            .output()
            .expect("the binary starts")
    }

    /// Runs a target with tiny settings, which must succeed.
    pub(crate) fn run(&self, words: &str) -> Output {
        let output = self.adaann(&format!("run {words}"), TINY);
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        output
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The bytes of a file of a run.
    pub(crate) fn read_bytes(&self, run: &str, file: &str) -> Vec<u8> {
        fs::read(self.path(run).join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the file is written");
    }

    /// Writes an executable program, `./program`.
    #[cfg(unix)]
    pub(crate) fn write_program(&self, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        self.write("program", text);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path("program"), mode).expect("it is ours");
    }

    /// Also writes `m.toml`, a model of one parameter whose likelihood the program computes.
    #[cfg(unix)]
    pub(crate) fn write_program_model(&self, text: &str) {
        self.write_program(text);
        self.write("m.toml", "command = \"./program\"\n[parameters]\na = \"normal(0, 2)\"\n");
    }

    /// Removes the index of a run, as in folders of older versions, so that its files may be changed.
    pub(crate) fn forget_index(&self, run: &str) {
        fs::remove_file(self.path(&format!("{run}/index.json"))).expect("there is an index");
    }

    pub(crate) fn summary(&self, run: &str) -> Value {
        serde_json::from_str(&self.read(&format!("{run}/summary.json"))).expect("valid JSON")
    }

    /// Everything in the folder, hidden names included.
    pub(crate) fn entries(&self) -> Vec<String> {
        names(self.0.path())
    }
}

/// Asserts that two runs wrote the same files, except for times.
pub(crate) fn assert_same(place: &Place, name: &str, one: &str, other: &str) {
    let files = |run: &str| {
        let mut files = names(&place.path(run));
        files.retain(|name| name != "figures");
        // A folder with a file in it.
        files.iter_mut().filter(|name| *name == "final").for_each(|name| {
            assert_eq!(names(&place.path(run).join("final")), ["1.safetensors"]);
            *name += "/1.safetensors";
        });
        files
    };
    assert_eq!(files(one), files(other), "{name}");
    for file in files(one) {
        // The index has the digests of the other files.
        if ["summary.json", "report.html", "index.json"].contains(&&file[..]) {
            continue;
        }
        assert!(place.read_bytes(one, &file) == place.read_bytes(other, &file), "{name}: {file}");
    }
    let summary = |run: &str| {
        let mut summary = place.summary(run);
        summary.as_object_mut().unwrap().remove("seconds");
        summary
    };
    assert_eq!(summary(one), summary(other), "{name}");
}

/// Names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("plain names"))
        .collect();
    names.sort();
    names
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// Header and numbers of a CSV text; an empty field is NaN.
pub(crate) fn table(text: &str) -> (String, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let header = lines.next().expect("a header").to_owned();
    let number =
        |field: &str| if field.is_empty() { f64::NAN } else { field.parse().expect(field) };
    (header, lines.map(|line| line.split(',').map(number).collect()).collect())
}
