//! The state of a search.

use super::{
    found::Searched,
    planted::{Plant, catch},
    settings::Search,
    summit::Summit,
};
use serde::{Deserialize, Serialize};

/// The initial largest radius of shells around a peak, in its widths.
const FIRST_REACH: f64 = 24.0;

/// Starts of the first batch on shells.
const FIRST_SHELLS: usize = 32;

/// A search in progress.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) found: Searched,
    /// Ascents that started from arbitrary draws of the base.
    pub(super) any: usize,
    /// Ascents of the next batch of the base; 0 if there are enough.
    pub(super) batch: usize,
    /// The number of the next batch of random numbers.
    pub(super) number: u64,
    /// Evaluations for starts of the base.
    pub(super) of_base: usize,
    pub(super) is_given_done: bool,
    pub(super) are_terms_done: bool,
    /// How often lines were searched, and the height of the peak that they went through.
    pub(super) lines: usize,
    pub(super) lines_through: f64,
    /// The number of peaks whose images were evaluated.
    pub(super) imaged: usize,
    /// Starts of the next batch on shells.
    pub(super) shells: usize,
    /// The largest radius, the widenings in a row without a find, and whether the next batch is a widening.
    pub(super) reach: f64,
    pub(super) in_vain: usize,
    pub(super) is_far_next: bool,
    /// Starts of the next batch on log p − log q; 0 if shells come first.
    pub(super) residual: usize,
    /// Did the latest batch on shells find a peak?
    pub(super) has_just_found: bool,
    pub(super) power: Power,
}

/// Which of the planted modes the starts so far would have missed.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Power {
    pub(super) missed: Vec<bool>,
    /// The number of evaluated starts, and the peaks and mass that were known then.
    pub(super) asked: usize,
    pub(super) peaks: usize,
    pub(super) log_mass: f64,
}

impl State {
    pub(super) fn new(search: &Search) -> Self {
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
            reach: FIRST_REACH,
            in_vain: 0,
            is_far_next: false,
            residual: 0,
            has_just_found: false,
            power: Power::default(),
        }
    }

    /// Updates the missed modes with the latest starts, or with all starts, including those of earlier searches, if the
    /// peaks have changed.
    pub(super) fn ask(&mut self, plant: &Plant, earlier: &[Searched]) {
        let found = &self.found;
        let (peaks, log_mass) = (found.that_matter().count(), found.log_mass());
        let is_same = peaks == self.power.peaks && (log_mass - self.power.log_mass).abs() < 1e-3;
        if !is_same {
            self.power = Power { missed: vec![true; plant.count], asked: 0, peaks, log_mass };
        }
        let known = found.landmarks();
        let known: Vec<&Summit> = known.iter().collect();
        let missed = &mut self.power.missed;
        if !is_same {
            for searched in earlier {
                catch(&searched.starts, 0, &known, log_mass, plant, missed);
            }
        }
        catch(&found.starts, self.power.asked, &known, log_mass, plant, missed);
        self.power.asked = found.starts.len();
    }

    /// Would the starts have found this share of the planted modes?
    pub(super) fn would_have_found(&self, share: f64) -> bool {
        let missed = self.power.missed.iter().filter(|missed| **missed).count();
        let all = self.power.missed.len();
        all > 0 && missed as f64 <= (1.0 - share) * all as f64
    }
}
