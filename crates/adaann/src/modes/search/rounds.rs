//! The rounds of a search: which starts come next, and when the search ends.

use super::{
    crowd::Crowd,
    found::Searched,
    kinds::{Kind, Start},
    planted::Plant,
    state::State,
    work::Work,
};
use crate::{Error, Result, checkpoint::Ledger};

/// The most widenings in a row without a find.
const MOST_IN_VAIN: usize = 2;

/// The factor by which a search that still finds new peaks may exceed its effort.
const EXTENDED: usize = 10;

/// The most times that lines are searched, each time through a higher peak.
const MOST_LINES: usize = 4;

/// The search ends once it would have found this share of planted modes, which are no wider than those that measure its
/// power. The check searches an expensive target again, and both searches together have to reach 0.9.
const ENOUGH_OF_CHEAP: f64 = 0.97;
const ENOUGH_OF_EXPENSIVE: f64 = 0.93;
const PLANTED: usize = 128;
const NARROWEST: f64 = 0.35;

/// For a cheap target in few dimensions, planted modes have a share of the volume as small as this.
const SMALLEST_VOLUME: f64 = 1e-3;

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Base,
    Terms,
    Given,
    Lines,
    Images,
    Shells,
    Residual,
    Far,
}

impl Work<'_, '_> {
    /// Runs rounds until the search ends.
    pub(super) fn run(&self, ledger: &mut Ledger) -> Result<Searched> {
        let mut state = ledger.take_up()?.unwrap_or_else(|| State::new(self.search));
        while let Some(step) = self.next(&state) {
            let is_spent = self.search.budget.is_spent(state.found.evaluations);
            if is_spent && state.found.ascents > 0 {
                break;
            }
            let taken = match step {
                Step::Base => self.base(&mut state),
                Step::Terms => self.terms(&mut state),
                Step::Given => self.given(&mut state),
                Step::Lines => self.lines(&mut state),
                Step::Images => self.images(&mut state),
                Step::Shells => self.shells(&mut state),
                Step::Residual => self.residual(&mut state),
                Step::Far => self.far(&mut state),
            };
            match taken {
                // Results so far count.
                Err(Error::OutOfTime) if !state.found.summits.is_empty() => break,
                taken => taken?,
            }
            state.number += 1;
            ledger.remember(&state);
            if ledger.is_asked_to_end() {
                break;
            }
        }
        let mut found = state.found;
        found.judge(state.any);
        // On a ridge or a shell nearly every ascent has a peak of its own, which is new only if it is far from the
        // others.
        let is_news = |crowd: Crowd| found.that_matter().any(|summit| crowd.is_far_from(&summit.z));
        found.is_still_finding = state.has_just_found && found.crowd().is_none_or(is_news);
        found.summits.sort_by(|a, b| b.log_mass.total_cmp(&a.log_mass));
        Ok(found)
    }

    /// The next step; none if the search ends.
    fn next(&self, state: &State) -> Option<Step> {
        let found = &state.found;
        let is_first = found.ascents == 0;
        let is_non_finite = !is_first && found.adrift > found.ascents / 2;
        if is_non_finite {
            return None;
        }
        let has_effort = self.search.effort > 0;
        if has_effort && !is_first && !state.are_terms_done {
            return Some(Step::Terms);
        }
        if found.terms.are_all_known() {
            return None;
        }
        // Lines come early: their results decide whether the other peaks matter.
        let is_higher = found.highest().is_some_and(|best| best.log_density > state.lines_through);
        if has_effort && is_higher && state.lines < MOST_LINES {
            return Some(Step::Lines);
        }
        if state.batch > 0 && !found.is_endless {
            return Some(Step::Base);
        }
        if !has_effort || found.summits.is_empty() {
            return None;
        }
        if !state.is_given_done && !self.given.is_empty() {
            return Some(Step::Given);
        }
        let matter = found.that_matter().count();
        if matter > state.imaged && !found.is_endless {
            return Some(Step::Images);
        }
        if state.is_far_next && state.in_vain < MOST_IN_VAIN {
            return Some(Step::Far);
        }
        // A peak that only one ascent has reached indicates others that none has reached (Good and Turing).
        let is_one_reached_once =
            !found.is_endless && found.that_matter().any(|summit| summit.ascents == 1);
        let is_unfinished = state.has_just_found || is_one_reached_once;
        let factor = if is_unfinished { EXTENDED } else { 1 };
        let effort = self.search.effort.saturating_mul(factor);
        let is_spent = found.evaluations - state.of_base >= effort;
        if is_spent || state.would_have_found(self.enough()) {
            // Far shells are searched whatever the effort.
            return (state.in_vain < MOST_IN_VAIN).then_some(Step::Far);
        }
        if state.residual > 0 && !found.is_endless {
            return Some(Step::Residual);
        }
        Some(Step::Shells)
    }

    /// The planted modes that measure the progress of the search.
    pub(super) fn plant(&self) -> Plant {
        let target = self.target.target();
        let is_cheap = self.is_cheap();
        let by_volume = SMALLEST_VOLUME.powf(1.0 / target.dim() as f64);
        let narrowest = if is_cheap { NARROWEST.min(by_volume) } else { NARROWEST };
        Plant { count: PLANTED, narrowest, has_prior: target.has_prior(), seed: self.seed }
    }

    fn enough(&self) -> f64 {
        if self.is_cheap() { ENOUGH_OF_CHEAP } else { ENOUGH_OF_EXPENSIVE }
    }

    /// Ascents from given points.
    fn given(&self, state: &mut State) -> Result<()> {
        let starts = self.given.iter().map(|z| Start { z: z.clone(), step: 1.0 }).collect();
        self.ascend_from(state, starts, Kind::Given)?;
        state.is_given_done = true;
        Ok(())
    }
}
