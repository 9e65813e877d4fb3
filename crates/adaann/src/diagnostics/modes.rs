//! The modes that draws and particles climb to, and the share of each mode in the draws and
//! particles.

use crate::{
    Batch, Result,
    budget::Budget,
    diagnostics::{Place, findings::ModeShares},
    importance::Estimate,
    modes::{self, ModeSummary, Modes, Summit},
    smc::Population,
    target::Unconstrained,
};

/// A mode, in the target's own coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
    /// Where the density peaks.
    pub location: Vec<f64>,
    /// Its share of the draws.
    pub under_q: f64,
    /// Its share of the weighted draws: the answer.
    pub weight: Estimate,
    /// Its share of the independent particles.
    pub particles: Option<Estimate>,
    /// The mean of its weighted draws; none without such draws.
    pub mean: Option<Vec<f64>>,
    /// Their covariance, row by row.
    pub covariance: Option<Vec<f64>>,
}

/// Modes found from draws and particles together, the heaviest first.
pub(super) struct Found {
    pub(super) modes: Vec<Mode>,
    /// The search's label for each mode.
    labels: Vec<usize>,
    found: Modes,
    pub(super) evaluations: usize,
}

/// Evaluations that are always available for the assignment of modes, whatever the budget.
const FEWEST_EVALUATIONS: usize = 200;

impl Found {
    /// Climbs from weighted draws, particles and summits, with at most `climbs` ascents and within a
    /// budget.
    pub(super) fn new(
        target: &Unconstrained,
        (draws, weights): (&Batch, &[f64]),
        population: Option<&Population>,
        summits: &[Summit],
        (climbs, budget): (usize, Budget),
    ) -> Result<Self> {
        let starts = starts(draws, population.map(|population| &population.z), summits, climbs);
        let usual = modes::Settings::default();
        let each = target.values_with_gradients(1);
        let affordable = budget.at_least(FEWEST_EVALUATIONS) / each;
        let evaluations = usual.evaluations.min(affordable).max(1);
        let climbs = modes::Settings { starts: starts.len().max(1), evaluations, ..usual };
        let found = modes::find(target, &starts, &climbs)?;
        let equal = vec![1.0; draws.len()];
        let under_q = modes::shares(found.len(), &found.assign(draws), &equal)?;
        let labels = population.map(|population| found.assign(&population.z));
        let in_population = |mode: usize| {
            population.zip(labels.as_ref()).map(|(population, labels)| {
                let own: Vec<f64> =
                    labels.iter().map(|label| f64::from(u8::from(*label == Some(mode)))).collect();
                population.mean(&own)
            })
        };
        let mode = |(index, summary): (usize, ModeSummary)| Mode {
            location: summary.position,
            under_q: under_q[index].value,
            weight: summary.share,
            particles: in_population(index),
            mean: summary.mean,
            covariance: summary.covariance,
        };
        let summaries = found.summarise(target, draws, weights)?;
        let mut modes: Vec<(usize, Mode)> =
            summaries.into_iter().enumerate().map(|of| (of.0, mode(of))).collect();
        let share = |mode: &Mode| {
            mode.particles.map_or(0.0, |particles| particles.value).max(mode.weight.value)
        };
        modes.sort_by(|a, b| share(&b.1).total_cmp(&share(&a.1)));
        let (labels, modes) = modes.into_iter().unzip();
        Ok(Self { modes, labels, evaluations: found.evaluations(), found })
    }

    /// The mode whose weight has the largest error; none if there is only one mode.
    pub(super) fn least_known(&self, names: &[String]) -> Option<(Place, Estimate)> {
        let least = self.modes.iter().max_by(|a, b| a.weight.error.total_cmp(&b.weight.error))?;
        (self.modes.len() > 1).then(|| (Place::new(names, &least.location), least.weight))
    }

    /// The modes' shares of points that were found without q.
    pub(super) fn shares(
        &self,
        z: &Batch,
        mean: &dyn Fn(&[f64]) -> Estimate,
        names: &[String],
    ) -> Vec<ModeShares> {
        // Of very many modes each has only a few draws by chance; the mass that q lacks covers them.
        const MOST: usize = 64;
        if self.modes.len() > MOST {
            return Vec::new();
        }
        let modes = self.found.assign(z);
        let shares = |(mode, label): (&Mode, &usize)| {
            let is_own = |of: &Option<usize>| f64::from(u8::from(*of == Some(*label)));
            let own: Vec<f64> = modes.iter().map(is_own).collect();
            ModeShares {
                at: Place::new(names, &mode.location),
                under_q: mode.under_q,
                weighted: mode.weight,
                particles: mean(&own),
            }
        };
        self.modes.iter().zip(&self.labels).map(shares).collect()
    }
}

/// Points to climb from: some beside the known peaks, and equally many evenly spaced draws and
/// particles.
fn starts(draws: &Batch, particles: Option<&Batch>, summits: &[Summit], climbs: usize) -> Batch {
    let sources: Vec<&Batch> = std::iter::once(draws).chain(particles).collect();
    let each = climbs.div_ceil(sources.len());
    let mut points: Vec<Vec<f64>> = summits.iter().flat_map(Summit::beside).collect();
    for source in sources {
        let count = each.min(source.len());
        points.extend((0..count).map(|i| source.point(i * source.len() / count)));
    }
    Batch::from_points(draws.dim(), &points)
}
