//! Findings about a density: facts, warnings and errors as text.

use super::posterior::Posterior;
use crate::text::{layout::thousands, style::Style};
use adaann::{
    Batch,
    answer::{Method, Plan},
    diagnostics::{Finding, reasons_of_defects},
    flow::BaseSpec,
    model::Model,
    path::PathKind,
    support::rng::{Purpose, Stream},
    target::{Target, Unconstrained, Workspace, find_defects},
};
use anyhow::Result;

/// Number of points at which the density is evaluated.
const POINTS: usize = 64;
/// A larger share of points without a finite log density gives a warning.
const MANY_LOST: f64 = 0.5;

/// The findings about a model.
pub(super) struct Findings {
    pub(super) facts: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) errors: Vec<String>,
}

impl Findings {
    pub(super) fn new(model: &Model, target: &dyn Target) -> Result<Self> {
        let unconstrained = Unconstrained::new(target)?;
        let mut findings = Self { facts: vec![], warnings: vec![], errors: vec![] };
        findings.say_size(model, target);
        findings.say_misfits(model);
        let (points, origin) = points(model, &unconstrained)?;
        if findings.look(&unconstrained, &points, origin)? {
            let posterior = Posterior::new(model, &unconstrained, &points, origin)?;
            posterior.judge(&mut findings)?;
            findings.say_defects(&unconstrained, &points, origin)?;
        }
        findings.judge_method(model, target);
        Ok(findings)
    }

    pub(super) fn is_wrong(&self) -> bool {
        !self.errors.is_empty()
    }

    fn say_size(&mut self, model: &Model, target: &dyn Target) {
        let rows = model.rows();
        let count = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{} {what}s", thousands(count)),
        };
        let mut fact = count(target.dim(), "unknown");
        if rows > 0 {
            fact += &format!(", {} of data", count(rows, "row"));
        }
        self.facts.push(fact);
        self.facts.extend(target.notes());
    }

    /// Warns about priors wider than an argument's range, such as a normal prior of a standard deviation.
    fn say_misfits(&mut self, model: &Model) {
        for misfit in model.misfits() {
            self.warnings.push(format!(
                "{} is the {} of {}, which must be {}, but its prior extends beyond that, where the density is \
                 0; give it another prior, like half_normal, or bounds",
                misfit.parameter, misfit.argument, misfit.distribution, misfit.range
            ));
        }
    }

    /// Evaluates the density at the points; is it positive at any of them?
    fn look(&mut self, target: &Unconstrained, points: &Batch, origin: &str) -> Result<bool> {
        let mut work = Workspace::zeros(target.dim(), points.len());
        target.evaluate(points, None, &mut work)?;
        let value = |i: usize| work.evaluation.log_prior[i] + work.evaluation.log_likelihood[i];
        let finite = (0..points.len()).map(value).filter(|value| value.is_finite());
        let lost = 1.0 - finite.clone().count() as f64 / points.len() as f64;
        let Some(highest) = finite.reduce(f64::max) else {
            self.errors.push(format!(
                "the density is 0 or NaN at all of {} points {origin}; look for a logarithm or root of a \
                 negative number, or for data outside the range of the likelihood",
                points.len()
            ));
            return Ok(false);
        };
        self.facts.push(format!("log p is finite at points {origin}, at most {highest:.4}"));
        if lost > MANY_LOST {
            self.warnings.push(format!(
                "the density is 0 or NaN at {:.0} per cent of the points {origin}; training ignores such \
                 points",
                100.0 * lost
            ));
        }
        Ok(true)
    }

    /// Warns about noise, wrong gradients and NaN. A gradient that is wrong at typical points of the posterior
    /// is already reported as an error.
    fn say_defects(&mut self, target: &Unconstrained, points: &Batch, origin: &str) -> Result<()> {
        let found = find_defects(target, points, 1)?;
        for reason in reasons_of_defects(&found, &target.target().names()) {
            let is_gradient = matches!(reason.finding, Finding::WrongGradient { .. });
            if !is_gradient || self.errors.is_empty() {
                self.warnings.push(format!("{} ({origin})", reason.finding));
            }
        }
        Ok(())
    }

    fn judge_method(&mut self, model: &Model, target: &dyn Target) {
        let path = match model.plan() {
            Plan::Adaann(settings) => settings.path,
            Plan::Answer(settings) => {
                let line = Method::ALL.iter().find(|(name, _)| *name == settings.method.name());
                self.facts.extend(line.map(|(name, line)| format!("method: {name}, {line}")));
                return self.judge_priors(model);
            }
        };
        match path {
            PathKind::Likelihood => {
                self.facts.push("path: from the prior to the posterior (likelihood)".to_owned());
            }
            PathKind::Bridge => {
                self.facts.push("path: from the base to the density (bridge)".to_owned());
            }
            PathKind::Power if target.has_prior() && !target.has_proper_prior() => {
                self.warnings.push(
                    "a prior is flat, so annealing cannot start from it and uses powers of the \
                     posterior, which may have no integral at small t; give every \
                     parameter a proper prior or both bounds, or use the path bridge"
                        .to_owned(),
                );
            }
            PathKind::Power => {
                self.facts.push("path: powers of the density (power)".to_owned());
            }
        }
    }

    /// Warns about improper priors: the posterior may be improper, and the evidence is undefined.
    fn judge_priors(&mut self, model: &Model) {
        let flat = model.flat_parameters();
        if !flat.is_empty() && model.target().has_prior() {
            self.warnings.push(format!(
                "{} {} no proper prior: the evidence is undefined, and the posterior is proper only if the \
                 data determines every parameter; give a distribution or both bounds",
                some_of(&flat),
                if flat.len() == 1 { "has" } else { "have" }
            ));
        }
    }

    pub(super) fn text(&self, model: &Model, style: Style) -> String {
        let mut text = String::from("\n");
        for fact in &self.facts {
            text += &format!("  {fact}\n");
        }
        if !model.quantity_names().is_empty() {
            text += &format!("  also reported: {}\n", model.quantity_names().join(", "));
        }
        for warning in &self.warnings {
            text += &format!("{} {warning}\n", style.yellow("warning:"));
        }
        for error in &self.errors {
            text += &format!("{} {error}\n", style.red("error:"));
        }
        text
    }
}

/// Unconstrained points for the evaluation: draws from the prior, or from the base of a fit.
fn points(model: &Model, target: &Unconstrained) -> Result<(Batch, &'static str)> {
    if let Some(draws) = model.prior_draws(POINTS, 1)
        && let Ok(z) = target.unconstrain(&draws)
    {
        return Ok((z, "drawn from the prior"));
    }
    let BaseSpec { mean, sd, .. } = model.settings().base;
    let mut z = Batch::zeros(target.dim(), POINTS);
    Stream::new(1, Purpose::Evaluation).fill_normals(0, 0, &mut z);
    for d in 0..target.dim() {
        let at = |list: &[f64]| list[d.min(list.len() - 1)];
        z.row_mut(d).iter_mut().for_each(|x| *x = at(&mean) + at(&sd) * *x);
    }
    Ok((z, "drawn from the base"))
}

/// The first four items of a list, and the number of the others.
pub(super) fn some_of(list: &[impl AsRef<str>]) -> String {
    let shown = if list.len() > 4 { 3 } else { list.len() };
    let words: Vec<&str> = list[..shown].iter().map(AsRef::as_ref).collect();
    match list.len() - shown {
        0 => words.join(", "),
        more => format!("{} and {more} more", words.join(", ")),
    }
}
