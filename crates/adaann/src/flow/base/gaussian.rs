//! A Gaussian base with any mean and a diagonal or full covariance, fixed or trained.
//!
//! z₀ = μ + L ε with standard normal ε, so log q₀(z₀) = −|ε|²/2 − Σ log L_ii − (d/2) log 2π. A
//! trained base has μ, log L_ii and, if full, the entries of L below the diagonal in the flow's
//! parameter vector.

use super::{
    Parameter,
    moments::{LOG_SQRT_2PI, check_mean, check_sd},
};
use crate::{Batch, Result, linear};
use serde::{Deserialize, Serialize};

/// The entries of the covariance factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covariance {
    /// Only the diagonal.
    #[default]
    Diagonal,
    /// All entries on and below the diagonal.
    Full,
}

impl Covariance {
    /// Files of mixtures omit a diagonal covariance.
    pub(super) fn is_diagonal(&self) -> bool {
        *self == Self::Diagonal
    }
}

/// A Gaussian.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Gaussian {
    mean: Vec<f64>,
    /// L, row by row: d numbers of the diagonal, or d·d with zeros above it.
    factor: Vec<f64>,
    covariance: Covariance,
    trained: bool,
}

impl Gaussian {
    /// A Gaussian read from a file.
    pub(super) fn from_file(
        mean: Vec<f64>,
        factor: Vec<f64>,
        covariance: Covariance,
        trained: bool,
    ) -> Result<Self, String> {
        check_mean(&mean).map_err(|error| error.to_string())?;
        let dim = mean.len();
        let (expected, step) = match covariance {
            Covariance::Diagonal => (dim, 1),
            Covariance::Full => (dim * dim, dim + 1),
        };
        if factor.len() != expected || factor.iter().any(|x| !x.is_finite()) {
            return Err(format!("the base's factor must have {expected} finite numbers"));
        }
        if factor.iter().step_by(step).any(|scale| *scale <= 0.0) {
            return Err("the base's factor has a scale that is not positive".into());
        }
        Ok(Self { mean, factor, covariance, trained })
    }

    /// N(0, I) in `dim` dimensions.
    pub(super) fn standard(dim: usize) -> Self {
        Self {
            mean: vec![0.0; dim],
            factor: vec![1.0; dim],
            covariance: Covariance::Diagonal,
            trained: false,
        }
    }

    /// Independent coordinates with the given means and standard deviations.
    pub(super) fn diagonal(mean: &[f64], sd: &[f64]) -> Result<Self> {
        check_mean(mean)?;
        check_sd(sd, mean.len())?;
        Ok(Self {
            mean: mean.to_vec(),
            factor: sd.to_vec(),
            covariance: Covariance::Diagonal,
            trained: false,
        })
    }

    /// A Gaussian with a full covariance matrix, given row by row.
    pub(super) fn full(mean: &[f64], covariance: &[f64]) -> Result<Self> {
        check_mean(mean)?;
        let factor = linear::cholesky(mean.len(), covariance)?;
        Ok(Self { mean: mean.to_vec(), factor, covariance: Covariance::Full, trained: false })
    }

    /// The same base with parameters that training may move.
    pub(super) fn trained(self) -> Self {
        Self { trained: true, ..self }
    }

    /// The same density with a factor that has all entries below the diagonal.
    pub(super) fn with_full_factor(self) -> Self {
        match self.covariance {
            Covariance::Full => self,
            Covariance::Diagonal => {
                let dim = self.mean.len();
                let mut factor = vec![0.0; dim * dim];
                for d in 0..dim {
                    factor[d * dim + d] = self.factor[d];
                }
                Self { factor, covariance: Covariance::Full, ..self }
            }
        }
    }

    /// Number of coordinates.
    pub(super) fn dim(&self) -> usize {
        self.mean.len()
    }

