//! The file operations of a store, behind a trait so that a test can make any of them fail.

use crate::file;
use std::{
    fmt::Debug,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// The part of a file system that a store needs.
pub(super) trait Disk: Debug + Send + Sync {
    /// Creates a folder in an existing one.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;
    /// The names in a folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// The content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Creates an empty file for writing.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>>;
    /// Renames a file.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Waits until the names in a folder are on the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// A file that is being written.
pub(super) trait Output: Write {
    /// Waits until the written bytes are on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// The real file system.
#[derive(Debug)]
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        // A name that is not valid Unicode cannot be a checkpoint.
        let name = |entry: io::Result<fs::DirEntry>| match entry {
            Ok(entry) => entry.file_name().into_string().ok().map(Ok),
            Err(error) => Some(Err(error)),
        };
        fs::read_dir(folder)?.filter_map(name).collect()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        // Reading a pipe, in a folder that was tampered with, would never return.
        file::read_regular(path, u64::MAX)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        Ok(Box::new(fs::File::create(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(unix)]
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        fs::File::open(folder)?.sync_all()
    }

    /// On other systems a folder cannot be opened; its names are synced without this call.
    #[cfg(not(unix))]
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

impl Output for fs::File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// The name of a file until it is complete.
pub(super) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    name.into()
}
