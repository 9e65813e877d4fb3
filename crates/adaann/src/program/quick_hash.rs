//! Hash tables by operations and nodes, with about ten lookups for each operation that is compiled.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map with a fast hash for small keys.
pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;

/// A set with a fast hash for small keys.
pub(super) type QuickSet<K> = HashSet<K, BuildHasherDefault<QuickHasher>>;

/// Words are rotated, mixed in and multiplied, as in Firefox and rustc. The tables need no
/// protection against attacks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QuickHasher(u64);

/// 2⁶⁴ divided by the golden ratio, made odd.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl QuickHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u8(&mut self, x: u8) {
        self.add(x.into());
    }

    #[inline]
    fn write_u32(&mut self, x: u32) {
        self.add(x.into());
    }

    #[inline]
    fn write_u64(&mut self, x: u64) {
        self.add(x);
    }

    #[inline]
    fn write_usize(&mut self, x: usize) {
        self.add(x as u64);
    }

    #[inline]
    fn write_isize(&mut self, x: isize) {
        self.add(x as u64);
    }

    /// The upper bits of a product are the best mixed, but hash tables use the lower ones too.
    #[inline]
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
