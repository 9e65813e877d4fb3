//! Forecasts the remaining cost of an answer.
//!
//! The constants are evaluations that such work has taken on targets of all kinds, accurate to a factor of
//! about two. The forecast assumes that no rung fails, so it excludes the rungs that would follow a
//! failure.

use super::{Method, Rung, Settings};
use crate::{modes::Search, target::Unconstrained};

/// A step of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Draws of a prior or of an existing q.
    Draws,
    Modes,
    Mixture,
    Particles,
    Chains,
    Flow,
    Check,
}

/// Evaluations of one ascent, including its share of the curvature at the peaks.
const ASCENT: usize = 18;

/// Evaluations after which most searches end, in up to three and in up to five dimensions.
const FEW_STARTS: (usize, usize) = (8_000, 30_000);

/// Evaluations per particle: for each dimension, and in addition.
const PARTICLE: (usize, usize) = (6, 40);

/// The updates of a flow times the number of points in each, plus the draws that cover its mass.
const FLOW: usize = 1_000_000;

/// The expected cost of what remains.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forecast {
    dim: usize,
    /// The expected cost of starts other than draws of the base.
    effort: usize,
    /// The actual cost of the search for modes, once it is known.
    searched: Option<usize>,
    /// The number of draws of the answer.
    draws: usize,
    method: Method,
    is_checked: bool,
    is_checked_by_particles: bool,
}

impl Forecast {
    pub(super) fn new(
        target: &Unconstrained,
        settings: &Settings,
        is_checked_by_particles: bool,
    ) -> Self {
        let dim = target.dim();
        let most = Search::new(dim).with_effort(target, settings.search).effort;
        let usual = if dim <= 3 { FEW_STARTS.0 } else { FEW_STARTS.1 };
        Self {
            dim,
            effort: if dim <= 5 { most.min(usual) } else { most },
            searched: None,
            draws: settings.draws.unwrap_or((1.3 * settings.target_ess) as usize),
            method: settings.method,
            is_checked: settings.check > 0.0,
            is_checked_by_particles,
        }
    }

    /// The forecast after some rungs: the check's search costs as much as theirs.
    pub(super) fn after(self, rungs: &[Rung]) -> Self {
        let searched = rungs.iter().find(|rung| rung.method == Method::Modes);
        Self { searched: searched.map(|rung| rung.evaluations), ..self }
    }

    /// Evaluations of a step that begins now, and of all steps after it if it leads to an answer.
    pub(super) fn of(&self, step: Step) -> (usize, usize) {
        let check = if self.is_checked { self.check() } else { 0 };
        let then = match step {
            Step::Modes => self.mixture() + check,
            Step::Particles if self.method == Method::Flow => FLOW + check,
            Step::Check => 0,
            Step::Draws | Step::Mixture | Step::Particles | Step::Chains | Step::Flow => check,
        };
        let own = match step {
            Step::Draws => self.draws,
            Step::Modes => self.ascents(),
            Step::Mixture => self.mixture(),
            Step::Particles => 2_000 * self.particle() + self.mixture(),
            Step::Chains => 40 * self.draws,
            Step::Flow => FLOW,
            Step::Check => self.check(),
        };
        (own, then)
    }

    fn ascents(&self) -> usize {
        self.searched.unwrap_or(ASCENT * Search::new(self.dim).ascents + self.effort)
    }

    fn mixture(&self) -> usize {
        2 * (1_000 + 20 * self.dim) + self.draws
    }

    fn particle(&self) -> usize {
        PARTICLE.0 * self.dim + PARTICLE.1
    }

    fn check(&self) -> usize {
        let particles = if self.is_checked_by_particles { 280 * self.particle() } else { 0 };
        match self.method {
            Method::Prior => 1_000,
            Method::Chains => 4_000,
            _ => self.ascents() + 3_000 + 40 * self.dim + particles,
        }
    }
}
