//! A job on several processes: rank 0 runs a command, the others answer its requests.

use crate::{
    commands::calibrate::trials,
    folder::subject::Subject,
    job::{interrupt, seeds},
    ranks::{self, QUESTION, Question, Told},
};
use adaann::{
    checkpoint::{from_bytes, to_bytes},
    ranks::{Answering, Queue, subject_of},
    target::Target,
    tasks,
};
use adaann_paper::{campaign, experiments};
use rayon::ThreadPool;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

/// Runs a command line of `adaann` as rank 0 of several. Targets and trials are shared through `queue`, whose
/// questions the caller sends to the other ranks. These answer `seats` questions at a time in total; this process
/// has `threads` threads.
pub fn command_of_ranks(
    arguments: impl IntoIterator<Item = OsString>,
    queue: Arc<Queue>,
    threads: usize,
    seats: usize,
) -> ExitCode {
    ranks::begin(queue, threads, seats, interrupt::is_overdue);
    crate::commands::main(arguments)
}

/// Was the run of this process asked to end?
pub fn is_asked_to_end() -> bool {
    interrupt::asked()
}

/// A rank that answers questions. It prints nothing and writes no files.
pub struct Rank {
    opened: Mutex<BTreeMap<u64, Result<&'static Opened, String>>>,
    pool: ThreadPool,
}

/// The subject of questions; it lives as long as its process.
struct Opened {
    subject: &'static Subject,
    answering: Answering,
}

impl Opened {
    fn new(told: &Told) -> anyhow::Result<&'static Self> {
        let subject: &Subject = Box::leak(Box::new(Subject::of_described(&told.described)?));
        let target: &'static dyn Target = &*subject.problem.target;
        Ok(Box::leak(Box::new(Self { subject, answering: Answering::new(Arc::new(target)) })))
    }
}

impl Rank {
    /// A rank with this number of threads.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(threads: usize) -> Result<Self, String> {
        let pool = tasks::pool(threads).map_err(|error| error.to_string())?;
        Ok(Self { opened: Mutex::default(), pool })
    }

    /// Receives a target. Errors in it are reported in the answers to its questions.
    pub fn hear(&self, told: &[u8]) {
        let Ok(told) = from_bytes::<Told>(told) else { return };
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.entry(told.number).or_insert_with(|| {
            self.pool.install(|| Opened::new(&told)).map_err(|error| format!("{error:#}"))
        });
    }

    fn opened(&self, number: u64) -> Result<&'static Opened, String> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened
            .get(&number)
            .cloned()
            .unwrap_or_else(|| Err("the question names an unknown target".into()))
    }

    /// Answers a question, and sends notes before the result; may be called from several threads.
    ///
    /// # Errors
    /// The message of the error.
    pub fn answer(
        &self,
        question: &[u8],
        note: impl Fn(&[u8]) + Send + Sync + 'static,
    ) -> Result<Vec<u8>, String> {
        if let Some(number) = subject_of(question) {
            let opened = self.opened(number)?;
            return self.pool.install(|| opened.answering.answer(question));
        }
        let Some((&QUESTION, question)) = question.split_first() else {
            return Err("unknown kind of question".into());
        };
        let worded = |error: adaann::Error| error.to_string();
        let question: Question = from_bytes(question).map_err(worded)?;
        // A whole trial has one thread, as without ranks.
        let single = tasks::pool(1).map_err(|error| error.to_string())?;
        single.install(|| self.work(question, note)).map_err(|error| format!("{error:#}"))
    }

    fn work(
        &self,
        question: Question,
        note: impl Fn(&[u8]) + Send + Sync + 'static,
    ) -> anyhow::Result<Vec<u8>> {
        let opened = |number| self.opened(number).map_err(anyhow::Error::msg);
        Ok(match question {
            Question::Trial { subject, fit, draws, seed, number } => {
                let model = opened(subject)?.subject.model.as_ref();
                let model = model.ok_or_else(|| anyhow::anyhow!("a trial needs a model"))?;
                to_bytes(&trials::run_one(model, &fit, draws, seed, number))?
            }
            Question::Seed { subject, plan, seed, most, draws, kept } => {
                let target = &*opened(subject)?.subject.problem.target;
                to_bytes(&seeds::answer(target, (&plan, seed), most, draws, kept, note))?
            }
            Question::Paper { run, value, number } => {
                let all = experiments::all();
                to_bytes(&campaign::trial(&all, &run, value, number, interrupt::flag())?)?
            }
        })
    }
}
