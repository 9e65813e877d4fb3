//! Samples, coordinate-major: row `d` holds coordinate `d` of every point, contiguous and padded.
//!
//! Rows are padded to a multiple of [`PAD`] points, so that kernels run over whole registers. The
//! values in the padding are unspecified: a kernel may read and write them, but no result may
//! depend on them.

pub(crate) use crate::simd::PAD;

/// [`PAD`] samples of one value.
pub(crate) type Block = [f64; PAD];

use crate::simd::Buffer;
use serde::{Deserialize, Serialize};

/// `len` points in `dim` dimensions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Unpadded", into = "Unpadded")]
pub struct Batch {
    dim: usize,
    len: usize,
    stride: usize,
    values: Buffer,
}

impl Batch {
    /// A batch of `len` points at the origin.
    pub fn zeros(dim: usize, len: usize) -> Self {
        let stride = padded(len);
        Self { dim, len, stride, values: Buffer::zeros(dim * stride) }
    }

    /// A batch from points given one after another.
    ///
    /// ```
    /// let batch = adaann::Batch::from_points(2, &[[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(batch.row(1), [2.0, 4.0]);
    /// ```
    pub fn from_points<P: AsRef<[f64]>>(dim: usize, points: &[P]) -> Self {
        let mut batch = Self::zeros(dim, points.len());
        for (i, point) in points.iter().enumerate() {
            batch.set_point(i, point.as_ref());
        }
        batch
    }

    /// Number of coordinates of a point.
    #[inline]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of points.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the batch has no points.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of points including the padding: the length of [`Batch::padded_row`].
    #[inline]
    pub fn padded_len(&self) -> usize {
        padded(self.len)
    }

    /// Sets the number of points to `len`, which may include points of the padding.
    ///
    /// # Panics
    /// If the storage has room for fewer than `len` points.
    pub fn truncate(&mut self, len: usize) {
        assert!(len <= self.stride, "a batch with room for {} points, not {len}", self.stride);
        self.len = len;
    }

    /// Coordinate `d` of every point.
    #[inline]
    pub fn row(&self, d: usize) -> &[f64] {
        &self.values[d * self.stride..][..self.len]
    }

    /// Coordinate `d` of every point, mutable.
    #[inline]
    pub fn row_mut(&mut self, d: usize) -> &mut [f64] {
        &mut self.values[d * self.stride..][..self.len]
    }

    /// Coordinate `d` with the padding.
    #[inline]
    pub fn padded_row(&self, d: usize) -> &[f64] {
        &self.values[d * self.stride..][..padded(self.len)]
    }

    /// Coordinate `d` with the padding, mutable.
    #[inline]
    pub fn padded_row_mut(&mut self, d: usize) -> &mut [f64] {
        &mut self.values[d * self.stride..][..padded(self.len)]
    }

    /// All rows, mutable, each with its padding.
    #[inline]
    pub fn padded_rows_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let used = padded(self.len);
        // A batch of no points has no storage, and chunks of length 0 are not allowed.
        self.values.chunks_exact_mut(self.stride.max(1)).map(move |row| &mut row[..used])
    }

    /// Row `d`, mutable, and the row before it, which is empty for the first row.
    pub(crate) fn padded_row_after(&mut self, d: usize) -> (&[f64], &mut [f64]) {
        let used = padded(self.len);
        let (before, own) = self.values.split_at_mut(d * self.stride);
        let before = if d == 0 { &[][..] } else { &before[(d - 1) * self.stride..][..used] };
        (before, &mut own[..used])
    }

    /// All rows in blocks of [`PAD`] points, and how many blocks a row has.
    #[inline]
    pub(crate) fn blocks(&self) -> (&[[f64; PAD]], usize) {
        (self.values.as_chunks().0, self.stride / PAD)
    }

    /// All rows in blocks of [`PAD`] points, mutable, and how many blocks a row has.
    #[inline]
    pub(crate) fn blocks_mut(&mut self) -> (&mut [[f64; PAD]], usize) {
        (self.values.as_chunks_mut().0, self.stride / PAD)
    }

    /// Concatenates the points of at least one batch.
    pub(crate) fn concat(batches: &[&Self]) -> Self {
        let len = batches.iter().map(|batch| batch.len()).sum();
        let mut all = Self::zeros(batches[0].dim(), len);
        let mut at = 0;
        for batch in batches {
            all.copy_points(at, batch, 0, batch.len());
            at += batch.len();
        }
        all
    }

    /// Appends the coordinates of another batch to those of each point.
    pub(crate) fn beside(&self, other: &Self) -> Self {
        assert_eq!(self.len, other.len, "batches of different lengths");
        let mut all = Self::zeros(self.dim + other.dim, self.len);
        for d in 0..all.dim {
            let row = if d < self.dim { self.row(d) } else { other.row(d - self.dim) };
            all.row_mut(d).copy_from_slice(row);
        }
        all
    }

    /// Coordinates of point `i`.
    pub fn point(&self, i: usize) -> Vec<f64> {
        (0..self.dim).map(|d| self.row(d)[i]).collect()
    }

    /// Sets the coordinates of point `i`.
    pub fn set_point(&mut self, i: usize, point: &[f64]) {
        assert_eq!(point.len(), self.dim, "point of another dimension");
        for (d, &x) in point.iter().enumerate() {
            self.row_mut(d)[i] = x;
        }
    }

    /// Copies points `from..from + len` of another batch to `to..` of this one.
    pub fn copy_points(&mut self, to: usize, source: &Self, from: usize, len: usize) {
        assert_eq!(self.dim, source.dim, "batches of different dimensions");
        for d in 0..self.dim {
            self.row_mut(d)[to..to + len].copy_from_slice(&source.row(d)[from..from + len]);
        }
    }
}

