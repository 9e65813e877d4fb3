//! The context of a search, and ascents from a batch of its starts.

use super::{
    ascend::{Limits, arrive},
    found::Searched,
    kinds::{Kind, Start},
    settings::Search,
    state::State,
    summit::{Arrived, Summit},
};
use crate::modes::{
    heights::{Heights, Place},
    units::Units,
};
use crate::{
    Result,
    flow::Base,
    rng::{Purpose, Stream},
    target::Unconstrained,
};
use rayon::prelude::*;

/// The factor between successive widenings.
pub(super) const WIDER: f64 = 8.0;

/// A target with fewer operations than this is cheap.
const CHEAP: f64 = 2_000.0;

/// The context of a search.
pub(super) struct Work<'a, 't> {
    pub(super) target: &'a Unconstrained<'t>,
    pub(super) base: &'a Base,
    pub(super) search: &'a Search,
    pub(super) seed: u64,
    /// Further points from which ascents start.
    pub(super) given: &'a [Vec<f64>],
    /// The results of earlier searches.
    pub(super) earlier: &'a [Searched],
}

impl Work<'_, '_> {
    pub(super) fn is_cheap(&self) -> bool {
        self.target.target().operations().is_some_and(|operations| operations < CHEAP)
    }

    /// The limits of ascents within the remaining budget.
    pub(super) fn limits(&self, found: &Searched) -> Limits {
        let Search { rounds, whitenings, budget, .. } = *self.search;
        Limits { rounds, whitenings, budget: budget.after(found.evaluations) }
    }

    pub(super) fn stream(&self) -> Stream {
        Stream::new(self.seed, Purpose::Modes)
    }

    /// Ascents in units of the widest peak.
    pub(super) fn ascend_from(
        &self,
        state: &mut State,
        starts: Vec<Start>,
        kind: Kind,
    ) -> Result<()> {
        if starts.is_empty() {
            return Ok(());
        }
        let found = &mut state.found;
        let units = Units::around(starts[0].z.clone());
        let is_any = vec![false; starts.len()];
        let before = found.that_matter().count();
        self.ascend(found, units, starts, &is_any, kind)?;
        // A new peak is a new centre for starts.
        if !found.is_endless && found.that_matter().count() > before {
            state.in_vain = 0;
        }
        Ok(())
    }

    /// Ascends from starts and merges the ends into peaks. At a known peak, its curvature makes ascents shorter than
    /// `units` do.
    pub(super) fn ascend(
        &self,
        found: &mut Searched,
        units: Units,
        starts: Vec<Start>,
        is_any: &[bool],
        kind: Kind,
    ) -> Result<()> {
        let units = widest_units(found).unwrap_or(units);
        let mut heights = Heights::new(self.target, units.clone(), usize::MAX);
        let places = heights.places(starts.iter().map(|start| units.to_u(&start.z)).collect())?;
        found.evaluations += heights.used();
        found.ascents += places.len();
        found.tallies[kind as usize].ascents += places.len();
        // A start that the Gaussian of a known peak explains needs no ascent.
        let known: Vec<Option<usize>> = (places.par_iter().zip(&starts))
            .map(|(place, start)| explained(&found.summits, &units, place, start))
            .collect();
        let (mut climbing, mut is_any_left) = (Vec::new(), Vec::new());
        for (((place, start), known), is_any) in
            places.into_iter().zip(starts).zip(known).zip(is_any)
        {
            if !place.height.is_finite() {
                continue;
            }
            found.starts.record(&start.z, place.height);
            match known {
                Some(summit) => found.count(summit, *is_any),
                None => {
                    climbing.push((place, start.step));
                    is_any_left.push(*is_any);
                }
            }
        }
        if climbing.is_empty() {
            return Ok(());
        }
        let limits = self.limits(found);
        let (arrived, used): (Vec<Arrived>, usize) =
            arrive(self.target, (units, climbing), limits, &found.summits)?;
        found.evaluations += used;
        found.gather(self.target, &arrived, &is_any_left, kind)
    }
}

/// Units in which the Gaussian of the widest peak is a standard one; none if no peak is known.
pub(super) fn widest_units(found: &Searched) -> Option<Units> {
    let peak = found.widest_peak()?;
    Some(Units::whitening(peak.z.clone(), peak.factor.clone()))
}

/// The summit whose Gaussian explains a start, if any.
fn explained(summits: &[Summit], units: &Units, place: &Place, start: &Start) -> Option<usize> {
    if !place.height.is_finite() {
        return None;
    }
    let gradient = units.pull_forth(&place.slope);
    summits.iter().position(|summit| summit.explains(&start.z, place.height, &gradient))
}
