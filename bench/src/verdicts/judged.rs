//! A run: its result, its true quality, and its verdict.

use super::cases::Case;
use adaann::{
    Batch, Result,
    diagnostics::{self, Trust, examine, thresholds::is_mode_lost},
    fit::fit,
    registry::{Known, mode_weights, split_shares},
};

/// The true quality of an approximation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    LostMode,
    Close,
    Rough,
}

impl Outcome {
    pub(super) const ALL: [Self; 3] = [Self::LostMode, Self::Close, Self::Rough];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::LostMode => "a mode is lost",
            Self::Close => "all modes, KL below 0.05",
            Self::Rough => "all modes, KL 0.05 and more",
        }
    }
}

/// KL(q‖p) below which an approximation counts as good, in nats.
const CLOSE: f64 = 0.05;

const DRAWS: usize = 10_000;

/// A run with its verdict.
pub(super) struct Judged {
    pub(super) outcome: Outcome,
    pub(super) kl: f64,
    pub(super) trust: Trust,
    pub(super) k_hat: f64,
    pub(super) ess_share: f64,
    /// Share of the particles where q is too small, if they finished.
    pub(super) lacking: Option<f64>,
    /// The error of log Z by weights, in units of its own standard error.
    pub(super) log_z_deviation: f64,
    pub(super) reasons: Vec<String>,
}

impl Judged {
    /// Fits, checks, and compares the verdict with the truth.
    pub(super) fn new(case: &Case) -> Result<Self> {
        let problem = case.problem()?;
        let outcome = fit(&*problem.target, &problem.settings, &mut ())?;
        let approximation = outcome.approximation(&*problem.target)?;
        let sample = approximation.sample(DRAWS, case.seed)?;
        let settings = diagnostics::Settings::default();
        let found = examine(&approximation, &sample, &problem.settings, &settings, &mut ())?;
        let log_z = problem.known.log_z.expect("known for these targets");
        let kl = sample.neg_elbo() + log_z;
        let outcome = if has_lost_a_mode(&problem.known, sample.x()) {
            Outcome::LostMode
        } else if kl < CLOSE {
            Outcome::Close
        } else {
            Outcome::Rough
        };
        Ok(Self {
            outcome,
            kl,
            trust: found.verdict.trust,
            k_hat: found.k_hat,
            ess_share: found.ess_share,
            lacking: found.particles.map(|particles| particles.lacking.value),
            log_z_deviation: (found.log_z.value - log_z) / found.log_z.error,
            reasons: found
                .verdict
                .reasons
                .iter()
                .map(|reason| reason.finding.to_string())
                .collect(),
        })
    }
}

/// Is a mode, or one side of a split, missing?
fn has_lost_a_mode(known: &Known, points: &Batch) -> bool {
    let of_modes = known.modes.iter().zip(mode_weights(known, points));
    let of_splits = known.splits.iter().zip(split_shares(known, points));
    of_modes.into_iter().any(|(mode, share)| is_mode_lost(share, mode.weight))
        || of_splits.into_iter().any(|(split, above)| {
            is_mode_lost(above, split.above) || is_mode_lost(1.0 - above, 1.0 - split.above)
        })
}
