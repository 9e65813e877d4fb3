//! All that a store does with files, so that a test can make any of it fail.

use crate::file;
use std::{
    fmt::Debug,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// A file system, as far as a store needs one.
pub(super) trait Disk: Debug + Send + Sync {
    /// Makes one folder, in one that exists.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;
    /// The names of what is in a folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// All of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// An empty file to write to.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>>;
    /// Gives a file another name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Waits until the names in a folder are on the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// A file that is being written.
pub(super) trait Output: Write {
    /// Waits until what was written is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// The disk that there is.
#[derive(Debug)]
pub(super) struct RealDisk;

impl Disk for RealDisk {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        // A name that is no text is none of a checkpoint.
        let name = |entry: io::Result<fs::DirEntry>| match entry {
            Ok(entry) => entry.file_name().into_string().ok().map(Ok),
            Err(error) => Some(Err(error)),
        };
        fs::read_dir(folder)?.filter_map(name).collect()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        // A pipe in a folder that was tampered with would be waited for without end.
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

    /// Elsewhere a folder cannot be opened; its names follow by themselves.
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

/// The name that a file has until it is whole.
pub(super) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    name.into()
}