/// `len` rounded up to whole registers.
#[inline]
pub(crate) fn padded(len: usize) -> usize {
    len.next_multiple_of(PAD)
}

/// The largest count of points without coordinates, or of coordinates without points. A file can
/// state any such count without storing a value.
const MOST_EMPTY: usize = 1 << 24;

/// A batch as it is stored in a file: row after row, without padding.
#[derive(Serialize, Deserialize)]
struct Unpadded {
    dim: usize,
    len: usize,
    values: Buffer,
}

impl From<Batch> for Unpadded {
    fn from(batch: Batch) -> Self {
        let Batch { dim, len, .. } = batch;
        let mut values = Buffer::zeros(dim * len);
        for d in 0..dim {
            values[d * len..][..len].copy_from_slice(batch.row(d));
        }
        Self { dim, len, values }
    }
}

impl TryFrom<Unpadded> for Batch {
    type Error = String;

    fn try_from(file: Unpadded) -> Result<Self, String> {
        let Unpadded { dim, len, values } = file;
        if dim.checked_mul(len) != Some(values.len()) {
            let found = values.len();
            return Err(format!("{len} points in {dim} dimensions are not {found} numbers"));
        }
        if values.is_empty() && dim.max(len) > MOST_EMPTY {
            return Err(format!("{len} points in {dim} dimensions, without a number"));
        }
        let mut batch = Self::zeros(dim, len);
        for d in 0..dim {
            batch.row_mut(d).copy_from_slice(&values[d * len..][..len]);
        }
        Ok(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_survive_a_file() {
        let mut batch = Batch::from_points(2, &[[1.0, 2.0], [f64::NAN, -0.0], [5.0, 6.0]]);
        batch.truncate(2);
        let text = serde_json::to_string(&batch).unwrap();
        let back: Batch = serde_json::from_str(&text).unwrap();
        assert_eq!((back.dim(), back.len(), back.row(1)), (2, 2, &[2.0, -0.0][..]));
        assert!(back.row(0)[1].is_nan() && back.row(1)[1].is_sign_negative());
        let short = text.replace("\"len\":2", "\"len\":3");
        assert!(serde_json::from_str::<Batch>(&short).is_err(), "{short}");
    }

    #[test]
    fn nothing_is_not_any_number_of_times_nothing() {
        let read = |dim: usize, len: usize| {
            let text = format!("{{\"dim\":{dim},\"len\":{len},\"values\":[]}}");
            serde_json::from_str::<Batch>(&text)
        };
        assert_eq!(read(3, 0).unwrap().dim(), 3);
        assert_eq!(read(0, 5).unwrap().len(), 5);
        // The loop over rows would never end, and the length could not be rounded up.
        for (dim, len) in [(usize::MAX, 0), (1 << 40, 0), (0, usize::MAX)] {
            let said = read(dim, len).unwrap_err().to_string();
            assert!(said.contains("without a number"), "{said}");
        }
    }
}
