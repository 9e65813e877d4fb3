//! A run before its start: its subject and its settings.

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

/// A run before its start.
pub struct Session {
    pub(super) job: Job,
    pub(super) output: OutputArgs,
    /// Set by a target that has failed permanently.
    failed: Arc<AtomicBool>,
}

/// The description, in a run folder, of a target that the folder cannot contain.
#[derive(Debug, Clone, Default)]
pub struct Described {
    /// The target's name.
    pub name: String,
    /// Its programming language.
    pub language: String,
    /// A text that identifies the target as far as possible; a run resumes only with the same identity.
    pub identity: String,
}

impl Session {
    fn new(job: Job, output: OutputArgs) -> Self {
        Self { job, output, failed: Arc::default() }
    }

    /// A registered density with parameters.
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

    /// The model of a file, with `data` in place of its own if given.
    ///
    /// # Errors
    /// All errors in the file, or a wrong setting.
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

    /// A target given by the caller.
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

    /// Ends the run without an answer when the target sets `failed`, because it has failed permanently. A new
    /// session resumes from before the failure.
    #[must_use]
    pub fn until(self, failed: Arc<AtomicBool>) -> Self {
        Self { failed, ..self }
    }

    /// Replaces the schedule of Algorithm 1 by a rule.
    ///
    /// # Errors
    /// If the session has another method.
    pub fn with_rule(mut self, rule: Box<dyn Rule + Send + Sync>) -> Result<Self, Failure> {
        if self.job.record.method != Method::Adaann {
            return Err(Failure::usage(format!(
                "a rule for the temperatures needs the method adaann, but the method is {}",
                self.job.record.method.name()
            )));
        }
        self.job.rule = Some(rule);
        Ok(self)
    }

    /// Carries out the run. `shows` receives the share done and the current activity.
    ///
    /// # Errors
    /// If the run fails, or was asked to end at once.
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

/// Carries out a job with checkpoints and writes its folder.
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
    // Keep the checkpoints of an interrupted check, as those of an interrupted run.
    folder.finish(run.summary.stopped || interrupt::asked())?;
    page.with_context(|| {
        format!("the run is in {}, but its page could not be drawn", out.display())
    })?;
    Ok(run)
}

/// Refuses the results of a target that has failed, even if only in its check.
fn check(failed: &AtomicBool) -> anyhow::Result<()> {
    match failed.load(Ordering::Relaxed) {
        true => Err(anyhow::anyhow!("the target has failed")),
        false => Ok(()),
    }
}

/// The checked output settings.
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
