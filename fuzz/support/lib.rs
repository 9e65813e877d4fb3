//! Helpers for several targets: temporary folders, and safetensors files from a head and a body.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A folder for this process. It is not deleted, because a fuzzer exits without cleanup.
pub fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("adaann-fuzz-{name}-{}", std::process::id()));
    fs::create_dir_all(&path).expect("the folder for temporary files can be written to");
    path
}

/// Writes a file in such a folder.
pub fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("the folder for temporary files can be written to");
}

/// Builds a safetensors file from a head, a zero byte and a body, with the correct length of the head, which a fuzzer
/// would rarely update.
pub fn safetensors(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (head, body) = bytes.split_at(end);
    let length = (head.len() as u64).to_le_bytes();
    [&length[..], head, body.get(1..).unwrap_or_default()].concat()
}
