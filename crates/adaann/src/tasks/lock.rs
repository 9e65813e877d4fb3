//! A lock that allows one process at a time in a folder.

use crate::{Error, Result};
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{ErrorKind, Read, Seek, Write},
    path::Path,
    process,
};

/// A lock file. It is held until it is dropped or its process ends in any way: the operating system
/// then releases it.
///
/// While the lock is held, the file contains the process's number and its start time, because numbers
/// are reused. A number in a file that nobody holds belongs to a process that was killed.
#[derive(Debug)]
pub struct Lock {
    file: File,
    left_by: Option<u32>,
}

impl Lock {
    /// Takes the lock at this path, in an existing folder.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process, or another lock of this process, holds it. Also if the
    /// file cannot be written, or its holder removes it at the same moment; the caller may then try
    /// again.
    pub fn take(path: &Path) -> Result<Self> {
        let fail = |cause| Error::Io { path: path.display().to_string(), cause };
        let mut options = OpenOptions::new();
        // Do not truncate: until we hold the lock, the number in the file belongs to another process.
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(fail)?;
        let locked = file.try_lock();
        // If the file cannot be read, the holder stays unknown.
        let mut text = String::new();
        let holder = file.read_to_string(&mut text).ok().and_then(|_| Holder::read(&text));
        let left_by = holder.map(|holder| holder.process);
        let is_held = match locked {
            Ok(()) => false,
            Err(TryLockError::WouldBlock) => true,
            // On a file system without locks, only the content of the file counts.
            Err(TryLockError::Error(_)) => holder.is_some_and(Holder::is_alive),
        };
        if is_held {
            let folder = path.parent().unwrap_or(path).display().to_string();
            return Err(Error::Locked { folder, process: left_by });
        }
        let mut write = || {
            file.rewind()?;
            file.set_len(0)?;
            let Holder { process, started } = Holder::own();
            let started = started.map_or(String::new(), |started| format!(" {started}"));
            writeln!(file, "{process}{started}")
        };
        write().map_err(fail)?;
        // The previous holder may have removed the file.
        if !is_at(&file, path) {
            return Err(fail(ErrorKind::NotFound.into()));
        }
        Ok(Self { file, left_by })
    }

    /// The process that held the lock before and was killed, if any.
    pub fn left_by(&self) -> Option<u32> {
        self.left_by
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A number left in the file would look like that of a killed process.
        let _ = self.file.set_len(0);
    }
}

/// The holder of a lock: a process, and its start time in the system's own units, if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Holder {
    process: u32,
    started: Option<u64>,
}

impl Holder {
    fn own() -> Self {
        Self { process: process::id(), started: started(process::id()) }
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let process = words.next()?.parse().ok()?;
        Some(Self { process, started: words.next().and_then(|word| word.parse().ok()) })
    }

    /// Is this process still running? Not if another process has its number now.
    fn is_alive(self) -> bool {
        let now = started(self.process);
        now.is_some() && self.started.is_none_or(|then| now == Some(then))
    }
}

/// The start time of a process on Linux; none if the process does not exist.
fn started(process: u32) -> Option<u64> {
    /// The index of the start time after the program's name, which may contain anything.
    const START: usize = 19;
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(START)?.parse().ok()
}

/// Is an open file the one at this path?
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |found: std::fs::Metadata| (found.dev(), found.ino());
    let (own, there) = (file.metadata().map(id), path.metadata().map(id));
    matches!((own, there), (Ok(own), Ok(there)) if own == there)
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_used_again_is_another_process() {
        let own = Holder::own();
        assert!(own.is_alive());
        let text = format!("{} {}\n", own.process, own.started.unwrap());
        assert_eq!(Holder::read(&text), Some(own));
        // An earlier process had this number.
        let other = Holder { started: own.started.map(|started| started - 1), ..own };
        assert!(!other.is_alive());
        assert!(!Holder { process: 4_000_000, started: None }.is_alive());
        assert_eq!(Holder::read("4000000\n").unwrap().started, None);
    }
}
