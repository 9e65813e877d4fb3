//! Densities without symmetries whose answers are known, and mixtures that approximate them.

use adaann::{
    Batch, Expr, Program, Result,
    approximation::Approximation,
    flow::{Base, Flow, FlowSpec},
    program::log_sum_exp,
    target::{Evaluation, Support, Target, Weights},
};
use std::f64::consts::TAU;

/// A density with its answers.
pub(crate) struct Lopsided {
    pub(crate) name: &'static str,
    pub(crate) target: Box<dyn Target>,
    pub(crate) log_z: f64,
    /// Of each coordinate.
    pub(crate) mean: Vec<f64>,
    /// Location and weight of each mode.
    pub(crate) modes: Vec<(Vec<f64>, f64)>,
    /// Near to it, on the whole line; component k is mode k where there are several.
    pub(crate) near: Mixture,
}

/// Σ w_k N(m_k, C_k), with weights that need not sum to 1.
#[derive(Debug, Clone)]
pub(crate) struct Mixture {
    pub(crate) weights: Vec<f64>,
    pub(crate) means: Vec<Vec<f64>>,
    /// Row by row.
    pub(crate) covariances: Vec<Vec<f64>>,
}

impl Mixture {
    /// As an approximation.
    pub(crate) fn of<'a>(&self, target: &'a dyn Target) -> Approximation<'a> {
        let Self { weights, means, covariances } = self;
        let base = match &weights[..] {
            [_] => Base::full(&means[0], &covariances[0]),
            _ => Base::full_mixture(weights, &means.concat(), &covariances.concat()),
        };
        let flow = Flow::new(&FlowSpec::Affine, base.unwrap()).unwrap();
        Approximation::new(target, flow).unwrap()
    }

    /// Without a component.
    pub(crate) fn without(mut self, k: usize) -> Self {
        self.weights.remove(k);
        self.means.remove(k);
        self.covariances.remove(k);
        self
    }

    /// With every standard deviation times `scale`.
    pub(crate) fn scaled(mut self, scale: f64) -> Self {
        self.covariances.iter_mut().flatten().for_each(|c| *c *= scale * scale);
        self
    }

    /// Moved along the last coordinate, by so many of each component's standard deviations there.
    pub(crate) fn shifted(mut self, deviations: f64) -> Self {
        for (mean, covariance) in self.means.iter_mut().zip(&self.covariances) {
            *mean.last_mut().unwrap() += deviations * covariance.last().unwrap().sqrt();
        }
        self
    }
}

/// Every density.
pub(crate) fn all() -> [Lopsided; 3] {
    [leaning(), banana(), log_normals()]
}

/// Two Gaussians in the plane, of 30 and 70 per cent, that lean to different sides; six apart, where
/// the wider has standard deviation 1.
pub(crate) fn leaning() -> Lopsided {
    const LOG_Z: f64 = 1.7;
    let target = Program::record(2, |z| {
        // w exp(−½ rᵀ P r)/(2π √det C), by C⁻¹ = P.
        let term = |w: f64, m: [f64; 2], c: [f64; 3]| -> Expr<'_> {
            let determinant = c[0] * c[2] - c[1] * c[1];
            let (x, y) = (z[0] - m[0], z[1] - m[1]);
            let form = x.square() * c[2] - x * y * (2.0 * c[1]) + y.square() * c[0];
            form * (-0.5 / determinant) + (w / (TAU * determinant.sqrt())).ln()
        };
        let left = term(0.3, [-3.0, 1.0], [0.5, 0.3, 0.4]);
        let right = term(0.7, [3.0, -1.0], [1.0, -0.4, 0.5]);
        left.log_add_exp(right) + LOG_Z
    });
    Lopsided {
        name: "leaning",
        target: Box::new(target),
        log_z: LOG_Z,
        mean: vec![0.7 * 3.0 - 0.3 * 3.0, 0.3 - 0.7],
        modes: vec![(vec![-3.0, 1.0], 0.3), (vec![3.0, -1.0], 0.7)],
        near: Mixture {
            weights: vec![0.36, 0.64],
            means: vec![vec![-2.95, 1.05], vec![3.1, -1.0]],
            covariances: vec![vec![0.6, 0.3, 0.3, 0.5], vec![1.2, -0.4, -0.4, 0.65]],
        },
    }
}

/// x is N(1, 1.5²), and y given x is N(x²/2 − 1, 1/4).
fn banana() -> Lopsided {
    let target = Program::record(2, |z| {
        let bend = z[1] - 0.5 * z[0].square() + 1.0;
        (z[0] - 1.0).square() * (-0.5 / 2.25) - bend.square() * 2.0
    });
    // Gaussians along the bend, each with its slope, and somewhat wider across than the density.
    let along: Vec<f64> = (-6..=6).map(|k| 1.0 + 0.75 * f64::from(k)).collect();
    let variance = 0.36;
    let covariance = |x: &f64| vec![variance, variance * x, variance * x, variance * x * x + 0.35];
    Lopsided {
        name: "banana",
        target: Box::new(target),
        log_z: (TAU * 1.5 * 0.5).ln(),
        // E[x²]/2 − 1
        mean: vec![1.0, 0.5 * 3.25 - 1.0],
        modes: vec![(vec![1.0, -0.5], 1.0)],
        near: Mixture {
            weights: along.iter().map(|x| (-0.5 * (x - 1.0).powi(2) / 2.25).exp()).collect(),
            means: along.iter().map(|x| vec![*x, 0.5 * x * x - 1.0]).collect(),
            covariances: along.iter().map(covariance).collect(),
        },
    }
}

/// On the positive half-line: log x is one of three Gaussians of 15, 55 and 30 per cent, so far apart
/// that none of 4,000 draws of two is expected in the third.
fn log_normals() -> Lopsided {
    const LOG_Z: f64 = -0.4;
    const PARTS: [(f64, f64, f64); 3] = [(0.15, -5.0, 0.4), (0.55, 0.0, 0.6), (0.3, 4.0, 0.3)];
    let target = Program::record(1, |x| {
        let z = x[0].ln();
        let term = |(w, mean, sd): (f64, f64, f64)| -> Expr<'_> {
            (z - mean).square() * (-0.5 / (sd * sd)) + (w / (sd * TAU.sqrt())).ln()
        };
        log_sum_exp(&PARTS.map(term)) - z + LOG_Z
    });
    Lopsided {
        name: "log-normals",
        target: Box::new(Positive(target)),
        log_z: LOG_Z,
        mean: vec![PARTS.iter().map(|(w, mean, sd)| w * (mean + 0.5 * sd * sd).exp()).sum()],
        modes: PARTS.iter().map(|(w, mean, _)| (vec![mean.exp()], *w)).collect(),
        near: Mixture {
            weights: vec![0.2, 0.5, 0.3],
            means: vec![vec![-5.05], vec![0.05], vec![4.0]],
            covariances: vec![vec![0.19], vec![0.42], vec![0.11]],
        },
    }
}

/// A density of one positive number.
struct Positive(Program);

impl Target for Positive {
    fn dim(&self) -> usize {
        1
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.0.evaluate(points, gradient, out)
    }

    fn support(&self, _: usize) -> Support {
        Support::Above(0.0)
    }

    fn names(&self) -> Vec<String> {
        vec!["rate".to_owned()]
    }
}
