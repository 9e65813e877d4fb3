//! What several targets need: a folder of their own, and safetensors files of a head and a body.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A folder of this process. Nobody takes it away: a fuzzer ends without a word.
pub fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("adaann-fuzz-{name}-{}", std::process::id()));
    fs::create_dir_all(&path).expect("the folder for temporary files can be written to");
    path
}

/// Writes a file of such a folder.
pub fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("the folder for temporary files can be written to");
}

/// A safetensors file of its head, a zero byte and its body. A fuzzer that changes the head would hardly
/// ever change the length before it as well.
pub fn safetensors(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (head, body) = bytes.split_at(end);
    let length = (head.len() as u64).to_le_bytes();
    [&length[..], head, body.get(1..).unwrap_or_default()].concat()
}
