//! The run folder, which is either complete or absent.
//!
//! Files are written into a hidden folder next to the final one, which is renamed when it is complete. It is
//! created with a lock before the run starts, to reserve the name. The next run clears away the remains of a
//! killed process. A failed run leaves nothing behind, not even parent folders that it has created.
//!
//! The report and its figures are made from the files of the folder alone, by the same code at the end of `run`
//! and in `report`. A run folder cannot contain a function in another language: `foreign.rs` defines what it
//! stores about one.

mod beginning;
pub(crate) mod csv;
pub(crate) mod drawn;
pub(crate) mod evaluate;
pub(crate) mod figures;
pub(crate) mod finished;
pub(crate) mod foreign;
pub(crate) mod index;
pub(crate) mod out;
pub(crate) mod page;
pub(crate) mod predicted;
pub(crate) mod record;
pub(crate) mod row_terms;
mod sha256;
pub(crate) mod stored;
mod strangers;
pub(crate) mod subject;
pub(crate) mod summary;
pub(crate) mod words;

pub(crate) use beginning::Beginning;

use crate::{
    folder::{index::Index, record::Record, stored::Stored, summary::Summary},
    text::{failure::usage, said::say},
};
use adaann::{Error, tasks::Lock};
use anyhow::{Context, Result};
use std::{
    fs,
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

/// A run folder that is being written; its name is reserved.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    temporary: PathBuf,
    /// Folders above it that were created for it, the deepest first.
    parents: Vec<PathBuf>,
    /// Held until the folder has its name.
    lock: Option<Lock>,
    old: Old,
    /// Does this run resume an unfinished run of this name?
    is_unfinished: bool,
}

/// What happens to a finished run of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Old {
    /// It stays, and the new run is refused.
    Stays,
    /// The new run replaces it.
    Replaced,
    /// The new run extends it.
    Lengthened,
}

impl Old {
    /// By the flag `--force`.
    pub(crate) fn forced(force: bool) -> Self {
        if force { Self::Replaced } else { Self::Stays }
    }
}

/// Name of the lock in a folder that is being written.
const LOCK: &str = "lock";

/// Number of attempts to take the lock while others take and release it.
const TRIES: usize = 20;

/// Refuses a folder that cannot be written, before the run starts.
pub(crate) fn check(path: &Path, old: Old) -> Result<()> {
    if !out::names_something(&plain(path)) {
        return Err(usage(format!("--out is '{}', but must name a folder", path.display())));
    }
    check_free(path, old)?;
    // Create and remove a folder to test whether the place is writable. Missing parents are created later:
    // otherwise two runs that start together would remove them from each other.
    let place = path.ancestors().skip(1).find(|place| exists(place)).unwrap_or(path);
    let probe = beside(path, &format!("{}.probe", std::process::id()));
    let probe = place.join(probe.file_name().unwrap_or_default());
    fs::create_dir(&probe)
        .and_then(|()| fs::remove_dir(&probe))
        .map_err(|error| usage(format!("{}: {error}", cannot_create(path))))
}

/// Refuses a name that exists, unless it is a run that may be replaced.
fn check_free(path: &Path, old: Old) -> Result<()> {
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(_) if is_unfinished(path) => Ok(()),
        Ok(_) if old == Old::Stays => Err(usage(format!(
            "the output folder {} exists; replace it with --force, or choose another with --out",
            path.display()
        ))),
        // `--out ~ --force` must not delete a home folder.
        Ok(_) if !path.join(Record::FILE).is_file() => Err(usage(format!(
            "the output folder {} exists and is not a run folder (it has no {}), so --force \
             does not replace it",
            path.display(),
            Record::FILE
        ))),
        Ok(_) if old == Old::Replaced => check_strangers(path, path, "--force"),
        Ok(_) => Ok(()),
    }
}

