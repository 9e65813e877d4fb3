//! The search for modes from nothing: ascents from draws of a base, and the Gaussian at each peak.
//!
//! Half of the ascents start from the highest draws, half from any, so that from the latter the chance
//! that one more finds something new can be told (I. Good, A. Turing 1953): the share of ascents whose
//! mode no other has reached. It speaks of basins under the law of the starts, and not of mass.

use crate::modes::{
    ascent::{End, climb_in_bursts},
    heights::{Heights, Place},
    laplace::{self, Curved},
    units::Units,
};
use crate::{
    Batch, Error, Result,
    budget::Budget,
    checkpoint::Ledger,
    error,
    flow::{Base, Noise},
    linear,
    mixture::Component,
    rng::Stream,
    target::Unconstrained,
};

/// How modes are searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Draws at which the density is looked at, for each ascent that starts.
    pub draws: usize,
    /// Ascents of the first batch; each batch has twice as many as the one before.
    pub first: usize,
    /// The least ascents in all.
    pub ascents: usize,
    /// Batches go on as long as one more ascent may find something new with a chance of more than this.
    pub unseen: f64,
    /// The most ascents.
    pub most_ascents: usize,
    /// Evaluations of one ascent, between two looks at the curvature.
    pub rounds: usize,
    /// How often ascents that have not arrived go on, in units of the curvature where the highest is.
    pub whitenings: usize,
    /// What the search may spend; some ascents are made whatever it is.
    pub budget: Budget,
}

impl Search {
    /// The same within a budget, of which the first ascents are to take no more than a third.
    #[must_use]
    pub fn within(self, budget: Budget) -> Self {
        /// What an ascent costs, its share of the curvature at the peaks included.
        const EACH: usize = 20;
        let first = (budget.evaluations() / (3 * EACH)).clamp(4, self.first);
        Self { first, budget, ..self }
    }

    /// The same with at least so many ascents at a time.
    #[must_use]
    pub fn at_once(self, points: usize) -> Self {
        let [first, ascents, most_ascents] =
            [self.first, self.ascents, self.most_ascents].map(|count| count.max(points));
        Self { first, ascents, most_ascents, ..self }
    }

    /// A search in so many dimensions. A narrow mode is as hard to hit as its volume is small, so that
    /// there are more ascents in more dimensions. Most cost some fifteen evaluations; with 300 a basin
    /// that one in a hundred starts leads to is missed once in 20.
    pub fn new(dim: usize) -> Self {
        let ascents = if dim <= 3 { 48 } else { (48 * dim).min(768) };
        Self {
            draws: 2,
            first: 48,
            ascents,
            unseen: 0.03,
            most_ascents: ascents.max(512),
            rounds: 60,
            whitenings: 3,
            budget: Budget::default(),
        }
    }
}

/// A peak, with the Gaussian of its curvature, on unconstrained coordinates.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Summit {
    /// Where it is.
    pub z: Vec<f64>,
    /// log p + log|J| there.
    pub log_density: f64,
    /// The inverse of the curvature, row by row.
    pub covariance: Vec<f64>,
    /// log of the mass that the density would have if it were this Gaussian.
    pub log_mass: f64,
    /// Ascents that came here, and those among them that started from any draw.
    pub ascents: usize,
    /// Is it a peak in every direction, and not the end of an ascent that came no further?
    pub is_peak: bool,
    any: usize,
    /// Lower factor of the covariance.
    factor: Vec<f64>,
}

impl Summit {
    /// Is the end of an ascent at this peak, or on its way there?
    fn is_at(&self, end: &Arrived) -> bool {
        let dim = self.z.len();
        let mut away: Vec<f64> = end.z.iter().zip(&self.z).map(|(a, b)| a - b).collect();
        linear::solve_lower(dim, &self.factor, &mut away);
        let square = linear::dot(&away, &away);
        let drop = self.log_density - end.log_density;
        let is_on_it = square < SAME_PLACE.powi(2) * dim as f64 && drop.abs() < SAME_HEIGHT;
        // What has not arrived may be on its way: as far below as a Gaussian would be.
        let is_on_its_way = !end.has_peaked
            && square < 9.0 * dim as f64
            && (drop - 0.5 * square).abs() < 0.3 + 0.25 * square;
        is_on_it || is_on_its_way
    }

    /// Points as far from the peak as draws of its Gaussian are, on two sides.
    pub(crate) fn beside(&self) -> [Vec<f64>; 2] {
        let dim = self.z.len();
        // Half a standard deviation in each coordinate of the factor, with signs that differ.
        let away = |d: usize| if d.is_multiple_of(2) { 0.5 } else { -0.5 };
        [1.0, -1.0].map(|side| {
            let along =
                |i: usize| -> f64 { (0..=i).map(|k| self.factor[i * dim + k] * away(k)).sum() };
            (0..dim).map(|i| self.z[i] + side * along(i)).collect()
        })
    }
}

