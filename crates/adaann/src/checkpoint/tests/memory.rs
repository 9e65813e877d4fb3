//! A disk in memory that models the loss of power, and fails on request.

use crate::checkpoint::{
    Fingerprint, Header, Keeper, Ledger, Store,
    disk::{Disk, Output},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

/// The ways in which an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails; those after it do not.
    Fails,
    /// A write fails after half of its bytes, and so do all later ones: the disk is full.
    Full,
    /// This operation and all later ones have no effect: the process is gone.
    Killed,
    /// The same, but half of a write has been done.
    KilledHalfway,
}

#[derive(Debug, Clone, Default)]
struct Content {
    now: Vec<u8>,
    /// The data that is on the disk for certain.
    safe: Vec<u8>,
}

#[derive(Debug, Default)]
struct Inner {
    files: Vec<Content>,
    /// The file behind each name.
    names: BTreeMap<PathBuf, usize>,
    safe_names: BTreeMap<PathBuf, usize>,
    operations: usize,
    fault: Option<(usize, Fault)>,
    is_dead: bool,
    /// The most bytes of one write; by default a few hundred.
    piece: Option<usize>,
}

impl Inner {
    /// Counts an operation; returns its fault, if any.
    fn fault(&mut self) -> Option<Fault> {
        let number = self.operations;
        self.operations += 1;
        match self.fault {
            Some((at, fault)) if at == number => {
                self.is_dead = matches!(fault, Fault::Killed | Fault::KilledHalfway);
                Some(fault)
            }
            Some((at, Fault::Full)) if number > at => Some(Fault::Full),
            _ => self.is_dead.then_some(Fault::Killed),
        }
    }

    /// An operation other than a write; it succeeds on a full disk.
    fn operate(&mut self) -> io::Result<()> {
        match self.fault() {
            None | Some(Fault::Full) => Ok(()),
            Some(_) => Err(io::Error::other("a fault")),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<Inner>>);

impl Memory {
    fn with<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> T {
        act(&mut self.0.lock().unwrap())
    }

    /// A disk that takes this many bytes in one write.
    pub(crate) fn in_pieces_of(bytes: usize) -> Self {
        Self(Arc::new(Mutex::new(Inner { piece: Some(bytes), ..Inner::default() })))
    }

    /// A ledger on this disk that writes after every part and every offered state.
    pub(crate) fn ledger(&self) -> Ledger {
        let store = Store::on(Box::new(self.clone()), "state".into()).unwrap();
        let keeper = Keeper::new(store, Duration::ZERO);
        Ledger::new(keeper, Header::new("any", Fingerprint::new())).resumed().unwrap()
    }

    /// Counts operations from now on, and makes the one with this number fail.
    pub(crate) fn break_at(&self, number: usize, fault: Fault) {
        self.with(|inner| (inner.operations, inner.fault) = (0, Some((number, fault))));
    }

    /// Stops the faults; returns the number of operations since they began.
    pub(crate) fn mend(&self) -> usize {
        self.with(|inner| {
            (inner.fault, inner.is_dead) = (None, false);
            inner.operations
        })
    }

    /// Names of files, for messages and tests.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        self.with(|inner| inner.names.keys().map(name).collect())
    }

    /// The possible disks after a power failure: any part of the unsynced data may have reached the
    /// disk.
    pub(super) fn after_power_loss(&self) -> Vec<Self> {
        self.with(|inner| {
            let all: BTreeSet<&PathBuf> =
                inner.names.keys().chain(inner.safe_names.keys()).collect();
            let open: Vec<&PathBuf> = all
                .iter()
                .copied()
                .filter(|name| inner.names.get(*name) != inner.safe_names.get(*name))
                .collect();
            let mut disks = Vec::new();
            for subset in 0..1u32 << open.len() {
                let mut names = inner.safe_names.clone();
                for (_, name) in open.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1) {
                    match inner.names.get(*name) {
                        Some(file) => names.insert((*name).clone(), *file),
                        None => names.remove(*name),
                    };
                }
                for is_safe in [false, true] {
                    let content = |file: &Content| {
                        let left = if is_safe { &file.safe } else { &file.now };
                        Content { now: left.clone(), safe: left.clone() }
                    };
                    disks.push(Self(Arc::new(Mutex::new(Inner {
                        files: inner.files.iter().map(content).collect(),
                        names: names.clone(),
                        safe_names: names.clone(),
                        ..Inner::default()
                    }))));
                }
            }
            disks
        })
    }
}

fn absent() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Disk for Memory {
    fn create_folder(&self, _: &Path) -> io::Result<()> {
        self.with(Inner::operate)
    }

    /// Reading changes nothing, and is not counted.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        assert!(self.with(|inner| inner.names.keys().all(|path| path.starts_with(folder))));
        Ok(self.names())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.with(|inner| {
            inner.names.get(path).map(|file| inner.files[*file].now.clone()).ok_or_else(absent)
        })
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        self.with(|inner| {
            inner.operate()?;
            inner.files.push(Content::default());
            let file = inner.files.len() - 1;
            inner.names.insert(path.to_owned(), file);
            Ok(Box::new(Open { disk: self.clone(), file }) as Box<dyn Output>)
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.with(|inner| {
            inner.operate()?;
            let file = inner.names.remove(from).ok_or_else(absent)?;
            inner.names.insert(to.to_owned(), file);
            Ok(())
        })
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.with(|inner| {
            inner.operate()?;
            inner.safe_names = inner.names.clone();
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.with(|inner| {
            inner.operate()?;
            inner.names.remove(path).map(drop).ok_or_else(absent)
        })
    }
}

/// A file that is being written.
struct Open {
    disk: Memory,
    file: usize,
}

impl Write for Open {
    /// Writes in small pieces, to have many moments for a failure.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.with(|inner| {
            let piece = &bytes[..bytes.len().min(inner.piece.unwrap_or(400))];
            let fault = inner.fault();
            let done = match fault {
                None => piece,
                Some(Fault::Full | Fault::KilledHalfway) => &piece[..piece.len() / 2],
                Some(Fault::Fails | Fault::Killed) => &[],
            };
            inner.files[self.file].now.extend_from_slice(done);
            match fault {
                None => Ok(piece.len()),
                Some(_) => Err(io::ErrorKind::StorageFull.into()),
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Open {
    fn sync(&mut self) -> io::Result<()> {
        self.disk.with(|inner| {
            inner.operate()?;
            let file = &mut inner.files[self.file];
            file.safe = file.now.clone();
            Ok(())
        })
    }
}