    /// The mean.
    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The blocks of the parameter vector; empty if the base is fixed.
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let dim = self.dim();
        let mut blocks = Vec::new();
        if self.trained {
            blocks.push(Parameter::new("base.mean", &[dim]));
            blocks.push(Parameter::new("base.log_scale", &[dim]));
            if self.covariance == Covariance::Full {
                blocks.push(Parameter::new("base.below", &[dim * (dim - 1) / 2]));
            }
        }
        blocks
    }

    /// Total length of the blocks, without building them.
    pub(super) fn parameter_len(&self) -> usize {
        let dim = self.dim();
        match (self.trained, self.covariance) {
            (false, _) => 0,
            (true, Covariance::Diagonal) => 2 * dim,
            (true, Covariance::Full) => 2 * dim + dim * (dim - 1) / 2,
        }
    }

    /// The current parameter vector.
    pub(super) fn to_parameters(&self) -> Vec<f64> {
        if !self.trained {
            return Vec::new();
        }
        let dim = self.dim();
        let mut parameters = self.mean.clone();
        parameters.extend((0..dim).map(|d| self.entry(d, d).ln()));
        if self.covariance == Covariance::Full {
            parameters.extend(below(dim).map(|(i, j)| self.entry(i, j)));
        }
        parameters
    }

    /// Sets the parameters.
    pub(super) fn set_parameters(&mut self, parameters: &[f64]) {
        if !self.trained {
            return;
        }
        let dim = self.dim();
        let (mean, rest) = parameters.split_at(dim);
        let (log_scale, entries) = rest.split_at(dim);
        self.mean.copy_from_slice(mean);
        match self.covariance {
            Covariance::Diagonal => {
                for (scale, log) in self.factor.iter_mut().zip(log_scale) {
                    *scale = log.exp();
                }
            }
            Covariance::Full => {
                for d in 0..dim {
                    self.factor[d * dim + d] = log_scale[d].exp();
                }
                for ((i, j), entry) in below(dim).zip(entries) {
                    self.factor[i * dim + j] = *entry;
                }
            }
        }
    }

    /// L_ij for j <= i.
    fn entry(&self, i: usize, j: usize) -> f64 {
        match self.covariance {
            Covariance::Full => self.factor[i * self.dim() + j],
            Covariance::Diagonal if i == j => self.factor[i],
            Covariance::Diagonal => 0.0,
        }
    }

    /// First column with an entry in row i.
    fn first_entry(&self, i: usize) -> usize {
        if self.covariance == Covariance::Full { 0 } else { i }
    }

    /// Log density at ε = 0.
    fn log_peak(&self) -> f64 {
        -(0..self.dim()).map(|d| self.entry(d, d).ln() + LOG_SQRT_2PI).sum::<f64>()
    }

    /// z ← μ + L ε and log q₀(z) for every point, padding included.
    pub(super) fn forward(&self, noise: &Batch, z: &mut Batch, log_q: &mut [f64]) {
        log_q[..z.padded_len()].fill(self.log_peak());
        for i in 0..self.dim() {
            let noise_i = noise.padded_row(i);
            for (log_q, e) in log_q.iter_mut().zip(noise_i) {
                *log_q -= 0.5 * e * e;
            }
            let row = z.padded_row_mut(i);
            row.fill(self.mean[i]);
            for j in self.first_entry(i)..=i {
                let entry = self.entry(i, j);
                for (z, e) in row.iter_mut().zip(noise.padded_row(j)) {
                    *z += entry * e;
                }
            }
        }
    }

    /// Adds to `gradient` the cotangents of the base's parameters: the part through z₀, and for
    /// each point `g_log_q` times the derivative of the normalising constant −Σ log L_ii.
    pub(super) fn backward(
        &self,
        noise: &Batch,
        g_z: &Batch,
        g_log_q: &[f64],
        gradient: &mut [f64],
    ) {
        if !self.trained {
            return;
        }
        let dim = self.dim();
        let own: f64 = g_log_q[..g_z.len()].iter().sum();
        for i in 0..dim {
            let g = g_z.row(i);
            gradient[i] += g.iter().sum::<f64>();
            gradient[dim + i] += dot(g, noise.row(i)) * self.entry(i, i) - own;
        }
        if self.covariance == Covariance::Full {
            for (slot, (i, j)) in gradient[2 * dim..].iter_mut().zip(below(dim)) {
                *slot += dot(g_z.row(i), noise.row(j));
            }
        }
    }

    /// Adds log q₀ at any points to `log_q`. `noise` receives ε = L⁻¹(z − μ).
    pub(super) fn log_density(&self, z: &Batch, noise: &mut Batch, log_q: &mut [f64]) {
        let peak = self.log_peak();
        for log_q in &mut log_q[..z.len()] {
            *log_q += peak;
        }
        for i in 0..self.dim() {
            for n in 0..z.len() {
                let mut rest = z.row(i)[n] - self.mean[i];
                for j in self.first_entry(i)..i {
                    rest -= self.entry(i, j) * noise.row(j)[n];
                }
                let e = rest / self.entry(i, i);
                noise.row_mut(i)[n] = e;
                log_q[n] -= 0.5 * e * e;
            }
        }
    }

    /// Adds `weight` · ∇ log q₀ = −weight · L⁻ᵀ ε, where ε comes from [`Gaussian::log_density`].
    /// Overwrites ε.
    pub(super) fn add_log_density_gradient(
        &self,
        weight: f64,
        noise: &mut Batch,
        gradient: &mut Batch,
    ) {
        for i in (0..self.dim()).rev() {
            for n in 0..noise.len() {
                let mut rest = noise.row(i)[n];
                if self.covariance == Covariance::Full {
                    for k in i + 1..self.dim() {
                        rest -= self.entry(k, i) * noise.row(k)[n];
                    }
                }
                let x = rest / self.entry(i, i);
                noise.row_mut(i)[n] = x;
                gradient.row_mut(i)[n] -= weight * x;
            }
        }
    }

    /// Adds the gradient of Σ k_n log q₀(z_n) to `g_z` and, if the base is trained, to `gradient`.
    /// ε comes from [`Gaussian::log_density`].
    ///
    /// With x = L⁻ᵀ ε the gradient is −x in z, x in μ, and x_i ε_j − δ_ij/L_ij in L_ij.
    pub(super) fn pull_log_density(
        &self,
        noise: &Batch,
        k: &[f64],
        g_z: &mut Batch,
        gradient: &mut [f64],
    ) {
        let dim = self.dim();
        let mut x = vec![0.0; dim];
        for n in 0..noise.len() {
            // Skip points of weight 0: their coordinates may be infinite.
            if k[n] == 0.0 {
                continue;
            }
            for i in (0..dim).rev() {
                let mut rest = noise.row(i)[n];
                if self.covariance == Covariance::Full {
                    for j in i + 1..dim {
                        rest -= self.entry(j, i) * x[j];
                    }
                }
                x[i] = rest / self.entry(i, i);
                g_z.row_mut(i)[n] -= k[n] * x[i];
            }
            if !self.trained {
                continue;
            }
            for i in 0..dim {
                gradient[i] += k[n] * x[i];
                gradient[dim + i] += k[n] * (x[i] * noise.row(i)[n] * self.entry(i, i) - 1.0);
            }
            if self.covariance == Covariance::Full {
                for (slot, (i, j)) in gradient[2 * dim..].iter_mut().zip(below(dim)) {
                    *slot += k[n] * x[i] * noise.row(j)[n];
                }
            }
        }
    }
}

/// (i, j) of the entries below the diagonal, row by row.
fn below(dim: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..dim).flat_map(|i| (0..i).map(move |j| (i, j)))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
