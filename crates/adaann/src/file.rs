//! Atomic file writes: a file is written under a temporary name and then renamed.

use crate::{Error, Result};
use std::{
    fs::{self, File, FileType, Metadata, OpenOptions},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

/// Writes a file atomically: a reader sees either all of it or the previous content. A symbolic
/// link is kept, and the file that it points to is written. A pipe or a device is written to
/// directly.
///
/// # Errors
/// If the file cannot be written; no temporary file is left behind.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Like [`write()`], for content that is too long to hold in memory at once.
///
/// # Errors
/// If the file cannot be written; no temporary file is left behind.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let outcome = match fs::metadata(path) {
        // A rename would replace a pipe or a device.
        Ok(found) if !found.is_file() && !found.is_dir() => write_into(path, fill),
        Ok(found) => resolved(path).and_then(|place| replace(&place, Some(&found), fill)),
        Err(_) => resolved(path).and_then(|place| replace(&place, None, fill)),
    };
    outcome.map_err(|cause| Error::Io { path: path.display().to_string(), cause })
}

fn write_into(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    fill(&mut file)?;
    file.flush()
}

/// Writes a temporary file beside another, renames it over that file and keeps the old permissions.
fn replace(
    path: &Path,
    old: Option<&Metadata>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let outcome = (|| {
        let mut file = BufWriter::new(File::create(&temporary)?);
        if let Some(old) = old.filter(|old| old.is_file()) {
            file.get_ref().set_permissions(old.permissions())?;
        }
        fill(&mut file)?;
        file.flush()?;
        // Some file systems report only here that they are full.
        file.get_ref().sync_all()?;
        fs::rename(&temporary, path)
    })();
    outcome.inspect_err(|_| {
        // The first error is the one to report; a file that was never created cannot be removed.
        let _ = fs::remove_file(&temporary);
    })
}

/// The largest number of links that are followed in a row; more than these are a cycle.
const MOST_LINKS: usize = 40;

/// The target of a path after following all links at its end, whether or not it exists yet.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                let next = fs::read_link(&place)?;
                // A relative link starts at the link's folder; an absolute one replaces the whole
                // path.
                place.pop();
                place.push(next);
            }
            _ => return Ok(place),
        }
    }
    Err(io::Error::other("it is a symbolic link that leads back to itself"))
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read or is not a regular file; the error names it.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let read = read_regular(path, u64::MAX);
    read.map_err(|cause| Error::Io { path: path.display().to_string(), cause })
}

/// Reads a regular file, or a link to one, of at most `most_bytes` bytes. Pipes and devices are
/// refused because they may never end.
///
/// # Errors
/// If it cannot be read, is not a regular file, or is longer.
pub fn read_regular(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let len = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(len.min(most_bytes)).unwrap_or(0));
    // The length in a file's metadata may differ from what can be read.
    file.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        let most = format!("{} MiB", most_bytes >> 20);
        return Err(io::Error::other(format!("it has more than {most}")));
    }
    Ok(bytes)
}

/// Opens a regular file, or a link to one.
///
/// # Errors
/// If it cannot be opened or is not a regular file. Pipes and devices may never end, and kernel
/// files about processes and devices only look like regular files.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let refuse = |what: FileType| match kind(what) {
        Some(kind) => Err(io::Error::other(format!("it is {kind}, not a regular file"))),
        None => Ok(()),
    };
    // Checked before opening, which may block for ever, and again after it, to rule out a race.
    refuse(fs::metadata(path)?.file_type())?;
    let place = fs::canonicalize(path)?;
    if let Some(of_kernel) = OF_KERNEL.iter().find(|above| place.starts_with(above)) {
        let message = format!("it is made by the kernel, in {of_kernel}, and not a regular file");
        return Err(io::Error::other(message));
    }
    // Open the path that was checked, even if the link has changed since.
    let file = File::open(place)?;
    refuse(file.metadata()?.file_type())?;
    Ok(file)
}

/// File systems of the kernel; their files claim to be regular and to have no length.
const OF_KERNEL: [&str; 2] = ["/proc", "/sys"];

/// The name of a file type other than a regular file.
fn kind(found: FileType) -> Option<&'static str> {
    if found.is_file() {
        return None;
    }
    if found.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_fifo() {
            return Some("a pipe");
        }
        if found.is_char_device() || found.is_block_device() {
            return Some("a device");
        }
        if found.is_socket() {
            return Some("a socket");
        }
    }
    Some("something else")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A temporary folder for one test, removed at its end.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let name = format!("adaann-file-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(path.join("far")).unwrap();
            Self(path)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        fn pipe(&self, name: &str) -> PathBuf {
            let made = std::process::Command::new("mkfifo").arg(self.path(name)).status();
            assert!(made.unwrap().success());
            self.path(name)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn links_stay_and_what_they_lead_to_is_written() {
        let place = Place::new("links");
        fs::write(place.path("far/old"), "old").unwrap();
        fs::set_permissions(place.path("far/old"), fs::Permissions::from_mode(0o600)).unwrap();
        for (link, to) in [("a", "far/old"), ("b", "a"), ("c", "far/new")] {
            symlink(to, place.path(link)).unwrap();
        }
        for (link, target) in [("b", "far/old"), ("c", "far/new")] {
            write(&place.path(link), link.as_bytes()).unwrap();
            assert!(fs::symlink_metadata(place.path(link)).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(place.path(target)).unwrap(), link);
        }
        let mode = fs::metadata(place.path("far/old")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "a private file stays one");
        symlink("round", place.path("round")).unwrap();
        let error = write(&place.path("round"), b"x").unwrap_err().to_string();
        assert!(error.contains("leads back to itself"), "{error}");
        assert_eq!(fs::read_dir(place.path("far")).unwrap().count(), 2, "no temporary file stays");
    }

    #[test]
    fn a_pipe_is_written_to_and_stays_one() {
        let place = Place::new("pipe");
        let pipe = place.pipe("pipe");
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(!fs::metadata(&pipe).unwrap().is_file());
    }

    #[test]
    fn only_regular_files_of_bounded_length_are_read() {
        let place = Place::new("read");
        fs::write(place.path("file"), "12345").unwrap();
        symlink("file", place.path("link")).unwrap();
        assert_eq!(read_regular(&place.path("link"), 5).unwrap(), b"12345");
        let said = |path: &Path, most| read_regular(path, most).unwrap_err().to_string();
        assert_eq!(said(&place.path("file"), 4), "it has more than 0 MiB");
        // Nobody writes to the pipe, so opening it would block for ever.
        assert_eq!(said(&place.pipe("pipe"), 5), "it is a pipe, not a regular file");
        assert_eq!(said(&place.path("far"), 5), "it is a folder, not a regular file");
        #[cfg(target_os = "linux")]
        {
            symlink("/proc/self/environ", place.path("secrets")).unwrap();
            assert!(said(&place.path("secrets"), 5).contains("made by the kernel, in /proc"));
        }
    }
}
