//! Findings about the posterior at typical points.

use super::findings::{Findings, some_of};
use adaann::{
    Batch,
    model::Model,
    preview::{Effort, Typical, Unsaid, typical, unsaid},
    target::{Support, Unconstrained, compare_gradient},
};
use anyhow::Result;

/// Number of points at which the gradient is compared with finite differences.
const COMPARED: usize = 8;
/// A larger disagreement is an error: for smooth densities, differences of fourth order are far more
/// accurate.
const WRONG: f64 = 1e-4;
/// Number of prior draws that are compared with the peak.
const PRIOR_DRAWS: usize = 2_000;
/// A larger ratio of scales gives a warning.
const FAR_APART: f64 = 1e6;
/// Factor by which the steps of differences grow for adaptive solvers.
const LONGER: f64 = 50.0;
/// Maximum number of combinations named.
const NAMED: usize = 3;
/// Budget of the search for a peak when an external program, which may be slow, computes the likelihood.
const EVALUATIONS_OF_A_PROGRAM: usize = 300;

/// A posterior, and the points at which it is checked.
pub(super) struct Posterior<'a> {
    model: &'a Model,
    target: &'a Unconstrained<'a>,
    /// `None` if no ascent reached a region like a Gaussian.
    typical: Option<Typical>,
    /// The points used otherwise, and their origin.
    others: (&'a Batch, &'static str),
}

impl<'a> Posterior<'a> {
    pub(super) fn new(
        model: &'a Model,
        target: &'a Unconstrained<'a>,
        points: &'a Batch,
        origin: &'static str,
    ) -> Result<Self> {
        let base = model.settings().base.resolve(target, 1)?;
        let mut effort = Effort::default();
        if model.program().is_some() {
            effort = Effort { ascents: 4, evaluations: EVALUATIONS_OF_A_PROGRAM, ..effort };
        }
        let typical = typical(target, &base, &effort)?;
        Ok(Self { model, target, typical, others: (points, origin) })
    }

    /// Adds all findings.
    pub(super) fn judge(&self, findings: &mut Findings) -> Result<()> {
        match &self.typical {
            Some(typical) if typical.is_peak => {
                let bent = if typical.width < 1.0 {
                    "; the density is not Gaussian even near it, so the effect of the data was not checked"
                } else {
                    ""
                };
                let place = self.place(&typical.peak);
                findings.facts.push(format!("a peak of the density: {place}{bent}"));
            }
            Some(typical) => findings.warnings.push(format!(
                "short ascents found no peak of the density; the highest ended at {}. The density may have none, like \
                 a centred hierarchy at scale 0, or be rough; the effect of the data was not checked",
                self.place(&typical.peak)
            )),
            None => findings.facts.push(format!(
                "short ascents found nothing like a Gaussian; the gradient was checked at points {}",
                self.others.1
            )),
        }
        self.compare(findings)?;
        self.say_unsettled(findings)?;
        self.say_no_numbers(findings)?;
        let Some(typical) = self.typical.as_ref().filter(|typical| typical.is_peak) else {
            return Ok(());
        };
        if typical.width == 1.0 && self.target.target().has_prior() {
            self.say_unsaid(typical, findings)?;
            self.say_far(typical, findings);
        }
        self.say_scales(typical, findings);
        Ok(())
    }

    /// A point in the model's coordinates, as text.
    fn place(&self, z: &[f64]) -> String {
        some_of(&self.coordinates(z))
    }

    /// The same, coordinate by coordinate.
    fn coordinates(&self, z: &[f64]) -> Vec<String> {
        let (theta, _) = self.target.constrain(&Batch::from_points(z.len(), &[z]));
        let names = self.target.target().names();
        names.iter().zip(theta.point(0)).map(|(name, x)| format!("{name} = {}", short(x))).collect()
    }

    fn compare(&self, findings: &mut Findings) -> Result<()> {
        let dim = self.target.dim();
        let (points, mut widths) = match &self.typical {
            Some(typical) => {
                (&typical.points, typical.sd.iter().map(|sd| typical.width * sd).collect())
            }
            None => (self.others.0, vec![1.0; dim]),
        };
        // An adaptive solver adds noise of the size of its tolerance; longer steps make it negligible.
        if self.model.has_adaptive_solver() {
            widths.iter_mut().for_each(|width| *width *= LONGER);
        }
        let mut points = some(points);
        let Some(mut worst) = compare_gradient(self.target, &points, &widths)? else {
            return Ok(());
        };
        // An ascent without a peak may have ended at a pole, where differences are unreliable. A wrong gradient
        // is wrong at other points as well.
        let is_lost = self.typical.as_ref().is_some_and(|typical| !typical.is_peak);
        if is_lost && worst.error > WRONG {
            let others = some(self.others.0);
            let again = compare_gradient(self.target, &others, &vec![1.0; dim])?;
            if let Some(again) = again.filter(|again| again.error <= WRONG) {
                (worst, points) = (again, others);
            }
        }
        let name = &self.target.target().names()[worst.coordinate];
        let said = format!(
            "{} along {name}, but finite differences give {}, at {}",
            short(worst.gradient),
            short(worst.differences),
            self.place(&points.point(worst.point))
        );
        if worst.error <= WRONG {
            findings.facts.push(format!(
                "the gradient agrees with finite differences to {:.0e}",
                worst.error.max(1e-12)
            ));
        } else if self.model.has_adaptive_solver() {
            findings.warnings.push(format!(
                "the gradient is {said}; the cause may be the adaptive solver: compare with a smaller rtol \
                 and atol, or with solver = \"rk4\""
            ));
        } else {
            findings.errors.push(format!(
                "the gradient is wrong: {said}; possible reasons are an `if` whose other branch is NaN \
                 there, or a kink"
            ));
        }
        Ok(())
    }

