//! Ascents from draws of the base distribution.

use super::{
    found::Searched,
    kinds::{self, Kind, Start},
    state::State,
    work::{WIDER, Work},
};
use crate::modes::{heights::Heights, units::Units};
use crate::{Error, Result, target::Unconstrained};

/// If no draw of the base has a density, this many times as many points are evaluated at least.
const LOOKS: usize = 32;

impl Work<'_, '_> {
    /// A batch of ascents from draws of the base.
    pub(super) fn base(&self, state: &mut State) -> Result<()> {
        let Self { search, target, .. } = *self;
        let ascents = state.batch;
        let found = &mut state.found;
        let count = search.draws.saturating_mul(ascents).max(64);
        let before = found.evaluations;
        let draws = kinds::of_base(self.base, &self.stream(), state.number, 1.0, count);
        let mut looked = Looked::at(target, draws, ascents)?;
        found.evaluations += looked.used;
        if looked.chosen.is_empty() && found.tally(Kind::Base).ascents > 0 {
            state.batch = 0;
            return Ok(());
        }
        if looked.chosen.is_empty() {
            looked = self.support(found, ascents, count)?;
        }
        let Looked { draws, units, chosen, .. } = looked;
        let starts = chosen.iter().map(|&(i, _)| Start { z: draws[i].clone(), step: 1.0 });
        let is_any: Vec<bool> = chosen.iter().map(|&(_, is_any)| is_any).collect();
        self.ascend(found, units, starts.collect(), &is_any, Kind::Base)?;
        state.any += is_any.iter().filter(|is_any| **is_any).count();
        found.judge(state.any);
        state.of_base += found.evaluations - before;
        let made = found.tally(Kind::Base).ascents;
        let is_enough = made >= search.ascents && found.unseen <= search.unseen;
        // A mode that was reached once is soon reached twice, which ends these batches, so they grow slowly.
        let next = (made / 2).max(ascents / 2).max(1);
        let next = next.min(search.most_ascents.saturating_sub(made));
        state.batch = if is_enough { 0 } else { next };
        Ok(())
    }

    /// Searches for points with a density if the first draws of the base have none: among more draws each time, further
    /// out and closer in.
    fn support(&self, found: &mut Searched, ascents: usize, first: usize) -> Result<Looked> {
        let most = self.search.effort.max(LOOKS * first).min(self.search.budget.evaluations());
        let (mut used, mut count, mut widest) = (first, first, 1.0);
        while used < most {
            count = (2 * count).min(most - used);
            widest *= WIDER;
            let half = count.div_ceil(2);
            let draw = used as u64;
            let mut draws = kinds::of_base(self.base, &self.stream(), draw, widest, half);
            draws.extend(kinds::of_base(self.base, &self.stream(), draw, 1.0 / widest, half));
            used += draws.len();
            let looked = Looked::at(self.target, draws, ascents)?;
            found.evaluations += looked.used;
            if !looked.chosen.is_empty() {
                return Ok(looked);
            }
        }
        Err(Error::Target(format!(
            "none of {used} points around the base has a finite log density; start the search inside the support \
             (base-mean, base-sd)"
        )))
    }
}

/// Draws at which the density was evaluated.
struct Looked {
    draws: Vec<Vec<f64>>,
    units: Units,
    /// The starts of ascents, and whether each is an arbitrary draw or one of the highest.
    chosen: Vec<(usize, bool)>,
    /// Evaluations.
    used: usize,
}

impl Looked {
    fn at(target: &Unconstrained, draws: Vec<Vec<f64>>, ascents: usize) -> Result<Self> {
        let units = Units::of(&draws, target.dim());
        let mut heights = Heights::new(target, units.clone(), usize::MAX);
        let u: Vec<Vec<f64>> = draws.iter().map(|z| units.to_u(z)).collect();
        let seen = heights.at(&u)?;
        Ok(Self { chosen: choose(&seen, ascents), used: heights.used(), draws, units })
    }
}

/// Chooses the draws from which ascents start, and marks each as an arbitrary draw or one of the highest.
fn choose(seen: &[f64], ascents: usize) -> Vec<(usize, bool)> {
    let finite: Vec<usize> = (0..seen.len()).filter(|&i| seen[i].is_finite()).collect();
    let any = ascents.div_ceil(2).min(finite.len());
    // The draws are independent, so the first ones are arbitrary.
    let mut chosen: Vec<(usize, bool)> = finite[..any].iter().map(|&i| (i, true)).collect();
    let mut rest = finite[any..].to_vec();
    rest.sort_by(|&a, &b| seen[b].total_cmp(&seen[a]).then(a.cmp(&b)));
    chosen.extend(rest.into_iter().take(ascents - any).map(|i| (i, false)));
    chosen
}
