//! The SIMD kernels of the radial stack.

use crate::{
    Batch,
    flow::positive::positive,
    simd::{F64, Kernel, Lane, Math},
};
use fearless_simd::Simd;

/// Numbers per layer that a kernel reads: the centre, α, c.
pub(super) const fn record_len(dim: usize) -> usize {
    dim + 2
}

/// Replaces raw numbers with positive ones; the length is a multiple of the padding.
pub(super) struct MakePositive<'a>(pub(super) &'a mut [f64]);

impl Kernel for MakePositive<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for register in self.0.chunks_exact_mut(<F64<S> as Lane<S>>::LEN) {
            positive(F64::load(simd, register)).store(register);
        }
    }
}

/// One layer's quantities at points with distance r from its centre.
struct Shape<S: Simd> {
    /// c − 1
    k: F64<S>,
    alpha: F64<S>,
    /// α/(α + r), in (0, 1]
    kappa: F64<S>,
    /// The factor of z − z₀.
    s: F64<S>,
    /// The slope of the new distance in the old: 1 + (c − 1) κ².
    e: F64<S>,
}

impl<S: Simd> Shape<S> {
    #[inline(always)]
    fn new(simd: S, alpha: f64, c: f64, r: F64<S>) -> Self {
        let (one, alpha, c) = (F64::splat(simd, 1.0), F64::splat(simd, alpha), F64::splat(simd, c));
        let kappa = alpha / (alpha + r);
        let square = kappa * kappa;
        // (1 − κ) + c κ and (1 − κ²) + c κ²: sums of nonnegative numbers.
        Self {
            k: c - one,
            alpha,
            kappa,
            s: c.mul_add(kappa, one - kappa),
            e: c.mul_add(square, one - square),
        }
    }

    /// (d − 1) log s + log e
    #[inline(always)]
    fn log_det(&self, dim: usize) -> F64<S> {
        let turns = F64::splat(self.s.token(), (dim - 1) as f64);
        turns.mul_add(self.s.ln(), self.e.ln())
    }

    /// The cotangents of α, c and the distance, given those of s and of e.
    #[inline(always)]
    fn pull(&self, r: F64<S>, g_s: F64<S>, g_e: F64<S>) -> Pull<S> {
        let (zero, one, two) =
            (F64::splat(r.token(), 0.0), F64::splat(r.token(), 1.0), F64::splat(r.token(), 2.0));
        let g_kappa = self.k * (two * self.kappa).mul_add(g_e, g_s);
        let g_c = self.kappa * self.kappa.mul_add(g_e, g_s);
        // ∂κ/∂r = −κ²/α and ∂κ/∂α = (1 − κ)/(α + r), which is 0 at the centre.
        let per_reach = (one - self.kappa) / (self.alpha + r);
        // At the centre the distance has no direction, and its part vanishes.
        let g_r = -(g_kappa * self.kappa * self.kappa) / self.alpha;
        let g_r_per_r = F64::select(r.eq(zero), zero, g_r / r);
        Pull { g_alpha: g_kappa * per_reach, g_c, g_r_per_r }
    }
}

/// The cotangents of α, c and, divided by the distance, of the distance.
struct Pull<S: Simd> {
    g_alpha: F64<S>,
    g_c: F64<S>,
    g_r_per_r: F64<S>,
}

/// |z − z₀| for the register of points that starts at `at`.
#[inline(always)]
fn distance<S: Simd>(simd: S, z: &Batch, at: usize, centre: &[f64]) -> F64<S> {
    let mut square = F64::splat(simd, 0.0);
    for d in 0..centre.len() {
        let offset = F64::load(simd, &z.padded_row(d)[at..]) - F64::splat(simd, centre[d]);
        square = offset.mul_add(offset, square);
    }
    square.sqrt()
}

/// z ← z₀ + factor (z − z₀)
#[inline(always)]
fn scale<S: Simd>(simd: S, z: &mut Batch, at: usize, centre: &[f64], factor: F64<S>) {
    for d in 0..centre.len() {
        let (row, centre) = (&mut z.padded_row_mut(d)[at..], F64::splat(simd, centre[d]));
        factor.mul_add(F64::load(simd, row) - centre, centre).store(row);
    }
}

