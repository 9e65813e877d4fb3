//! A folder of checkpoints, of which there is always a whole one once there was one.

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

/// Behind the number of a checkpoint in its file's name.
pub(super) const ENDING: &str = ".safetensors";
/// Files with numbers are written in pieces of this many bytes at least.
const PIECE: usize = 1 << 20;

/// Checkpoints in a folder of their own: `1.safetensors`, `2.safetensors`, ..., of which the last two
/// are kept.
///
/// A checkpoint is written under another name, waits until it is on the disk, and is renamed then; only
/// after that is on the disk too is an older one removed. Whatever moment a process is killed at or the
/// power fails, the last checkpoint that was written whole can be read.
///
/// Two processes must not write to one folder; who uses a store sees to that.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    disk: Box<dyn Disk>,
    /// Has the folder been seen? One that was there is not made again where it vanished.
    is_there: bool,
    /// The last number that was written or seen.
    last: u64,
    /// Those that could not be read.
    damaged: BTreeSet<u64>,
    /// Why nothing is written: there are checkpoints, and none could be read.
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

/// The checkpoints that had to be passed over, newest first; often none.
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

/// One sentence for each, to print.
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
    /// The store in a folder, which the first checkpoint makes if it is not there.
    ///
    /// # Errors
    /// If there is something that cannot be listed.
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

    /// Writes a checkpoint, and removes those before the one before it. The header gets its format and
    /// its number here.
    ///
    /// # Errors
    /// If the state cannot be serialised or the file cannot be written; if checkpoints are there and none
    /// could be read ([`Store::discard`] removes them). The older ones are as they were.
    pub fn write<T: Serialize + ?Sized>(&mut self, header: &Header, state: &T) -> Result<Written> {
        let value = encode(state).map_err(|error| Error::Save(format!("the state: {error}")))?;
        self.write_value(header, &value)
    }

    /// The same of a state that is encoded.
    pub(super) fn write_value(&mut self, header: &Header, value: &Value<'_>) -> Result<Written> {
        if let Some(why) = &self.closed {
            return Err(Error::Save(format!(
                "no checkpoint is written over those that could not be read ({why})"
            )));
        }
        let before = self.listed_for_writing().map_err(|error| self.fail(&self.folder, error))?;
        let sequence = self.last.checked_add(1).ok_or_else(|| {
            Error::Save(format!("{}: no number is left for a checkpoint", self.folder.display()))
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

    /// The names in the folder, which is made if it never was there.
    fn listed_for_writing(&mut self) -> io::Result<Names> {
        match self.list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_there => {
                self.disk.create_folder(&self.folder)?;
                // The folder's own name must last as well; where it cannot be waited for, the
                // checkpoint is still better than none.
                let parent = self.folder.parent().filter(|path| !path.as_os_str().is_empty());
                let _ = self.disk.sync_folder(parent.unwrap_or(Path::new(".")));
                self.list()
            }
            listed => listed,
        }
    }

    /// A file that is whole or absent, also after a loss of power.
    fn write_file(&self, path: &Path, parts: &Parts<'_>) -> io::Result<u64> {
        let temporary = temporary(path);
        let write = || -> io::Result<u64> {
            let mut file = self.disk.create(&temporary)?;
            let mut out = io::BufWriter::with_capacity(PIECE, &mut file);
            let bytes = parts.write(&mut out)?;
            out.flush()?;
            drop(out);
            file.sync()?;
            // Some systems do not rename a file that is open.
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

    /// Removes all but the last checkpoint that was there before, and what killed processes have left.
    /// What cannot be removed harms nothing, and the next checkpoint tries again.
    fn remove_older(&self, before: &Names) {
        let kept = before.numbers.iter().rev().find(|number| !self.damaged.contains(number));
        for number in before.numbers.iter().filter(|number| Some(*number) != kept) {
            let _ = self.disk.remove(&self.path(*number));
        }
        for name in &before.temporary {
            let _ = self.disk.remove(&self.folder.join(name));
        }
    }

    /// Reads the newest checkpoint that is whole, and says which had to be passed over; none if there is
    /// no checkpoint.
    ///
    /// # Errors
    /// If the folder cannot be listed, if there are checkpoints and none can be read, or if one is of
    /// another version. Nothing is removed, and nothing written until [`Store::discard`] is called.
    pub fn read<T: DeserializeOwned>(&mut self) -> Result<Option<(Header, T, Fallen)>> {
        self.newest(|header, value| {
            decode(value).map_err(|error| {
                format!("does not fit (it was written by adaann {}): {error}", header.program)
            })
        })
    }

    /// Reads the newest checkpoint that is whole, without knowing what it is the state of.
    pub(super) fn read_value(&mut self) -> Result<Option<(Header, Value<'static>, Fallen)>> {
        self.newest(|_, value| Ok(value.into_owned()))
    }

    /// Reads the header of the newest checkpoint that is whole, whatever it is the state of.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn read_header(&mut self) -> Result<Option<(Header, Fallen)>> {
        let found = self.newest(|_, _| Ok(()))?;
        Ok(found.map(|(header, (), fallen)| (header, fallen)))
    }

    /// The newest checkpoint that something can be made of.
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
                    let why = format!("it is checkpoint {} by another name", header.sequence);
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
                // Not damaged: those before it are not asked for.
                Err(Refusal::Version(why)) => return Err(self.close(&path, &why)),
            }
        }
        if fallen.is_empty() {
            return Ok(None);
        }
        let why = format!(
            "no checkpoint can be read ({fallen}); put back a copy of one, or discard them and start anew"
        );
        Err(self.close(&self.folder.clone(), &why))
    }

    /// The error for checkpoints that cannot be gone on from; nothing is written over them.
    fn close(&mut self, path: &Path, why: &str) -> Error {
        let why = format!("{}: {why}", path.display());
        self.closed = Some(why.clone());
        Error::Load(why)
    }

    /// Removes all checkpoints, damaged ones as well: the next one is the first of a new run.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub fn discard(&mut self) -> Result<()> {
        let names = match self.list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Names::default(),
            listed => listed.map_err(|error| self.fail(&self.folder, error))?,
        };
        // Oldest first: what is left when this is cut short is the newest.
        let numbers = names.numbers.iter().map(|number| self.path(*number));
        let temporary = names.temporary.iter().map(|name| self.folder.join(name));
        for path in numbers.chain(temporary) {
            self.disk.remove(&path).map_err(|error| self.fail(&path, error))?;
        }
        self.closed = None;
        self.damaged.clear();
        Ok(())
    }

    /// What is in the folder.
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

/// What is in a folder of checkpoints.
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

/// The number of a checkpoint, by its name; a number is written in one way only.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(ENDING)?;
    digits.parse().ok().filter(|number: &u64| *number > 0 && number.to_string() == digits)
}
