//! One process at a time in a folder.

use crate::{Error, Result};
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
    process,
};

/// A lock file, held until it is dropped or its process ends, however it ends: the system lets go
/// of it then.
///
/// While it is held the file has the number of the process in it. A number in a file that nobody
/// holds is that of a process that was killed.
#[derive(Debug)]
pub struct Lock {
    file: File,
    left_by: Option<u32>,
}

impl Lock {
    /// Takes the lock at this path, in a folder that exists.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process, or another lock of this one, holds it; if the file cannot
    /// be written.
    pub fn take(path: &Path) -> Result<Self> {
        let fail = |cause| Error::Io { path: path.display().to_string(), cause };
        let mut options = OpenOptions::new();
        // Not truncated: until the lock is ours, the number in it is somebody else's.
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(fail)?;
        let is_held = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        // A file system without locks is no reason to stop; nor is one on which a held file cannot
        // be read, whose holder then stays unknown.
        let mut text = String::new();
        let left_by = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
        if is_held {
            let folder = path.parent().unwrap_or(path).display().to_string();
            return Err(Error::Locked { folder, process: left_by });
        }
        let mut write = || {
            file.rewind()?;
            file.set_len(0)?;
            writeln!(file, "{}", process::id())
        };
        write().map_err(fail)?;
        Ok(Self { file, left_by })
    }

    /// The process that held the lock before and was killed, if there was one.
    pub fn left_by(&self) -> Option<u32> {
        self.left_by
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A number that stays would only be taken for that of a process that was killed.
        let _ = self.file.set_len(0);
    }
}