/// What a search has found.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Searched {
    /// Peaks, the one with most mass first.
    pub summits: Vec<Summit>,
    /// Ascents that were made.
    pub ascents: usize,
    /// Ascents that came to no peak: on their way where the density is unbounded or endless, or stuck.
    pub adrift: usize,
    /// The chance that one more ascent from any draw leads to a basin that none has reached and that
    /// matters.
    pub unseen: f64,
    /// Did nearly every ascent find a peak of its own? Then there are more than can be listed.
    pub is_endless: bool,
    /// Points at which the density was evaluated.
    pub evaluations: usize,
}

impl Default for Searched {
    /// Nothing: all is unseen.
    fn default() -> Self {
        Self {
            summits: Vec::new(),
            ascents: 0,
            adrift: 0,
            unseen: 1.0,
            is_endless: false,
            evaluations: 0,
        }
    }
}

/// Widths of the base that ascents start from; the draws are dealt out among them. Far out a wide mode
/// draws all ascents to itself, the more so in many dimensions; between modes a narrow one has its turn.
const SCALES: [f64; 8] = [1.0, 0.1, 3.0, 0.3, 1.0, 0.03, 0.5, 0.2];

/// Ends are one peak if they are nearer than this in units of its Gaussian, for each √d, and as high.
const SAME_PLACE: f64 = 0.3;
const SAME_HEIGHT: f64 = 0.3;

/// Peaks with less than this share of the greatest mass, as a logarithm, are left out.
const LEAST_MASS: f64 = -14.0;

/// Peaks whose curvature is asked for.
const MOST_SUMMITS: usize = 64;

/// Ascents after which peaks are too many if most of them have one of their own, and that share.
const FEW_ASCENTS: usize = 48;
const ENDLESS: f64 = 0.6;

/// Searches for the modes of a target from draws of a base.
///
/// # Errors
/// If no draw has a finite density and gradient, or the target fails.
pub fn search(target: &Unconstrained, base: &Base, search: &Search, seed: u64) -> Result<Searched> {
    search_with(target, base, search, seed, &mut Ledger::off())
}

/// The same with a list of what was finished before: it goes on where that ends, and keeps it.
///
/// # Errors
/// As [`search`], and if the list is that of another search.
pub fn search_with(
    target: &Unconstrained,
    base: &Base,
    search: &Search,
    seed: u64,
    ledger: &mut Ledger,
) -> Result<Searched> {
    error::at_least_one("draws", search.draws)?;
    error::at_least_one("ascents", search.first)?;
    ledger.part("ascents", |ledger| {
        batches(target, base, search, seed, ledger).map(|found| ledger.done(found))
    })
}

/// Batches of ascents until enough was seen.
fn batches(
    target: &Unconstrained,
    base: &Base,
    search: &Search,
    seed: u64,
    ledger: &mut Ledger,
) -> Result<Searched> {
    let (mut found, mut any, mut batch, first) = match ledger.take_up()? {
        Some(state) => state,
        None => (Searched::default(), 0, search.first, 0),
    };
    for number in first.. {
        let (arrived, is_any) = ascend(target, base, search, (batch, number, seed), &mut found)?;
        found.gather(target, &arrived, &is_any)?;
        found.ascents += is_any.len();
        any += is_any.iter().filter(|is_any| **is_any).count();
        // What no answer would change by is not missed.
        let least = found.least_log_mass();
        let counts = |summit: &&Summit| summit.any == 1 && summit.log_mass > least;
        let once = found.summits.iter().filter(counts).count();
        found.unseen = once as f64 / any.max(1) as f64;
        let summits = found.summits.len();
        let own = summits as f64 / found.ascents as f64;
        found.is_endless = summits == MOST_SUMMITS || found.ascents >= FEW_ASCENTS && own > ENDLESS;
        batch = (2 * batch).min(search.most_ascents.saturating_sub(found.ascents));
        let is_lost = found.adrift > found.ascents / 2;
        let is_enough = found.ascents >= search.ascents && found.unseen <= search.unseen;
        let is_spent = search.budget.is_spent(found.evaluations) || ledger.is_asked_to_end();
        if is_enough || found.is_endless || is_lost || batch == 0 || is_spent {
            break;
        }
        ledger.remember(&(&found, any, batch, number + 1));
    }
    found.summits.sort_by(|a, b| b.log_mass.total_cmp(&a.log_mass));
    Ok(found)
}

