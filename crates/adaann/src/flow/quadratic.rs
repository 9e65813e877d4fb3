//! The triangular map with a quadratic conditional mean and a linear log scale:
//! x_k = m_k(x_<k) + exp(s_k(x_<k)) z_k.
//!
//! Each coordinate is normal given the previous ones. The map represents exactly a funnel, whose
//! width depends on another coordinate, and a bent ridge, whose mean is quadratic. It can be fitted
//! to points by regression (`warp/`), where networks need training. Raw parameters of 0 give the
//! identity.

use super::{Layer, Parameter};

/// The map in `dim` dimensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quadratic {
    dim: usize,
}

/// Pairs (j, k) with j < k.
fn pairs(dim: usize) -> usize {
    dim * dim.saturating_sub(1) / 2
}

/// Products x_a x_b with a ≤ b < k, for all k < dim.
fn products(dim: usize) -> usize {
    // Σ k (k + 1)/2
    dim.saturating_sub(1).saturating_mul(dim).saturating_mul(dim + 1) / 6
}

/// Products x_a x_b with a ≤ b < k.
pub(crate) fn pairs_and_squares(k: usize) -> usize {
    k * (k + 1) / 2
}

/// The rule of one coordinate: its stretch of the flat parameter vector, or of its gradient.
pub(crate) struct Rule<T> {
    pub(crate) shift: T,
    pub(crate) slopes: T,
    /// The coefficients of x_a x_b, ordered by b, then by a.
    pub(crate) squares: T,
    pub(crate) log_scale: T,
    pub(crate) log_scale_slopes: T,
}

impl Quadratic {
    pub(crate) fn new(dim: usize) -> Self {
        Self { dim }
    }

    /// The parameter ranges of coordinate `k`.
    pub(crate) fn rule(self, k: usize) -> Rule<std::ops::Range<usize>> {
        let dim = self.dim;
        let squares: usize = products(k);
        let at = |start: usize, len: usize| start..start + len;
        let (first_square, first_log) = (dim + pairs(dim), dim + pairs(dim) + products(dim));
        Rule {
            shift: at(k, 1),
            slopes: at(dim + pairs(k), k),
            squares: at(first_square + squares, pairs_and_squares(k)),
            log_scale: at(first_log + k, 1),
            log_scale_slopes: at(first_log + dim + pairs(k), k),
        }
    }

    /// m_k and s_k, given the coordinates before k.
    fn middle_and_log_scale(self, parameters: &[f64], k: usize, before: &[f64]) -> (f64, f64) {
        let rule = self.rule(k);
        let mut middle = parameters[rule.shift.start];
        let mut log_scale = parameters[rule.log_scale.start];
        let slopes = parameters[rule.slopes].iter().zip(&parameters[rule.log_scale_slopes]);
        for (x, (slope, log_scale_slope)) in before.iter().zip(slopes) {
            middle += slope * x;
            log_scale += log_scale_slope * x;
        }
        let mut squares = parameters[rule.squares].iter();
        for (b, x_b) in before.iter().enumerate() {
            let row: f64 = before[..=b].iter().zip(&mut squares).map(|(x_a, c)| c * x_a).sum();
            middle += row * x_b;
        }
        (middle, log_scale)
    }
}