/// Refuses to remove the folder at `removed` if it has files that do not belong to the run.
fn check_strangers(path: &Path, removed: &Path, flag: &str) -> Result<()> {
    let mut strangers = strangers::strangers(path);
    strangers.retain(|name| path.join(name).starts_with(removed));
    if strangers.is_empty() {
        return Ok(());
    }
    let (path, names) = (path.display(), strangers::in_words(&strangers));
    Err(usage(format!(
        "{path} has files that do not belong to the run, so {flag} does not remove it: {names}; move them away, \
         or choose another folder with --out"
    )))
}

/// Is it the folder of an unfinished run, with checkpoints to resume from?
pub(crate) fn is_unfinished(path: &Path) -> bool {
    let has = |name: &str| path.join(name).exists();
    has(Record::FILE) && (has(Folder::STATE) || !has(Summary::FILE))
}

/// Does the folder exist? The empty path is the current folder.
fn exists(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.exists()
}

fn cannot_create(path: &Path) -> String {
    format!("--out: cannot create the output folder {}", path.display())
}

impl Folder {
    /// Reserves the name of a folder and creates its hidden folder.
    pub(crate) fn reserve(path: &Path, old: Old, restart: bool) -> Result<Self> {
        let path = &plain(path);
        check(path, old)?;
        let above = path.ancestors().skip(1).take_while(|parent| !exists(parent));
        let parents = above.map(Path::to_owned).collect();
        let temporary = beside(path, "partial");
        let lock = take(path, &temporary)?;
        // Construct it first, so that it is cleaned up if a later step fails.
        let mut folder = Self {
            path: path.to_owned(),
            temporary,
            parents,
            lock: Some(lock),
            old,
            is_unfinished: false,
        };
        folder.clear()?;
        // Another run may have finished between the first check and the lock.
        check_free(path, old)?;
        if restart && is_unfinished(path) {
            // An older run that the unfinished one was going to replace stays.
            let is_replacing = path.join(Summary::FILE).exists();
            if is_replacing && old == Old::Stays {
                return Err(usage(format!(
                    "{} has an answer and checkpoints; --force --restart replaces both, and the command without \
                     --restart resumes from the checkpoints",
                    path.display()
                )));
            }
            let begun = if is_replacing { path.join(Self::STATE) } else { path.to_owned() };
            check_strangers(path, &begun, "--restart")?;
            fs::remove_dir_all(&begun)
                .with_context(|| format!("cannot remove the unfinished run {}", begun.display()))?;
            check_free(path, old)?;
        }
        folder.is_unfinished = is_unfinished(path);
        Ok(folder)
    }

    /// The folder for checkpoints before this one is complete.
    pub(crate) fn beginning(&self) -> Beginning {
        Beginning { path: self.path.clone(), temporary: self.temporary.clone() }
    }

    /// The folder of checkpoints in a run folder.
    pub(crate) const STATE: &str = Stored::STATE;

    /// The folder of a finished run's final state.
    pub(crate) const FINAL: &str = "final";

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// May it replace a finished run of this name?
    pub(crate) fn is_forced(&self) -> bool {
        self.old == Old::Replaced
    }

    /// Does it resume an unfinished run of this name?
    pub(crate) fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    /// Clears away the remains of a killed process.
    fn clear(&self) -> Result<()> {
        let place = || format!("cannot clear away {}", self.temporary.display());
        for entry in fs::read_dir(&self.temporary).with_context(place)? {
            let entry = entry.with_context(place)?;
            match entry.file_type().with_context(place)?.is_dir() {
                _ if entry.file_name() == LOCK => Ok(()),
                true => fs::remove_dir_all(entry.path()),
                false => fs::remove_file(entry.path()),
            }
            .with_context(place)?;
        }
        let old = beside(&self.path, "old");
        match (exists(&old), exists(&self.path)) {
            // The process was killed before the new run took the name of the old one.
            (true, false) => fs::rename(&old, &self.path),
            (true, true) => remove_replaced(&old, &self.path),
            (false, _) => Ok(()),
        }
        .with_context(|| format!("cannot restore {}", old.display()))
    }

    /// The path of the hidden folder.
    pub(crate) fn place(&self) -> &Path {
        &self.temporary
    }

