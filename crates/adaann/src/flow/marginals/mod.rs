//! Each coordinate by a map of its own to the law of a mixture of normals: x = F⁻¹(Φ(z)).
//!
//! Of a standard normal it makes independent coordinates with as many humps as are wanted: 2^d modes of a
//! product cost 2 d components. Raw parameters 0 are the identity.

mod lanes;

use super::{Layer, Parameter, PerPoint, Stack, Weights};
use crate::{
    Batch,
    normal::normal_quantile_of_ln,
    simd::{HALF_LN_TAU, Special, dispatch},
    weight::log_sum_exp,
};
use lanes::{OfNormal, ToNormal};

/// Steps in the search for x.
const MOST_STEPS: usize = 60;

/// The map in a number of dimensions: point by point as a [`Layer`], which gradients go through, and many
/// points at once as a [`Stack`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marginals {
    dim: usize,
    components: usize,
}

/// One component of a coordinate's law.
#[derive(Debug, Clone, Copy)]
struct Hump {
    log_weight: f64,
    mean: f64,
    log_sd: f64,
}

impl Hump {
    /// How many standard deviations a point is away.
    fn units(&self, x: f64) -> f64 {
        (x - self.mean) * (-self.log_sd).exp()
    }
}

/// A coordinate's law.
struct Law(Vec<Hump>);

impl Law {
    /// log of the mass below x, or above it.
    fn log_tail(&self, x: f64, is_upper: bool) -> f64 {
        if let [one] = &self.0[..] {
            let u = one.units(x);
            return Special::LnNormalCdf.at(if is_upper { -u } else { u });
        }
        let term = |hump: &Hump| {
            let u = hump.units(x);
            hump.log_weight + Special::LnNormalCdf.at(if is_upper { -u } else { u })
        };
        log_sum_exp(self.0.iter().map(term))
    }

    fn log_density(&self, x: f64) -> f64 {
        let term =
            |hump: &Hump| hump.log_weight - hump.log_sd - 0.5 * hump.units(x).powi(2) - HALF_LN_TAU;
        log_sum_exp(self.0.iter().map(term))
    }

    /// z with Φ(z) = F(x), by the tail that x is in.
    fn to_normal(&self, x: f64) -> f64 {
        let below = self.log_tail(x, false);
        if below < -std::f64::consts::LN_2 {
            normal_quantile_of_ln(below)
        } else {
            -normal_quantile_of_ln(self.log_tail(x, true))
        }
    }

    /// x with F(x) = Φ(z): steps of Newton's, between the components' own quantiles.
    fn of_normal(&self, z: f64) -> f64 {
        let quantile = |hump: &Hump| hump.mean + hump.log_sd.exp() * z;
        let (mut low, mut high) = self
            .0
            .iter()
            .map(quantile)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let is_upper = z > 0.0;
        let wanted = Special::LnNormalCdf.at(if is_upper { -z } else { z });
        let mut x = 0.5 * (low + high);
        for _ in 0..MOST_STEPS {
            let width = high - low;
            if width.is_nan() || width <= 1e-15 * (low.abs() + high.abs()) {
                break;
            }
            let log_tail = self.log_tail(x, is_upper);
            // The lower tail grows with x, the upper one falls.
            let is_below = if is_upper { log_tail > wanted } else { log_tail < wanted };
            if is_below {
                low = x;
            } else {
                high = x;
            }
            let slope = (self.log_density(x) - log_tail).exp();
            let step = (wanted - log_tail) / if is_upper { -slope } else { slope };
            let next = x + step;
            if step.abs() <= 1e-15 * x.abs() {
                break;
            }
            x = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        x
    }
}

impl Marginals {
    pub(crate) fn new(dim: usize, components: usize) -> Self {
        Self { dim, components }
    }

    /// Where a parameter of component `c` of coordinate `d` is: its logit, mean or log standard deviation.
    pub(crate) fn place(self, block: usize, d: usize, c: usize) -> usize {
        (block * self.dim + d) * self.components + c
    }

    fn law(self, parameters: &[f64], d: usize) -> Law {
        let at = |block: usize, c: usize| parameters[self.place(block, d, c)];
        let total = log_sum_exp((0..self.components).map(|c| at(0, c)));
        let hump =
            |c: usize| Hump { log_weight: at(0, c) - total, mean: at(1, c), log_sd: at(2, c) };
        Law((0..self.components).map(hump).collect())
    }
}

/// log φ
fn log_normal(z: f64) -> f64 {
    -0.5 * z * z - HALF_LN_TAU
}

impl Layer for Marginals {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        let shape = [self.dim, self.components];
        ["logits", "means", "log_sds"].map(|name| Parameter::new(name, &shape)).to_vec()
    }

    fn forward(&self, parameters: &[f64], point: &mut [f64]) -> f64 {
        let mut log_det = 0.0;
        for (d, x) in point.iter_mut().enumerate() {
            let (law, z) = (self.law(parameters, d), *x);
            *x = law.of_normal(z);
            log_det += log_normal(z) - law.log_density(*x);
        }
        log_det
    }

