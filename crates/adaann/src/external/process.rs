//! One running program: its requests, replies and termination.

use crate::external::{
    Command,
    answer::{self, Abilities},
    group,
    pipes::{LastWords, Lines, Stop, quoted, wait_until, writer},
    start::start,
};
use crate::{Batch, Error, Result};
use std::{
    process::{Child, ExitStatus},
    sync::mpsc::Sender,
    time::{Duration, Instant},
};

/// How long a program may run after its input has ended.
const GRACE: Duration = Duration::from_secs(2);
/// The longest time that can be added to a clock.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// The reason why a program was terminated.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) problem: String,
    /// The last lines of its stderr, with a headline; empty if there are none.
    pub(super) last_words: String,
}

impl Failure {
    pub(super) fn without_words(problem: String) -> Self {
        Self { problem, last_words: String::new() }
    }
}

/// A program that runs until it is dropped. After a failure it cannot be used again.
pub(super) struct Process {
    child: Child,
    /// Sends requests; `None` once the input is closed.
    requests: Option<Sender<Vec<u8>>>,
    lines: Lines,
    last_words: LastWords,
    timeout: Duration,
    /// Whether it returns gradients.
    gives_gradient: bool,
    /// The time by which it must have ended.
    ends_by: Option<Instant>,
    /// Whether its exit status has been collected.
    is_ended: bool,
}

impl Process {
    /// Starts a program and sends it the names of the parameters.
    pub(super) fn start(command: &Command, names: &[String]) -> Result<Self> {
        let mut child = start(command)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            unreachable!("all three are pipes");
        };
        // A number has 25 characters at most; the rest allows for aligned columns.
        let longest = 4096 + 64 * (names.len() + 1);
        let threads =
            || Ok((writer(input)?, Lines::new(output, longest)?, LastWords::new(errors)?));
        let (requests, lines, last_words) = threads().map_err(|error: std::io::Error| {
            group::end(&mut child);
            Error::Threads(error.to_string())
        })?;
        let mut process = Self {
            child,
            requests: Some(requests),
            lines,
            last_words,
            timeout: command.timeout.min(FOREVER),
            gives_gradient: false,
            ends_by: None,
            is_ended: false,
        };
        process.send(answer::greeting(names)?);
        Ok(process)
    }

    /// The program's first line.
    pub(super) fn abilities(&mut self) -> Result<Abilities, Failure> {
        let deadline = Instant::now() + self.timeout;
        let found = match self.lines.next(deadline, || group::has_ended(&mut self.child)) {
            Ok(line) => answer::abilities(line),
            Err(stop) => Err(self.stopped(stop, "before its first line")),
        };
        let abilities = found.map_err(|what| self.fail(what))?;
        self.gives_gradient = abilities.gradient;
        Ok(abilities)
    }

    /// The log likelihood and, if requested, its derivatives at some points of a batch, one point
    /// after another; `request` is the message for the program.
    pub(super) fn ask(
        &mut self,
        request: Vec<u8>,
        points: &Batch,
        chosen: &[usize],
        gradient: bool,
        names: &[String],
    ) -> Result<Vec<f64>, Failure> {
        if let Some(text) = self.lines.unasked() {
            return Err(self.fail(unasked(&text)));
        }
        self.send(request);
        let deadline = Instant::now() + self.timeout;
        let slopes = if gradient { names.len() } else { 0 };
        let spare = if self.gives_gradient { names.len() - slopes } else { 0 };
        let mut numbers = Vec::with_capacity(chosen.len() * (1 + slopes));
        for (k, &i) in chosen.iter().enumerate() {
            let problem = match self.lines.next(deadline, || group::has_ended(&mut self.child)) {
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
            return Err(self.fail(problem));
        }
        if let Some(text) = self.lines.unasked() {
            return Err(self.fail(unasked(&text)));
        }
        Ok(numbers)
    }

    fn send(&mut self, request: Vec<u8>) {
        if let Some(requests) = &self.requests {
            // Sending fails if the program no longer reads; its output shows why.
            let _ = requests.send(request);
        }
    }

    /// The message for a missing line.
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
                let child = &mut self.child;
                let by_itself = wait_until(Duration::from_secs(1), || group::has_ended(child));
                match self.end() {
                    Some(status) if by_itself => format!("it has stopped ({status}) {when}"),
                    _ => format!("it has closed its output {when}"),
                }
            }
        }
    }

    /// Terminates the program, because its next line can no longer be interpreted.
    fn fail(&mut self, problem: String) -> Failure {
        self.end();
        let words = self.last_words.take();
        let headline = if words.is_empty() { "" } else { "\nLast lines of its stderr:" };
        Failure { problem, last_words: format!("{headline}{words}") }
    }

    /// Terminates the program with all its children; returns the exit status.
    fn end(&mut self) -> Option<ExitStatus> {
        self.requests = None;
        if std::mem::replace(&mut self.is_ended, true) {
            // Its status is known and the process number may have been reused, so send no signals.
            return self.child.wait().ok();
        }
        group::end(&mut self.child)
    }

    /// Closes the program's input, after which it should exit by itself.
    pub(super) fn close(&mut self) {
        self.requests = None;
        self.ends_by.get_or_insert(Instant::now() + GRACE);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.close();
        let left = self.ends_by.map_or(GRACE, |by| by.saturating_duration_since(Instant::now()));
        // Its children may not have noticed, and are terminated in any case.
        let _ = self.is_ended || wait_until(left, || group::has_ended(&mut self.child));
        self.end();
    }
}

fn unasked(text: &str) -> String {
    format!(
        "it wrote {text} without a request; write one line for each point to stdout, and everything \
         else to stderr"
    )
}

/// A point as shown in errors.
fn said_of(points: &Batch, i: usize, names: &[String]) -> String {
    const MOST: usize = 8;
    let each = names.iter().zip(points.point(i)).take(MOST);
    let values: Vec<String> = each.map(|(name, value)| format!("{name} = {value:?}")).collect();
    let more = if names.len() > MOST { ", ..." } else { "" };
    format!("at {}{more}", values.join(", "))
}
