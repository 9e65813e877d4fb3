//! A run: an answer, its errors, its cost, and its verdict.

use super::{
    right::Deviation,
    subject::{Built, Subject},
};
use adaann::{
    Result,
    answer::{self, Event, Method, Settings},
    diagnostics::{Power, Trust},
};
use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

/// A run with an answer.
pub(crate) struct Run {
    pub(crate) off: Deviation,
    pub(crate) method: Method,
    /// `None` without a check.
    pub(crate) trust: Option<Trust>,
    /// The claimed power of the search, or `None` if not measured.
    pub(crate) power: Option<Power>,
    pub(crate) reasons: Vec<String>,
    /// The number of evaluations, for the answer and for its check.
    pub(crate) evaluations: usize,
    pub(crate) check_evaluations: usize,
    pub(crate) ess_share: f64,
    pub(crate) seconds: f64,
    /// Processor time of the process during the run, if the system provides it. On a shared machine it is more
    /// meaningful than elapsed time.
    pub(crate) busy: Option<f64>,
    pub(crate) stopped: bool,
    /// A line for each rung.
    pub(crate) rungs: Vec<String>,
}

impl Run {
    /// Computes an answer within a time limit.
    pub(crate) fn new(subject: &Subject, seed: u64, limit: Duration) -> Result<Self> {
        let Built { target, base, truth } = (subject.build)(seed)?;
        let settings = Settings { seed, base, ..Settings::default() };
        let (start, busy) = (Instant::now(), busy());
        let mut watch = |_: &Event| {
            if start.elapsed() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let answer = answer::approximate(&*target, &settings, &mut watch)?;
        let seconds = start.elapsed().as_secs_f64();
        let busy = busy.zip(self::busy()).map(|(before, after)| after - before);
        let check = answer.examination.as_ref();
        let rung = |rung: &answer::Rung| {
            let share =
                rung.ess_share.map_or(String::new(), |share| format!(", ESS share {share:.3}"));
            format!(
                "{}: {} evaluations{share}, {:?}, {}",
                rung.method.name(),
                rung.evaluations,
                rung.left,
                rung.found
            )
        };
        Ok(Self {
            off: Deviation::of(&answer, &truth)?,
            method: answer.method,
            trust: check.map(|check| check.verdict.trust),
            power: check.and_then(|check| check.verdict.power),
            reasons: check.map_or(Vec::new(), |check| {
                check.verdict.reasons.iter().map(|reason| reason.finding.to_string()).collect()
            }),
            evaluations: answer.evaluations,
            check_evaluations: check.map_or(0, |check| check.evaluations),
            ess_share: answer.sample.weight_sums()?.ess_share(),
            seconds,
            busy,
            stopped: answer.stopped,
            rungs: answer.rungs.iter().map(rung).collect(),
        })
    }

    pub(crate) fn all_evaluations(&self) -> usize {
        self.evaluations + self.check_evaluations
    }

    pub(crate) fn is_right(&self) -> bool {
        self.off.is_right() == Some(true)
    }

    pub(crate) fn is_wrong(&self) -> bool {
        self.off.is_right() == Some(false)
    }

    pub(crate) fn is_reliable(&self) -> bool {
        self.trust == Some(Trust::Reliable)
    }

    /// A one-line summary.
    pub(crate) fn line(&self) -> String {
        let judged = match self.off.is_right() {
            Some(true) => "right".to_owned(),
            Some(false) => format!("WRONG ({})", self.off.faults().join(", ")),
            None => "unknown".to_owned(),
        };
        let trust = self.trust.map_or("not checked".to_owned(), |trust| trust.to_string());
        let power =
            self.power.map_or(String::new(), |power| format!(", power {:.2}", power.share()));
        let busy = self.busy.map_or(String::new(), |busy| format!(" ({busy:.2} s of processors)"));
        format!(
            "{judged}, {trust}{power}, {} + {} evaluations, {:.2} s{busy}, ESS share {:.3}, by {}{}",
            self.evaluations,
            self.check_evaluations,
            self.seconds,
            self.ess_share,
            self.method.name(),
            if self.stopped { ", stopped" } else { "" }
        )
    }
}

/// The processor time of this process in seconds on Linux, and `None` elsewhere.
fn busy() -> Option<f64> {
    // Fields 14 and 15, in hundredths of a second. The process name before them may contain spaces.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks.map(|ticks| ticks.parse().unwrap_or(0.0)).sum();
    Some(ticks / 100.0)
}
