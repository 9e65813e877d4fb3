//! Moves the coordinates of a stage along their curves, and pulls gradients back.

use super::{
    Curve,
    outputs::{Outputs, Setting},
};
use crate::{
    Batch,
    net::{GROUP, Records, Row},
    simd::{F64, Kernel, Lane},
};
use fearless_simd::Simd;
use std::ops::Range;

/// Whether the curves' inputs are given (`Along`) or their images (`Against`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Along,
    Against,
}

/// The direction of the points, and the sign of log τ' in the layer's log-determinant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Direction {
    pub(super) way: Way,
    pub(super) log_slope_sign: f64,
}

/// Copies the coordinates, in the plan's order, to the first rows of each record.
pub(super) fn read(order: &[usize], z: &Batch, records: Records, tape: &mut [Row]) {
    for group in 0..records.groups() {
        for (place, d) in order.iter().enumerate() {
            tape[group * records.rows + place]
                .copy_from_slice(&z.padded_row(*d)[group * GROUP..][..GROUP]);
        }
    }
}

/// Copies the first rows of each record back to the coordinates.
pub(super) fn write(order: &[usize], z: &mut Batch, records: Records, tape: &[Row]) {
    for group in 0..records.groups() {
        for (place, d) in order.iter().enumerate() {
            z.padded_row_mut(*d)[group * GROUP..][..GROUP]
                .copy_from_slice(&tape[group * records.rows + place]);
        }
    }
}

/// Moves coordinates; the last rows of the records hold the curves' inputs.
pub(super) struct Move<'a, C> {
    pub(super) curve: &'a C,
    pub(super) outputs: &'a Outputs,
    pub(super) direction: Direction,
    /// The moved coordinates.
    pub(super) order: &'a [usize],
    /// The place of the first of these in the plan's order.
    pub(super) first_place: usize,
    /// The coordinates to move now.
    pub(super) moved: Range<usize>,
    pub(super) records: Records,
    pub(super) tape: &'a mut [Row],
    pub(super) z: &'a mut Batch,
    pub(super) log_det: &'a mut [f64],
}

impl<C: Curve> Kernel for Move<'_, C> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { curve, outputs, direction, records, .. } = self;
        let sign = F64::splat(simd, direction.log_slope_sign);
        for group in 0..records.groups() {
            let record = &mut self.tape[group * records.rows..][..records.rows];
            for moved in self.moved.clone() {
                let place = self.first_place + moved;
                let row = &mut self.z.padded_row_mut(self.order[moved])[group * GROUP..][..GROUP];
                let log_det = &mut self.log_det[group * GROUP..][..GROUP];
                for at in (0..records.len(group)).step_by(<F64<S> as Lane<S>>::LEN) {
                    curve.settle(simd, &mut Setting { record: &mut *record, outputs, moved, at });
                    let known = F64::load(simd, &record[place][at..]);
                    let setting = Setting { record: &*record, outputs, moved, at };
                    let log_slope = match direction.way {
                        Way::Along => {
                            let (y, log_slope) = curve.apply(simd, &setting, known);
                            y.store(&mut row[at..]);
                            log_slope
                        }
                        Way::Against => {
                            let (x, log_slope) = curve.solve(simd, &setting, known);
                            x.store(&mut record[place][at..]);
                            x.store(&mut row[at..]);
                            log_slope
                        }
                    };
                    sign.mul_add(log_slope, F64::load(simd, &log_det[at..]))
                        .store(&mut log_det[at..]);
                }
            }
        }
    }
}

/// Pulls back the cotangents of moved coordinates in place, and computes those of the outputs.
pub(super) struct PullBack<'a, C> {
    pub(super) curve: &'a C,
    pub(super) outputs: &'a Outputs,
    pub(super) direction: Direction,
    pub(super) order: &'a [usize],
    pub(super) first_place: usize,
    pub(super) moved: Range<usize>,
    pub(super) records: Records,
    pub(super) tape: &'a [Row],
    pub(super) cotangents: &'a mut [Row],
    pub(super) z: &'a mut Batch,
    pub(super) g_log_det: &'a [f64],
}

impl<C: Curve> Kernel for PullBack<'_, C> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { curve, outputs, direction, records, .. } = self;
        let sign = F64::splat(simd, direction.log_slope_sign);
        for group in 0..records.groups() {
            let record = &self.tape[group * records.rows..][..records.rows];
            let g_record = &mut self.cotangents[group * records.rows..][..records.rows];
            let g_log_det = &self.g_log_det[group * GROUP..][..GROUP];
            for moved in self.moved.clone() {
                let place = self.first_place + moved;
                let row = &mut self.z.padded_row_mut(self.order[moved])[group * GROUP..][..GROUP];
                for at in (0..records.len(group)).step_by(<F64<S> as Lane<S>>::LEN) {
                    let setting = Setting { record, outputs, moved, at };
                    let x = F64::load(simd, &record[place][at..]);
                    let g = F64::load(simd, &g_record[place][at..]);
                    let g_log_slope = sign * F64::load(simd, &g_log_det[at..]);
                    let (g_y, z) = match direction.way {
                        Way::Along => (g, x),
                        Way::Against => (
                            curve.push(simd, &setting, x, g, g_log_slope),
                            curve.apply(simd, &setting, x).0,
                        ),
                    };
                    z.store(&mut row[at..]);
                    // Against the curves, the outputs receive the cotangent of −g_y; see `Stack`.
                    let seed = if direction.way == Way::Along { g_y } else { -g_y };
                    let mut g_outputs = Setting { record: &mut *g_record, outputs, moved, at };
                    let g_x = curve.pull_back(simd, &setting, x, seed, g_log_slope, &mut g_outputs);
                    let g = if direction.way == Way::Along { g_x } else { g_y };
                    g.store(&mut g_record[place][at..]);
                }
            }
        }
    }
}
