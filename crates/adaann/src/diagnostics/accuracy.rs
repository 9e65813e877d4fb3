//! Checks the accuracy of a density that a solver computes. The solver's error can shift log p, distort it,
//! and even make modes that the equations do not have (arXiv 2502.11510). A tighter solver at the answer's
//! modes and draws shows the error.

use crate::{
    Batch, Result,
    diagnostics::{
        Finding, Mode, Place, Verdict,
        reason::Reason,
        thresholds::{SMALLEST_MODE, SOLVER_DRAWS, SOLVER_MODES, SOLVER_SHIFT},
    },
    importance::Sample,
    target::{Evaluation, Target},
};

/// Draws of the answer at which log p is computed again.
const DRAWS: usize = 64;

/// Modes, the heaviest, at which log p is computed again.
const MODES: usize = 64;

/// The most that one draw contributes, in nats. Three of [`DRAWS`] that the tighter solver loses altogether
/// then cause distrust: they represent a twentieth of the mass.
const MOST: f64 = 5.0;

const ACCURACY_SEED: u64 = 0xa54f_f53a_5f1d_36f1;

/// How a tighter solver changes log p at the answer's modes and draws.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Accuracy {
    /// The change of log p that all points share.
    shift: f64,
    /// The largest further change at a mode.
    at_modes: f64,
    /// The root mean square of the further change over the draws.
    over_draws: f64,
    /// Where log p changes most.
    at: Place,
    pub(super) evaluations: usize,
}

impl Accuracy {
    /// Compares a target with its tightened twin; none if it has no twin.
    pub(super) fn new(
        target: &dyn Target,
        modes: &[Mode],
        sample: &Sample,
    ) -> Result<Option<Self>> {
        let Some(tight) = target.tightened() else { return Ok(None) };
        let is_heavy = |mode: &&Mode| {
            let particles = mode.particles.map_or(0.0, |particles| particles.value);
            mode.weight.value.max(particles) >= SMALLEST_MODE.value
        };
        let heavy = modes.iter().filter(is_heavy).take(MODES).map(|mode| mode.location.clone());
        let mut points: Vec<Vec<f64>> = heavy.collect();
        let peaks = points.len();
        let drawn = sample.resampled(DRAWS, ACCURACY_SEED);
        points.extend((0..drawn.len()).map(|i| drawn.x().point(i)));
        let points = Batch::from_points(target.dim(), &points);
        let (plain, tight) = (log_density(target, &points)?, log_density(&*tight, &points)?);
        let changes = plain.iter().zip(&tight).map(|(plain, tight)| change(*plain, *tight));
        let changes: Vec<f64> = changes.collect();
        let shift = median(&changes[peaks..]);
        let off = |change: &f64| (change - shift).abs();
        let at_modes = changes[..peaks].iter().map(off).fold(0.0, f64::max);
        let square = |change: &f64| off(change).min(MOST).powi(2);
        let mean_square = changes[peaks..].iter().map(square).sum::<f64>() / drawn.len() as f64;
        let worst =
            (0..changes.len()).max_by(|a, b| off(&changes[*a]).total_cmp(&off(&changes[*b])));
        let worst = points.point(worst.unwrap_or(0));
        Ok(Some(Self {
            shift,
            at_modes,
            over_draws: mean_square.sqrt(),
            at: Place::new(&target.names(), &worst),
            evaluations: 2 * points.len(),
        }))
    }

    /// Adds these findings to a verdict.
    pub(super) fn judged(&self, verdict: Verdict) -> Verdict {
        let Self { shift, at_modes, over_draws, ref at, .. } = *self;
        let distortion = SOLVER_MODES.judge(at_modes).max(SOLVER_DRAWS.judge(over_draws));
        let found = [
            (distortion, Finding::SolverError { at_modes, over_draws, at: at.clone() }),
            (SOLVER_SHIFT.judge(shift.abs()), Finding::SolverShift { nats: shift }),
        ];
        let reason = |(trust, finding): (Option<_>, Finding)| Some(Reason::new(trust?, finding));
        verdict.and(found.into_iter().filter_map(reason))
    }
}

