//! `adaann verify`: checks whether a run folder is unchanged.

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

/// Compares the folder with its index and lists the differences. A damaged folder gives exit code 1; exit
/// code 2 is for wrong arguments.
pub(crate) fn verify(args: &VerifyArgs) -> Result<ExitCode> {
    let (path, folder) = (&args.run, args.run.display());
    let index = match Index::read(path) {
        Ok(Some(index)) => index,
        Ok(None) => {
            if !Stored::was_finished(path) {
                // Either not a run folder, or the folder of an unfinished run.
                return Err(Stored::open(path)?.unfinished());
            }
            return Ok(damaged(&format!(
                "{folder} has no {}, as in runs of older versions, so its files cannot be verified",
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
            true => format!("{folder}: all {} files are unchanged\n", index.len()),
            false => format!("{folder} was changed after it was written\n"),
        },
    );
    stdout().write_all(text.as_bytes())?;
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reports why a folder cannot be verified.
fn damaged(why: &str) -> ExitCode {
    say(&format!("error: {why}"));
    ExitCode::FAILURE
}