    /// Creates the hidden folder again if it was removed during the run, so that the results are not lost.
    pub(crate) fn restore(&mut self) -> Result<()> {
        let lock = fs::read_to_string(self.temporary.join(LOCK)).unwrap_or_default();
        let holder = lock.split_whitespace().next().unwrap_or_default();
        if holder == std::process::id().to_string() {
            return Ok(());
        }
        let path = self.path.display();
        say(&format!(
            "warning: the folder of {path} was removed during the run and is created again"
        ));
        match take(&self.path, &self.temporary) {
            Ok(lock) => self.lock = Some(lock),
            // Another run may have taken the name.
            Err(_) => {
                self.temporary = beside(&self.path, &format!("partial-{}", std::process::id()));
                self.lock = Some(take(&self.path, &self.temporary)?);
            }
        }
        Ok(())
    }

    /// The path of a file in the hidden folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.temporary.join(name)
    }

    /// Writes a file of the folder.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.write_with(name, |file| file.write_all(bytes.as_ref()))
    }

    /// Writes a file of the folder incrementally.
    pub(crate) fn write_with(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let write = || {
            let mut file = BufWriter::new(fs::File::create(self.file(name))?);
            fill(&mut file)?;
            file.flush()?;
            // Some file systems report only here that they are full.
            file.get_ref().sync_all()
        };
        write().with_context(|| format!("cannot write {}", self.path.join(name).display()))
    }

    /// Renames the hidden folder to its final name. Replaces an older run if allowed, and the folder with this
    /// run's checkpoints; if the run `goes_on`, it keeps its checkpoints.
    pub(crate) fn finish(mut self, goes_on: bool) -> Result<()> {
        // A folder without an index is still readable.
        let indexed = Index::write(&self.temporary);
        let place = || format!("cannot rename the finished folder to {}", self.path.display());
        let old = beside(&self.path, "old");
        let replaced = self.path.exists() && (self.old != Old::Stays || is_unfinished(&self.path));
        if replaced {
            fs::rename(&self.path, &old).with_context(place)?;
        }
        if let Err(error) = fs::rename(&self.temporary, &self.path) {
            if replaced {
                // Restore the old run.
                let _ = fs::rename(&old, &self.path);
            }
            return Err(self.save_elsewhere(error));
        }
        // From here on, another run may take the hidden name.
        self.lock.take();
        let _ = fs::remove_file(self.path.join(LOCK));
        if replaced {
            let state = old.join(Self::STATE);
            if goes_on && state.exists() {
                fs::rename(&state, self.path.join(Self::STATE))
                    .with_context(|| format!("cannot move {}", state.display()))?;
            }
            remove_replaced(&old, &self.path)
                .with_context(|| format!("cannot remove the replaced run {}", old.display()))?;
        }
        indexed
            .with_context(|| format!("{} is complete, but without its index", self.path.display()))
    }

    /// Saves the run under another name, because the final name was taken during the run.
    fn save_elsewhere(&mut self, error: io::Error) -> anyhow::Error {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let other = self.path.with_file_name(format!("{name}-{}", std::process::id()));
        if fs::rename(&self.temporary, &other).is_err() {
            let path = self.path.display();
            return anyhow::Error::from(error).context(format!("cannot write the folder {path}"));
        }
        self.lock.take();
        let _ = fs::remove_file(other.join(LOCK));
        let (path, other) = (self.path.display(), other.display());
        anyhow::anyhow!("{path} was created by somebody else during the run; the run is in {other}")
    }
}

/// Removes a replaced run. Files that somebody has added to its folder move to the new one.
fn remove_replaced(old: &Path, new: &Path) -> io::Result<()> {
    let left = strangers::carry_over(old, new);
    if left.is_empty() {
        return fs::remove_dir_all(old);
    }
    // Use a visible name, so that the files are found.
    let place = free_name(new, "old");
    fs::rename(old, &place)?;
    say(&format!(
        "warning: {} has files that do not belong to the run and could not be moved: {}",
        place.display(),
        strangers::in_words(&left)
    ));
    Ok(())
}

