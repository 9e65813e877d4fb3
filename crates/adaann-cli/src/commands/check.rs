//! `adaann check`: what a model file says, and whether it can be fitted.

use crate::{
    args::CheckArgs,
    folder::{
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
    },
    job::interrupt,
    text::{failure::usage, layout::thousands, style::Style},
};
use adaann::{
    Batch,
    answer::{Method, Plan},
    flow::BaseSpec,
    model::{Model, Notation},
    path::PathKind,
    support::rng::{Purpose, Stream},
    target::{Target, Unconstrained, compare_gradient, flat_directions},
};
use anyhow::Result;
use std::{
    fmt::Write as _,
    io::{Write, stdout},
    path::Path,
    process::ExitCode,
};

/// Points at which the density is looked at.
const POINTS: usize = 64;
/// Points at which its gradient is compared with differences.
const COMPARED: usize = 8;
/// A disagreement that is called an error: differences of fourth order are far better than that
/// where a density is smooth.
const WRONG: f64 = 1e-4;
/// A share of points without a density that is worth a word.
const MANY_LOST: f64 = 0.5;

/// Reads a model and looks at its density.
pub(crate) fn check(args: &CheckArgs) -> Result<ExitCode> {
    let model = read(args)?;
    let style = Style::detect();
    let mut text = String::new();
    if let Some(title) = model.title() {
        writeln!(text, "{}", style.bold(title))?;
    }
    let notation = if args.latex { Notation::Latex } else { Notation::Plain };
    for line in model.mathematics(notation) {
        writeln!(text, "  {line}")?;
    }
    stdout().write_all(text.as_bytes())?;
    stdout().flush()?;
    interrupt::end_when_asked()?;
    let findings = Findings::new(&model)?;
    stdout().write_all(findings.text(&model, style).as_bytes())?;
    Ok(if findings.is_wrong() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reads a model file that the user names, or that of a run folder, whose program is not started unless
/// the user says so.
fn read(args: &CheckArgs) -> Result<Model> {
    let path = &args.model;
    let run = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(Path::new("")) };
    if !run.join(Record::FILE).is_file() {
        return Ok(Model::read_with_data(path, args.data.as_deref())?);
    }
    let programs = Programs::new(args.allow_command);
    let subject = match (path.is_dir(), &args.data) {
        (true, None) => {
            let stored = Stored::open(run)?;
            Subject::read(&Record::read(&stored)?.source(), &stored, programs)?
        }
        (true, Some(_)) => {
            return Err(usage("--data goes with a model file, but a run folder has its own"));
        }
        (false, data) => {
            Subject::of_model_in_a_run(Model::read_with_data(path, data.as_deref())?, programs)
        }
    };
    subject.announce()?;
    subject.model.ok_or_else(|| {
        usage(format!("{} is no run of a model file: there is nothing to check", run.display()))
    })
}

/// What was found of a density.
struct Findings {
    facts: Vec<String>,
    warnings: Vec<String>,
    errors: Vec<String>,
}

impl Findings {
    fn new(model: &Model) -> Result<Self> {
        let target = &*model.target();
        let unconstrained = Unconstrained::new(target)?;
        let mut findings = Self { facts: vec![], warnings: vec![], errors: vec![] };
        findings.say_size(model, target);
        let (points, origin) = points(model, &unconstrained)?;
        let best = findings.look(&unconstrained, &points, origin)?;
        findings.compare(&unconstrained, &best, model.has_adaptive_solver())?;
        findings.find_flat(&unconstrained, &points, &model.independent_priors())?;
        findings.judge_method(model, target);
        Ok(findings)
    }

    fn is_wrong(&self) -> bool {
        !self.errors.is_empty()
    }

    fn say_size(&mut self, model: &Model, target: &dyn Target) {
        let rows = model.data().map_or(0, |data| data.rows.len());
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

    /// Is the density finite where the prior is? Gives the points where it is highest.
    fn look(&mut self, target: &Unconstrained, points: &Batch, origin: &str) -> Result<Batch> {
        let mut work = adaann::target::Workspace::zeros(target.dim(), points.len());
        target.evaluate(points, None, &mut work)?;
        let value = |i: &usize| work.evaluation.log_prior[*i] + work.evaluation.log_likelihood[*i];
        let mut order: Vec<usize> = (0..points.len()).filter(|i| value(i).is_finite()).collect();
        order.sort_by(|a, b| value(b).total_cmp(&value(a)));
        let best: Vec<Vec<f64>> = order.iter().take(COMPARED).map(|&i| points.point(i)).collect();
        let best = Batch::from_points(target.dim(), &best);
        let lost = 1.0 - order.len() as f64 / points.len() as f64;
        let Some(highest) = order.first().map(value) else {
            self.errors.push(format!(
                "the density is 0 or no number at all of {} points {origin}; look for a logarithm \
                 or root of something negative, or data that the likelihood cannot have made",
                points.len()
            ));
            return Ok(best);
        };
        self.facts.push(format!("log p is finite at points {origin}, at most {highest:.4}"));
        if lost > MANY_LOST {
            self.warnings.push(format!(
                "the density is 0 or no number at {:.0} per cent of the points {origin}; training \
                 leaves such points out",
                100.0 * lost
            ));
        }
        Ok(best)
    }

    fn compare(&mut self, target: &Unconstrained, points: &Batch, is_rough: bool) -> Result<()> {
        let Some(worst) = compare_gradient(target, points)? else { return Ok(()) };
        let name = &target.target().names()[worst.coordinate];
        let said =
            format!("{} in {name}, where differences say {}", worst.gradient, worst.differences);
        if worst.error <= WRONG {
            self.facts.push(format!(
                "the gradient agrees with differences to {:.0e}",
                worst.error.max(1e-12)
            ));
        } else if is_rough {
            self.warnings.push(format!(
                "the gradient is {said}; that may be the solver, whose steps depend on the \
                 solution: a smaller rtol and atol, or solver = \"rk4\", would tell"
            ));
        } else {
            self.errors.push(format!(
                "the gradient is not that of the density: {said}; an `if` whose other branch is no \
                 number there, or a kink, may be the reason"
            ));
        }
        Ok(())
    }

    /// Directions that the likelihood does not know. Parameters whose priors name each other learn
    /// from the data through these: of them the likelihood says too little.
    fn find_flat(
        &mut self,
        target: &Unconstrained,
        points: &Batch,
        is_independent: &[bool],
    ) -> Result<()> {
        if !target.target().has_prior() {
            return Ok(());
        }
        let names = target.target().names();
        for direction in flat_directions(target, points)? {
            let mut order: Vec<usize> = (0..direction.len()).collect();
            order.sort_by(|&a, &b| direction[b].abs().total_cmp(&direction[a].abs()));
            order.retain(|&d| direction[d].abs() > 0.1);
            if !order.iter().all(|&d| is_independent[d]) {
                continue;
            }
            let what: Vec<&str> = order.iter().map(|&d| &names[d][..]).collect();
            self.warnings.push(match &what[..] {
                [one] => format!("the data says nothing about {one}: its posterior is its prior"),
                some => format!(
                    "the data says nothing about a combination of {}: only their priors hold it",
                    some.join(", ")
                ),
            });
        }
        Ok(())
    }

    fn judge_method(&mut self, model: &Model, target: &dyn Target) {
        let path = match model.plan() {
            Plan::Adaann(settings) => settings.path,
            Plan::Answer(settings) => {
                let line = Method::ALL.iter().find(|(name, _)| *name == settings.method.name());
                self.facts.extend(line.map(|(name, line)| format!("method: {name}, {line}")));
                return;
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

    fn text(&self, model: &Model, style: Style) -> String {
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
