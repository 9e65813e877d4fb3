//! What the searches for modes have covered: their power against planted modes, and whether one search finds the modes
//! of another.

use super::{Finding, Power, Reason, Trust, Verdict};
use crate::{
    importance::{self, Sample},
    modes::{self, Plant, Searched, Starts, Summit, Terms},
    target::Unconstrained,
};

/// The number of planted modes: the share has a standard error of two percentage points around 0.9.
const PLANTED: usize = 200;

/// Separates these planted modes from those by which a search decides to stop.
const PLANTED_SEED: u64 = 0x510e_527f_ade6_82d1;

/// The least width of a planted mode, relative to the answer's.
const NARROWEST: f64 = 0.35;

/// Every search has to find a peak with at least this share of the largest mass.
const LEAST_MASS: f64 = 0.01;

/// What the searches for an answer and for its check have covered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Coverage {
    power: Power,
    /// Peaks of earlier searches that the latest one did not find.
    missed: usize,
    /// All peaks of earlier searches.
    of: usize,
    /// Did the last starts of the latest search still find a mode?
    is_still_finding: bool,
    /// Was only one mode found of a density whose formulas are unknown? Several modes show how much widths differ; a
    /// single mode does not.
    may_hide_narrow_modes: bool,
}

impl Coverage {
    /// The coverage of searches, the latest one last. `log_z` and `sample` are the answer's.
    pub(crate) fn new(
        target: &Unconstrained,
        searches: &[&Searched],
        log_z: f64,
        sample: &Sample,
        seed: u64,
    ) -> Self {
        let (missed, of) = missed(searches);
        let known = searches.iter().map(|searched| searched.terms).find(Terms::are_all_known);
        let power = match known {
            _ if target.target().is_log_concave() => Power::LogConcave,
            Some(terms) => Power::LogConcaveTerms { terms: terms.count },
            None => planted(target, searches, log_z, sample, seed ^ PLANTED_SEED),
        };
        let modes = searches.iter().map(|searched| searched.that_matter().count()).max();
        let may_hide_narrow_modes = matches!(power, Power::Planted { .. })
            && !target.target().has_formulas()
            && modes.is_none_or(|modes| modes <= 1);
        let is_still_finding = matches!(power, Power::Planted { .. })
            && searches.last().is_some_and(|latest| latest.is_still_finding);
        Self { power, missed, of, is_still_finding, may_hide_narrow_modes }
    }

    /// Adds these findings to a verdict.
    pub(crate) fn judged(self, verdict: Verdict) -> Verdict {
        let Self { missed, of, power, is_still_finding, may_hide_narrow_modes } = self;
        let finding = Finding::ModesNotFoundAgain { missed, of };
        let is_missed = missed > 0 && power != Power::LogConcave;
        let missed = is_missed.then(|| Reason::new(Trust::Local, finding));
        let more = is_still_finding.then(|| Reason::new(Trust::Local, Finding::StillFindingModes));
        let hidden = may_hide_narrow_modes
            .then(|| Reason::new(Trust::Local, Finding::NarrowModesNotExcluded));
        verdict.with_power(power).and(missed.into_iter().chain(more).chain(hidden))
    }
}

/// How many of the modes planted at random the searches would have found.
fn planted(
    target: &Unconstrained,
    searches: &[&Searched],
    log_z: f64,
    sample: &Sample,
    seed: u64,
) -> Power {
    let none = Power::Planted { planted: PLANTED, caught: 0 };
    let richest = searches.iter().max_by_key(|searched| searched.that_matter().count());
    let Some(richest) = richest else { return none };
    let mut shapes: Vec<Summit> = richest.that_matter().cloned().collect();
    let is_crowd = searches.iter().any(|searched| searched.is_endless);
    // One mode, or a ridge of many peaks, is as wide as its draws; the curvature at a peak may differ.
    if (shapes.len() <= 1 || is_crowd)
        && let Some(shape) = described(sample)
    {
        shapes = vec![shape];
    }
    let mut starts = Starts::default();
    searches.iter().for_each(|searched| starts.extend(&searched.starts));
    let log_z = if log_z.is_finite() { log_z } else { richest.log_mass() };
    let has_prior = target.target().has_prior();
    let plant = Plant { count: PLANTED, narrowest: NARROWEST, has_prior, seed };
    let caught = modes::caught(&starts, &shapes, log_z, &plant);
    Power::Planted { planted: PLANTED, caught }
}

/// The Gaussian with the moments of weighted draws, as a peak.
fn described(sample: &Sample) -> Option<Summit> {
    let (z, weights) = (sample.z(), sample.weights());
    let covariance = importance::covariance(z, weights).ok()?;
    let mean = |d: usize| {
        let row = z.row(d).iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        row.map(|(z, weight)| z * weight).sum::<f64>()
    };
    Summit::of_gaussian((0..z.dim()).map(mean).collect(), covariance)
}

/// The number of sufficiently heavy peaks that earlier searches found and the latest missed, and the number of all such
/// peaks of earlier searches.
fn missed(searches: &[&Searched]) -> (usize, usize) {
    let Some((latest, earlier)) = searches.split_last() else { return (0, 0) };
    if earlier.is_empty() || searches.iter().any(|searched| searched.is_endless) {
        return (0, 0);
    }
    let most = earlier.iter().map(|searched| searched.most_log_mass()).fold(f64::MIN, f64::max);
    let mut peaks: Vec<&Summit> = Vec::new();
    for summit in earlier.iter().flat_map(|searched| &searched.summits) {
        let is_heavy = summit.is_peak && summit.log_mass > most + LEAST_MASS.ln();
        if is_heavy && !peaks.iter().any(|peak| peak.is_same(summit)) {
            peaks.push(summit);
        }
    }
    let is_missed = |peak: &&&Summit| !latest.summits.iter().any(|summit| peak.is_same(summit));
    (peaks.iter().filter(is_missed).count(), peaks.len())
}
