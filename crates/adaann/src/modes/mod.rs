//! The modes of a density, found from draws and the gradient alone.
//!
//! Some of the draws climb log p + log|J| on the unconstrained coordinates, all together. Ends
//! between which the density never drops by much are one mode, whether a peak or a ridge. Any point
//! is then assigned the mode of the nearest start or end.
//!
//! ```
//! use adaann::{Batch, modes, registry, target::Unconstrained};
//!
//! let problem = registry::find("mixture2d")?.build(&[])?;
//! let target = Unconstrained::new(&*problem.target)?;
//! // Two Gaussians, at (-1.5, 0.5) and (1.5, 0.5).
//! let draws = Batch::from_points(2, &[[-1.2, 0.3], [1.4, 0.6], [1.7, 0.4], [-1.6, 0.8]]);
//! let modes = modes::find(&target, &draws, &modes::Settings::default())?;
//! assert_eq!(modes.len(), 2);
//! let of = modes.assign(&draws);
//! assert!(of[0] == of[3] && of[1] == of[2] && of[0] != of[1]);
//! # Ok::<(), adaann::Error>(())
//! ```

mod ascent;
mod assign;
mod components;
mod heights;
mod laplace;
mod lbfgs;
mod merge;
mod search;
mod starts;
mod units;
mod weights;

pub use search::{
    Kind, Known, Plant, Search, Searched, Starts, Summit, Tally, Terms, caught, frame, search,
    search_with,
};
pub use weights::{ModeSummary, shares};

use crate::{Batch, Error, Result, error, target::Unconstrained};
use ascent::{End, climb};
use assign::Anchors;
use heights::Heights;
use merge::{Merge, Regions};
use starts::{reach, steps};
use units::Units;

/// The settings for finding modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The most draws that climb; an even selection of those given.
    pub starts: usize,
    /// Evaluations of one climb.
    pub iterations: usize,
    /// The most evaluations of the target; never exceeded. A quarter is reserved for merging.
    pub evaluations: usize,
    /// Two peaks are one mode if the path between them is at most this far below the lower one, in
    /// nats.
    ///
    /// Two equal Gaussians on a line are 0.44 nats above the valley between them at a distance of 3
    /// standard deviations, and 0.03 at 2.2. The chord of a ridge, between ends that are far apart
    /// by chance, is easily 0.1 below it.
    pub merge_drop: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { starts: 256, iterations: 60, evaluations: 50_000, merge_drop: 0.25 }
    }
}

/// A mode, described by its highest point.
#[derive(Debug, Clone, PartialEq)]
pub struct Peak {
    /// Its position in unconstrained coordinates.
    pub z: Vec<f64>,
    /// log p + log|J| there.
    pub log_density: f64,
    /// How many draws climbed to this mode; 0 if it was found only on the path between others.
    pub climbs: usize,
}

/// The modes of a density, the highest first.
#[derive(Debug, Clone)]
pub struct Modes {
    peaks: Vec<Peak>,
    anchors: Anchors,
    evaluations: usize,
    lost: usize,
}

impl Modes {
    /// The number of modes; at least one.
    pub fn len(&self) -> usize {
        self.peaks.len()
    }

    /// Is it empty? Never for a result of [`find`].
    pub fn is_empty(&self) -> bool {
        self.peaks.is_empty()
    }

    /// The peaks, the highest first.
    pub fn peaks(&self) -> &[Peak] {
        &self.peaks
    }

    /// The mode of each point, given in unconstrained coordinates; none for a point that is not
    /// finite.
    ///
    /// It needs no evaluation of the target: a point has the mode of the nearest start or end of a
    /// climb, with distances in units of how far the climbs of each mode go. On long parallel
    /// ridges, gaps between these points are assigned to the wrong one: with four rings, 256 climbs
    /// mislabel up to 1 draw in 100. More starts leave smaller gaps.
    pub fn assign(&self, points: &Batch) -> Vec<Option<usize>> {
        self.anchors.assign(points)
    }

    /// The number of evaluations of the target.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// Starts that could not climb because the density or its gradient was not finite there.
    pub fn lost(&self) -> usize {
        self.lost
    }
}