/// Moves points through all layers; the tape holds the distances.
pub(super) struct Forward<'a> {
    pub(super) records: &'a [f64],
    pub(super) z: &'a mut Batch,
    pub(super) log_det: &'a mut [f64],
    pub(super) tape: Option<&'a mut [f64]>,
}

impl Kernel for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let dim = self.z.dim();
        let lanes = <F64<S> as Lane<S>>::LEN;
        let layers = self.records.len() / record_len(dim);
        for at in (0..self.z.len()).step_by(lanes) {
            let mut log_det = F64::load(simd, &self.log_det[at..]);
            for (l, record) in self.records.chunks_exact(record_len(dim)).enumerate() {
                let centre = &record[..dim];
                let r = distance(simd, self.z, at, centre);
                if let Some(tape) = &mut self.tape {
                    r.store(&mut tape[at * layers + l * lanes..]);
                }
                let shape = Shape::new(simd, record[dim], record[dim + 1], r);
                scale(simd, self.z, at, centre, shape.s);
                log_det = log_det + shape.log_det(dim);
            }
            log_det.store(&mut self.log_det[at..]);
        }
    }
}

/// Pulls cotangents back through all layers.
pub(super) struct Backward<'a> {
    pub(super) records: &'a [f64],
    pub(super) z: &'a mut Batch,
    pub(super) g_z: &'a mut Batch,
    pub(super) g_log_det: &'a [f64],
    pub(super) tape: &'a [f64],
    pub(super) sums: &'a mut [f64],
}

impl Kernel for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let dim = self.z.dim();
        let numbers = record_len(dim);
        let lanes = <F64<S> as Lane<S>>::LEN;
        let layers = self.records.len() / numbers;
        let one = F64::splat(simd, 1.0);
        let turns = F64::splat(simd, (dim - 1) as f64);
        for at in (0..self.z.len()).step_by(lanes) {
            let g_log_det = F64::load(simd, &self.g_log_det[at..]);
            for l in (0..layers).rev() {
                let record = &self.records[l * numbers..][..numbers];
                let centre = &record[..dim];
                let sums = &mut self.sums[l * numbers * lanes..][..numbers * lanes];
                let r = F64::load(simd, &self.tape[at * layers + l * lanes..]);
                let shape = Shape::new(simd, record[dim], record[dim + 1], r);
                scale(simd, self.z, at, centre, one / shape.s);

                let mut g_s = g_log_det * turns / shape.s;
                for d in 0..dim {
                    let offset =
                        F64::load(simd, &self.z.padded_row(d)[at..]) - F64::splat(simd, centre[d]);
                    g_s = F64::load(simd, &self.g_z.padded_row(d)[at..]).mul_add(offset, g_s);
                }
                let pull = shape.pull(r, g_s, g_log_det / shape.e);
                pull.g_alpha.accumulate_f64(&mut sums[dim * lanes..]);
                pull.g_c.accumulate_f64(&mut sums[(dim + 1) * lanes..]);
                for d in 0..dim {
                    let offset =
                        F64::load(simd, &self.z.padded_row(d)[at..]) - F64::splat(simd, centre[d]);
                    let row = &mut self.g_z.padded_row_mut(d)[at..];
                    let g_image = F64::load(simd, row);
                    let g_offset = shape.s.mul_add(g_image, pull.g_r_per_r * offset);
                    g_offset.store(row);
                    (g_image - g_offset).accumulate_f64(&mut sums[d * lanes..]);
                }
            }
        }
    }
}

/// Moves points back through all layers, in closed form.
///
/// With R = |y − z₀|, the original distance r solves R = r (r + α c)/(r + α), that is r² + (α c − R)
/// r − α R = 0, which has exactly one nonnegative root. The tape holds r.
pub(super) struct Inverse<'a> {
    pub(super) records: &'a [f64],
    pub(super) z: &'a mut Batch,
    pub(super) log_det: &'a mut [f64],
    pub(super) tape: Option<&'a mut [f64]>,
}

