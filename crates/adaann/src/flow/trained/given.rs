//! The gradient of log q at given points: through the inverse, or without it at the flow's own
//! draws.

use super::{Flow, TILE};
use crate::{Batch, Error, Result, batch::padded, flow::Noise, simd::Buffer};

/// log q at points, and the gradient of Σ k_n log q(x_n).
#[derive(Debug, Clone)]
pub struct LogDensityGradient {
    /// log q at each point.
    pub log_q: Vec<f64>,
    /// The gradient in the flat parameter vector.
    pub parameters: Vec<f64>,
    /// The gradient in the points: k_n ∇ log q(x_n).
    pub points: Batch,
}

/// A tile of given points, with the memory for the gradient of log q there.
#[derive(Debug)]
pub(crate) struct Given {
    /// The points.
    pub(crate) z: Batch,
    /// k ∇ log q at each point, once computed.
    pub(crate) g_z: Batch,
    /// log q at each of them.
    pub(crate) log_q: Buffer,
    work: Batch,
    log_det: Buffer,
    g_log_det: Buffer,
}

impl Given {
    /// Room for `len` points.
    pub(crate) fn zeros(dim: usize, len: usize) -> Self {
        let (points, values) = (Batch::zeros(dim, len), Buffer::zeros(padded(len)));
        Self {
            z: points.clone(),
            g_z: points.clone(),
            log_q: values.clone(),
            work: points,
            log_det: values.clone(),
            g_log_det: values,
        }
    }

    /// Sets how many points the tile has.
    pub(crate) fn truncate(&mut self, len: usize) {
        for batch in [&mut self.z, &mut self.g_z, &mut self.work] {
            batch.truncate(len);
        }
    }
}

impl Flow {
    /// log q at any points, and the gradient of Σ k_n log q(x_n) in the flat parameter vector and
    /// in the points.
    ///
    /// With k = −1/N the gradient in the parameters is that of the maximum-likelihood objective. A
    /// single k = 1 among zeros gives the score of one point.
    ///
    /// # Errors
    /// If the dimension of the points differs, or `k` does not have one number per point.
    pub fn log_density_gradient(&self, points: &Batch, k: &[f64]) -> Result<LogDensityGradient> {
        self.check_dim(points)?;
        if k.len() != points.len() {
            return Err(Error::Shape {
                what: "the weights of the points".into(),
                found: format!("{} numbers", k.len()),
                expected: points.len().to_string(),
            });
        }
        let mut out = LogDensityGradient {
            log_q: vec![0.0; points.len()],
            parameters: vec![0.0; self.parameters.len()],
            points: Batch::zeros(self.dim(), points.len()),
        };
        let mut sums = Buffer::zeros(self.given_sums_len());
        let mut tape = Buffer::zeros(self.tape_len(TILE));
        let mut tile = Given::zeros(self.dim(), TILE);
        for at in (0..points.len()).step_by(TILE) {
            let len = TILE.min(points.len() - at);
            tile.truncate(len);
            tile.z.copy_points(0, points, at, len);
            self.find_log_density(&mut tile, &mut tape);
            self.pull_log_density(&mut tile, &k[at..at + len], &tape, &mut sums);
            out.log_q[at..at + len].copy_from_slice(&tile.log_q[..len]);
            out.points.copy_points(at, &tile.g_z, 0, len);
        }
        self.given_gradient(&sums, &mut self.derived.clone(), &mut out.parameters);
        Ok(out)
    }

    /// Length of the sums that [`Flow::pull_log_density`] accumulates.
    pub(crate) fn given_sums_len(&self) -> usize {
        self.base.parameter_len() + self.stack.sums_len()
    }

    /// Prepares sums for the first [`Flow::pull_log_density`] of an update.
    pub(crate) fn clear_given(&self, sums: &mut [f64]) {
        let (base, layers) = sums.split_at_mut(self.base.parameter_len());
        base.fill(0.0);
        self.stack.clear(layers);
    }

    /// log q at the points of a tile, for a later call of [`Flow::pull_log_density`].
    pub(crate) fn find_log_density(&self, tile: &mut Given, tape: &mut [f64]) {
        let Given { z, log_q, work, log_det, .. } = tile;
        log_det.fill(0.0);
        self.stack.inverse(self.weights(), z, log_det, Some(tape));
        for (log_q, log_det) in log_q.iter_mut().zip(log_det.iter()) {
            *log_q = -log_det;
        }
        self.base.log_density(z, work, log_q);
    }

    /// Computes the gradient of Σ k_n log q(z_n): in the points, and added to `sums` for the
    /// parameters.
    pub(crate) fn pull_log_density(
        &self,
        tile: &mut Given,
        k: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        let Given { z, g_z, work, g_log_det, .. } = tile;
        let (base, layers) = sums.split_at_mut(self.base.parameter_len());
        g_z.padded_rows_mut().for_each(|row| row.fill(0.0));
        self.base.pull_log_density(z, work, k, g_z, base);
        g_log_det.fill(0.0);
        for (g_log_det, k) in g_log_det.iter_mut().zip(k) {
            *g_log_det = -k;
        }
        self.stack.backward_inverse(self.weights(), z, g_z, g_log_det, tape, layers);
    }

    /// Converts the sums of [`Flow::pull_log_density`] to the gradient in the flat parameter
    /// vector; `derived` is scratch space.
    fn given_gradient(&self, sums: &[f64], derived: &mut [f64], gradient: &mut [f64]) {
        let split = self.base.parameter_len();
        let (base, layers) = sums.split_at(split);
        gradient[..split].copy_from_slice(base);
        self.stack.gradient(&self.parameters[split..], derived, layers, &mut gradient[split..]);
    }

    /// Converts the sums of [`Flow::pull_log_density`] to the gradient in the flat parameter
    /// vector; overwrites the prepared numbers of the flow, which is about to be updated.
    pub(crate) fn gradient_of_given(&mut self, sums: &[f64], gradient: &mut [f64]) {
        let mut derived = std::mem::take(&mut self.derived);
        self.given_gradient(sums, &mut derived, gradient);
        self.derived = derived;
    }

    /// Subtracts Σ c_n ∇_θ log q(x_n), with the draws x_n held fixed, from the sums of
    /// [`Flow::backward`]. Its mean is 0; the remainder is the path gradient. `c` and `minus_c` are
    /// the points' weights and their negatives. The tape is still that of [`Flow::forward`].
    /// Overwrites the other buffers.
    #[expect(
        clippy::too_many_arguments,
        reason = "buffers that the caller owns, each with its own name"
    )]
    pub(crate) fn subtract_score(
        &self,
        noise: &Noise,
        z: &mut Batch,
        g_z: &mut Batch,
        [c, minus_c]: [&[f64]; 2],
        [log_base, log_det]: [&mut [f64]; 2],
        tape: &mut [f64],
        sums: &mut [f64],
    ) {
        let (base, layers) = sums.split_at_mut(self.base.sums_len());
        // The backward pass ends only near these points, and the density may be steep: recompute
        // them.
        self.base.forward(noise, z, log_base);
        if !self.stack.shares_tape() {
            self.stack.forward(self.weights(), z, log_det, None);
            self.stack.inverse(self.weights(), z, log_det, Some(tape));
        }
        g_z.padded_rows_mut().for_each(|row| row.fill(0.0));
        self.base.pull_log_density(z, &noise.normal, minus_c, g_z, base);
        // log q = log q₀ − log det.
        self.stack.backward_inverse(self.weights(), z, g_z, c, tape, layers);
    }
}
