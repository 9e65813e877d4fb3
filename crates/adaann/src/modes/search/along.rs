//! Ascents from maxima along lines through the highest peak.

use super::{
    kinds::{self, Kind, Start},
    lines,
    state::State,
    work::Work,
};
use crate::Result;
use crate::modes::{heights::Heights, units::Units};

/// Half-width of lines, in standard deviations of the base.
const LINE_SPREADS: f64 = 3.0;

impl Work<'_, '_> {
    /// Ascents from maxima along lines through the highest peak.
    pub(super) fn lines(&self, state: &mut State) -> Result<()> {
        let found = &mut state.found;
        let Some(peak) = found.highest().cloned() else { return Ok(()) };
        let draws = kinds::of_base(self.base, &self.stream(), state.number, 1.0, 256);
        let units = Units::of(&draws, self.target.dim());
        let around = units.ranges(LINE_SPREADS);
        let mut heights = Heights::new(self.target, units, usize::MAX);
        let maxima = lines::maxima(&mut heights, &peak, &around, self.search.effort)?;
        found.evaluations += heights.used();
        (state.lines, state.lines_through) = (state.lines + 1, peak.log_density + 0.5);
        let starts = maxima.into_iter().map(|z| Start { z, step: 0.1 }).collect();
        self.ascend_from(state, starts, Kind::Line)
    }
}
