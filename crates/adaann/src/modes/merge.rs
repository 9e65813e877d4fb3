//! Merges end points between which the density never drops by much.
//!
//! Straight segments between neighbours are examined first. If a segment passes below the limit, a
//! climb from its lowest point finds the ridge if there is one, and the path over it consists of
//! two shorter segments: a chord that is σ below a curved ridge is then σ/4 below it.

use crate::Result;
use crate::modes::{
    ascent::{End, climb},
    components::{Pass, tops},
    heights::Heights,
    lbfgs::dot,
};
use std::collections::BTreeSet;

/// The number of nearest regions with which each region is compared.
const NEIGHBOURS: usize = 3;

/// The most rounds of comparing all regions, and the first rounds that search for ridges.
const ROUNDS: usize = 12;
const BENDS: usize = 3;

/// End points closer than this, in units of the climbs, and equally high, are the same.
const SAME_PLACE: f64 = 1e-4;
const SAME_HEIGHT: f64 = 1e-6;

/// Points on a segment, the middle first, since a low segment is usually low there.
const ALONG: [&[f64]; 3] = [&[0.5], &[0.25, 0.75], &[0.125, 0.375, 0.625, 0.875]];

/// Regions of the density and their known places.
#[derive(Default)]
pub(super) struct Regions {
    pub(super) places: Vec<End>,
    /// The place of each climb's end.
    pub(super) place_of: Vec<usize>,
    /// The highest place of each place's region.
    pub(super) top_of: Vec<usize>,
    /// Paths between places that never pass below the limit.
    pub(super) ways: Vec<Pass>,
}

/// The units of lengths: how far climbs go.
fn distance(a: &[f64], b: &[f64], reach: &[f64]) -> f64 {
    let square = |((a, b), reach): ((&f64, &f64), &f64)| ((a - b) / reach).powi(2);
    a.iter().zip(b).zip(reach).map(square).sum::<f64>().sqrt()
}

/// The segment between two places, as far as it is known.
struct Segment {
    pass: Pass,
    /// Its lowest point.
    lowest: f64,
}

pub(super) struct Merge<'a, 'h> {
    pub(super) heights: &'a mut Heights<'h>,
    pub(super) reach: &'a [f64],
    pub(super) drop: f64,
    pub(super) rounds: usize,
}

impl Merge<'_, '_> {
    /// The regions of end points.
    pub(super) fn run(mut self, ends: &[End]) -> Result<Regions> {
        let mut regions = Regions::default();
        for end in ends {
            let place = self.place(&mut regions.places, end);
            regions.place_of.push(place);
        }
        let (mut passes, mut seen) = (Vec::new(), BTreeSet::new());
        regions.top_of = (0..regions.places.len()).collect();
        for round in 0..ROUNDS {
            let mut pairs = self.neighbours(&regions);
            pairs.retain(|pair| seen.insert(*pair));
            if pairs.is_empty() {
                break;
            }
            let segments = self.look(&regions.places, &pairs)?;
            passes.extend(segments.iter().map(|segment| segment.pass));
            if round < BENDS {
                let bent = self.bend(&mut regions.places, &segments)?;
                let pairs: Vec<_> = bent.into_iter().filter(|pair| seen.insert(*pair)).collect();
                let halves = self.look(&regions.places, &pairs)?;
                passes.extend(halves.iter().map(|segment| segment.pass));
            }
            let heights: Vec<f64> = regions.places.iter().map(|place| place.height).collect();
            regions.top_of = tops(&heights, &passes, self.drop);
        }
        passes.retain(|pass| !self.is_below(&regions.places, pass));
        regions.ways = passes;
        Ok(regions)
    }

    /// The place of an end point: an existing one, or a new one.
    fn place(&self, places: &mut Vec<End>, end: &End) -> usize {
        let is_there = |place: &End| {
            (place.height - end.height).abs() <= SAME_HEIGHT
                && distance(&place.u, &end.u, self.reach) <= SAME_PLACE
        };
        if let Some(index) = places.iter().position(is_there) {
            places[index].has_peaked |= end.has_peaked;
            return index;
        }
        places.push(end.clone());
        places.len() - 1
    }

