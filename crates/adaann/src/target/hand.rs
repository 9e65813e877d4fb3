//! Densities written by hand over lanes, as a baseline for recorded programs.

use super::{Evaluation, Target, Weights};
use crate::simd::{F64, Kernel, Lane, Math, dispatch};
use crate::{Batch, Result};
use fearless_simd::Simd;

/// The paper's first example, log p = −((z + 2)² − 3)².
#[derive(Debug, Clone, Copy)]
pub struct Bimodal;

/// Two normal densities of variance 1/32 at (−μ − 1, μ) and (μ + 1, μ).
#[derive(Debug, Clone, Copy)]
pub struct Mixture2d {
    /// Moves the modes apart and up.
    pub mu: f64,
}

/// Two half moons on a circle of radius 2.
#[derive(Debug, Clone, Copy)]
pub struct TwoMoons;

/// A density in `D` dimensions, without a prior, at a register of points.
trait Density<const D: usize>: Copy {
    /// log p and its gradient times `weight`.
    fn at<S: Simd>(self, z: [F64<S>; D], weight: F64<S>) -> (F64<S>, [F64<S>; D]);
}

struct Evaluate<'a, T> {
    density: T,
    points: &'a Batch,
    weights: Option<Weights>,
    out: &'a mut Evaluation,
}

macro_rules! kernel {
    ($density:ty, $dim:literal, [$($d:literal)*], $operations:literal) => {
        impl Kernel for Evaluate<'_, $density> {
            type Output = ();

            #[inline(always)]
            fn run<S: Simd>(self, simd: S) {
                let Self { density, points, weights, out } = self;
                let len = points.padded_len();
                let zero = F64::<S>::splat(simd, 0.0);
                let weight = F64::splat(simd, weights.map_or(0.0, |w| w.likelihood));
                let rows = [$(&points.padded_row($d)[..len]),*];
                let Evaluation { log_prior, log_likelihood, gradient } = out;
                let (log_prior, log_likelihood) = (&mut log_prior[..len], &mut log_likelihood[..len]);
                let mut gradients = gradient.padded_rows_mut();
                let gradients: [&mut [f64]; $dim] =
                    [$({ let _ = $d; &mut gradients.next().expect("a row a coordinate")[..len] }),*];
                for at in (0..len).step_by(F64::<S>::LEN) {
                    let z = [$(F64::load(simd, &rows[$d][at..])),*];
                    let (value, slope) = density.at(z, weight);
                    zero.store(&mut log_prior[at..]);
                    value.store(&mut log_likelihood[at..]);
                    if weights.is_some() {
                        $(F64::select(value.is_finite(), slope[$d], zero)
                            .store(&mut gradients[$d][at..]);)*
                    }
                }
            }
        }

        impl Target for $density {
            fn dim(&self) -> usize {
                $dim
            }

            fn evaluate(
                &self,
                points: &Batch,
                weights: Option<Weights>,
                out: &mut Evaluation,
            ) -> Result<()> {
                dispatch(Evaluate { density: *self, points, weights, out });
                Ok(())
            }

            fn operations(&self) -> Option<f64> {
                Some($operations)
            }

            fn has_formulas(&self) -> bool {
                true
            }
        }
    };
}
// Operation counts: an exponential counts 12, a logarithm 16, a root 6 and a division 4.
kernel!(Bimodal, 1, [0], 8.0);
kernel!(Mixture2d, 2, [0 1], 50.0);
kernel!(TwoMoons, 2, [0 1], 70.0);

impl Density<1> for Bimodal {
    #[inline(always)]
    fn at<S: Simd>(self, [z]: [F64<S>; 1], weight: F64<S>) -> (F64<S>, [F64<S>; 1]) {
        let number = |x| F64::splat(z.token(), x);
        let s = z + number(2.0);
        let q = s.mul_add(s, number(-3.0));
        (-(q * q), [(number(-4.0) * weight) * (q * s)])
    }
}

impl Density<2> for Mixture2d {
    /// Both exponents have −16 (y − μ)² in common; they differ by 64 (μ + 1) x.
    #[inline(always)]
    fn at<S: Simd>(self, [x, y]: [F64<S>; 2], weight: F64<S>) -> (F64<S>, [F64<S>; 2]) {
        let number = |x| F64::splat(y.token(), x);
        let center = self.mu + 1.0;
        let v = y - number(self.mu);
        // The nearer mode is on the side of x; e is the weight of the other relative to it.
        let u = x.abs() - number(center);
        let e = (x.abs() * number(-64.0 * center)).exp();
        let square = u.mul_add(u, v * v);
        let constant = (8.0 / std::f64::consts::PI).ln();
        let value = square.mul_add(number(-16.0), number(constant)) + e.ln_1p();
        // −32 ((|x| − c) + 2 c e / (1 + e)), with the sign of x
        let pull = number(2.0 * center) * e / (number(1.0) + e);
        let slope = (u + pull) * number(1.0).copysign(x);
        let scale = number(-32.0) * weight;
        (value, [scale * slope, scale * v])
    }
}

impl Density<2> for TwoMoons {
    /// The two exponents of the angular part differ by 8 x / 0.3².
    #[inline(always)]
    fn at<S: Simd>(self, [x, y]: [F64<S>; 2], weight: F64<S>) -> (F64<S>, [F64<S>; 2]) {
        const RADIAL: f64 = 1.0 / (0.2 * 0.2);
        const LATERAL: f64 = 1.0 / (0.3 * 0.3);
        let number = |x| F64::splat(y.token(), x);
        // Too small to change any other value, but large enough to avoid 0/0 at the origin.
        let tiny = number(f64::MIN_POSITIVE);
        let r = x.mul_add(x, y.mul_add(y, tiny)).sqrt();
        let s = r - number(2.0);
        let u = x.abs() - number(2.0);
        let e = (x.abs() * number(-4.0 * LATERAL)).exp();
        let lateral = (u * u).mul_add(number(-0.5 * LATERAL), e.ln_1p());
        let value = (s * s).mul_add(number(-0.5 * RADIAL), lateral);
        let radial = number(-RADIAL) * s / r;
        let pull = number(4.0) * e / (number(1.0) + e);
        let side = (u + pull) * number(1.0).copysign(x);
        let slope_x = x.mul_add(radial, number(-LATERAL) * side);
        (value, [weight * slope_x, weight * (y * radial)])
    }
}
