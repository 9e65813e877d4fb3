//! The final state of a run in its folder, from which the run can be extended.

use crate::{
    folder::{Folder, stored::Stored},
    text::failure::usage,
};
use adaann::checkpoint::{Fingerprint, Header, Store};
use anyhow::Result;
use serde::{Serialize, de::DeserializeOwned};

/// The file in a run folder: the only file of a store.
const FILE: &str = "final/1.safetensors";

/// Writes the final state of a run into its folder.
pub(crate) fn write<T: Serialize>(folder: &Folder, header: &Header, state: &T) -> Result<()> {
    Store::open(folder.file(Folder::FINAL))?.write(header, state)?;
    Ok(())
}

/// Reads the final state of a run. `remedy` completes the error messages.
///
/// # Errors
/// If it is missing, damaged, or of another run.
pub(crate) fn read<T: DeserializeOwned>(
    stored: &Stored,
    fingerprint: &Fingerprint,
    remedy: &str,
) -> Result<T> {
    let folder = stored.folder().display();
    if !stored.folder().join(FILE).exists() {
        return Err(usage(format!(
            "{folder} has no final state to extend; runs with --no-state, stopped runs and runs of older versions \
             have none; {remedy}"
        )));
    }
    stored.file(FILE)?;
    let found = Store::open(stored.folder().join(Folder::FINAL))?.read::<T>();
    let Some((header, state, _)) = found.map_err(|error| usage(error.to_string()))? else {
        return Err(usage(format!("{folder}/{FILE} cannot be read; {remedy}")));
    };
    let differences = fingerprint.differences(&header.fingerprint);
    match differences.is_empty() {
        true => Ok(state),
        false => Err(usage(format!(
            "the final state in {folder} is that of another run: {}; {remedy}",
            differences.join("; ")
        ))),
    }
}
