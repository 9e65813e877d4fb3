//! Ascents on the terms of a density that is a sum, and from there on the whole density.

use super::{
    ascend::arrive,
    kinds::{self, Kind},
    state::State,
    summit::Summit,
    terms,
    work::Work,
};
use crate::modes::{heights::Heights, units::Units};
use crate::{Result, target::Unconstrained};

impl Work<'_, '_> {
    /// Ascents on each term of a sum, and from there on the whole density.
    pub(super) fn terms(&self, state: &mut State) -> Result<()> {
        /// Starts on each term, in addition to the highest peak.
        const DRAWS: usize = 3;
        /// Distance from a term's peak at which the ascent on the whole density begins, in its widths: an ascent that
        /// cannot move is not known to have arrived.
        const AWAY: f64 = 0.1;
        state.are_terms_done = true;
        let summands = self.target.target().summands();
        let found = &mut state.found;
        found.terms.count = summands.len();
        found.terms.are_log_concave = summands.iter().all(|term| term.is_log_concave());
        let mut starts = kinds::of_base(self.base, &self.stream(), state.number, 1.0, DRAWS);
        starts.extend(found.highest().map(|peak| peak.z.clone()));
        for summand in &summands {
            let term = Unconstrained::new(&**summand)?;
            let (peak, used) = terms::peak(&term, &starts, self.limits(found))?;
            found.evaluations += used;
            let Some(peak) = peak else { continue };
            let units = Units::whitening(peak.z.clone(), peak.factor.clone());
            let beside = vec![AWAY / (self.target.dim() as f64).sqrt(); self.target.dim()];
            let mut heights = Heights::new(self.target, units.clone(), usize::MAX);
            let places = heights.places(vec![beside])?;
            found.evaluations += heights.used();
            found.ascents += 1;
            found.tallies[Kind::Term as usize].ascents += 1;
            if !places[0].height.is_finite() {
                continue;
            }
            let climbing = places.into_iter().map(|place| (place, 1.0)).collect();
            let limits = self.limits(found);
            let (arrived, used) = arrive(self.target, (units, climbing), limits, &found.summits)?;
            found.evaluations += used;
            found.gather(self.target, &arrived, &[false], Kind::Term)?;
            let leads_to = |summit: &Summit| arrived.iter().any(|end| summit.is_at(end));
            let is_reached = found.summits.iter().any(|peak| peak.is_peak && leads_to(peak));
            // A wide term around a narrow one has mass that the narrow one's peak does not show.
            let is_described = found.summits.iter().any(|summit| summit.describes(&peak));
            if !is_described {
                found.hidden.push(peak);
            }
            found.terms.climbed += usize::from(is_reached || !is_described);
        }
        Ok(())
    }
}
