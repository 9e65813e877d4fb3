//! Starts a program, with advice if it does not start.

use crate::external::{Command, group};
use crate::{Error, Result, error};
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    process::{self, Child, Stdio},
};

/// Environment variables that are set unless the user sets them. There is already one process per
/// core, and a Python program that forgets to flush would block for ever.
const ENVIRONMENT: [(&str, &str); 2] = [("OMP_NUM_THREADS", "1"), ("PYTHONUNBUFFERED", "1")];

/// Starts the program with its three pipes.
pub(super) fn start(command: &Command) -> Result<Child> {
    let Some((program, arguments)) = command.program.split_first().filter(|(p, _)| !p.is_empty())
    else {
        return Err(error::setting("command", "empty", "a program and its arguments"));
    };
    if !command.folder.is_dir() {
        let folder = command.folder.display();
        return Err(Error::Target(format!(
            "{program} cannot run in {folder}, which is not a folder"
        )));
    }
    let path = path(program, &command.folder);
    let mut call = process::Command::new(&path);
    call.args(arguments).current_dir(&command.folder);
    call.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, value) in ENVIRONMENT {
        if std::env::var_os(name).is_none() {
            call.env(name, value);
        }
    }
    group::spawn(&mut call).map_err(|cause| {
        let hint = hint(program, &path, &command.folder, &cause);
        Error::Target(format!("cannot start {program}: {cause}{hint}"))
    })
}

/// A program with a slash is relative to its folder, wherever adaann runs.
fn path(program: &str, folder: &Path) -> PathBuf {
    if !program.contains('/') {
        return program.into();
    }
    let path = folder.join(program);
    std::path::absolute(&path).unwrap_or(path)
}

/// Advice for a program that does not start.
fn hint(program: &str, path: &Path, folder: &Path, cause: &std::io::Error) -> String {
    /// The Unix error number for a file that is not executable code.
    const NO_PROGRAM: i32 = 8;
    let is_bare = !program.contains('/');
    match cause.kind() {
        ErrorKind::NotFound if is_bare && folder.join(program).is_file() => {
            format!("; for the file in {} write ./{program}", folder.display())
        }
        ErrorKind::NotFound if is_bare => {
            "; is it installed, and its folder in PATH? A file is called ./NAME".into()
        }
        ErrorKind::NotFound if path.is_file() => {
            "; the file is there, but not the interpreter that its first line names".into()
        }
        ErrorKind::NotFound => format!("; there is no file {}", path.display()),
        ErrorKind::PermissionDenied if path.is_dir() => "; it is a folder".into(),
        ErrorKind::PermissionDenied => {
            let file = if is_bare { Path::new(program) } else { path };
            format!("; make it a program with chmod +x {}", file.display())
        }
        _ if cause.raw_os_error() == Some(NO_PROGRAM) => {
            "; a script begins with a line such as #!/usr/bin/env python3 or #!/bin/sh".into()
        }
        _ => String::new(),
    }
}
