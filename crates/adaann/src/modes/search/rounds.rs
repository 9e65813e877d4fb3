//! The rounds of a search: which starts come next, and what becomes of them.

use super::{
    ascend::{Limits, arrive},
    found::Searched,
    kinds::{self, Kind, Start},
    lines,
    planted::{Plant, catch},
    residual,
    settings::Search,
    summit::{Arrived, Summit},
    terms,
};
use crate::modes::{
    heights::{Heights, Place},
    units::Units,
};
use crate::{
    Batch, Error, Result,
    checkpoint::Ledger,
    flow::Base,
    rng::{Purpose, Stream},
    target::Unconstrained,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Radii of shells around a peak at first, in its widths.
const SHELLS: (f64, f64) = (3.0, 24.0);

/// How much further each widening goes.
const WIDER: f64 = 8.0;

/// Starts of a widening, without and with a prior that integrates to 1. Such a prior leaves little mass so far out.
const FAR_STARTS: (usize, usize) = (32, 8);

/// How many widenings in a row may find nothing.
const MOST_IN_VAIN: usize = 2;

/// Shells reach so many times the largest distance between two known peaks.
const BEYOND: f64 = 3.0;

/// Starts of the first batch on shells; each has twice as many as the one before, up to the most.
const FIRST_SHELLS: usize = 32;
const MOST_SHELLS: usize = 8_192;

/// For so many starts on shells there is one on log p − log q, which costs about four times as much.
const SHELLS_PER_RESIDUAL: usize = 8;

/// Starts of any batch on shells, at least, and what an ascent from one may cost.
const FEWEST_SHELLS: usize = 32;
const EACH: usize = 10;

/// A search that still finds new peaks may take so many times its effort.
const EXTENDED: usize = 10;

/// How often lines are looked along, each time through a higher peak.
const MOST_LINES: usize = 4;

/// Images that are looked at, and those that ascents start from.
const IMAGES: (usize, usize) = (256, 16);

/// Half-width of the base in which lines look, in its standard deviations.
const LINE_SPREADS: f64 = 3.0;

/// The search ends once it would have found this share of planted modes, which are no wider than those that its power is
/// told by. An expensive target is searched again by the check, and both together have to reach 0.9.
const ENOUGH_OF_CHEAP: f64 = 0.97;
const ENOUGH_OF_EXPENSIVE: f64 = 0.93;
const PLANTED: usize = 128;
const NARROWEST: f64 = 0.35;

/// Of a target with fewer operations than this, modes of so small a share of the volume are planted in few dimensions.
const CHEAP: f64 = 2_000.0;
const SMALLEST_VOLUME: f64 = 1e-3;

/// What a search works on.
pub(super) struct Work<'a, 't> {
    pub(super) target: &'a Unconstrained<'t>,
    pub(super) base: &'a Base,
    pub(super) search: &'a Search,
    pub(super) seed: u64,
    /// Points that ascents start from as well.
    pub(super) given: &'a [Vec<f64>],
    /// What earlier searches have found.
    pub(super) earlier: &'a [Searched],
}

/// A search under way.
#[derive(Serialize, Deserialize)]
struct State {
    found: Searched,
    /// Ascents that started from any draw of the base.
    any: usize,
    /// Ascents of the next batch of the base; 0 when there are enough.
    batch: usize,
    /// The number of the next batch of random numbers.
    number: u64,
    /// Evaluations of the base's starts.
    of_base: usize,
    is_given_done: bool,
    are_terms_done: bool,
    /// How often lines were looked along, and the height of the peak that they went through.
    lines: usize,
    lines_through: f64,
    /// Peaks whose images were looked at.
    imaged: usize,
    /// Starts of the next batch on shells.
    shells: usize,
    /// The largest radius, the widenings in a row that found nothing, and whether the next batch is one.
    reach: f64,
    in_vain: usize,
    is_far_next: bool,
    /// Starts of the next batch on log p − log q; 0 if shells come first.
    residual: usize,
    /// Did the latest batch on shells find a peak?
    has_just_found: bool,
    power: Power,
}

/// Which of the planted modes the starts so far would have missed.
#[derive(Default, Serialize, Deserialize)]
struct Power {
    missed: Vec<bool>,
    /// Starts that were asked, and the peaks and the mass that were known then.
    asked: usize,
    peaks: usize,
    log_mass: f64,
}

/// What comes next.
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

impl State {
    fn new(search: &Search) -> Self {
        Self {
            found: Searched::default(),
            any: 0,
            batch: search.first,
            number: 0,
            of_base: 0,
            is_given_done: false,
            are_terms_done: false,
            lines: 0,
            lines_through: f64::NEG_INFINITY,
            imaged: 0,
            shells: FIRST_SHELLS,
            reach: SHELLS.1,
            in_vain: 0,
            is_far_next: false,
            residual: 0,
            has_just_found: false,
            power: Power::default(),
        }
    }

    /// Asks the latest starts which of the planted modes they would have led to; all starts, and those of earlier searches,
    /// if the peaks have changed.
    fn ask(&mut self, plant: &Plant, earlier: &[Searched]) {
        let found = &self.found;
        let (peaks, log_mass) = (found.that_matter().count(), found.log_mass());
        let is_same = peaks == self.power.peaks && (log_mass - self.power.log_mass).abs() < 1e-3;
        if !is_same {
            self.power = Power { missed: vec![true; plant.count], asked: 0, peaks, log_mass };
        }
        let known: Vec<&Summit> = found.that_matter().collect();
        let missed = &mut self.power.missed;
        if !is_same {
            for searched in earlier {
                catch(&searched.starts, 0, &known, log_mass, plant, missed);
            }
        }
        catch(&found.starts, self.power.asked, &known, log_mass, plant, missed);
        self.power.asked = found.starts.len();
    }

    /// Would the starts have led to this share of the planted modes?
    fn would_have_found(&self, share: f64) -> bool {
        let missed = self.power.missed.iter().filter(|missed| **missed).count();
        let all = self.power.missed.len();
        all > 0 && missed as f64 <= (1.0 - share) * all as f64
    }
}

impl Work<'_, '_> {
    /// Rounds until enough was seen.
    pub(super) fn run(&self, ledger: &mut Ledger) -> Result<Searched> {
        let mut state = ledger.take_up()?.unwrap_or_else(|| State::new(self.search));
        while let Some(step) = self.next(&state) {
            match step {
                Step::Base => self.base(&mut state)?,
                Step::Terms => self.terms(&mut state)?,
                Step::Given => self.given(&mut state)?,
                Step::Lines => self.lines(&mut state)?,
                Step::Images => self.images(&mut state)?,
                Step::Shells => self.shells(&mut state)?,
                Step::Residual => self.residual(&mut state)?,
                Step::Far => self.far(&mut state)?,
            }
            state.number += 1;
            let used = state.found.evaluations;
            if self.search.budget.is_spent(used) || ledger.is_asked_to_end() {
                break;
            }
            ledger.remember(&state);
        }
        let mut found = state.found;
        found.judge(state.any);
        found.summits.sort_by(|a, b| b.log_mass.total_cmp(&a.log_mass));
        Ok(found)
    }

    /// What comes next; nothing if enough was seen.
    fn next(&self, state: &State) -> Option<Step> {
        let found = &state.found;
        let is_first = found.ascents == 0;
        let is_lost = !is_first && found.adrift > found.ascents / 2;
        if is_lost {
            return None;
        }
        let has_effort = self.search.effort > 0;
        if has_effort && !is_first && !state.are_terms_done {
            return Some(Step::Terms);
        }
        if found.terms.are_all_known() {
            return None;
        }
        // Lines come early: what they find decides whether the other peaks matter.
        let is_higher = found.highest().is_some_and(|best| best.log_density > state.lines_through);
        if has_effort && is_higher && state.lines < MOST_LINES {
            return Some(Step::Lines);
        }
        if state.batch > 0 && !found.is_endless {
            return Some(Step::Base);
        }
        if !has_effort || found.is_endless || found.summits.is_empty() {
            return None;
        }
        if !state.is_given_done && !self.given.is_empty() {
            return Some(Step::Given);
        }
        let matter = found.that_matter().count();
        if matter > state.imaged {
            return Some(Step::Images);
        }
        if state.is_far_next && state.in_vain < MOST_IN_VAIN {
            return Some(Step::Far);
        }
        // A peak that one ascent alone has reached tells of others that none has (Good and Turing).
        let is_one_reached_once = found.that_matter().any(|summit| summit.ascents == 1);
        let is_unfinished = state.has_just_found || is_one_reached_once;
        let factor = if is_unfinished { EXTENDED } else { 1 };
        let effort = self.search.effort.saturating_mul(factor);
        let is_spent = found.evaluations - state.of_base >= effort;
        if is_spent || state.would_have_found(self.enough()) {
            // Far shells are looked at whatever the effort.
            return (state.in_vain < MOST_IN_VAIN).then_some(Step::Far);
        }
        if state.residual > 0 {
            return Some(Step::Residual);
        }
        Some(Step::Shells)
    }

    /// The modes that are planted to see how far the search has come.
    fn plant(&self) -> Plant {
        let target = self.target.target();
        let is_cheap = self.is_cheap();
        let by_volume = SMALLEST_VOLUME.powf(1.0 / target.dim() as f64);
        let narrowest = if is_cheap { NARROWEST.min(by_volume) } else { NARROWEST };
        Plant { count: PLANTED, narrowest, has_prior: target.has_prior(), seed: self.seed }
    }

    fn is_cheap(&self) -> bool {
        self.target.target().operations().is_some_and(|operations| operations < CHEAP)
    }

    fn enough(&self) -> f64 {
        if self.is_cheap() { ENOUGH_OF_CHEAP } else { ENOUGH_OF_EXPENSIVE }
    }

    /// How far ascents may go, after what was spent.
    fn limits(&self, found: &Searched) -> Limits {
        let Search { rounds, whitenings, budget, .. } = *self.search;
        Limits { rounds, whitenings, budget: budget.after(found.evaluations) }
    }

    fn stream(&self) -> Stream {
        Stream::new(self.seed, Purpose::Modes)
    }

    /// A batch of ascents from draws of the base.
    fn base(&self, state: &mut State) -> Result<()> {
        let Self { search, target, .. } = *self;
        let ascents = state.batch;
        let found = &mut state.found;
        let count = search.draws.saturating_mul(ascents).max(64);
        let draws = kinds::of_base(self.base, &self.stream(), state.number, count);
        let units = Units::of(&draws, target.dim());
        let mut heights = Heights::new(target, units, usize::MAX);
        let u: Vec<Vec<f64>> = draws.iter().map(|z| heights.standardisation().to_u(z)).collect();
        let seen = heights.at(&u)?;
        let chosen = choose(&seen, ascents);
        if chosen.is_empty() && found.tally(Kind::Base).ascents > 0 {
            found.evaluations += heights.used();
            state.batch = 0;
            return Ok(());
        }
        if chosen.is_empty() {
            return Err(Error::Target(format!(
                "none of {} draws of the base has a finite log density; start the search inside the \
                 support (base-mean, base-sd)",
                draws.len()
            )));
        }
        let before = found.evaluations;
        found.evaluations += heights.used();
        let starts = chosen.iter().map(|&(i, _)| Start { z: draws[i].clone(), step: 1.0 });
        let is_any: Vec<bool> = chosen.iter().map(|&(_, is_any)| is_any).collect();
        let units = heights.standardisation().clone();
        self.ascend(found, units, starts.collect(), &is_any, Kind::Base)?;
        state.any += is_any.iter().filter(|is_any| **is_any).count();
        found.judge(state.any);
        state.of_base += found.evaluations - before;
        let made = found.tally(Kind::Base).ascents;
        let is_enough = made >= search.ascents && found.unseen <= search.unseen;
        // A mode that was reached once is soon reached twice, which ends these batches: they grow slowly.
        let next = (made / 2).max(ascents / 2).max(1);
        let next = next.min(search.most_ascents.saturating_sub(made));
        state.batch = if is_enough { 0 } else { next };
        Ok(())
    }

    /// Ascents on each term of a sum, and from there on the whole.
    fn terms(&self, state: &mut State) -> Result<()> {
        /// Starts on each term, beside the highest peak.
        const DRAWS: usize = 3;
        /// How far from a term's peak the ascent on the whole begins, in its widths: one that cannot move is not known to have
        /// arrived.
        const AWAY: f64 = 0.1;
        state.are_terms_done = true;
        let summands = self.target.target().summands();
        let found = &mut state.found;
        found.terms.count = summands.len();
        found.terms.are_log_concave = summands.iter().all(|term| term.is_log_concave());
        let mut starts = kinds::of_base(self.base, &self.stream(), state.number, DRAWS);
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
            // A wide term around a narrow one has mass that the narrow one's peak knows nothing of.
            let is_described = found.summits.iter().any(|summit| summit.describes(&peak));
            if !is_described {
                found.hidden.push(peak);
            }
            found.terms.climbed += usize::from(is_reached || !is_described);
        }
        Ok(())
    }

    /// Ascents from given points.
    fn given(&self, state: &mut State) -> Result<()> {
        let starts = self.given.iter().map(|z| Start { z: z.clone(), step: 1.0 }).collect();
        self.ascend_from(state, starts, Kind::Given)?;
        state.is_given_done = true;
        Ok(())
    }

    /// Ascents from maxima along lines through the highest peak.
    fn lines(&self, state: &mut State) -> Result<()> {
        let found = &mut state.found;
        let Some(peak) = found.highest().cloned() else { return Ok(()) };
        let draws = kinds::of_base(self.base, &self.stream(), state.number, 256);
        let units = Units::of(&draws, self.target.dim());
        let around = units.ranges(LINE_SPREADS);
        let mut heights = Heights::new(self.target, units, usize::MAX);
        let maxima = lines::maxima(&mut heights, &peak, &around, self.search.effort)?;
        found.evaluations += heights.used();
        (state.lines, state.lines_through) = (state.lines + 1, peak.log_density + 0.5);
        let starts = maxima.into_iter().map(|z| Start { z, step: 0.1 }).collect();
        self.ascend_from(state, starts, Kind::Line)
    }

    /// Ascents from the highest images of known peaks.
    fn images(&self, state: &mut State) -> Result<()> {
        let peaks: Vec<Summit> = state.found.that_matter().take(8).cloned().collect();
        state.imaged = state.found.that_matter().count();
        let peaks: Vec<&Summit> = peaks.iter().collect();
        let images = kinds::images(self.target, &peaks, IMAGES.0);
        let units = Units::around(peaks[0].z.clone());
        let mut heights = Heights::new(self.target, units, usize::MAX);
        let u: Vec<Vec<f64>> = images.iter().map(|z| heights.standardisation().to_u(z)).collect();
        let seen = heights.at(&u)?;
        state.found.evaluations += heights.used();
        let mut order: Vec<usize> = (0..seen.len()).filter(|&i| seen[i].is_finite()).collect();
        order.sort_by(|&a, &b| seen[b].total_cmp(&seen[a]).then(a.cmp(&b)));
        order.truncate(IMAGES.1);
        let starts = order.into_iter().map(|i| Start { z: images[i].clone(), step: 1.0 });
        self.ascend_from(state, starts.collect(), Kind::Image)
    }

    /// Ascents from shells around known peaks.
    fn shells(&self, state: &mut State) -> Result<()> {
        let peaks: Vec<Summit> = state.found.that_matter().cloned().collect();
        let peaks: Vec<&Summit> = peaks.iter().collect();
        let radii = self.radii(state, &peaks);
        let left = self.search.effort.saturating_sub(state.found.evaluations - state.of_base);
        let left = if state.has_just_found { usize::MAX } else { left };
        let count = state.shells.min(left / EACH).max(FEWEST_SHELLS);
        let starts = kinds::of_shells(&peaks, radii, &self.stream(), state.number, count);
        let before = state.found.tally(Kind::Shell).found;
        self.ascend_from(state, starts, Kind::Shell)?;
        state.has_just_found = state.found.tally(Kind::Shell).found > before;
        state.shells = (2 * state.shells).min(MOST_SHELLS);
        state.is_far_next = true;
        state.residual = count / SHELLS_PER_RESIDUAL;
        // A cheap target is searched as thoroughly a second time.
        let earlier = if self.is_cheap() { &[] } else { self.earlier };
        state.ask(&self.plant(), earlier);
        Ok(())
    }

    /// Ascents from where ascents on log p − log q from shells ended.
    fn residual(&self, state: &mut State) -> Result<()> {
        let peaks: Vec<Summit> = state.found.that_matter().cloned().collect();
        let peaks: Vec<&Summit> = peaks.iter().collect();
        let radii = self.radii(state, &peaks);
        let count = std::mem::take(&mut state.residual);
        let starts = kinds::of_shells(&peaks, radii, &self.stream(), state.number, count);
        let units =
            widest_units(&state.found).unwrap_or_else(|| Units::around(starts[0].z.clone()));
        let (starts, used) = residual::ends(self.target, &peaks, units, starts)?;
        state.found.evaluations += used;
        let before = state.found.tally(Kind::Residual).found;
        self.ascend_from(state, starts, Kind::Residual)?;
        state.has_just_found |= state.found.tally(Kind::Residual).found > before;
        Ok(())
    }

    /// The least radius of shells, the least one of every second start, and the largest.
    fn radii(&self, state: &mut State, peaks: &[&Summit]) -> (f64, f64, f64) {
        let furthest = furthest(peaks);
        state.reach = state.reach.max(BEYOND * furthest).max(self.prior_reach(peaks));
        (SHELLS.0, (0.5 * furthest).max(SHELLS.0), state.reach)
    }

    /// How far most draws of the prior are from a peak, in its widths; 0 without a prior.
    fn prior_reach(&self, peaks: &[&Summit]) -> f64 {
        /// Draws of N(0, 1) in units of the prior that tell, and the one of them by length.
        const DRAWS: usize = 64;
        const LONGEST: usize = 48;
        if !self.target.target().has_prior() {
            return 0.0;
        }
        let mut normals = Batch::zeros(self.target.dim(), DRAWS);
        self.stream().fill_normals(u64::MAX - 1, 0, &mut normals);
        let reach = |peak: &&Summit| {
            let length = |i: usize| {
                let y = peak.whitened(&normals.point(i));
                y.iter().map(|y| y * y).sum::<f64>().sqrt()
            };
            let mut lengths: Vec<f64> = (0..DRAWS).map(length).collect();
            lengths.sort_by(f64::total_cmp);
            lengths[LONGEST]
        };
        // Of peaks of different widths the widest has the shells that reach furthest.
        let reaches = peaks.iter().map(reach).filter(|reach| reach.is_finite());
        reaches.reduce(f64::min).unwrap_or(0.0)
    }

    /// Ascents from shells further out than any before.
    fn far(&self, state: &mut State) -> Result<()> {
        let peaks: Vec<Summit> = state.found.that_matter().cloned().collect();
        let peaks: Vec<&Summit> = peaks.iter().collect();
        let low = state.reach * WIDER.powi(state.in_vain as i32);
        let radii = (low, low, low * WIDER);
        let target = self.target.target();
        let is_proper = target.has_prior() && target.has_proper_prior();
        let count = if is_proper { FAR_STARTS.1 } else { FAR_STARTS.0 };
        let starts = kinds::of_shells(&peaks, radii, &self.stream(), state.number, count);
        let before = state.found.tally(Kind::Far).found;
        self.ascend_from(state, starts, Kind::Far)?;
        if state.found.tally(Kind::Far).found > before {
            (state.reach, state.in_vain) = (low * WIDER, 0);
        } else {
            state.in_vain += 1;
        }
        state.is_far_next = false;
        Ok(())
    }

    /// Ascents in units of the widest peak.
    fn ascend_from(&self, state: &mut State, starts: Vec<Start>, kind: Kind) -> Result<()> {
        if starts.is_empty() {
            return Ok(());
        }
        let found = &mut state.found;
        let units = Units::around(starts[0].z.clone());
        let is_any = vec![false; starts.len()];
        let before = found.that_matter().count();
        self.ascend(found, units, starts, &is_any, kind)?;
        // A new peak is a new place to look from.
        if found.that_matter().count() > before {
            state.in_vain = 0;
        }
        Ok(())
    }

    /// Ascends from starts and puts what is found together. Where a peak is known, its curvature makes for shorter ways than
    /// `units` do.
    fn ascend(
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
fn widest_units(found: &Searched) -> Option<Units> {
    let peak = found.widest_peak()?;
    Some(Units::whitening(peak.z.clone(), peak.factor.clone()))
}

/// The summit whose Gaussian explains a start, if one does.
fn explained(summits: &[Summit], units: &Units, place: &Place, start: &Start) -> Option<usize> {
    if !place.height.is_finite() {
        return None;
    }
    let gradient = units.pull_forth(&place.slope);
    summits.iter().position(|summit| summit.explains(&start.z, place.height, &gradient))
}

/// The largest distance between two peaks, in widths of one of them.
fn furthest(peaks: &[&Summit]) -> f64 {
    let length = |y: Vec<f64>| y.iter().map(|y| y * y).sum::<f64>().sqrt();
    // Of many peaks the first tell enough: shells go beyond that distance.
    let first = peaks.iter().take(8);
    let pairs = first.flat_map(|a| peaks.iter().map(move |b| length(a.whitened(&b.z))));
    pairs.filter(|length| length.is_finite()).fold(0.0, f64::max)
}

/// Which draws ascents start from, and whether each is any draw or one of the highest.
fn choose(seen: &[f64], ascents: usize) -> Vec<(usize, bool)> {
    let finite: Vec<usize> = (0..seen.len()).filter(|&i| seen[i].is_finite()).collect();
    let any = ascents.div_ceil(2).min(finite.len());
    // The draws are independent, so that the first are any.
    let mut chosen: Vec<(usize, bool)> = finite[..any].iter().map(|&i| (i, true)).collect();
    let mut rest = finite[any..].to_vec();
    rest.sort_by(|&a, &b| seen[b].total_cmp(&seen[a]).then(a.cmp(&b)));
    chosen.extend(rest.into_iter().take(ascents - any).map(|i| (i, false)));
    chosen
}
