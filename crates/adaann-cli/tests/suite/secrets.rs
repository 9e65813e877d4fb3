//! A model file may be untrusted and name any file or program of this machine. Messages do not show contents of files
//! that are not its data, and contain no control sequences.
#![cfg(unix)]

use crate::support::common;
use common::{Place, stderr, stdout};
use std::process::{Command, Output};

/// Lines of a file that no message may show.
const SECRET: &str = "root:x:0:0:root:/root:/bin/bash\nhunter2,hunter3,hunter4\nhunter5\n";

/// The message on a model with this text in place of its table.
fn check(place: &Place, data: &str) -> Output {
    let model =
        format!("{data}\n[parameters]\nm = \"normal(0, 1)\"\n[likelihood]\ny = \"normal(m, 1)\"\n");
    place.write("m.toml", &model);
    place.adaann("check m.toml", &[])
}

#[test]
fn a_file_that_is_no_table_is_not_shown() {
    let place = Place::new();
    place.write("secret", SECRET);
    place.write("no-names", &SECRET.replacen("root:x:0:0:root:/root:/bin/bash", "17,18,19", 1));
    place.write("one-word", "hunter2\nhunter3\n");
    place.write("d.csv", "id,y\n1,2\n");
    for data in [
        "[data]\nfile = \"secret\"",
        "[data]\nfile = \"no-names\"",
        "[data]\nfile = \"one-word\"",
        "[data]\nfile = \"one-word\"\nrename = { y = \"hunter\" }",
        "[data]\nfile = \"d.csv\"\njoin = [{ file = \"secret\", by = \"id\" }]",
        "[constants]\nc = { file = \"secret\" }\n[data]\ny = [1, 2]",
        "[constants]\nc = { file = \"one-word\" }\n[data]\ny = [1, 2]",
    ] {
        let output = check(&place, data);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{data}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("hunter3"), "{data}: {said}");
        assert!(!said.contains("/bin/bash") && !said.contains("hunter5"), "{data}: {said}");
    }
    // An error in a real table shows its line.
    place.write("secret", "note,y\nwork,1\nplay,two\n");
    let said = stderr(&check(&place, "[data]\nfile = \"secret\""));
    assert!(said.contains("secret:3:6") && said.contains("| play,two"), "{said}");
}

#[test]
fn what_is_no_regular_file_is_not_read() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let mut files = vec![("pipe", "it is a pipe"), (".", "it is a folder")];
    if cfg!(target_os = "linux") {
        files.push(("/dev/zero", "it is a device"));
        files.push(("/proc/self/environ", "made by the kernel, in /proc"));
        files.push(("/sys/kernel/uevent_seqnum", "made by the kernel, in /sys"));
    }
    for (file, why) in files {
        let output = check(&place, &format!("[data]\nfile = \"{file}\""));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{file}: {said}");
        let is_missing = said.contains("there is no such file");
        assert!(said.contains(why) || is_missing && file.starts_with("/sys"), "{file}: {said}");
    }
}

#[test]
fn nothing_moves_the_terminal() {
    let place = Place::new();
    place.write_program_model(
        "#!/bin/sh\nprintf '\\033[2J\\033]0;owned\\007 no\\rway\\n' >&2\nexit 1\n",
    );
    let output = place.adaann("fit m.toml --out r --retries 0", &[]);
    let said = stderr(&output);
    assert!(!output.status.success() && said.contains("owned"), "{said}");
    let is_safe = |text: &str| text.chars().all(|c| c == '\n' || !c.is_control());
    assert!(is_safe(&said), "{said:?}");
    // Names of files and columns are untrusted text as well.
    place.write("d.csv", "y,\u{1b}[31mx\n1,2\n1\n");
    place.write("points.csv", "a\n\u{1b}[2Jb\n");
    place.write("\u{1b}[1mm.toml", "[data]\nfile = \"d.csv\"\n");
    let output = check(&place, "title = \"\\u001b[31mred\"\n[data]\nfile = \"d.csv\"");
    assert!(is_safe(&stderr(&output)), "{:?}", stderr(&output));
    assert!(is_safe(&stdout(&output)), "{:?}", stdout(&output));
    for words in [["check", "\u{1b}[1mm.toml"], ["density", "points.csv"], ["verify", "\u{1b}[2J"]]
    {
        let output = place.adaann("", &words);
        assert!(is_safe(&stderr(&output)), "{words:?}: {:?}", stderr(&output));
    }
}