/// A batch of ascents: where each ended, and whether it started from any draw.
fn ascend(
    target: &Unconstrained,
    base: &Base,
    search: &Search,
    (ascents, number, seed): (usize, u64, u64),
    found: &mut Searched,
) -> Result<(Vec<Arrived>, Vec<bool>)> {
    let draws = draw(base, search.draws.saturating_mul(ascents).max(64), number, seed);
    let units = Units::of(&draws, target.dim());
    let mut heights = Heights::new(target, units, usize::MAX);
    let u: Vec<Vec<f64>> = draws.iter().map(|z| heights.standardisation().to_u(z)).collect();
    let seen = heights.at(&u)?;
    let chosen = choose(&seen, ascents);
    if chosen.is_empty() {
        return Err(Error::Target(format!(
            "none of {} draws of the base has a finite log density; start the search inside the \
             support (base-mean, base-sd)",
            draws.len()
        )));
    }
    let places = heights.places(chosen.iter().map(|&(i, _)| u[i].clone()).collect())?;
    let (places, is_any): (Vec<Place>, Vec<bool>) = (places.into_iter())
        .zip(chosen.iter().map(|&(_, is_any)| is_any))
        .filter(|(place, _)| place.height.is_finite())
        .unzip();
    found.evaluations += heights.used();
    // Where a peak is known its curvature makes for shorter ways than the spread of the draws does.
    let (units, places) = match found.widest_peak() {
        None => (heights.standardisation().clone(), places),
        Some(summit) => {
            let units = Units::whitening(summit.z.clone(), summit.factor.clone());
            let turned = |place: Place| Place {
                u: units.to_u(&heights.standardisation().to_z(&place.u)),
                height: place.height,
                slope: units.pull_back(&heights.standardisation().pull_forth(&place.slope)),
            };
            let places = places.into_iter().map(turned).collect();
            (units, places)
        }
    };
    let search = &Search { budget: search.budget.after(found.evaluations), ..*search };
    let (arrived, used) = arrive(target, (units, places), search, &found.summits)?;
    found.evaluations += used;
    Ok((arrived, is_any))
}

