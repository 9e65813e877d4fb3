//! One file or folder a command: from its arguments to what it prints and writes.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod density;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod paper;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod sample;
pub(crate) mod smc;

use crate::text::failure::usage;
use anyhow::Result;
use std::path::Path;

/// Refuses, before anything is read, a file that cannot be written for a reason one can see.
fn check_out(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let problem = if path.is_dir() {
        "is a folder"
    } else if parent.is_some_and(|parent| !parent.is_dir()) {
        "is in a folder that does not exist"
    } else {
        return Ok(());
    };
    Err(usage(format!("--out is '{}', which {problem}", path.display())))
}
