//! A slice of doubles that starts on a cache line and is padded to whole cache lines.

use bytemuck::{Pod, Zeroable};

/// Doubles in one cache line.
const LINE: usize = 8;

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([f64; LINE]);

/// Zeroed doubles, aligned to 64 bytes; dereferences to a slice of the length asked for.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    lines: Vec<Line>,
    len: usize,
}

impl Buffer {
    /// A buffer of `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self { lines: vec![Line([0.0; LINE]); len.div_ceil(LINE)], len }
    }

    /// Makes the length at least `len`; keeps the storage when it is long enough already, so that
    /// a loop which asks for the same lengths again allocates once. What the buffer holds after
    /// growing is unspecified.
    pub fn reserve(&mut self, len: usize) {
        if len > self.len {
            *self = Self::zeros(len);
        }
    }

    /// Makes the length at least `len` and keeps what is there; what is new is 0.
    pub fn grow(&mut self, len: usize) {
        if len > self.len {
            self.lines.resize(len.div_ceil(LINE), Line([0.0; LINE]));
            self.len = len;
        }
    }
}

impl std::ops::Deref for Buffer {
    type Target = [f64];
    #[inline]
    fn deref(&self) -> &[f64] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl std::ops::DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

impl From<&[f64]> for Buffer {
    fn from(values: &[f64]) -> Self {
        let mut buffer = Self::zeros(values.len());
        buffer.copy_from_slice(values);
        buffer
    }
}
