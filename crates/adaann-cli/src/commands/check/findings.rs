//! What was found of a density: facts, warnings and errors in words.

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

/// Points at which the density is looked at.
const POINTS: usize = 64;
/// A share of points without a density that is worth a word.
const MANY_LOST: f64 = 0.5;

/// What is said of a model.
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

    /// A normal prior of a standard deviation, and its kin.
    fn say_misfits(&mut self, model: &Model) {
        for misfit in model.misfits() {
            self.warnings.push(format!(
                "{} is the {} of {}, which must be {}, but its prior reaches further: the density is 0 there; \
                 give it another prior, like half_normal, or bounds",
                misfit.parameter, misfit.argument, misfit.distribution, misfit.range
            ));
        }
    }

    /// Is the density finite where the prior is, at some point at least?
    fn look(&mut self, target: &Unconstrained, points: &Batch, origin: &str) -> Result<bool> {
        let mut work = Workspace::zeros(target.dim(), points.len());
        target.evaluate(points, None, &mut work)?;
        let value = |i: usize| work.evaluation.log_prior[i] + work.evaluation.log_likelihood[i];
        let finite = (0..points.len()).map(value).filter(|value| value.is_finite());
        let lost = 1.0 - finite.clone().count() as f64 / points.len() as f64;
        let Some(highest) = finite.reduce(f64::max) else {
            self.errors.push(format!(
                "the density is 0 or no number at all of {} points {origin}; look for a logarithm \
                 or root of something negative, or data that the likelihood cannot have made",
                points.len()
            ));
            return Ok(false);
        };
        self.facts.push(format!("log p is finite at points {origin}, at most {highest:.4}"));
        if lost > MANY_LOST {
            self.warnings.push(format!(
                "the density is 0 or no number at {:.0} per cent of the points {origin}; training \
                 leaves such points out",
                100.0 * lost
            ));
        }
        Ok(true)
    }

    /// Noise, a wrong gradient and values that are not numbers. A gradient that is wrong at typical points of
    /// the posterior is an error already, and not said twice.
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
                    "a prior is flat, so that annealing cannot start from it: powers of the \
                     posterior are used, which may have no integral at small t; give every \
                     parameter a proper prior or both bounds, or take the path bridge"
                        .to_owned(),
                );
            }
            PathKind::Power => {
                self.facts.push("path: powers of the density (power)".to_owned());
            }
        }
    }

    /// Without a proper prior there may be no posterior, and there is no evidence.
    fn judge_priors(&mut self, model: &Model) {
        let flat = model.flat_parameters();
        if !flat.is_empty() && model.target().has_prior() {
            self.warnings.push(format!(
                "{} {} no proper prior: the evidence has no meaning, and a posterior is only sure to exist where \
                 the data holds every parameter; give a distribution or both bounds",
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

/// Points of R^d to look at: from the prior, or from where a fit would start.
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

/// A list, of which those beyond the fourth are counted.
pub(super) fn some_of(list: &[impl AsRef<str>]) -> String {
    let shown = if list.len() > 4 { 3 } else { list.len() };
    let words: Vec<&str> = list[..shown].iter().map(AsRef::as_ref).collect();
    match list.len() - shown {
        0 => words.join(", "),
        more => format!("{} and {more} more", words.join(", ")),
    }
}
