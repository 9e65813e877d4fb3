//! A run folder before there is an answer: the files needed to resume, and a place for checkpoints.

use crate::folder::{Folder, record::Record};
use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A run folder before there is an answer.
#[derive(Debug, Clone)]
pub(crate) struct Beginning {
    pub(super) path: PathBuf,
    pub(super) temporary: PathBuf,
}

impl Beginning {
    /// Creates the folder with these files and a place for checkpoints, unless it exists. This is atomic, so
    /// that nobody sees an incomplete folder.
    pub(crate) fn make(&self, files: &[(String, Arc<str>)]) -> io::Result<()> {
        // Several seeds may write their first checkpoints at the same time.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        // A run to be replaced stays until the new one is complete; only checkpoints are added to it.
        if self.path.join(Record::FILE).exists() {
            return fs::create_dir_all(self.path.join(Folder::STATE));
        }
        if self.path.exists() {
            return Ok(());
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let begun = self.temporary.join(format!("begun-{number}"));
        fs::create_dir_all(begun.join(Folder::STATE))?;
        for (name, text) in files {
            let mut file = fs::File::create(begun.join(name))?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
        }
        match fs::rename(&begun, &self.path) {
            // Another seed has created the folder.
            Err(_) if self.path.exists() => fs::remove_dir_all(&begun),
            renamed => renamed,
        }
    }
}
