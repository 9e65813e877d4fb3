//! Single files that a command writes to a path given by the user.

use crate::text::failure::usage;
use adaann::{Error, support::file};
use anyhow::Result;
use std::{
    fs::{self, Metadata},
    io::{self, BufWriter, ErrorKind, Write, stdout},
    path::{Path, PathBuf},
};

/// An output file, given by the flag or argument `name`.
#[derive(Debug, Clone)]
pub(crate) struct Out {
    path: PathBuf,
    name: &'static str,
}

impl Out {
    /// Refuses, before any work, a file that obviously cannot be written, and one that exists unless it may be
    /// replaced. Pipes and devices are accepted.
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
            "exists; replace it with --force, or choose another name"
        } else {
            return Ok(Self { path: path.to_owned(), name });
        };
        Err(usage(format!("{name} is '{}', which {problem}", path.display())))
    }

    /// A file of a run folder, which may always be replaced. The folder may be untrusted, so that links, pipes
    /// and devices in it are refused.
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
                    "cannot write '{}', because it is not a {wanted} of the run: {}; remove it first",
                    path.display(),
                    kind(&found)
                )));
            }
        }
        Ok(Self { path, name: "RUN" })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        self.write_with(|file| file.write_all(bytes))
    }

    /// Writes the file incrementally.
    pub(crate) fn write_with(
        &self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        file::write_with(&self.path, fill).map_err(|error| match error {
            // A place without write permission is an error of the request; a full disk is not.
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

/// Describes what exists at the path of a file or folder.
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
