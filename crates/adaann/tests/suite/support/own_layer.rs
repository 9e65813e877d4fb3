//! A layer that is the tests' own: what a user writes who brings one.

use adaann::flow::{Layer, Parameter};

/// Bends each coordinate and leans it on the one before it:
/// x_d = z_d + c_d (√(1 + z_d²) − 1) + w_d tanh z_{d−1} + b_d, with |c|, |w| < 1/2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bend(pub(crate) usize);

/// s ↦ s/(2 √(1 + s²)) and its slope.
fn half(s: f64) -> (f64, f64) {
    let root = (1.0 + s * s).sqrt();
    (0.5 * s / root, 0.5 / (root * root * root))
}

impl Layer for Bend {
    fn dim(&self) -> usize {
        self.0
    }

    fn parameters(&self) -> Vec<Parameter> {
        ["bend", "lean", "shift"].map(|name| Parameter::new(name, &[self.0])).to_vec()
    }

    fn forward(&self, parameters: &[f64], point: &mut [f64]) -> f64 {
        let mut before: f64 = 0.0;
        let mut log_det = 0.0;
        for (d, z) in point.iter_mut().enumerate() {
            let [c, w] = [d, self.0 + d].map(|p| half(parameters[p]).0);
            let (own, root) = (*z, (1.0 + *z * *z).sqrt());
            *z += c * (root - 1.0) + w * before.tanh() + parameters[2 * self.0 + d];
            log_det += (1.0 + c * own / root).ln();
            before = own;
        }
        log_det
    }

    fn inverse(&self, parameters: &[f64], point: &mut [f64]) -> f64 {
        let mut before: f64 = 0.0;
        let mut log_det = 0.0;
        for (d, x) in point.iter_mut().enumerate() {
            let [c, w] = [d, self.0 + d].map(|p| half(parameters[p]).0);
            // z + c √(1 + z²) = y is a square equation.
            let y = *x + c - w * before.tanh() - parameters[2 * self.0 + d];
            let rest = 1.0 - c * c;
            before = (y - c * (y * y + rest).sqrt()) / rest;
            log_det += (1.0 + c * before / (1.0 + before * before).sqrt()).ln();
            *x = before;
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
        let n = self.0;
        // From the last to the first: what a coordinate leans on receives a part of its cotangent.
        let mut owed = 0.0;
        for d in (0..n).rev() {
            let ((c, c_slope), (w, w_slope)) = (half(parameters[d]), half(parameters[n + d]));
            let z = point[d];
            let root = (1.0 + z * z).sqrt();
            let (share, slope) = (z / root, 1.0 + c * z / root);
            let lean = if d > 0 { point[d - 1].tanh() } else { 0.0 };
            g_parameters[d] += c_slope * (g[d] * (root - 1.0) + g_log_det * share / slope);
            g_parameters[n + d] += w_slope * g[d] * lean;
            g_parameters[2 * n + d] += g[d];
            let next_owed = g[d] * w * (1.0 - lean * lean);
            g[d] = g[d] * slope + g_log_det * c / (root * root * root) / slope + owed;
            owed = next_owed;
        }
    }
}