impl Kernel for Inverse<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let dim = self.z.dim();
        let lanes = <F64<S> as Lane<S>>::LEN;
        let numbers = record_len(dim);
        let layers = self.records.len() / numbers;
        let (zero, half, two) =
            (F64::splat(simd, 0.0), F64::splat(simd, 0.5), F64::splat(simd, 2.0));
        for at in (0..self.z.len()).step_by(lanes) {
            let mut log_det = F64::load(simd, &self.log_det[at..]);
            for l in (0..layers).rev() {
                let record = &self.records[l * numbers..][..numbers];
                let centre = &record[..dim];
                let (alpha, c) = (record[dim], record[dim + 1]);
                let image = distance(simd, self.z, at, centre);
                let rest = image - F64::splat(simd, alpha * c);
                let product = F64::splat(simd, alpha) * image;
                let root = rest.mul_add(rest, F64::splat(simd, 4.0) * product).sqrt();
                // Use the form of the quadratic formula without cancellation.
                let sum = root + rest.abs();
                let small = F64::select(zero.lt(sum), two * product / sum, zero);
                let r = F64::select(rest.lt(zero), small, half * sum);
                if let Some(tape) = &mut self.tape {
                    r.store(&mut tape[at * layers + l * lanes..]);
                }
                let shape = Shape::new(simd, alpha, c, r);
                scale(simd, self.z, at, centre, F64::splat(simd, 1.0) / shape.s);
                log_det = log_det + shape.log_det(dim);
            }
            log_det.store(&mut self.log_det[at..]);
        }
    }
}

/// Pushes cotangents forward through all layers, from those of the base points to those of the
/// image.
///
/// With the offset o = z − z₀, a layer's Jacobian s I + s' o oᵀ/r stretches by e along o and by s
/// across. Given the cotangents ḡ of z and k of the log-determinant L, g·o = (o·ḡ + k r ∂L/∂r)/e,
/// with r ∂L/∂r = −(c − 1) κ (1 − κ) ((d − 1)/s + 2 κ/e). The cotangents of α, c and r are those of
/// the ordinary backward pass of −g and k. That pass ends at −s g + o g_r/r = −ḡ, which gives g = (ḡ
/// + o g_r/r)/s.
pub(super) struct BackwardInverse<'a> {
    pub(super) records: &'a [f64],
    pub(super) z: &'a mut Batch,
    pub(super) g_z: &'a mut Batch,
    pub(super) g_log_det: &'a [f64],
    pub(super) tape: &'a [f64],
    pub(super) sums: &'a mut [f64],
}

impl Kernel for BackwardInverse<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let dim = self.z.dim();
        let numbers = record_len(dim);
        let lanes = <F64<S> as Lane<S>>::LEN;
        let layers = self.records.len() / numbers;
        let (one, two) = (F64::splat(simd, 1.0), F64::splat(simd, 2.0));
        let turns = F64::splat(simd, (dim - 1) as f64);
        for at in (0..self.z.len()).step_by(lanes) {
            let g_log_det = F64::load(simd, &self.g_log_det[at..]);
            for l in 0..layers {
                let record = &self.records[l * numbers..][..numbers];
                let centre = &record[..dim];
                let sums = &mut self.sums[l * numbers * lanes..][..numbers * lanes];
                let r = F64::load(simd, &self.tape[at * layers + l * lanes..]);
                let shape = Shape::new(simd, record[dim], record[dim + 1], r);

                let (g_turns, g_e) = (g_log_det * turns / shape.s, g_log_det / shape.e);
                let steep = shape.k * shape.kappa * (one - shape.kappa);
                let mut along = -(steep * (two * shape.kappa).mul_add(g_e, g_turns));
                for d in 0..dim {
                    let offset =
                        F64::load(simd, &self.z.padded_row(d)[at..]) - F64::splat(simd, centre[d]);
                    along = F64::load(simd, &self.g_z.padded_row(d)[at..]).mul_add(offset, along);
                }
                let pull = shape.pull(r, g_turns - along / shape.e, g_e);
                pull.g_alpha.accumulate_f64(&mut sums[dim * lanes..]);
                pull.g_c.accumulate_f64(&mut sums[(dim + 1) * lanes..]);
                for d in 0..dim {
                    let offset =
                        F64::load(simd, &self.z.padded_row(d)[at..]) - F64::splat(simd, centre[d]);
                    let row = &mut self.g_z.padded_row_mut(d)[at..];
                    let g_base = F64::load(simd, row);
                    let g_image = pull.g_r_per_r.mul_add(offset, g_base) / shape.s;
                    g_image.store(row);
                    (g_base - g_image).accumulate_f64(&mut sums[d * lanes..]);
                }
                scale(simd, self.z, at, centre, shape.s);
            }
        }
    }
}
