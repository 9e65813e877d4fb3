//! A folder of checkpoints that, after the first one, always contains an intact checkpoint.

use super::{
    container::{self, Parts, Refusal},
    decode::decode,
    disk::{Disk, RealDisk, temporary},
    encode::encode,
    header::{FORMAT, Header},
    value::Value,
};
use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeSet,
    fmt, io,
    io::Write,
    path::{Path, PathBuf},
};

/// The end of a checkpoint's file name, after its number.
pub(super) const ENDING: &str = ".safetensors";
/// Files with numbers are written in pieces of at least this many bytes.
const PIECE: usize = 1 << 20;

/// Checkpoints in a folder of their own: `1.safetensors`, `2.safetensors`, ..., of which the last two are
/// kept.
///
/// A checkpoint is written under a temporary name, synced to disk, and then renamed. An older checkpoint
/// is removed only after the rename is synced too. So the last complete checkpoint can be read after a
/// kill or a power failure at any moment.
///
/// Two processes must not write to one folder; the caller must ensure this.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    disk: Box<dyn Disk>,
    /// Has the folder been seen? A folder that vanishes later is not created again.
    is_there: bool,
    /// The last number that was written or seen.
    last: u64,
    /// The numbers of checkpoints that could not be read.
    damaged: BTreeSet<u64>,
    /// The reason why nothing is written: there are checkpoints, and none could be read.
    closed: Option<String>,
}

/// A checkpoint that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Its number.
    pub sequence: u64,
    /// The length of its file.
    pub bytes: u64,
}

/// The checkpoints that could not be read and were skipped, newest first; usually none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fallen {
    /// The file of each, and why it could not be read.
    pub damaged: Vec<(PathBuf, String)>,
}

impl Fallen {
    /// Was the newest checkpoint read?
    pub fn is_empty(&self) -> bool {
        self.damaged.is_empty()
    }
}

/// One sentence for each.
impl fmt::Display for Fallen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (path, why)) in self.damaged.iter().enumerate() {
            let separator = if i > 0 { "; " } else { "" };
            write!(f, "{separator}{}: {why}", path.display())?;
        }
        Ok(())
    }
}

