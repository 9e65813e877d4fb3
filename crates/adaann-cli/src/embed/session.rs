//! A run that has not begun: what it is of, and what it was told.

use crate::{
    args::OutputArgs,
    commands::run,
    embed::{Answer, Failure, Running},
    folder::{
        Folder, Old,
        foreign::Foreign,
        record::{Record, Repeats},
        subject::Subject,
    },
    job::{
        Job, display::Listener, interrupt, kept::Kept, progress::Progress, threads::pool, work::Run,
    },
};
use adaann::{
    answer::{Method, Plan},
    checkpoint::Ledger,
    model::{Given, Model, suiting},
    registry::{self, Choices},
    schedule::Rule,
    target::Target,
};
use anyhow::Context;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A run that has not begun.
pub struct Session {
    pub(super) job: Job,
    pub(super) output: OutputArgs,
    /// Raised by a target that has failed for good.
    failed: Arc<AtomicBool>,
}

/// What a run folder says of a target that it cannot hold.
#[derive(Debug, Clone, Default)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// The language that it is written in.
    pub language: String,
    /// What tells it from others, as far as that can be known: a run goes on only with the same.
    pub identity: String,
}

impl Session {
    fn new(job: Job, output: OutputArgs) -> Self {
        Self { job, output, failed: Arc::default() }
    }

    /// A registered density, with parameters of its own.
    ///
    /// # Errors
    /// If there is no such density, or a setting is wrong.
    pub fn of_density(
        name: &str,
        parameters: &[(String, f64)],
        given: Given,
    ) -> Result<Self, Failure> {
        let entry = registry::find(name)?;
        let choices = Choices { parameters: parameters.to_vec(), ..Choices::default() };
        let subject = Subject::of_density(entry, &choices)?;
        let problem = &subject.problem;
        let plan =
            given.plan(&Given::default(), entry.method, &problem.settings, &*problem.target)?;
        let output = output(&given, &Given::default(), &plan)?;
        given.output.refuse_program("target")?;
        let record = Record {
            preset: run::preset(entry, &choices),
            data_seed: run::data_seed(entry, &choices),
            parameters: run::parameters(entry, &choices),
            ..record(name, plan, &output)
        };
        Ok(Self::new(Job::new(record, subject), output))
    }

    /// The model of a file, with other data than its own if some is given.
    ///
    /// # Errors
    /// All that is wrong with the file, or a setting that is.
    pub fn of_model(path: &Path, data: Option<&Path>, given: Given) -> Result<Self, Failure> {
        let model = Model::read_with_data(path, data).map_err(anyhow::Error::from)?;
        let plan = model.plan_with(&given, &model.default_settings())?;
        let output = output(&given, model.given(), &plan)?;
        crate::args::patience_over(&given.output, &model)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let record = Record {
            model: Some(path.to_owned()),
            data: data.map(Path::to_owned),
            ..record(&name, plan, &output)
        };
        Ok(Self::new(Job::new(record, Subject::of_model(model)), output))
    }

    /// A target of the caller's.
    ///
    /// # Errors
    /// If a setting is wrong.
    pub fn of_target(
        target: Box<dyn Target>,
        described: &Described,
        given: Given,
    ) -> Result<Self, Failure> {
        let base = suiting(&*target);
        let plan = given.plan(&Given::default(), Method::Ladder, &base, &*target)?;
        let output = output(&given, &Given::default(), &plan)?;
        given.output.refuse_program("target")?;
        let Described { name, language, identity } = described;
        let record = Record {
            foreign: Some(Foreign::of(&*target, language, identity)),
            ..record(name, plan, &output)
        };
        Ok(Self::new(Job::new(record, Subject::of_target(target)), output))
    }

    /// The same for a target that raises this when it has failed for good: the run then ends without an answer,
    /// and goes on from before that when it is begun again.
    #[must_use]
    pub fn until(self, failed: Arc<AtomicBool>) -> Self {
        Self { failed, ..self }
    }

    /// The same with a rule in place of a schedule, which Algorithm 1 alone has.
    ///
    /// # Errors
    /// If another method was asked for.
    pub fn with_rule(mut self, rule: Box<dyn Rule + Send + Sync>) -> Result<Self, Failure> {
        if self.job.record.method != Method::Adaann {
            return Err(Failure::usage(format!(
                "a rule for the temperatures belongs to the method adaann, but {} was asked for",
                self.job.record.method.name()
            )));
        }
        self.job.rule = Some(rule);
        Ok(self)
    }

    /// Does it. `shows` is told the share that is done, and what is done now.
    ///
    /// # Errors
    /// What went wrong; what was asked to end at once ends so, too.
    pub fn run(self, shows: impl Fn(f64, &str) + Send + Sync + 'static) -> Result<Answer, Failure> {
        let Self { job, output, failed } = self;
        job.check_state()?;
        job.check_memory()?;
        let _running = Running::new();
        let progress = Progress::Told(Listener(Arc::new(shows)));
        let pool = pool(output.threads)?;
        let run = pool.install(|| match &output.out {
            Some(out) => in_folder(&job, &output, out, &progress, &failed),
            None => {
                let ledger = || Ledger::off().urgent_when(interrupt::flag());
                let run = job.work(&progress, &|_| Ok(ledger()), &mut ledger(), None)?;
                check(&failed)?;
                Ok(run)
            }
        });
        if run.is_err() && interrupt::is_overdue() {
            return Err(Failure::stopped());
        }
        Ok(Answer::of_run(job, run?, output.out, pool))
    }
}

/// Does a job with checkpoints, and writes its folder.
fn in_folder(
    job: &Job,
    output: &OutputArgs,
    out: &Path,
    progress: &Progress,
    failed: &Arc<AtomicBool>,
) -> anyhow::Result<Run> {
    let mut folder = Folder::reserve(out, Old::forced(output.force), output.restart)?;
    let told = job.record.to_toml()?;
    let kept = Kept::new(&folder, output.checkpoint, told, &job.subject, None, false)?;
    let mut ledger = kept.ledger()?.until(failed.clone());
    let ledger_of = |seed| Ok(kept.ledger_of_seed(seed)?.until(failed.clone()));
    let run = job.work(progress, &ledger_of, &mut ledger, None);
    kept.save(&mut ledger);
    let mut run = run?;
    check(failed)?;
    folder.restore()?;
    let page = job.write(&run, &folder, &kept)?;
    run.summary.figure_evaluations = *page.as_ref().unwrap_or(&0);
    // A check that was given up goes on, as what was stopped does.
    folder.finish(run.summary.stopped || interrupt::asked())?;
    page.with_context(|| format!("the run is in {}, but for its page", out.display()))?;
    Ok(run)
}

/// Refuses what was made of a target that has failed, if only in its check.
fn check(failed: &AtomicBool) -> anyhow::Result<()> {
    match failed.load(Ordering::Relaxed) {
        true => Err(anyhow::anyhow!("the target has failed")),
        false => Ok(()),
    }
}

/// What comes out, checked.
fn output(given: &Given, below: &Given, plan: &Plan) -> Result<OutputArgs, Failure> {
    let output = given.clone().over(below).output;
    output.check(plan.seed())?;
    Ok(output.into())
}

fn record(name: &str, plan: Plan, output: &OutputArgs) -> Record {
    Record {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: name.to_owned(),
        model: None,
        method: plan.method(),
        repeats: Repeats::of(&plan, output),
        strict: output.strict,
        no_state: output.no_state,
        preset: String::new(),
        data_seed: None,
        data: None,
        parameters: BTreeMap::new(),
        foreign: None,
        plan,
    }
}
