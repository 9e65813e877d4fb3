//! States as bytes for another process, and stores in memory that pass checkpoints on.

use super::{
    container::{self, Parts, Refusal},
    decode::decode,
    disk::{Disk, Output},
    encode::encode,
    fingerprint::Fingerprint,
    header::{FORMAT, Header},
    store::{Store, Written},
};
use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Serialises a state as the bytes of a checkpoint: numbers keep every bit.
///
/// ```
/// use adaann::checkpoint::{from_bytes, to_bytes};
///
/// let bytes = to_bytes(&(vec![f64::NEG_INFINITY, -0.0], "two"))?;
/// let (numbers, word): (Vec<f64>, String) = from_bytes(&bytes)?;
/// assert!(numbers[0] == f64::NEG_INFINITY && numbers[1].is_sign_negative() && word == "two");
/// assert!(from_bytes::<u64>(&bytes[1..]).is_err());
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// If it cannot be serialised.
pub fn to_bytes<T: Serialize + ?Sized>(state: &T) -> Result<Vec<u8>> {
    let value = encode(state).map_err(|error| Error::Save(error.to_string()))?;
    let header = Header { format: FORMAT, ..Header::new("", Fingerprint::new()) };
    let parts = Parts::new(&header, &value).map_err(Error::Save)?;
    let mut bytes = Vec::new();
    parts.write(&mut bytes).map_err(|error| Error::Save(error.to_string()))?;
    Ok(bytes)
}

/// Reads a state from the bytes of [`to_bytes`].
///
/// # Errors
/// If the bytes are damaged or of another type.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let (_, value) = container::read(bytes).map_err(load)?;
    decode(value).map_err(|error| Error::Load(error.to_string()))
}

fn load(refusal: Refusal) -> Error {
    let (Refusal::Damaged(why) | Refusal::Version(why)) = refusal;
    Error::Load(why)
}

impl Store {
    /// A store in memory, for a process that writes no files. It passes every checkpoint to a listener, as bytes
    /// that [`Store::write_copy`] writes elsewhere. It starts with such a checkpoint, if given.
    ///
    /// # Errors
    /// If that checkpoint is damaged.
    pub fn told(
        first: Option<&[u8]>,
        tell: impl Fn(&[u8]) + Send + Sync + 'static,
    ) -> Result<Self> {
        let files = Arc::new(Mutex::new(BTreeMap::new()));
        if let Some(bytes) = first {
            let (header, _) = container::read(bytes).map_err(load)?;
            let name = PathBuf::from(format!("{}{}", header.sequence, super::store::ENDING));
            files.lock().unwrap_or_else(PoisonError::into_inner).insert(name, bytes.to_vec());
        }
        Self::on(Box::new(Told { files, tell: Box::new(tell) }), PathBuf::new())
    }

    /// Writes a checkpoint from a store elsewhere, under a number of this store.
    ///
    /// # Errors
    /// If the bytes are damaged, or as [`Store::write`].
    pub fn write_copy(&mut self, bytes: &[u8]) -> Result<Written> {
        let (header, value) = container::read(bytes).map_err(load)?;
        self.write_value(&header, &value)
    }

    /// The newest intact checkpoint, as bytes for [`Store::told`].
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn newest_copy(&mut self) -> Result<Option<Vec<u8>>> {
        let Some((header, value, _)) = self.read_value()? else { return Ok(None) };
        let parts = Parts::new(&header, &value).map_err(Error::Save)?;
        let mut bytes = Vec::new();
        parts.write(&mut bytes).map_err(|error| Error::Save(error.to_string()))?;
        Ok(Some(bytes))
    }
}

type Files = Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>;

/// Files in memory. Each is passed on when it is complete, that is when it gets its final name.
struct Told {
    files: Files,
    tell: Tell,
}

/// The listener.
type Tell = Box<dyn Fn(&[u8]) + Send + Sync>;

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Told").finish_non_exhaustive()
    }
}

impl Told {
    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for Told {
    fn create_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(self.files().keys().map(|path| path.display().to_string()).collect())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files().get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        self.files().insert(path.to_owned(), Vec::new());
        Ok(Box::new(Open { files: self.files.clone(), path: path.to_owned() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let bytes = self.files().remove(from).ok_or(io::ErrorKind::NotFound)?;
        (self.tell)(&bytes);
        self.files().insert(to.to_owned(), bytes);
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files().remove(path);
        Ok(())
    }
}

/// A file that is being written.
struct Open {
    files: Files,
    path: PathBuf,
}

impl io::Write for Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.entry(self.path.clone()).or_default().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Open {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{Done, Keeper, Ledger};
    use std::time::Duration;

    /// A run in a process without files resumes where another with files stopped, and the other way round.
    #[test]
    fn a_run_goes_on_in_another_process() {
        let work = |ledger: &mut Ledger, end: usize| -> (usize, Vec<usize>) {
            let mut seen = Vec::new();
            let sum = ledger.part("sum", |ledger| {
                let (mut at, mut sum) = ledger.take_up()?.unwrap_or((0, 0));
                while at < end {
                    seen.push(at);
                    (at, sum) = (at + 1, sum + at * at);
                    ledger.keep(&(at, sum));
                }
                Ok(if end < 10 { Done::Stopped(sum) } else { Done::Whole(sum) })
            });
            (sum.unwrap(), seen)
        };
        let header = || Header::new("", Fingerprint::new());
        let ledger =
            |store| Ledger::new(Keeper::new(store, Duration::ZERO), header()).resumed().unwrap();
        let place = std::env::temp_dir().join(format!("adaann-told-{}", std::process::id()));
        let mut store = Store::open(&place).unwrap();
        assert_eq!(store.newest_copy().unwrap(), None);
        let told = Arc::new(Mutex::new(Vec::new()));
        let hear = |first: Option<Vec<u8>>| {
            let told = told.clone();
            Store::told(first.as_deref(), move |bytes| told.lock().unwrap().push(bytes.to_vec()))
                .unwrap()
        };
        assert_eq!(work(&mut ledger(hear(None)), 3), (5, vec![0, 1, 2]));
        for bytes in told.lock().unwrap().drain(..) {
            store.write_copy(&bytes).unwrap();
        }
        // Now in this process, with files.
        assert_eq!(work(&mut ledger(Store::open(&place).unwrap()), 5), (30, vec![3, 4]));
        // Back in the other process.
        let first = Store::open(&place).unwrap().newest_copy().unwrap();
        assert_eq!(work(&mut ledger(hear(first.clone())), 10), (285, vec![5, 6, 7, 8, 9]));
        assert!(Store::told(Some(&first.unwrap()[8..]), |_| ()).is_err());
        std::fs::remove_dir_all(&place).unwrap();
    }
}