impl Store {
    /// The store in a folder, which the first checkpoint creates if necessary.
    ///
    /// # Errors
    /// If the path exists and cannot be listed.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self> {
        Self::on(Box::new(RealDisk), folder.into())
    }

    /// The store on a disk.
    pub(super) fn on(disk: Box<dyn Disk>, folder: PathBuf) -> Result<Self> {
        let (damaged, closed) = (BTreeSet::new(), None);
        let mut store = Self { folder, disk, is_there: false, last: 0, damaged, closed };
        match store.list() {
            Ok(_) => Ok(store),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(store),
            Err(error) => Err(store.fail(&store.folder, error)),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a checkpoint, and removes all but the previous one. The header's format and number are set
    /// here.
    ///
    /// # Errors
    /// If the state cannot be serialised or the file cannot be written; or if there are checkpoints and
    /// none could be read ([`Store::discard`] removes them). Older checkpoints are unchanged.
    pub fn write<T: Serialize + ?Sized>(&mut self, header: &Header, state: &T) -> Result<Written> {
        let value = encode(state).map_err(|error| Error::Save(format!("the state: {error}")))?;
        self.write_value(header, &value)
    }

    /// Writes an encoded state.
    pub(super) fn write_value(&mut self, header: &Header, value: &Value<'_>) -> Result<Written> {
        if let Some(why) = &self.closed {
            return Err(Error::Save(format!(
                "the checkpoints that could not be read are not overwritten ({why})"
            )));
        }
        let before = self.listed_for_writing().map_err(|error| self.fail(&self.folder, error))?;
        let sequence = self.last.checked_add(1).ok_or_else(|| {
            Error::Save(format!("{}: checkpoint numbers are exhausted", self.folder.display()))
        })?;
        let header = Header { format: FORMAT, sequence, ..header.clone() };
        let parts = Parts::new(&header, value)
            .map_err(|error| Error::Save(format!("the state: {error}")))?;
        let path = self.path(sequence);
        let bytes = self.write_file(&path, &parts).map_err(|error| self.fail(&path, error))?;
        self.last = sequence;
        self.remove_older(&before);
        Ok(Written { sequence, bytes })
    }

    /// The names in the folder, which is created if it never existed.
    fn listed_for_writing(&mut self) -> io::Result<Names> {
        match self.list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_there => {
                self.disk.create_folder(&self.folder)?;
                // The folder's own name must be synced as well. If that fails, the checkpoint is still
                // better than none.
                let parent = self.folder.parent().filter(|path| !path.as_os_str().is_empty());
                let _ = self.disk.sync_folder(parent.unwrap_or(Path::new(".")));
                self.list()
            }
            listed => listed,
        }
    }

    /// Writes a file that is complete or absent, even after a power failure.
    fn write_file(&self, path: &Path, parts: &Parts<'_>) -> io::Result<u64> {
        let temporary = temporary(path);
        let write = || -> io::Result<u64> {
            let mut file = self.disk.create(&temporary)?;
            let mut out = io::BufWriter::with_capacity(PIECE, &mut file);
            let bytes = parts.write(&mut out)?;
            out.flush()?;
            drop(out);
            file.sync()?;
            // Some systems cannot rename an open file.
            drop(file);
            self.disk.rename(&temporary, path)?;
            Ok(bytes)
        };
        let bytes = write().inspect_err(|_| {
            // The first error is the one to report.
            let _ = self.disk.remove(&temporary);
        })?;
        self.disk.sync_folder(&self.folder)?;
        Ok(bytes)
    }

    /// Removes all but the last of the earlier checkpoints, and files left by killed processes. Errors
    /// are harmless: the next checkpoint tries again.
    fn remove_older(&self, before: &Names) {
        let kept = before.numbers.iter().rev().find(|number| !self.damaged.contains(number));
        for number in before.numbers.iter().filter(|number| Some(*number) != kept) {
            let _ = self.disk.remove(&self.path(*number));
        }
        for name in &before.temporary {
            let _ = self.disk.remove(&self.folder.join(name));
        }
    }

    /// Reads the newest intact checkpoint, and reports those that were skipped; none if there is no
    /// checkpoint.
    ///
    /// # Errors
    /// If the folder cannot be listed, if there are checkpoints and none can be read, or if one is of
    /// another version. Nothing is removed, and nothing is written until [`Store::discard`] is called.
    pub fn read<T: DeserializeOwned>(&mut self) -> Result<Option<(Header, T, Fallen)>> {
        self.newest(|header, value| {
            decode(value).map_err(|error| {
                format!("it does not match (adaann {} wrote it): {error}", header.program)
            })
        })
    }

    /// Reads the newest intact checkpoint without decoding its state.
    pub(super) fn read_value(&mut self) -> Result<Option<(Header, Value<'static>, Fallen)>> {
        self.newest(|_, value| Ok(value.into_owned()))
    }

    /// Reads the header of the newest intact checkpoint, whatever its state.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn read_header(&mut self) -> Result<Option<(Header, Fallen)>> {
        let found = self.newest(|_, _| Ok(()))?;
        Ok(found.map(|(header, (), fallen)| (header, fallen)))
    }

    /// The newest checkpoint for which `make` succeeds.
    fn newest<T>(
        &mut self,
        make: impl Fn(&Header, Value<'_>) -> Result<T, String>,
    ) -> Result<Option<(Header, T, Fallen)>> {
        let names = match self.list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Names::default(),
            listed => listed.map_err(|error| self.fail(&self.folder, error))?,
        };
        let mut fallen = Fallen::default();
        for number in names.numbers.iter().rev() {
            let path = self.path(*number);
            let found = self.disk.read(&path).map_err(|e| Refusal::Damaged(e.to_string()));
            let made = found.and_then(|bytes| {
                let (header, value) = container::read(&bytes)?;
                if header.sequence != *number {
                    let why = format!("it is checkpoint {} under another name", header.sequence);
                    return Err(Refusal::Damaged(why));
                }
                let state = make(&header, value).map_err(Refusal::Damaged)?;
                Ok((header, state))
            });
            match made {
                Ok((header, state)) => {
                    self.closed = None;
                    self.damaged.remove(number);
                    return Ok(Some((header, state, fallen)));
                }
                Err(Refusal::Damaged(why)) => {
                    self.damaged.insert(*number);
                    fallen.damaged.push((path, why));
                }
                // This file is intact, so older ones are not tried.
                Err(Refusal::Version(why)) => return Err(self.close(&path, &why)),
            }
        }
        if fallen.is_empty() {
            return Ok(None);
        }
        let why = format!(
            "no checkpoint can be read ({fallen}); restore a copy of one, or discard them and start again"
        );
        Err(self.close(&self.folder.clone(), &why))
    }

    /// The error for checkpoints that cannot be resumed; from now on nothing is written over them.
    fn close(&mut self, path: &Path, why: &str) -> Error {
        let why = format!("{}: {why}", path.display());
        self.closed = Some(why.clone());
        Error::Load(why)
    }

    /// Removes all checkpoints, including damaged ones: the next one is the first of a new run.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub fn discard(&mut self) -> Result<()> {
        let names = match self.list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Names::default(),
            listed => listed.map_err(|error| self.fail(&self.folder, error))?,
        };
        // Oldest first: if this is interrupted, the newest remains.
        let numbers = names.numbers.iter().map(|number| self.path(*number));
        let temporary = names.temporary.iter().map(|name| self.folder.join(name));
        for path in numbers.chain(temporary) {
            self.disk.remove(&path).map_err(|error| self.fail(&path, error))?;
        }
        self.closed = None;
        self.damaged.clear();
        Ok(())
    }

    /// The names in the folder.
    fn list(&mut self) -> io::Result<Names> {
        let names = Names::of(self.disk.list(&self.folder)?);
        self.is_there = true;
        self.last = self.last.max(names.numbers.last().copied().unwrap_or(0));
        Ok(names)
    }

    fn path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number}{ENDING}"))
    }

    fn fail(&self, path: &Path, cause: io::Error) -> Error {
        Error::Io { path: path.display().to_string(), cause }
    }
}

/// The names in a folder of checkpoints.
#[derive(Debug, Default)]
struct Names {
    /// Numbers of checkpoints, oldest first.
    numbers: Vec<u64>,
    /// Files that were never finished.
    temporary: Vec<String>,
}

impl Names {
    fn of(names: Vec<String>) -> Self {
        let mut found = Self::default();
        for name in names {
            if let Some(number) = number(&name) {
                found.numbers.push(number);
            } else if name.strip_suffix(".tmp").and_then(number).is_some() {
                found.temporary.push(name);
            }
        }
        found.numbers.sort_unstable();
        found
    }
}

/// The number of a checkpoint from its name; each number has a single spelling.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(ENDING)?;
    digits.parse().ok().filter(|number: &u64| *number > 0 && number.to_string() == digits)
}