    /// Warns if the system has not settled at the start.
    fn say_unsettled(&self, findings: &mut Findings) -> Result<()> {
        if let Some(moves) = self.model.unsettled(&self.looked_at())? {
            let of =
                moves.subject.map_or(String::new(), |subject| format!(" of subject {subject}"));
            findings.warnings.push(format!(
                "the system has not settled: {}{of} is {} at the start, but {} if it settles for twice as long; \
                 increase `settle`, unless there is no steady state",
                moves.state,
                short(moves.value),
                short(moves.later)
            ));
        }
        Ok(())
    }

    /// Warns about quantities without a value.
    fn say_no_numbers(&self, findings: &mut Findings) -> Result<()> {
        let values = self.model.quantities(&self.looked_at())?.point(0);
        let names = self.model.quantity_names().iter().zip(values);
        let lost: Vec<&String> = names.filter(|(_, x)| x.is_nan()).map(|(name, _)| name).collect();
        if !lost.is_empty() {
            findings.warnings.push(format!(
                "{} {} no value here; look for a logarithm or root of a negative number, or a trajectory that \
                 cannot be solved so far",
                some_of(&lost),
                if lost.len() == 1 { "has" } else { "have" }
            ));
        }
        Ok(())
    }

    /// The point for checks at a single point: the peak, if there is one.
    fn looked_at(&self) -> Batch {
        let peak = self.typical.as_ref().map(|typical| typical.peak.clone());
        let z = peak.unwrap_or_else(|| self.others.0.point(0));
        self.target.constrain(&Batch::from_points(z.len(), &[z])).0
    }

    /// Warns about parameters that the data do not inform. Parameters whose priors depend on each other learn
    /// from the data through these priors, so that the likelihood alone is not enough to judge them.
    fn say_unsaid(&self, typical: &Typical, findings: &mut Findings) -> Result<()> {
        let is_independent = self.model.independent_priors();
        if !is_independent.contains(&true) {
            return Ok(());
        }
        let names = self.target.target().names();
        let is_told = |one: &Unsaid| one.along.iter().all(|&(d, _)| is_independent[d]);
        let all: Vec<Unsaid> = unsaid(self.target, typical)?.into_iter().filter(is_told).collect();
        let (alone, together): (Vec<&Unsaid>, Vec<&Unsaid>) =
            all.iter().partition(|one| one.along.len() == 1);
        if !alone.is_empty() {
            let what: Vec<&str> = alone.iter().map(|one| &names[one.along[0].0][..]).collect();
            findings.warnings.push(format!(
                "the data says almost nothing about {}: {} near the peak",
                some_of(&what),
                if what.len() == 1 {
                    "its posterior is its prior"
                } else {
                    "their posteriors are their priors"
                }
            ));
        }
        for one in together.iter().take(NAMED) {
            let what: Vec<&str> = one.along.iter().map(|&(d, _)| &names[d][..]).collect();
            let more = if together.len() > NAMED && std::ptr::eq(*one, together[NAMED - 1]) {
                format!(", and {} more like it", together.len() - NAMED)
            } else {
                String::new()
            };
            findings.warnings.push(format!(
                "the data says almost nothing about a combination of {}: only their priors determine it near the \
                 peak{more}",
                some_of(&what)
            ));
        }
        Ok(())
    }

    /// Warns if the posterior lies in the tail of a prior.
    fn say_far(&self, typical: &Typical, findings: &mut Findings) {
        let draws = self.model.prior_draws(PRIOR_DRAWS, 1);
        let Some(z) = draws.and_then(|draws| self.target.unconstrain(&draws).ok()) else { return };
        let is_beyond = |&(d, _): &(usize, String)| {
            let below = z.row(d).iter().filter(|x| **x < typical.peak[d]).count();
            below == 0 || below == z.len()
        };
        let all = self.coordinates(&typical.peak).into_iter().enumerate();
        let far: Vec<String> = all.filter(is_beyond).map(|(_, said)| said).collect();
        if !far.is_empty() {
            findings.warnings.push(format!(
                "the posterior peaks at {}, beyond all of {PRIOR_DRAWS} draws from the prior; check the prior and \
                 its units",
                some_of(&far)
            ));
        }
    }

    /// Warns about unbounded parameters with very different scales.
    fn say_scales(&self, typical: &Typical, findings: &mut Findings) {
        let target = self.target.target();
        let (theta, _) = self.target.constrain(&typical.points);
        let spread = |d: usize| {
            let row = theta.row(d);
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            (row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64).sqrt()
        };
        let real = (0..target.dim()).filter(|&d| target.support(d) == Support::Real);
        let spreads: Vec<(usize, f64)> =
            real.map(|d| (d, spread(d))).filter(|(_, sd)| *sd > 0.0).collect();
        let by_spread = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
        let ends = spreads.iter().min_by(by_spread).zip(spreads.iter().max_by(by_spread));
        let Some((&(least, small), &(most, large))) = ends else { return };
        if large > FAR_APART * small {
            findings.warnings.push(format!(
                "the posterior is about {} wide in {} and {} in {}: scales so far apart lose precision; choose \
                 units in which both are near 1",
                short(small),
                target.names()[least],
                short(large),
                target.names()[most]
            ));
        }
    }
}

/// The first `COMPARED` points.
fn some(points: &Batch) -> Batch {
    let first: Vec<Vec<f64>> = (0..points.len().min(COMPARED)).map(|i| points.point(i)).collect();
    Batch::from_points(points.dim(), &first)
}

/// A number with four digits.
fn short(x: f64) -> String {
    let size = x.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) { format!("{x:.3e}") } else { format!("{x:.4}") }
}