    fn inverse(&self, parameters: &[f64], point: &mut [f64]) -> f64 {
        let mut log_det = 0.0;
        for (d, x) in point.iter_mut().enumerate() {
            let law = self.law(parameters, d);
            let z = law.to_normal(*x);
            log_det += log_normal(z) - law.log_density(*x);
            *x = z;
        }
        log_det
    }

    /// By the implicit function: dx = (φ(z) dz − dF)/f(x).
    fn backward(
        &self,
        parameters: &[f64],
        point: &[f64],
        g: &mut [f64],
        g_log_det: f64,
        g_parameters: &mut [f64],
    ) {
        for (d, &z) in point.iter().enumerate() {
            let law = self.law(parameters, d);
            let x = law.of_normal(z);
            let log_density = law.log_density(x);
            let is_upper = z > 0.0;
            let log_tail = law.log_tail(x, is_upper);
            let sign = if is_upper { -1.0 } else { 1.0 };
            let responsible = |hump: &Hump| {
                let u = hump.units(x);
                (hump.log_weight - hump.log_sd - 0.5 * u * u - HALF_LN_TAU - log_density).exp()
            };
            // The slope of log f.
            let slope: f64 =
                law.0.iter().map(|h| -responsible(h) * h.units(x) * (-h.log_sd).exp()).sum();
            // What a change of x is worth, its part in the log-determinant included.
            let g_x = g[d] - g_log_det * slope;
            g[d] = g_x * (log_normal(z) - log_density).exp() - g_log_det * z;
            for (c, hump) in law.0.iter().enumerate() {
                let (r, u, weight) = (responsible(hump), hump.units(x), hump.log_weight.exp());
                let own_tail = Special::LnNormalCdf.at(sign * u);
                // (∂F/∂logit)/f, from the tail that x is in.
                let mass = (hump.log_weight + own_tail - log_density).exp()
                    - (hump.log_weight + log_tail - log_density).exp();
                g_parameters[self.place(0, d, c)] -= g_x * sign * mass + g_log_det * (r - weight);
                let per_sd = (-hump.log_sd).exp();
                g_parameters[self.place(1, d, c)] += g_x * r - g_log_det * r * u * per_sd;
                g_parameters[self.place(2, d, c)] +=
                    g_x * r * u * hump.log_sd.exp() - g_log_det * r * (u * u - 1.0);
            }
        }
    }
}

impl Marginals {
    /// All components, as kernels read them.
    fn humps(self, parameters: &[f64]) -> Vec<lanes::Hump> {
        let laws = (0..self.dim).map(|d| self.law(parameters, d));
        let hump = |Hump { log_weight, mean, log_sd }| lanes::Hump {
            log_weight,
            mean,
            sd: log_sd.exp(),
            per_sd: (-log_sd).exp(),
            log_height: log_weight - log_sd - HALF_LN_TAU,
        };
        laws.flat_map(|law| law.0.into_iter().map(hump)).collect()
    }

    /// Moves points by `step`, and keeps those before and after the map, as [`PerPoint`] reads them.
    fn pass(
        self,
        points: &mut Batch,
        tape: Option<&mut [f64]>,
        is_inverse: bool,
        step: impl FnOnce(&mut Batch),
    ) {
        let start = tape.is_some().then(|| points.clone());
        step(points);
        if let (Some(tape), Some(start)) = (tape, start) {
            let numbers = self.dim * points.len();
            let (before, after) = tape[..2 * numbers].split_at_mut(numbers);
            let (z, x) = if is_inverse { (&*points, &start) } else { (&start, &*points) };
            for d in 0..self.dim {
                for i in 0..points.len() {
                    before[i * self.dim + d] = z.row(d)[i];
                    after[i * self.dim + d] = x.row(d)[i];
                }
            }
        }
    }
}

