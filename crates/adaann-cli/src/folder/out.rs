//! Single files that a command writes where the user says.

use crate::text::failure::usage;
use adaann::{Error, support::file};
use anyhow::Result;
use std::{
    fs::{self, Metadata},
    io::{self, BufWriter, ErrorKind, Write, stdout},
    path::{Path, PathBuf},
};

/// A file that the user has asked for, by a flag or an argument of this name.
#[derive(Debug, Clone)]
pub(crate) struct Out {
    path: PathBuf,
    name: &'static str,
}

impl Out {
    /// Refuses, before anything is read, a file that could not be written for a reason one can see, and
    /// one that exists unless it may be replaced. Pipes and devices are there to be written to.
    pub(crate) fn new(name: &'static str, path: &Path, force: bool) -> Result<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let problem = if path.as_os_str().is_empty() {
            "names no file"
        } else if path.is_dir() {
            "is a folder"
        } else if !names_something(path) {
            "is the name of a folder"
        } else if parent.is_some_and(|parent| !parent.is_dir()) {
            "is in a folder that does not exist"
        } else if path.is_file() && !force {
            "exists; --force replaces it, another name leaves it"
        } else {
            return Ok(Self { path: path.to_owned(), name });
        };
        Err(usage(format!("{name} is '{}', which {problem}", path.display())))
    }

    /// A file of a run folder, which is made again at will. The folder may be anybody's: a link, a pipe or
    /// a device in it leads somewhere else, and is refused.
    pub(crate) fn own(folder: &Path, name: &str) -> Result<Self> {
        let (mut path, mut parts) = (folder.to_owned(), Path::new(name).components().peekable());
        while let Some(part) = parts.next() {
            path.push(part);
            let Ok(found) = fs::symlink_metadata(&path) else { continue };
            let is_file = parts.peek().is_none();
            let is_right = if is_file { found.is_file() } else { found.is_dir() };
            if !is_right {
                let wanted = if is_file { "file" } else { "folder" };
                return Err(usage(format!(
                    "'{}' is to be written, but is no {wanted} of the run: {}; remove it first",
                    path.display(),
                    kind(&found)
                )));
            }
        }
        Ok(Self { path, name: "RUN" })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes it.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        self.write_with(|file| file.write_all(bytes))
    }

    /// Writes it piece by piece.
    pub(crate) fn write_with(
        &self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        file::write_with(&self.path, fill).map_err(|error| match error {
            // A place that nobody may write to was a bad choice; a full disk is bad luck.
            Error::Io { cause, .. }
                if matches!(
                    cause.kind(),
                    ErrorKind::PermissionDenied
                        | ErrorKind::ReadOnlyFilesystem
                        | ErrorKind::NotFound
                        | ErrorKind::InvalidFilename
                ) =>
            {
                usage(format!("{}: cannot write '{}': {cause}", self.name, self.path.display()))
            }
            other => other.into(),
        })
    }
}

/// What is in the place of a file or folder.
fn kind(found: &Metadata) -> &'static str {
    if found.is_symlink() {
        "it is a link"
    } else if found.is_dir() {
        "it is a folder"
    } else if found.is_file() {
        "it is a file"
    } else {
        "it is a pipe or a device"
    }
}

/// Writes to standard output.
pub(crate) fn print(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    fill(&mut out)?;
    Ok(out.flush()?)
}

/// Does a path end in a name, rather than in `.`, `..` or a slash?
pub(crate) fn names_something(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let last = text.rsplit(|byte| std::path::is_separator(char::from(*byte))).next();
    !matches!(last.unwrap_or_default(), b"" | b"." | b"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_folders() {
        for path in ["a", "a/b", "../a", ".a", "..."] {
            assert!(names_something(Path::new(path)), "{path}");
        }
        for path in ["", ".", "..", "a/", "a/.", "a/..", "/"] {
            assert!(!names_something(Path::new(path)), "{path}");
        }
    }
}
