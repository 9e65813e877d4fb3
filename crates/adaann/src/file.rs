//! Files that are whole or absent: written to a temporary name and renamed.

use crate::{Error, Result};
use std::{fs, io::Write, path::Path};

/// Writes a file; a reader sees all of it or what was there before.
///
/// # Errors
/// If the file cannot be written; no temporary file is left behind.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let fail = |cause| Error::Io { path: path.display().to_string(), cause };
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let outcome = (|| {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    outcome.map_err(|error| {
        // The first error is the one to report; a file that was never created cannot be removed.
        let _ = fs::remove_file(&temporary);
        fail(error)
    })
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read; the error names it.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|cause| Error::Io { path: path.display().to_string(), cause })
}
