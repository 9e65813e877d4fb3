//! Arbitrary files as a run folder: loaded, compared with their index, and passed to the commands that show runs.

#![no_main]

use adaann_cli::embed::{self, Answer};
use adaann_fuzz::{folder, write};
use libfuzzer_sys::fuzz_target;
use std::{
    ffi::{OsStr, OsString},
    fs,
    path::PathBuf,
    sync::LazyLock,
};

/// Precedes the name of each file. The bytes of the file follow on the next line.
const MARK: &[u8] = b"\n--- ";

/// The possible files of a run folder. The flow is binary.
const NAMES: [&str; 9] = [
    "run.toml",
    "summary.json",
    "draws.csv",
    "schedule.csv",
    "trace.csv",
    "flow.safetensors",
    "data.csv",
    "model.toml",
    "index.json",
];

static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    embed::begin(|_| (), |thread| thread());
    folder("run")
});

fuzz_target!(|bytes: &[u8]| {
    for name in NAMES {
        let _ = fs::remove_file(PLACE.join(name));
    }
    let mut rest = bytes;
    while let Some(start) = find(rest, MARK) {
        rest = &rest[start + MARK.len()..];
        let (line, after) = rest.split_at(find(rest, b"\n").unwrap_or(rest.len()));
        rest = after;
        // The mark begins with the newline of the previous line.
        let file = &after[..find(after, MARK).unwrap_or(after.len())];
        if let Some(name) = NAMES.into_iter().find(|name| name.as_bytes() == line) {
            write(&PLACE.join(name), file.get(1..).unwrap_or_default());
        }
    }
    if let Ok(answer) = Answer::load(&PLACE) {
        answer.summary();
        answer.resampled(3, 1);
        // Skip models and densities with data: arbitrary times in the files could make them take hours.
        if !["model.toml", "data.csv"].iter().any(|name| PLACE.join(name).exists()) {
            let _ = answer.log_q_at(answer.points());
            let _ = answer.log_p_at(answer.points());
            let _ = answer.sample(2, 1);
            let page = PLACE.with_extension("html");
            let (folder, page) = (PLACE.as_os_str(), page.as_os_str());
            let words = ["report".as_ref(), folder, "--force".as_ref(), "--out".as_ref(), page];
            let _ = command(&words);
        }
    }
    let _ = command(&["verify".as_ref(), PLACE.as_ref()]);
    let _ = command(&["compare".as_ref(), PLACE.as_ref(), PLACE.as_ref()]);
});

fn command(words: &[&OsStr]) -> Result<(), embed::Failure> {
    let all = ["adaann".as_ref()].into_iter().chain(words.iter().copied());
    embed::command(all.map(OsString::from))
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
