//! `adaann verify`: is a run folder as it was written?

use crate::{
    args::VerifyArgs,
    folder::{
        index::{Differences, Index},
        stored::Stored,
    },
    text::failure::usage,
};
use anyhow::Result;
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Compares the folder with its index, and names what differs.
pub(crate) fn verify(args: &VerifyArgs) -> Result<ExitCode> {
    let stored = Stored::open(&args.run)?;
    let folder = args.run.display();
    if !stored.has_answer() {
        return Err(stored.unfinished());
    }
    let Some(index) = stored.index() else {
        return Err(usage(format!(
            "{folder} has no {}, as runs of older versions have none: nothing can be said",
            Index::FILE
        )));
    };
    let found = index.differences(&args.run)?;
    let Differences { changed, missing, new } = &found;
    let mut text = String::new();
    for (word, names) in [("changed", changed), ("missing", missing), ("new", new)] {
        names.iter().for_each(|name| text += &format!("  {word:<8} {name}\n"));
    }
    let is_whole = changed.is_empty() && missing.is_empty();
    text.insert_str(
        0,
        &match is_whole {
            true => format!("{folder}: all {} files are as they were written\n", index.len()),
            false => format!("{folder} is not as it was written\n"),
        },
    );
    stdout().write_all(text.as_bytes())?;
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
