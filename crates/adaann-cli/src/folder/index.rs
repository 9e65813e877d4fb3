//! `index.json`: the files of a run folder with their lengths and digests, to detect changes.

use crate::{
    folder::{out::Out, sha256::Sha256},
    text::failure::usage,
};
use adaann::support::file;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::Path,
};

/// The files of a folder when they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    /// The files by their paths in the folder, separated by `/`.
    files: BTreeMap<String, Entry>,
}

/// A file when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    bytes: u64,
    sha256: String,
}

/// How a folder differs from its index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    pub(crate) changed: Vec<String>,
    pub(crate) missing: Vec<String>,
    pub(crate) new: Vec<String>,
}

/// Temporary entries of a running process, which do not belong to the answer.
const PASSING: [&str; 2] = ["lock", "state"];

impl Index {
    /// Name of the file.
    pub(crate) const FILE: &str = "index.json";

    /// The index of the files in a folder.
    fn of(folder: &Path) -> Result<Self> {
        let mut index = Self::default();
        for name in files(folder, "")? {
            index.files.insert(name.clone(), Entry::of(&folder.join(&name))?);
        }
        Ok(index)
    }

    /// Reads the index of a folder; older folders have none.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(Self::FILE);
        if fs::symlink_metadata(&path).is_err() {
            return Ok(None);
        }
        let bytes = file::read(&path)?;
        let index = serde_json::from_slice(&bytes);
        index.map(Some).map_err(|error| {
            usage(format!("{} is not the index of a run folder: {error}", path.display()))
        })
    }

    /// Writes the index of all files in a folder.
    pub(crate) fn write(folder: &Path) -> Result<()> {
        Self::of(folder)?.save(folder)
    }

    /// Updates the entries of rewritten files, if the folder has an index.
    pub(crate) fn update(folder: &Path, names: &[String]) -> Result<()> {
        let Some(mut index) = Self::read(folder)? else { return Ok(()) };
        for name in names {
            index.files.insert(name.clone(), Entry::of(&folder.join(name))?);
        }
        index.save(folder)
    }

    fn save(&self, folder: &Path) -> Result<()> {
        let mut text = serde_json::to_string_pretty(self).context("cannot write the index")?;
        text.push('\n');
        Out::own(folder, Self::FILE)?.write(text.as_bytes())
    }

    /// Refuses a file that was changed.
    pub(crate) fn check(&self, folder: &Path, name: &str) -> Result<()> {
        let problem = match self.files.get(name) {
            None => "does not belong to the run",
            Some(entry) if *entry != Entry::of(&folder.join(name))? => "was changed after the run",
            Some(_) => return Ok(()),
        };
        let (path, folder) = (folder.join(name), folder.display());
        Err(usage(format!(
            "{} {problem}, so it is not used; `adaann verify {folder}` lists all changes",
            path.display()
        )))
    }

    /// Compares a folder with its index.
    pub(crate) fn differences(&self, folder: &Path) -> Result<Differences> {
        let mut found = Differences::default();
        for (name, entry) in &self.files {
            let path = folder.join(name);
            if !path.is_file() {
                found.missing.push(name.clone());
            } else if *entry != Entry::of(&path)? {
                found.changed.push(name.clone());
            }
        }
        let names = files(folder, "")?;
        found.new = names.into_iter().filter(|name| !self.files.contains_key(name)).collect();
        Ok(found)
    }

    /// Is there a file of this name?
    pub(crate) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }
}

impl Entry {
    fn of(path: &Path) -> Result<Self> {
        let place = || format!("cannot read {}", path.display());
        // A missing file, or something that is not a file, gets an entry that matches no file.
        if !path.is_file() {
            return Ok(Self { bytes: 0, sha256: String::new() });
        }
        let mut file = File::open(path).with_context(place)?;
        let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
        loop {
            let len = file.read(&mut buffer).with_context(place)?;
            if len == 0 {
                return Ok(Self { bytes, sha256: hash.digest() });
            }
            bytes += len as u64;
            hash.add(&buffer[..len]);
        }
    }
}

/// The sorted names of all files below a folder that belong into its index.
fn files(folder: &Path, below: &str) -> Result<Vec<String>> {
    let place = || format!("cannot read {}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.join(below)).with_context(place)? {
        let entry = entry.with_context(place)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_left_out = below.is_empty() && (name == Index::FILE || PASSING.contains(&&name[..]));
        if is_left_out || name.starts_with('.') {
            continue;
        }
        let name = if below.is_empty() { name } else { format!("{below}/{name}") };
        match entry.file_type().with_context(place)?.is_dir() {
            true => names.extend(files(folder, &name)?),
            false => names.push(name),
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_compared_with_what_it_was() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        fs::create_dir(folder.join("figures")).unwrap();
        for name in ["a", "b", "figures/c"] {
            fs::write(folder.join(name), name).unwrap();
        }
        assert_eq!(Index::read(folder).unwrap(), None);
        Index::write(folder).unwrap();
        let index = Index::read(folder).unwrap().unwrap();
        assert_eq!(index.len(), 3);
        assert_eq!(index.differences(folder).unwrap(), Differences::default());
        index.check(folder, "figures/c").unwrap();
        // The same length with other bytes.
        fs::write(folder.join("figures/c"), "figures/d").unwrap();
        fs::remove_file(folder.join("b")).unwrap();
        fs::write(folder.join("e"), "").unwrap();
        fs::write(folder.join("lock"), "").unwrap();
        let found = index.differences(folder).unwrap();
        let names = |name: &str| vec![name.to_owned()];
        let expected =
            Differences { changed: names("figures/c"), missing: names("b"), new: names("e") };
        assert_eq!(found, expected);
        for name in ["figures/c", "b", "e"] {
            let said = index.check(folder, name).unwrap_err().to_string();
            assert!(said.contains("adaann verify"), "{said}");
        }
        // Only the named files are updated.
        Index::update(folder, &names("figures/c")).unwrap();
        let found = Index::read(folder).unwrap().unwrap().differences(folder).unwrap();
        assert_eq!(found, Differences { changed: vec![], ..expected });
    }
}
