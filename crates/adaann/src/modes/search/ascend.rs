//! Ascents from a batch of starts, in units of the curvature at the end of the highest one.

use super::summit::{Arrived, Summit};
use crate::modes::{
    ascent::{End, climb_in_bursts},
    heights::{Heights, Place},
    laplace,
    units::Units,
};
use crate::{Result, budget::Budget, linear, target::Unconstrained};

/// Rounds after which ascents towards a known peak are ended.
const BURST: usize = 6;

/// The limits of one ascent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Evaluations of one ascent between two computations of the curvature.
    pub(super) rounds: usize,
    /// How often unfinished ascents continue, in units of the curvature at the highest end.
    pub(super) whitenings: usize,
    pub(super) budget: Budget,
}

/// Ascends from places, each with the length of its first step; returns the end of each, and the evaluations.
pub(super) fn arrive(
    target: &Unconstrained,
    (mut units, places): (Units, Vec<(Place, f64)>),
    limits: Limits,
    known: &[Summit],
) -> Result<(Vec<Arrived>, usize)> {
    let mut used = 0;
    let unmoved = |(place, _): &(Place, f64)| Arrived {
        z: units.to_z(&place.u),
        log_density: place.height,
        has_peaked: false,
    };
    let mut arrived: Vec<Arrived> = places.iter().map(unmoved).collect();
    let mut starts = places;
    let mut climbing: Vec<usize> = (0..arrived.len()).collect();
    for whitening in 0..=limits.whitenings {
        let mut heights = Heights::new(target, units.clone(), usize::MAX);
        let budget = limits.budget.after(used);
        let mut stop = |u: &[f64], height: f64, spent: usize| {
            if budget.is_spent(spent) {
                return true;
            }
            let end = Arrived { z: units.to_z(u), log_density: height, has_peaked: false };
            known.iter().any(|summit| summit.is_at(&end))
        };
        // With little time left, check the clock after each round.
        let burst = if budget.deadline().is_some() { 1 } else { BURST };
        let bursts = (burst, limits.rounds);
        let ends = climb_in_bursts(&mut heights, std::mem::take(&mut starts), bursts, &mut stop)?;
        for (&i, end) in climbing.iter().zip(&ends) {
            let End { u, height, has_peaked } = end;
            let z = units.to_z(u);
            arrived[i] = Arrived { z, log_density: *height, has_peaked: *has_peaked };
        }
        climbing.retain(|&i| {
            !arrived[i].has_peaked && !known.iter().any(|summit| summit.is_at(&arrived[i]))
        });
        used += heights.used();
        let is_last = whitening == limits.whitenings || limits.budget.is_spent(used);
        if climbing.is_empty() || is_last {
            break;
        }
        let highest = |a: &&Arrived, b: &&Arrived| a.log_density.total_cmp(&b.log_density);
        let best = arrived.iter().max_by(highest).expect("at least one");
        let mut around = Heights::new(target, units.clone(), usize::MAX);
        let curved = laplace::curvature(&mut around, &units.to_u(&best.z))?;
        used += around.used();
        let covariance = units.covariance_in_z(&curved.covariance);
        let Ok(factor) = linear::cholesky(target.dim(), &covariance) else { break };
        units = Units::whitening(best.z.clone(), factor);
        let mut heights = Heights::new(target, units.clone(), usize::MAX);
        let places =
            heights.places(climbing.iter().map(|&i| units.to_u(&arrived[i].z)).collect())?;
        used += heights.used();
        let is_finite: Vec<bool> = places.iter().map(|place| place.height.is_finite()).collect();
        let mut kept = is_finite.iter();
        climbing.retain(|_| *kept.next().expect("one for each"));
        let finite = places.into_iter().filter(|place| place.height.is_finite());
        starts = finite.map(|place| (place, 1.0)).collect();
    }
    Ok((arrived, used))
}
