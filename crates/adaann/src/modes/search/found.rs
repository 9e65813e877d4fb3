//! The results of a search.

use super::{
    crowd::Crowd,
    kinds::Kind,
    planted::Starts,
    summit::{Arrived, Summit},
    terms::Terms,
};
use crate::modes::{
    heights::Heights,
    laplace::{self, Curved},
    units::Units,
};
use crate::{Result, linear, mixture::Component, target::Unconstrained};
use serde::{Deserialize, Serialize};

/// The logarithm of the share of the greatest mass below which peaks are dropped.
const LEAST_MASS: f64 = -14.0;

/// The most peaks to keep.
pub(super) const MOST_SUMMITS: usize = 64;

/// The most peaks to keep in addition if they are far from all others.
const MOST_FAR: usize = 16;

/// Ascents after which peaks count as too many if most ascents have a peak of their own, and that share.
const FEW_ASCENTS: usize = 48;
const ENDLESS: f64 = 0.6;

/// An end this many nats, in total and per dimension, below the highest peak is ignored: to matter, its peak would have
/// to be twenty times as wide in every dimension.
const TOO_LOW: (f64, f64) = (20.0, 3.0);

/// The ascents from one kind of start, and their finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// The number of ascents.
    pub ascents: usize,
    /// Peaks that one of them was the first to reach.
    pub found: usize,
}

/// The results of a search.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Searched {
    /// The peaks, the heaviest first.
    pub summits: Vec<Summit>,
    /// The number of ascents.
    pub ascents: usize,
    /// Ascents that reached no peak: they were still moving where the density is unbounded or flat, or were stuck.
    pub adrift: usize,
    /// The chance that another ascent, from any draw of the base, leads to a new basin that matters.
    pub unseen: f64,
    /// Did nearly every ascent find a peak of its own? Then there are too many to list.
    pub is_endless: bool,
    /// Did the last starts around known peaks still find something new?
    pub is_still_finding: bool,
    /// The evaluations of the density.
    pub evaluations: usize,
    /// Ascents by the kind of their start, in the order of [`Kind::ALL`].
    pub tallies: [Tally; Kind::ALL.len()],
    /// The results for the terms of a density that is a sum.
    pub terms: Terms,
    /// Gaussians of terms that no peak of the density describes, because another term hides their peaks.
    pub hidden: Vec<Summit>,
    /// The starts of the ascents.
    pub starts: Starts,
}

impl Default for Searched {
    /// A search without results, in which everything is unseen.
    fn default() -> Self {
        Self {
            summits: Vec::new(),
            ascents: 0,
            adrift: 0,
            unseen: 1.0,
            is_endless: false,
            is_still_finding: false,
            evaluations: 0,
            tallies: Default::default(),
            terms: Terms::default(),
            hidden: Vec::new(),
            starts: Starts::default(),
        }
    }
}

impl Searched {
    /// The number of summits that matter and are peaks in every direction.
    pub fn peaks(&self) -> usize {
        self.that_matter().filter(|summit| summit.is_peak).count()
    }

    /// Summits whose mass matters.
    pub fn that_matter(&self) -> impl Iterator<Item = &Summit> {
        let least = self.least_log_mass();
        // The heaviest always matters, also where rounding makes its mass equal to the least, or it is NaN.
        let matters = move |mass: f64| mass >= least || mass.is_nan();
        self.summits.iter().filter(move |summit| matters(summit.log_mass))
    }

    /// The Gaussian of the peaks' positions, if there are too many to list.
    pub(super) fn crowd(&self) -> Option<Crowd> {
        let peaks: Vec<&Summit> = self.that_matter().collect();
        if self.is_endless { Crowd::of(&peaks) } else { None }
    }

    /// The shapes for shells and planted modes: the summits that matter or, if there are too many, the Gaussian of
    /// their positions.
    pub(super) fn landmarks(&self) -> Vec<Summit> {
        match self.crowd() {
            Some(crowd) => vec![crowd.into_summit()],
            None => self.that_matter().cloned().collect(),
        }
    }

    /// Ascents and finds of one kind of start.
    pub fn tally(&self, kind: Kind) -> Tally {
        self.tallies[kind as usize]
    }

    /// log of the mass of all peaks, if each were its Gaussian.
    pub fn log_mass(&self) -> f64 {
        crate::weight::log_sum_exp(self.summits.iter().map(|summit| summit.log_mass))
    }