impl Stack for Marginals {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        Layer::parameters(self)
    }

    fn derived_len(&self) -> usize {
        0
    }

    fn prepare(&self, _: &[f64], _: &mut [f64]) {}

    fn tape_len(&self, padded_points: usize) -> usize {
        PerPoint(*self).tape_len(padded_points)
    }

    fn sums_len(&self) -> usize {
        PerPoint(*self).sums_len()
    }

    fn forward(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        let humps = self.humps(weights.parameters);
        self.pass(z, tape, false, |points| {
            dispatch(OfNormal { humps: &humps, points, log_det });
        });
    }

    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        let humps = self.humps(weights.parameters);
        self.pass(z, tape, true, |points| {
            dispatch(ToNormal { humps: &humps, points, log_det });
        });
    }

    fn backward(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        PerPoint(*self).backward(weights, z, g_z, g_log_det, tape, sums);
    }

    fn backward_inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        PerPoint(*self).backward_inverse(weights, z, g_z, g_log_det, tape, sums);
    }

    fn gradient(
        &self,
        parameters: &[f64],
        derived: &mut [f64],
        sums: &[f64],
        gradient: &mut [f64],
    ) {
        PerPoint(*self).gradient(parameters, derived, sums, gradient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uneven humps, apart and on top of each other.
    fn map() -> (Marginals, Vec<f64>) {
        let map = Marginals::new(2, 3);
        let logits = [0.3, -0.7, 0.1, 0.0, -2.0, 0.5];
        let means = [-3.0, 0.5, 4.0, 0.0, 0.1, 0.4];
        let log_sds = [-0.5, 0.2, -1.2, 0.0, 1.0, -0.3];
        (map, [logits, means, log_sds].concat())
    }

    fn batch(points: &[[f64; 2]]) -> Batch {
        Batch::from_points(2, &points.iter().map(|point| &point[..]).collect::<Vec<_>>())
    }

    /// Near and far, and the log-determinant is the same both ways; lanes and single points agree.
    #[test]
    fn points_come_back() {
        let (map, parameters) = map();
        let weights = Weights { parameters: &parameters, derived: &[] };
        let starts =
            [[0.0, 0.0], [-1.3, 0.7], [2.5, -2.5], [6.0, -6.0], [-12.0, 15.0], [0.2, 30.0]];
        let mut points = batch(&starts);
        let (mut there, mut back) = ([0.0; 32], [0.0; 32]);
        Stack::forward(&map, weights, &mut points, &mut there, None);
        for (i, start) in starts.iter().enumerate() {
            let mut one = *start;
            let log_det = Layer::forward(&map, &parameters, &mut one);
            assert!((log_det - there[i]).abs() < 1e-9 * (1.0 + log_det.abs()), "{start:?}");
            for d in 0..2 {
                let x = points.row(d)[i];
                assert!((x - one[d]).abs() < 1e-10 * (1.0 + x.abs()), "{start:?}: {x}, {one:?}");
            }
            let again = Layer::inverse(&map, &parameters, &mut one);
            assert!((log_det - again).abs() < 1e-8 * (1.0 + log_det.abs()), "{start:?}");
            assert!((0..2).all(|d| (one[d] - start[d]).abs() < 1e-8 * (1.0 + start[d].abs())));
        }
        Stack::inverse(&map, weights, &mut points, &mut back, None);
        for (i, start) in starts.iter().enumerate() {
            for d in 0..2 {
                let z = points.row(d)[i];
                let near = 1e-8 * (1.0 + start[d].abs());
                assert!((z - start[d]).abs() < near, "{start:?}: {z}");
            }
            assert!((there[i] - back[i]).abs() < 1e-8 * (1.0 + there[i].abs()), "{start:?}");
        }
    }

    /// Half of the draws are below the median of the mixture, by its own distribution function.
    #[test]
    fn the_law_is_that_of_the_mixture() {
        let (map, parameters) = map();
        let law = map.law(&parameters, 0);
        for (z, p) in [(0.0, 0.5), (-1.0, 0.158_655_253_931_457_05), (2.0, 0.977_249_868_051_820_8)]
        {
            let x = law.of_normal(z);
            let below: f64 = law
                .0
                .iter()
                .map(|hump| (hump.log_weight + Special::LnNormalCdf.at(hump.units(x))).exp())
                .sum();
            assert!((below - p).abs() < 1e-13, "{z}: {below} is not {p}");
        }
    }

    /// Against central differences, of every parameter and coordinate, on both sides of the middle.
    #[test]
    fn gradients() {
        let (map, mut parameters) = map();
        let (cotangent, k) = ([0.7, -0.4], 0.6);
        for start in [[0.4, -0.9], [-1.7, 1.2]] {
            let mut z = start;
            let value = |parameters: &[f64], z: &[f64; 2]| {
                let mut x = *z;
                let log_det = Layer::forward(&map, parameters, &mut x);
                x.iter().zip(&cotangent).map(|(x, g)| x * g).sum::<f64>() + k * log_det
            };
            let (mut g, mut g_parameters) = (cotangent, vec![0.0; parameters.len()]);
            Layer::backward(&map, &parameters, &z, &mut g, k, &mut g_parameters);
            let is_near =
                |found: f64, slope: f64| (found - slope).abs() < 1e-5 * (1.0 + slope.abs());
            const STEP: f64 = 1e-5;
            for i in 0..parameters.len() {
                let here = parameters[i];
                let [above, below] = [here + STEP, here - STEP].map(|at| {
                    parameters[i] = at;
                    value(&parameters, &z)
                });
                parameters[i] = here;
                let slope = (above - below) / (2.0 * STEP);
                assert!(is_near(g_parameters[i], slope), "{i}: {} is not {slope}", g_parameters[i]);
            }
            for d in 0..2 {
                let here = z[d];
                let [above, below] = [here + STEP, here - STEP].map(|at| {
                    z[d] = at;
                    value(&parameters, &z)
                });
                z[d] = here;
                let slope = (above - below) / (2.0 * STEP);
                assert!(is_near(g[d], slope), "{d}: {} is not {slope}", g[d]);
            }
        }
    }
}
