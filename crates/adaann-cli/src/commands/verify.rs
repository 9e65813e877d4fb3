//! `adaann verify`: is a run folder as it was written?

use crate::{
    args::VerifyArgs,
    folder::{
        index::{Differences, Index},
        stored::Stored,
    },
    text::{failure::chain, said::say},
};
use anyhow::Result;
use std::{
    io::{Write, stdout},
    process::ExitCode,
};

/// Compares the folder with its index, and names what differs. A damaged folder ends with exit code 1, since the
/// call was correct; exit code 2 is for wrong arguments.
pub(crate) fn verify(args: &VerifyArgs) -> Result<ExitCode> {
    let (path, folder) = (&args.run, args.run.display());
    let index = match Index::read(path) {
        Ok(Some(index)) => index,
        Ok(None) => {
            if !Stored::was_finished(path) {
                // It is no run folder, or that of a run on its way.
                return Err(Stored::open(path)?.unfinished());
            }
            return Ok(damaged(&format!(
                "{folder} has no {}, as runs of older versions have none: nothing can be said of its files",
                Index::FILE
            )));
        }
        Err(error) => return Ok(damaged(&chain(&error))),
    };
    let found = match index.differences(path) {
        Ok(found) => found,
        Err(error) => return Ok(damaged(&chain(&error))),
    };
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

/// Says why a folder cannot be compared.
fn damaged(why: &str) -> ExitCode {
    say(&format!("error: {why}"));
    ExitCode::FAILURE
}
