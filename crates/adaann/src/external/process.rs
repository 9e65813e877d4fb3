//! One running program: asked, answered, ended.

use crate::external::{
    Command,
    answer::{self, Abilities},
    pipes::{LastWords, Lines, Stop, quoted, wait_until, writer},
    start::{kill, start},
};
use crate::{Batch, Error, Result};
use std::{
    process::Child,
    sync::mpsc::Sender,
    time::{Duration, Instant},
};

/// How long a program has to end once its input has ended.
const GRACE: Duration = Duration::from_secs(2);
/// The longest wait that clocks can add up.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// A program that runs until it is dropped.
pub(super) struct Process {
    program: String,
    child: Child,
    /// Where requests go; none once the input is closed.
    requests: Option<Sender<Vec<u8>>>,
    lines: Lines,
    last_words: LastWords,
    timeout: Duration,
    /// Has it said that it gives gradients?
    gives_gradient: bool,
    /// When it must have ended.
    ends_by: Option<Instant>,
    /// What it was that ended it.
    failure: Option<String>,
}

impl Process {
    /// Starts a program and tells it the names of the parameters.
    pub(super) fn start(command: &Command, names: &[String]) -> Result<Self> {
        let mut child = start(command)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            unreachable!("all three are pipes");
        };
        // A number has 25 characters at most; the rest is for those who line them up.
        let longest = 4096 + 64 * (names.len() + 1);
        let threads =
            || Ok((writer(input)?, Lines::new(output, longest)?, LastWords::new(errors)?));
        let (requests, lines, last_words) = threads().map_err(|error: std::io::Error| {
            kill(&mut child);
            Error::Threads(error.to_string())
        })?;
        let mut process = Self {
            program: command.label(),
            child,
            requests: Some(requests),
            lines,
            last_words,
            timeout: command.timeout.min(FOREVER),
            gives_gradient: false,
            ends_by: None,
            failure: None,
        };
        process.send(answer::greeting(names)?);
        Ok(process)
    }

    /// The program's first line.
    pub(super) fn abilities(&mut self) -> Result<Abilities> {
        let deadline = Instant::now() + self.timeout;
        let found = match self.lines.next(deadline) {
            Ok(line) => answer::abilities(line),
            Err(stop) => Err(self.stopped(stop, "before its first line")),
        };
        let abilities = found.map_err(|what| self.fail(&what))?;
        self.gives_gradient = abilities.gradient;
        Ok(abilities)
    }

    /// The log likelihood, and its derivatives if asked for, at some points of a batch, one point
    /// after another.
    pub(super) fn ask(
        &mut self,
        points: &Batch,
        chosen: &[usize],
        gradient: bool,
        names: &[String],
    ) -> Result<Vec<f64>> {
        if let Some(failure) = &self.failure {
            return Err(Error::Target(failure.clone()));
        }
        if let Some(text) = self.lines.unasked() {
            return Err(self.fail(&unasked(&text)));
        }
        self.send(answer::request(points, chosen, gradient)?);
        let deadline = Instant::now() + self.timeout;
        let slopes = if gradient { names.len() } else { 0 };
        let spare = if self.gives_gradient { names.len() - slopes } else { 0 };
        let mut numbers = Vec::with_capacity(chosen.len() * (1 + slopes));
        for (k, &i) in chosen.iter().enumerate() {
            let problem = match self.lines.next(deadline) {
                Ok(line) => match answer::answer(line, slopes, spare, &mut numbers) {
                    Ok(()) => continue,
                    Err(problem) => format!(
                        "answer {} of {} {problem}; the line is {}, {}",
                        k + 1,
                        chosen.len(),
                        quoted(line),
                        said_of(points, i, names),
                    ),
                },
                Err(stop) => {
                    let point = said_of(points, i, names);
                    self.stopped(stop, &format!("after {k} of {} answers, {point}", chosen.len()))
                }
            };
            return Err(self.fail(&problem));
        }
        if let Some(text) = self.lines.unasked() {
            return Err(self.fail(&unasked(&text)));
        }
        Ok(numbers)
    }

    fn send(&mut self, request: Vec<u8>) {
        if let Some(requests) = &self.requests {
            // The writer has gone if the program does not read any more: its output says why.
            let _ = requests.send(request);
        }
    }

    /// Why there is no line.
    fn stopped(&mut self, stop: Stop, when: &str) -> String {
        match stop {
            Stop::Late => format!(
                "no answer within {} s, {when}; raise the timeout, or have it flush its output after \
                 each batch",
                self.timeout.as_secs_f64()
            ),
            Stop::TooLong(start) => {
                format!("a line that does not end, {when}; it begins with {start}")
            }
            Stop::End => {
                let mut status = None;
                wait_until(Duration::from_secs(1), || {
                    status = self.child.try_wait().ok().flatten();
                    status.is_some()
                });
                match status {
                    Some(status) => format!("it has stopped ({status}) {when}"),
                    None => format!("it has closed its output {when}"),
                }
            }
        }
    }

    /// Ends the program, since nobody knows any more what its next line would mean.
    fn fail(&mut self, problem: &str) -> Error {
        self.requests = None;
        kill(&mut self.child);
        let words = self.last_words.take();
        let words = if words.is_empty() { words } else { format!("\nIts last words:{words}") };
        let failure = format!("{}: {problem}{words}", self.program);
        self.failure = Some(failure.clone());
        Error::Target(failure)
    }

    /// Ends the program's input, after which it should end by itself.
    pub(super) fn close(&mut self) {
        self.requests = None;
        self.ends_by.get_or_insert(Instant::now() + GRACE);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.close();
        let left = self.ends_by.map_or(GRACE, |by| by.saturating_duration_since(Instant::now()));
        if !wait_until(left, || !matches!(self.child.try_wait(), Ok(None))) {
            kill(&mut self.child);
        }
    }
}

fn unasked(text: &str) -> String {
    format!(
        "it has written {text} that it was not asked for; what is no answer belongs on stderr, and \
         each point has one line"
    )
}

/// A point as an error shows it.
fn said_of(points: &Batch, i: usize, names: &[String]) -> String {
    const MOST: usize = 8;
    let each = names.iter().zip(points.point(i)).take(MOST);
    let values: Vec<String> = each.map(|(name, value)| format!("{name} = {value:?}")).collect();
    let more = if names.len() > MOST { ", ..." } else { "" };
    format!("at {}{more}", values.join(", "))
}