/// log p at points of the target's own coordinates.
fn log_density(target: &dyn Target, points: &Batch) -> Result<Vec<f64>> {
    let mut found = Evaluation::zeros(points.dim(), points.len());
    target.evaluate(points, None, &mut found)?;
    let parts = found.log_prior.iter().zip(found.log_likelihood.iter()).take(points.len());
    Ok(parts.map(|(prior, likelihood)| prior + likelihood).collect())
}

/// The change of log p; infinite at a point where only one of the two is finite.
fn change(plain: f64, tight: f64) -> f64 {
    match (plain.is_finite(), tight.is_finite()) {
        (true, true) => tight - plain,
        (false, false) => 0.0,
        (true, false) => f64::NEG_INFINITY,
        (false, true) => f64::INFINITY,
    }
}

/// The median, which a few non-finite draws do not move; 0 if it is not finite.
fn median(changes: &[f64]) -> f64 {
    let mut sorted = changes.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    if middle.is_finite() { middle } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, diagnostics::Trust, target::Weights};

    /// A normal density, and the change to log p by its tightened twin.
    struct Off {
        density: Program,
        twin: fn(f64) -> f64,
        is_tight: bool,
    }

    impl Target for Off {
        fn dim(&self) -> usize {
            1
        }

        fn evaluate(&self, x: &Batch, of: Option<Weights>, out: &mut Evaluation) -> Result<()> {
            self.density.evaluate(x, of, out)?;
            if self.is_tight {
                let row = x.row(0).iter().zip(out.log_likelihood.iter_mut());
                row.for_each(|(x, log_p)| *log_p += (self.twin)(*x));
            }
            Ok(())
        }

        fn tightened(&self) -> Option<Box<dyn Target + '_>> {
            let density = Program::record(1, |z| -0.5 * z[0].square());
            Some(Box::new(Self { density, twin: self.twin, is_tight: true }))
        }
    }

    fn judged(twin: fn(f64) -> f64) -> (Trust, Vec<&'static str>) {
        let density = Program::record(1, |z| -0.5 * z[0].square());
        let target = Off { density, twin, is_tight: false };
        // A hundred points from -2 to 2, as evenly as a uniform sample.
        let points: Vec<[f64; 1]> = (0..100).map(|i| [0.04 * f64::from(i) - 1.98]).collect();
        let x = Batch::from_points(1, &points);
        let sample = Sample::of_particles(x.clone(), x, vec![0.0; 100], vec![0.0; 100]).unwrap();
        let found = Accuracy::new(&target, &[], &sample).unwrap().unwrap();
        assert_eq!(found.evaluations, 128);
        let verdict = found.judged(Verdict::new(Vec::new()));
        let codes = verdict.reasons.iter().map(|reason| reason.finding.code()).collect();
        (verdict.trust, codes)
    }

    #[test]
    fn a_shift_is_told_from_a_distortion() {
        assert_eq!(judged(|_| 0.0), (Trust::Reliable, vec![]));
        assert_eq!(judged(|_| 0.4), (Trust::Reliable, vec![]));
        assert_eq!(judged(|_| -3.0), (Trust::Care, vec!["solver-shift"]));
        // Root mean squares of 0.23, 0.46 and 1.2.
        assert_eq!(judged(|x| 0.2 * x), (Trust::Reliable, vec![]));
        assert_eq!(judged(|x| 0.4 * x), (Trust::Care, vec!["solver-error"]));
        assert_eq!(judged(|x| x), (Trust::Distrust, vec!["solver-error"]));
        assert_eq!(judged(|x| 2.0 + x), (Trust::Distrust, vec!["solver-error", "solver-shift"]));
        // A third of the draws becomes non-finite.
        let lost = |x: f64| if x > 0.7 { f64::NEG_INFINITY } else { 0.0 };
        assert_eq!(judged(lost), (Trust::Distrust, vec!["solver-error"]));
    }
}