/// Finds the modes to which climbs from draws lead, in unconstrained coordinates.
///
/// A climb that ends more than 10 + d nats below its mode without reaching a peak was stuck, on a
/// plateau for example, and is ignored. A region that contains only such ends is not a mode if it is
/// as far below the highest peak and holds at most one climb in fifty.
///
/// # Errors
/// If a setting is out of range, there are no draws or none with a finite density and gradient, the
/// draws have another dimension, or the target fails.
pub fn find(target: &Unconstrained, starts: &Batch, settings: &Settings) -> Result<Modes> {
    settings.check()?;
    if starts.dim() != target.dim() || target.dim() == 0 {
        return Err(Error::Shape {
            what: "the draws for finding modes".into(),
            found: format!("{} dimensions", starts.dim()),
            expected: target.dim().max(1).to_string(),
        });
    }
    // Climbs with fewer evaluations lead nowhere.
    let most = settings.starts.min(settings.evaluations / 8).max(1);
    let z = starts::choose(starts, most);
    let given = z.len();
    let units = Units::of(&z, target.dim());
    let u = z.iter().map(|z| units.to_u(z)).collect();
    let budget = target.values_with_gradients(settings.evaluations);
    let mut heights = Heights::new(target, units, budget);
    let mut places = heights.places(u)?;
    places.retain(|place| place.height.is_finite());
    if places.is_empty() {
        return Err(Error::Data(format!(
            "modes cannot be found: of {} draws, none of the {given} that were tried has a finite \
             log density and gradient; use draws from the support of the density",
            starts.len()
        )));
    }
    let from: Vec<Vec<f64>> = places.iter().map(|place| place.u.clone()).collect();
    let climbing = places.into_iter().zip(steps(&from)).collect();
    let budget = heights.left().saturating_sub(settings.evaluations / 4);
    let ends = climb(&mut heights, climbing, settings.iterations, budget)?;
    let reach = reach(&from, &ends);
    let (rounds, drop) = (settings.iterations, settings.merge_drop);
    let merge = Merge { heights: &mut heights, reach: &reach, drop, rounds };
    let regions = merge.run(&ends)?;
    Ok(modes(&heights, &from, &ends, &regions, reach, given - from.len()))
}

/// Decides which regions are modes, and places anchors in them.
fn modes(
    heights: &Heights,
    from: &[Vec<f64>],
    ends: &[End],
    regions: &Regions,
    reach: Vec<f64>,
    lost: usize,
) -> Modes {
    let places = &regions.places;
    // Typical draws of a Gaussian are d/2 below its peak.
    let far = 10.0 + reach.len() as f64;
    let is_stuck = |end: &End, top: usize| !end.has_peaked && places[top].height - end.height > far;
    let top_of_climb: Vec<usize> = regions.place_of.iter().map(|&at| regions.top_of[at]).collect();
    let mut climbs = vec![0; places.len()];
    for (end, &top) in ends.iter().zip(&top_of_climb) {
        climbs[top] += usize::from(!is_stuck(end, top));
    }
    let mut tops: Vec<usize> = (0..places.len()).filter(|&i| regions.top_of[i] == i).collect();
    tops.sort_by(|&a, &b| places[b].height.total_cmp(&places[a].height).then(a.cmp(&b)));
    let few = (ends.len() / 50).max(1);
    let highest = tops[0];
    tops.retain(|&top| !(is_stuck(&places[top], highest) && climbs[top] <= few));

    let mode_of = |top: usize| tops.iter().position(|&other| other == top);
    let mut known = Vec::new();
    for ((start, end), &top) in from.iter().zip(ends).zip(&top_of_climb) {
        let mode = mode_of(top).filter(|_| !is_stuck(end, top));
        known.extend(mode.map(|mode| (&start[..], &end.u[..], mode)));
    }
    let mut others = Vec::new();
    for (place, &top) in places.iter().zip(&regions.top_of) {
        let mode = mode_of(top).filter(|_| !is_stuck(place, top));
        others.extend(mode.map(|mode| (place.u.clone(), mode)));
    }
    // Ends on a ridge leave gaps, in which a start beside the next ridge may be nearer.
    for way in &regions.ways {
        let (a, b) = (&places[way.a], &places[way.b]);
        let top = regions.top_of[way.a];
        let is_inside = top == regions.top_of[way.b] && !is_stuck(a, top) && !is_stuck(b, top);
        let middle = || a.u.iter().zip(&b.u).map(|(a, b)| 0.5 * (a + b)).collect();
        others.extend(mode_of(top).filter(|_| is_inside).map(|mode| (middle(), mode)));
    }
    let peak = |&top: &usize| Peak {
        z: heights.standardisation().to_z(&places[top].u),
        log_density: places[top].height,
        climbs: climbs[top],
    };
    Modes {
        peaks: tops.iter().map(peak).collect(),
        anchors: Anchors::new(
            heights.standardisation().clone(),
            reach,
            tops.len(),
            &known,
            &others,
        ),
        evaluations: heights.used(),
        lost,
    }
}

impl Settings {
    fn check(&self) -> Result<()> {
        error::at_least_one("starts", self.starts)?;
        error::at_least_one("iterations", self.iterations)?;
        error::at_least_one("evaluations", self.evaluations)?;
        if !(self.merge_drop >= 0.0 && self.merge_drop.is_finite()) {
            return Err(error::setting("merge_drop", self.merge_drop, "0 or a positive number"));
        }
        Ok(())
    }
}