    /// The nearest places of each region and its nearest neighbours, and their tops.
    fn neighbours(&self, regions: &Regions) -> Vec<(usize, usize)> {
        let mut roots = regions.top_of.clone();
        roots.sort_unstable();
        roots.dedup();
        let region: Vec<_> = regions.top_of.iter().map(|top| roots.binary_search(top)).collect();
        let mut pairs = BTreeSet::new();
        for (own, &top) in roots.iter().enumerate() {
            let mut nearest = vec![(f64::INFINITY, (0, 0)); roots.len()];
            for i in (0..region.len()).filter(|&i| region[i] == Ok(own)) {
                for (j, other) in region.iter().enumerate() {
                    let Ok(other) = *other else { continue };
                    if other == own {
                        continue;
                    }
                    let [a, b] = [i, j].map(|k| &regions.places[k].u);
                    let length = distance(a, b, self.reach);
                    if length < nearest[other].0 {
                        nearest[other] = (length, (i.min(j), i.max(j)));
                    }
                }
            }
            let mut order: Vec<usize> = (0..roots.len()).filter(|&other| other != own).collect();
            order.sort_by(|&p, &q| nearest[p].0.total_cmp(&nearest[q].0).then(p.cmp(&q)));
            for &other in order.iter().take(NEIGHBOURS).filter(|&&p| nearest[p].0.is_finite()) {
                pairs.insert(nearest[other].1);
                pairs.insert((top.min(roots[other]), top.max(roots[other])));
            }
        }
        pairs.into_iter().collect()
    }

    /// Heights along segments, each until it is known to pass below the limit. Segments that the
    /// budget does not allow are dropped.
    fn look(&mut self, places: &[End], pairs: &[(usize, usize)]) -> Result<Vec<Segment>> {
        let mut pairs = pairs.to_vec();
        pairs.truncate(self.heights.left() / ALONG.concat().len());
        let whole = |&(a, b): &(usize, usize)| {
            let height = places[a].height.min(places[b].height);
            Segment { pass: Pass { a, b, height }, lowest: 0.5 }
        };
        let mut segments: Vec<Segment> = pairs.iter().map(whole).collect();
        for shares in ALONG {
            let mut open: Vec<_> = segments
                .iter_mut()
                .filter(|segment| !self.is_below(places, &segment.pass))
                .collect();
            let between = |pass: &Pass, share: f64| -> Vec<f64> {
                let ends = places[pass.a].u.iter().zip(&places[pass.b].u);
                ends.map(|(a, b)| a + share * (b - a)).collect()
            };
            let points: Vec<_> = open
                .iter()
                .flat_map(|segment| shares.iter().map(|&share| between(&segment.pass, share)))
                .collect();
            let found = self.heights.at(&points)?;
            for (segment, found) in open.iter_mut().zip(found.chunks_exact(shares.len())) {
                for (&height, &share) in found.iter().zip(shares.iter()) {
                    if height < segment.pass.height {
                        (segment.pass.height, segment.lowest) = (height, share);
                    }
                }
            }
        }
        Ok(segments)
    }

    fn is_below(&self, places: &[End], pass: &Pass) -> bool {
        places[pass.a].height.min(places[pass.b].height) - pass.height > self.drop
    }

    /// Climbs from the lowest points of segments that pass below the limit, and returns the paths
    /// from both ends to where the climbs lead.
    fn bend(&mut self, places: &mut Vec<End>, segments: &[Segment]) -> Result<Vec<(usize, usize)>> {
        let mut below: Vec<_> =
            segments.iter().filter(|s| self.is_below(places, &s.pass)).collect();
        // Half of the remaining budget is for the climbs, the other half for segments.
        let evaluations = self.heights.left() / 2;
        below.truncate(evaluations);
        let middle = |segment: &&Segment| -> Vec<f64> {
            let [a, b] = [segment.pass.a, segment.pass.b].map(|i| &places[i].u);
            a.iter().zip(b).map(|(a, b)| a + segment.lowest * (b - a)).collect()
        };
        let starts = self.heights.places(below.iter().map(middle).collect())?;
        let evaluations = evaluations - starts.len();
        let mut ways = Vec::new();
        let mut from = Vec::new();
        for (segment, start) in below.iter().zip(starts).filter(|(_, s)| s.height.is_finite()) {
            let [a, b] = [segment.pass.a, segment.pass.b].map(|i| &places[i].u);
            let along: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
            ways.push(segment.pass);
            from.push((start, dot(&along, &along).sqrt() / 8.0));
        }
        let ends = climb(self.heights, from, self.rounds, evaluations)?;
        let mut pairs = Vec::new();
        for (pass, end) in ways.iter().zip(&ends) {
            let place = self.place(places, end);
            let ends = [pass.a, pass.b].into_iter().filter(|&other| other != place);
            pairs.extend(ends.map(|other| (place.min(other), place.max(other))));
        }
        Ok(pairs)
    }
}