    /// log of the mass of the heaviest peak.
    pub(crate) fn most_log_mass(&self) -> f64 {
        let masses = self.summits.iter().map(|summit| summit.log_mass);
        masses.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The least mass of a summit that matters.
    pub(super) fn least_log_mass(&self) -> f64 {
        self.most_log_mass() + LEAST_MASS
    }

    /// The peak with most mass, if there is one.
    pub(crate) fn widest_peak(&self) -> Option<&Summit> {
        let mass = |a: &&Summit, b: &&Summit| a.log_mass.total_cmp(&b.log_mass);
        self.summits.iter().filter(|summit| summit.is_peak).max_by(mass)
    }

    /// The highest summit.
    pub(crate) fn highest(&self) -> Option<&Summit> {
        self.summits.iter().max_by(|a, b| a.log_density.total_cmp(&b.log_density))
    }

    /// Counts an ascent to a known summit.
    pub(super) fn count(&mut self, summit: usize, is_any: bool) {
        self.summits[summit].ascents += 1;
        self.summits[summit].any += usize::from(is_any);
    }

    /// Merges ends of ascents into peaks, the highest first.
    pub(super) fn gather(
        &mut self,
        target: &Unconstrained,
        arrived: &[Arrived],
        is_any: &[bool],
        kind: Kind,
    ) -> Result<()> {
        let mut order: Vec<usize> = (0..arrived.len()).collect();
        order.sort_by(|&a, &b| {
            let by_height = arrived[b].log_density.total_cmp(&arrived[a].log_density);
            by_height.then(a.cmp(&b))
        });
        for i in order {
            let end = &arrived[i];
            match self.summits.iter().position(|summit| summit.is_at(end)) {
                Some(at) => self.count(at, is_any[i]),
                None => self.add(target, end, is_any[i], kind)?,
            }
        }
        Ok(())
    }

    /// Adds a new peak, if it may matter and there is room for it.
    fn add(
        &mut self,
        target: &Unconstrained,
        end: &Arrived,
        is_any: bool,
        kind: Kind,
    ) -> Result<()> {
        let dim = target.dim();
        let highest = self.highest().map_or(f64::NEG_INFINITY, |summit| summit.log_density);
        let is_low = end.log_density < highest - TOO_LOW.0 - TOO_LOW.1 * dim as f64;
        if is_low || !self.has_room(end) {
            self.adrift += usize::from(!end.has_peaked);
            return Ok(());
        }
        let mut heights = Heights::new(target, Units::around(end.z.clone()), usize::MAX);
        let Curved { covariance, log_det, is_peak } =
            laplace::curvature(&mut heights, &vec![0.0; dim])?;
        self.evaluations += heights.used();
        let Ok(factor) = linear::cholesky(dim, &covariance) else { return Ok(()) };
        if !(end.has_peaked || is_peak) {
            self.adrift += 1;
        }
        let log_mass = end.log_density + log_det + 0.5 * dim as f64 * std::f64::consts::TAU.ln();
        if log_mass > self.least_log_mass() {
            self.tallies[kind as usize].found += 1;
        }
        self.summits.push(Summit {
            z: end.z.clone(),
            log_density: end.log_density,
            covariance,
            log_mass,
            ascents: 1,
            is_peak: is_peak && end.has_peaked,
            any: usize::from(is_any),
            factor,
        });
        Ok(())
    }

    /// Makes room for a peak: removes the lowest one that is lower.
    fn has_room(&mut self, end: &Arrived) -> bool {
        if self.summits.len() < MOST_SUMMITS {
            return true;
        }
        // Once the list is full, only peaks far from the crowd are worth keeping.
        let is_far = |crowd: Crowd| crowd.is_far_from(&end.z);
        if self.summits.len() < MOST_SUMMITS + MOST_FAR && self.crowd().is_some_and(is_far) {
            return true;
        }
        let by_height = |a: &usize, b: &usize| {
            self.summits[*a].log_density.total_cmp(&self.summits[*b].log_density)
        };
        let lowest = (0..self.summits.len()).min_by(by_height).expect("they are many");
        let is_lower = self.summits[lowest].log_density < end.log_density;
        if is_lower {
            self.summits.remove(lowest);
        }
        is_lower
    }

    /// Estimates from ascents of the base how much is unseen, and whether the peaks that matter are too many to list.
    /// `any` of the ascents started from arbitrary draws.
    pub(super) fn judge(&mut self, any: usize) {
        if self.terms.are_all_known() {
            (self.unseen, self.is_endless) = (0.0, false);
            return;
        }
        let matter = self.that_matter().count();
        // A peak that changes no answer may be missed.
        let once = self.that_matter().filter(|summit| summit.any == 1).count();
        self.unseen = once as f64 / any.max(1) as f64;
        let ascents = self.tally(Kind::Base).ascents;
        let is_full = self.summits.len() >= MOST_SUMMITS && 4 * matter > 3 * MOST_SUMMITS;
        let own = (matter as f64 / ascents.max(1) as f64).max(self.unseen);
        self.is_endless = is_full || ascents >= FEW_ASCENTS && own > ENDLESS;
    }

    /// The Gaussians of all peaks and hidden terms that may matter, weighted by their mass, on unconstrained
    /// coordinates: a little wider than their curvature implies, and with light Student tails.
    pub fn components(&self) -> Vec<Component> {
        let Some(first) = self.summits.first() else { return Vec::new() };
        let dim = first.z.len() as f64;
        let wider = 1.0 + 0.6 / dim;
        let component = |summit: &Summit| Component {
            weight: (summit.log_mass - first.log_mass).exp(),
            mean: summit.z.clone(),
            covariance: summit.covariance.iter().map(|c| wider * c).collect(),
            degrees: Some((4.0 * dim).max(6.0)),
        };
        let least = self.least_log_mass();
        let hidden = self.hidden.iter().filter(|term| term.log_mass > least);
        let mut components: Vec<Component> =
            self.that_matter().chain(hidden).map(component).collect();
        let total: f64 = components.iter().map(|component| component.weight).sum();
        components.iter_mut().for_each(|component| component.weight /= total);
        components
    }
}