/// Draws of the base, at a ladder of scales.
fn draw(base: &Base, count: usize, number: u64, seed: u64) -> Vec<Vec<f64>> {
    let stream = Stream::new(seed, crate::rng::Purpose::Modes);
    let (dim, mut noise) = (base.dim(), Noise::zeros(base.dim(), count));
    let (mut z, mut log_q) = (Batch::zeros(dim, count), vec![0.0; count.next_multiple_of(32)]);
    base.draw(&stream, number, 0, &mut noise);
    base.forward(&noise, &mut z, &mut log_q);
    let middle = base.mean();
    let scaled = |i: usize| -> Vec<f64> {
        let scale = SCALES[i % SCALES.len()];
        z.point(i).iter().zip(middle).map(|(z, m)| m + scale * (z - m)).collect()
    };
    (0..count).map(scaled).collect()
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

/// An ascent that has ended, on unconstrained coordinates.
struct Arrived {
    z: Vec<f64>,
    log_density: f64,
    has_peaked: bool,
}

/// Rounds after which ascents that are on their way to a known peak are let be.
const BURST: usize = 6;

/// Ascends, in the given units and then in those of the curvature where the highest has arrived; with the
/// evaluations that it took.
fn arrive(
    target: &Unconstrained,
    (mut units, mut places): (Units, Vec<Place>),
    search: &Search,
    known: &[Summit],
) -> Result<(Vec<Arrived>, usize)> {
    let mut used = 0;
    let mut arrived: Vec<Arrived> = places
        .iter()
        .map(|place| Arrived {
            z: units.to_z(&place.u),
            log_density: place.height,
            has_peaked: false,
        })
        .collect();
    let mut climbing: Vec<usize> = (0..places.len()).collect();
    for whitening in 0..=search.whitenings {
        let mut heights = Heights::new(target, units.clone(), usize::MAX);
        let starts = places.drain(..).map(|place| (place, 1.0)).collect();
        let budget = search.budget.after(used);
        let mut stop = |u: &[f64], height: f64, spent: usize| {
            if budget.is_spent(spent) {
                return true;
            }
            let end = Arrived { z: units.to_z(u), log_density: height, has_peaked: false };
            known.iter().any(|summit| summit.is_at(&end))
        };
        let bursts = (BURST, search.rounds);
        let ends = climb_in_bursts(&mut heights, starts, bursts, &mut stop)?;
        for (&i, end) in climbing.iter().zip(&ends) {
            let End { u, height, has_peaked } = end;
            let z = units.to_z(u);
            arrived[i] = Arrived { z, log_density: *height, has_peaked: *has_peaked };
        }
        climbing.retain(|&i| {
            !arrived[i].has_peaked && !known.iter().any(|summit| summit.is_at(&arrived[i]))
        });
        used += heights.used();
        let is_last = whitening == search.whitenings || search.budget.is_spent(used);
        if climbing.is_empty() || is_last {
            break;
        }
        let best = (arrived.iter())
            .max_by(|a, b| a.log_density.total_cmp(&b.log_density))
            .expect("at least one");
        let mut around = Heights::new(target, units.clone(), usize::MAX);
        let curved = laplace::curvature(&mut around, &units.to_u(&best.z))?;
        used += around.used();
        let covariance = units.covariance_in_z(&curved.covariance);
        let Ok(factor) = linear::cholesky(target.dim(), &covariance) else { break };
        units = Units::whitening(best.z.clone(), factor);
        let mut heights = Heights::new(target, units.clone(), usize::MAX);
        places = heights.places(climbing.iter().map(|&i| units.to_u(&arrived[i].z)).collect())?;
        used += heights.used();
        let is_known: Vec<bool> = places.iter().map(|place| place.height.is_finite()).collect();
        let mut known = is_known.iter();
        climbing.retain(|_| *known.next().expect("one for each"));
        places.retain(|place| place.height.is_finite());
    }
    Ok((arrived, used))
}

impl Searched {
    /// How many of the summits that matter are peaks in every direction.
    pub fn peaks(&self) -> usize {
        let least = self.least_log_mass();
        let matters = |summit: &&Summit| summit.is_peak && summit.log_mass > least;
        self.summits.iter().filter(matters).count()
    }

    /// The mass from which a summit matters.
    fn least_log_mass(&self) -> f64 {
        let masses = self.summits.iter().map(|summit| summit.log_mass);
        masses.fold(f64::NEG_INFINITY, f64::max) + LEAST_MASS
    }

    /// The peak with most mass, if it is one.
    fn widest_peak(&self) -> Option<&Summit> {
        let mass = |a: &&Summit, b: &&Summit| a.log_mass.total_cmp(&b.log_mass);
        self.summits.iter().filter(|summit| summit.is_peak).max_by(mass)
    }

    /// Puts ends of ascents together to peaks, the highest first.
    fn gather(
        &mut self,
        target: &Unconstrained,
        arrived: &[Arrived],
        is_any: &[bool],
    ) -> Result<()> {
        let mut order: Vec<usize> = (0..arrived.len()).collect();
        order.sort_by(|&a, &b| {
            let by_height = arrived[b].log_density.total_cmp(&arrived[a].log_density);
            by_height.then(a.cmp(&b))
        });
        let dim = target.dim();
        for i in order {
            let end = &arrived[i];
            let same = self.summits.iter().position(|summit| summit.is_at(end));
            if let Some(at) = same {
                self.summits[at].ascents += 1;
                self.summits[at].any += usize::from(is_any[i]);
                continue;
            }
            if self.summits.len() == MOST_SUMMITS {
                self.adrift += usize::from(!end.has_peaked);
                continue;
            }
            let mut heights = Heights::new(target, Units::around(end.z.clone()), usize::MAX);
            let Curved { covariance, log_det, is_peak } =
                laplace::curvature(&mut heights, &vec![0.0; dim])?;
            self.evaluations += heights.used();
            let Ok(factor) = linear::cholesky(dim, &covariance) else { continue };
            if !(end.has_peaked || is_peak) {
                self.adrift += 1;
            }
            let log_mass =
                end.log_density + log_det + 0.5 * dim as f64 * std::f64::consts::TAU.ln();
            self.summits.push(Summit {
                z: end.z.clone(),
                log_density: end.log_density,
                covariance,
                log_mass,
                ascents: 1,
                is_peak: is_peak && end.has_peaked,
                any: usize::from(is_any[i]),
                factor,
            });
        }
        Ok(())
    }

    /// The Gaussians of all peaks that may matter, weighted by their mass, on unconstrained
    /// coordinates: a little wider than their curvature says, and with light Student tails.
    pub fn components(&self) -> Vec<Component> {
        let Some(first) = self.summits.first() else { return Vec::new() };
        let least = self.least_log_mass();
        let kept = self.summits.iter().filter(|summit| summit.log_mass > least);
        let dim = first.z.len() as f64;
        let wider = 1.0 + 0.6 / dim;
        let component = |summit: &Summit| Component {
            weight: (summit.log_mass - first.log_mass).exp(),
            mean: summit.z.clone(),
            covariance: summit.covariance.iter().map(|c| wider * c).collect(),
            degrees: Some((4.0 * dim).max(6.0)),
        };
        let mut components: Vec<Component> = kept.map(component).collect();
        let total: f64 = components.iter().map(|component| component.weight).sum();
        components.iter_mut().for_each(|component| component.weight /= total);
        components
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
