//! The run folder: whole or absent.
//!
//! Files are written into a hidden folder beside the final one, which is renamed when all are
//! there. Whatever goes wrong before that leaves nothing behind, nor any parent that was missing.

pub(crate) mod csv;
pub(crate) mod drawn;
pub(crate) mod evaluate;
pub(crate) mod figures;
pub(crate) mod finished;
pub(crate) mod page;
pub(crate) mod predicted;
pub(crate) mod record;
pub(crate) mod subject;
pub(crate) mod summary;
pub(crate) mod words;

use crate::{folder::record::Record, text::failure::usage};
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
    /// Folders above it that were created for it, the deepest first.
    parents: Vec<PathBuf>,
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
    // A folder made and taken away again shows that the place can be written. Parents that are
    // missing wait for the run: two runs that begin together would take them from each other.
    let place = path.ancestors().skip(1).find(|place| exists(place)).unwrap_or(path);
    let probe = place.join(beside(path, "partial").file_name().unwrap_or_default());
    fs::create_dir(&probe)
        .and_then(|()| fs::remove_dir(&probe))
        .map_err(|error| usage(format!("{}: {error}", cannot_create(path))))
}

/// Is there such a place? The empty path is the current folder.
fn exists(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.exists()
}

fn cannot_create(path: &Path) -> String {
    format!("cannot create the output folder {}", path.display())
}

impl Folder {
    /// Begins a folder.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let above = path.ancestors().skip(1).take_while(|parent| !exists(parent));
        let parents = above.map(Path::to_owned).collect();
        // Made first, so that a failure half way takes away what is there by then.
        let folder = Self { path: path.to_owned(), temporary: beside(path, "partial"), parents };
        fs::create_dir_all(&folder.temporary).with_context(|| cannot_create(path))?;
        Ok(folder)
    }

    /// Where the folder is while it is written.
    pub(crate) fn place(&self) -> &Path {
        &self.temporary
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
        for parent in &self.parents {
            // A folder with something in it, the finished run above all, stays.
            let _ = fs::remove_dir(parent);
        }
    }
}

/// A hidden name next to `path` that no other process uses.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{suffix}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_with_the_folder_and_go_if_it_fails() {
        let place = tempfile::tempdir().unwrap();
        let (above, path) = (place.path().join("a"), place.path().join("a/b/r"));
        check(&path, false).unwrap();
        assert!(!above.exists(), "looking creates nothing");
        drop(Folder::create(&path).unwrap());
        assert!(!above.exists(), "an unfinished folder leaves nothing");
        Folder::create(&path).unwrap().finish(false).unwrap();
        assert!(path.is_dir());
        drop(Folder::create(&above.join("b/s")).unwrap());
        assert!(path.is_dir(), "what others wrote stays");
    }
}
