//! Storage of a group of points in a kernel: registers in small dimensions, the batch itself
//! otherwise.

use crate::{Batch, simd::Lane};
use fearless_simd::Simd;

/// The coordinates of `R` registers of points.
pub(super) trait Points<S: Simd, V: Lane<S>, const R: usize> {
    fn dim(&self) -> usize;
    fn get(&self, d: usize) -> [V; R];
    fn set(&mut self, d: usize, coordinate: [V; R]);
}

/// Points of a dimension known at compile time, held in registers between load and store.
pub(super) struct Held<V, const D: usize, const R: usize>([[V; R]; D]);

impl<V, const D: usize, const R: usize> Held<V, D, R> {
    #[inline(always)]
    pub(super) fn load<S: Simd>(simd: S, batch: &Batch, at: usize) -> Self
    where
        V: Lane<S>,
    {
        let mut points = [[V::splat(simd, 0.0); R]; D];
        for d in 0..D {
            points[d] = load(simd, batch, d, at);
        }
        Self(points)
    }

    #[inline(always)]
    pub(super) fn store<S: Simd>(self, batch: &mut Batch, at: usize)
    where
        V: Lane<S>,
    {
        for d in 0..D {
            store(self.0[d], batch, d, at);
        }
    }
}

impl<S: Simd, V: Lane<S>, const D: usize, const R: usize> Points<S, V, R> for Held<V, D, R> {
    #[inline(always)]
    fn dim(&self) -> usize {
        D
    }
    #[inline(always)]
    fn get(&self, d: usize) -> [V; R] {
        self.0[d]
    }
    #[inline(always)]
    fn set(&mut self, d: usize, coordinate: [V; R]) {
        self.0[d] = coordinate;
    }
}

/// Points of any dimension, read from the batch and written back at every use.
pub(super) struct InBatch<'a, S> {
    pub(super) simd: S,
    pub(super) batch: &'a mut Batch,
    pub(super) at: usize,
}

impl<S: Simd, V: Lane<S>, const R: usize> Points<S, V, R> for InBatch<'_, S> {
    #[inline(always)]
    fn dim(&self) -> usize {
        self.batch.dim()
    }
    #[inline(always)]
    fn get(&self, d: usize) -> [V; R] {
        load(self.simd, self.batch, d, self.at)
    }
    #[inline(always)]
    fn set(&mut self, d: usize, coordinate: [V; R]) {
        store(coordinate, self.batch, d, self.at);
    }
}

#[inline(always)]
fn load<S: Simd, V: Lane<S>, const R: usize>(
    simd: S,
    batch: &Batch,
    d: usize,
    at: usize,
) -> [V; R] {
    let row = &batch.padded_row(d)[at..][..R * V::LEN];
    let mut coordinate = [V::splat(simd, 0.0); R];
    for r in 0..R {
        coordinate[r] = V::load_f64(simd, &row[r * V::LEN..]);
    }
    coordinate
}

#[inline(always)]
fn store<S: Simd, V: Lane<S>, const R: usize>(
    coordinate: [V; R],
    batch: &mut Batch,
    d: usize,
    at: usize,
) {
    let row = &mut batch.padded_row_mut(d)[at..][..R * V::LEN];
    for r in 0..R {
        coordinate[r].store_f64(&mut row[r * V::LEN..]);
    }
}

/// Splits a batch of `len` points into groups of four or two registers and runs the body for each,
/// with `$at` the group's first point and `$R` its number of registers. A group may extend into the
/// padding: a single register would wait for its own results, and cost as much as two.
macro_rules! for_groups {
    ($len:expr, $lanes:expr, |$at:ident, $R:ident| $body:expr) => {{
        let registers = usize::div_ceil($len, $lanes);
        let mut done = 0;
        while done < registers {
            let $at = done * $lanes;
            if registers - done > 2 {
                const $R: usize = 4;
                $body;
                done += $R;
            } else {
                const $R: usize = 2;
                $body;
                done += $R;
            }
        }
    }};
}
pub(super) use for_groups;

/// The first point of the group that contains the register at `at`, and the group's number of
/// registers.
#[inline(always)]
pub(super) fn group_of(len: usize, lanes: usize, at: usize) -> (usize, usize) {
    let first = at / (4 * lanes) * 4;
    (first * lanes, if len.div_ceil(lanes) - first > 2 { 4 } else { 2 })
}