impl Layer for Quadratic {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        let dim = self.dim;
        vec![
            Parameter::new("shift", &[dim]),
            Parameter::new("slopes", &[pairs(dim)]),
            Parameter::new("squares", &[products(dim)]),
            Parameter::new("log_scale", &[dim]),
            Parameter::new("log_scale_slopes", &[pairs(dim)]),
        ]
    }

    fn forward(&self, parameters: &[f64], point: &mut [f64]) -> f64 {
        let mut log_det = 0.0;
        for k in 0..self.dim {
            let (before, rest) = point.split_at_mut(k);
            let (middle, log_scale) = self.middle_and_log_scale(parameters, k, before);
            rest[0] = middle + log_scale.exp() * rest[0];
            log_det += log_scale;
        }
        log_det
    }

    fn inverse(&self, parameters: &[f64], point: &mut [f64]) -> f64 {
        let mut log_det = 0.0;
        for k in (0..self.dim).rev() {
            let (before, rest) = point.split_at_mut(k);
            let (middle, log_scale) = self.middle_and_log_scale(parameters, k, before);
            rest[0] = (rest[0] - middle) * (-log_scale).exp();
            log_det += log_scale;
        }
        log_det
    }

    fn backward(
        &self,
        parameters: &[f64],
        point: &[f64],
        g: &mut [f64],
        g_log_det: f64,
        g_parameters: &mut [f64],
    ) {
        let mut x = point.to_vec();
        self.forward(parameters, &mut x);
        for k in (0..self.dim).rev() {
            let before = &x[..k];
            let rule = self.rule(k);
            let (_, log_scale) = self.middle_and_log_scale(parameters, k, before);
            let scale = log_scale.exp();
            let g_middle = g[k];
            let g_log_scale = g_middle * scale * point[k] + g_log_det;
            g_parameters[rule.shift.start] += g_middle;
            g_parameters[rule.log_scale.start] += g_log_scale;
            for (j, x_j) in before.iter().enumerate() {
                g_parameters[rule.slopes.start + j] += g_middle * x_j;
                g_parameters[rule.log_scale_slopes.start + j] += g_log_scale * x_j;
                g[j] += g_middle * parameters[rule.slopes.start + j]
                    + g_log_scale * parameters[rule.log_scale_slopes.start + j];
            }
            let mut at = rule.squares.start;
            for (b, x_b) in before.iter().enumerate() {
                for (a, x_a) in before[..=b].iter().enumerate() {
                    g_parameters[at] += g_middle * x_a * x_b;
                    g[a] += g_middle * parameters[at] * x_b;
                    g[b] += g_middle * parameters[at] * x_a;
                    at += 1;
                }
            }
            g[k] = g_middle * scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small parameters, so that iterated squares stay moderate.
    fn map() -> (Quadratic, Vec<f64>) {
        let map = Quadratic::new(4);
        let count = map.parameters().iter().map(Parameter::len).sum();
        (map, (0..count).map(|i| 0.4 * (1.7 * i as f64).sin()).collect())
    }

    #[test]
    fn points_come_back_and_the_log_determinant_is_the_same_both_ways() {
        let (map, parameters) = map();
        let mut point = [0.7, -1.2, 0.4, 2.0];
        let there = map.forward(&parameters, &mut point);
        let back = map.inverse(&parameters, &mut point);
        for (found, start) in point.iter().zip([0.7, -1.2, 0.4, 2.0]) {
            assert!((found - start).abs() < 1e-12, "{found} is not {start}");
        }
        assert!((there - back).abs() < 1e-12, "{there} is not {back}");
    }

    #[test]
    fn every_parameter_has_its_place() {
        let (map, parameters) = map();
        let mut places: Vec<usize> = (0..4)
            .flat_map(|k| {
                let Rule { shift, slopes, squares, log_scale, log_scale_slopes } = map.rule(k);
                [shift, slopes, squares, log_scale, log_scale_slopes].into_iter().flatten()
            })
            .collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..parameters.len()));
    }

    /// Compared with central differences for every parameter and coordinate.
    #[test]
    fn gradients() {
        let (map, mut parameters) = map();
        let (mut z, cotangent, k) = ([0.7, -1.2, 0.4, 2.0], [0.3, -0.5, 1.1, 0.2], 0.8);
        let value = |parameters: &[f64], z: &[f64; 4]| {
            let mut x = *z;
            let log_det = map.forward(parameters, &mut x);
            x.iter().zip(&cotangent).map(|(x, g)| x * g).sum::<f64>() + k * log_det
        };
        let (mut g, mut g_parameters) = (cotangent, vec![0.0; parameters.len()]);
        map.backward(&parameters, &z, &mut g, k, &mut g_parameters);
        let is_near = |found: f64, slope: f64| (found - slope).abs() < 1e-6 * (1.0 + slope.abs());
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
        for d in 0..4 {
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