/// An unused name next to `path`.
fn free_name(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let names = (1..).map(|number| path.with_file_name(format!("{name}-{suffix}-{number}")));
    names.into_iter().find(|path| path.symlink_metadata().is_err()).unwrap_or_default()
}

/// Takes the lock in the hidden folder, which is created if needed.
fn take(path: &Path, temporary: &Path) -> Result<Lock> {
    let mut last = io::Error::from(ErrorKind::NotFound);
    for _ in 0..TRIES {
        if let Err(error) = fs::create_dir_all(temporary) {
            last = error;
            continue;
        }
        let lock = temporary.join(LOCK);
        let is_foreign = !lock.exists()
            && temporary.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        // Check again: the lock may have been created in between.
        if is_foreign && !lock.exists() {
            return Err(usage(format!(
                "--out: {} is in the way and was not created by adaann; move it, or choose another --out",
                temporary.display()
            )));
        }
        match Lock::take(&lock) {
            Ok(lock) => return Ok(lock),
            Err(Error::Locked { process, .. }) => {
                let number = process.map_or(String::new(), |number| format!(", process {number},"));
                return Err(usage(format!(
                    "another run{number} is writing to the output folder {}; wait for it to end, or \
                     choose another --out",
                    path.display()
                )));
            }
            // Its holder has just ended and removed it.
            Err(Error::Io { cause, .. }) => last = cause,
            Err(error) => return Err(error.into()),
        }
    }
    Err(usage(format!("{}: {last}", cannot_create(path))))
}

impl Drop for Folder {
    fn drop(&mut self) {
        // `finish` has already removed it. If `finish` did not run, another error is being returned.
        if self.lock.is_some() {
            let _ = fs::remove_dir_all(&self.temporary);
        }
        for parent in &self.parents {
            // Folders that are not empty stay.
            let _ = fs::remove_dir(parent);
        }
    }
}

/// A path without trailing slashes, which shells append to the names of folders.
fn plain(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let end = text.trim_end_matches(std::path::is_separator);
    if end.len() == text.len() { path.to_owned() } else { PathBuf::from(end) }
}

