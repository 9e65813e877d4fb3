//! The run folder: whole or absent.
//!
//! Files are written into a hidden folder beside the final one, which is renamed when all are
//! there. Whatever goes wrong before that leaves nothing behind.

use crate::{failure::usage, record::Record};
use anyhow::{Context, Result};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// A run folder that is being written.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    temporary: PathBuf,
}

/// Refuses, before anything is run, a folder that could not be written afterwards.
pub(crate) fn check(path: &Path, force: bool) -> Result<()> {
    if path.file_name().is_none() {
        return Err(usage(format!("--out is '{}', but must name a folder", path.display())));
    }
    match path.symlink_metadata() {
        Err(_) => {}
        Ok(_) if !force => {
            return Err(usage(format!(
                "the output folder {} exists; --force replaces it, --out writes to another",
                path.display()
            )));
        }
        // A slip such as `--out ~ --force` must not cost more than a run.
        Ok(_) if !path.join(Record::FILE).is_file() => {
            return Err(usage(format!(
                "the output folder {} exists and is not a run folder (it has no {}), so --force \
                 does not replace it",
                path.display(),
                Record::FILE
            )));
        }
        Ok(_) => {}
    }
    // Creating it and taking it away again shows that the place can be written.
    Folder::create(path).map(drop)
}

impl Folder {
    /// Begins a folder.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let temporary = beside(path, "partial");
        fs::create_dir_all(temporary.join("figures"))
            .with_context(|| format!("cannot create the output folder {}", path.display()))?;
        Ok(Self { path: path.to_owned(), temporary })
    }

    /// Where a file of the folder is written.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.temporary.join(name)
    }

    /// Writes a file of the folder.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        let write = || {
            let mut file = fs::File::create(self.file(name))?;
            file.write_all(bytes.as_ref())?;
            // Some file systems find out only here that they are full.
            file.sync_all()
        };
        write().with_context(|| format!("cannot write {}", self.path.join(name).display()))
    }

    /// Gives the folder its name; an older one of that name is replaced if `force`.
    pub(crate) fn finish(self, force: bool) -> Result<()> {
        let place = || format!("cannot rename the finished folder to {}", self.path.display());
        let old = beside(&self.path, "old");
        let replaced = force && self.path.exists();
        if replaced {
            fs::rename(&self.path, &old).with_context(place)?;
        }
        if let Err(error) = fs::rename(&self.temporary, &self.path) {
            if replaced {
                // The old run is better than none.
                let _ = fs::rename(&old, &self.path);
            }
            return Err(error).with_context(place);
        }
        if replaced {
            fs::remove_dir_all(&old)
                .with_context(|| format!("cannot remove the replaced run {}", old.display()))?;
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // After `finish` there is nothing left to remove; before, an error is already on its way.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

/// A hidden name next to `path` that no other process uses.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{suffix}", std::process::id()))
}