/// A hidden name next to `path`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice;

    #[test]
    fn parents_come_with_the_folder_and_go_if_it_fails() {
        let place = tempfile::tempdir().unwrap();
        let (above, path) = (place.path().join("a"), place.path().join("a/b/r"));
        check(&path, Old::Stays).unwrap();
        assert!(!above.exists(), "looking creates nothing");
        drop(Folder::reserve(&path, Old::Stays, false).unwrap());
        assert!(!above.exists(), "an unfinished folder leaves nothing");
        Folder::reserve(&path, Old::Stays, false).unwrap().finish(false).unwrap();
        assert!(path.is_dir());
        drop(Folder::reserve(&above.join("b/s"), Old::Stays, false).unwrap());
        assert!(path.is_dir(), "what others wrote stays");
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| {
            entry.unwrap().file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_name_is_one_runs_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("r");
        let first = Folder::reserve(&path, Old::Stays, false).unwrap();
        for force in [false, true] {
            let said = Folder::reserve(&path, Old::forced(force), false).unwrap_err().to_string();
            let process = format!("process {}", std::process::id());
            assert!(said.contains(&process) && said.contains("--out"), "{said}");
        }
        first.write(Record::FILE, "").unwrap();
        first.write(Summary::FILE, "").unwrap();
        first.finish(false).unwrap();
        assert_eq!(names(place.path()), ["r"]);
        assert_eq!(names(&path), ["index.json", Record::FILE, Summary::FILE]);
        assert!(
            Folder::reserve(&path, Old::Stays, false).unwrap_err().to_string().contains("exists")
        );
        assert!(Folder::reserve(&path, Old::Replaced, false).is_ok());
        assert_eq!(names(place.path()), ["r"]);
    }

    #[test]
    fn what_a_killed_process_has_left_is_cleared_away() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("r");
        let partial = place.path().join(".r.partial");
        fs::create_dir_all(partial.join("figures")).unwrap();
        for (name, text) in [(LOCK, "4000000 1\n"), ("draws.csv", "x"), ("figures/a.svg", "x")] {
            fs::write(partial.join(name), text).unwrap();
        }
        // The killed process was replacing an older run.
        fs::create_dir(place.path().join(".r.old")).unwrap();
        for name in [Record::FILE, Summary::FILE] {
            fs::write(place.path().join(".r.old").join(name), "old").unwrap();
        }
        let said = Folder::reserve(&path, Old::Stays, false).unwrap_err().to_string();
        assert!(said.contains("exists"), "{said}");
        assert_eq!(names(place.path()), ["r"]);
        assert_eq!(fs::read_to_string(path.join(Record::FILE)).unwrap(), "old");
        let folder = Folder::reserve(&path, Old::Replaced, false).unwrap();
        assert_eq!(names(folder.place()), slice::from_ref(&LOCK));
    }

    #[test]
    fn a_hidden_folder_of_somebody_else_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let other = place.path().join(".r.partial");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("thesis"), "").unwrap();
        let said =
            Folder::reserve(&place.path().join("r"), Old::Stays, false).unwrap_err().to_string();
        assert!(said.contains("is in the way"), "{said}");
        assert_eq!(names(&other), ["thesis"]);
    }

    #[test]
    fn a_run_whose_name_is_taken_in_the_end_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("r");
        let folder = Folder::reserve(&path, Old::Stays, false).unwrap();
        folder.write(Record::FILE, "mine").unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("other"), "").unwrap();
        let said = folder.finish(false).unwrap_err().to_string();
        let kept = format!("r-{}", std::process::id());
        assert!(said.contains(&kept), "{said}");
        assert_eq!(names(place.path()), ["r".to_owned(), kept.clone()]);
        assert_eq!(fs::read_to_string(place.path().join(kept).join(Record::FILE)).unwrap(), "mine");
    }

    #[test]
    fn an_unfinished_run_is_gone_on_with_or_begun_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("r");
        let files = vec![(Record::FILE.to_owned(), "told".into())];
        let folder = Folder::reserve(&path, Old::Stays, false).unwrap();
        assert!(!folder.is_unfinished());
        folder.beginning().make(&files).unwrap();
        folder.beginning().make(&files).unwrap();
        fs::write(path.join("state/1.safetensors"), "x").unwrap();
        assert_eq!(names(&path), [Record::FILE, "state"]);
        // A killed process releases its lock.
        drop(folder);
        let again = Folder::reserve(&path, Old::Stays, false).unwrap();
        assert!(again.is_unfinished());
        // A stopped run keeps its checkpoints and is still unfinished.
        again.write(Record::FILE, "told").unwrap();
        again.write(Summary::FILE, "").unwrap();
        again.finish(true).unwrap();
        assert_eq!(names(&path), ["index.json", Record::FILE, "state", Summary::FILE]);
        let again = Folder::reserve(&path, Old::Stays, false).unwrap();
        assert!(again.is_unfinished());
        again.write(Record::FILE, "told").unwrap();
        again.write(Summary::FILE, "").unwrap();
        again.finish(false).unwrap();
        assert!(!is_unfinished(&path) && !path.join("state").exists());
        assert_eq!(names(place.path()), ["r"]);

        // Restarting a run that was going to replace it leaves the older one alone.
        let folder = Folder::reserve(&path, Old::Replaced, false).unwrap();
        folder.beginning().make(&files).unwrap();
        assert!(path.join("state").exists());
        drop(folder);
        let said = Folder::reserve(&path, Old::Stays, true).unwrap_err().to_string();
        assert!(said.contains("--force --restart"), "{said}");
        assert!(path.join(Summary::FILE).exists() && is_unfinished(&path));
        drop(Folder::reserve(&path, Old::Replaced, true).unwrap());
        assert!(path.join(Summary::FILE).exists() && !is_unfinished(&path));
    }
}
