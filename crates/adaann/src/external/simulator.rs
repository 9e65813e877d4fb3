//! Parallel processes of a program, and the distribution of points among them.

use crate::external::{Command, GradientBy, answer::Abilities, worker::Worker};
use crate::{Batch, Error, Result, tasks};
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

/// The smallest batch, unless the program sets a smaller limit.
const SMALLEST: usize = 8;
/// The largest number of batches per call, if the program sets no limit.
const MOST: usize = 64;

/// A program of the user in several processes, which end when this is dropped.
pub struct Simulator {
    command: Command,
    program: String,
    names: Vec<String>,
    workers: Vec<Mutex<Worker>>,
    gives_gradient: bool,
    /// The largest number of points in a batch.
    largest: usize,
}

impl Simulator {
    /// Starts the program and sends it the names of the parameters.
    ///
    /// # Errors
    /// If it does not start, or its first line is invalid.
    pub fn start(command: &Command, names: &[String]) -> Result<Self> {
        let count = match command.processes {
            0 => tasks::threads_at_work(),
            count => count,
        };
        // Start all of them first, so that they load their libraries in parallel.
        let mut workers =
            (0..count).map(|_| Worker::start(command, names)).collect::<Result<Vec<_>>>()?;
        let each = workers.iter_mut().map(|worker| worker.greet(command));
        let each = each.collect::<Result<Vec<Abilities>>>().inspect_err(|_| {
            workers.iter_mut().for_each(Worker::close);
        })?;
        let program = command.label();
        let gradient = each.iter().all(|abilities| abilities.gradient);
        if command.gradient == GradientBy::Program && !gradient {
            return Err(Error::Target(format!(
                "{program} says that it gives no gradient; have it reply {{\"gradient\": true}}, or \
                 take the gradient from differences"
            )));
        }
        Ok(Self {
            command: command.clone(),
            program,
            names: names.to_vec(),
            workers: workers.into_iter().map(Mutex::new).collect(),
            gives_gradient: gradient && command.gradient != GradientBy::Differences,
            largest: each
                .iter()
                .filter_map(|abilities| abilities.batch)
                .min()
                .unwrap_or(usize::MAX),
        })
    }

    /// Whether the gradient comes from the program rather than from differences.
    pub fn gives_gradient(&self) -> bool {
        self.gives_gradient
    }

    /// The names of the parameters.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The program with its arguments.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The number of processes.
    pub fn processes(&self) -> usize {
        self.workers.len()
    }

    /// How often a process has been restarted so far.
    pub fn restarts(&self) -> usize {
        let each = self.workers.iter();
        each.map(|worker| worker.lock().unwrap_or_else(PoisonError::into_inner).restarts()).sum()
    }

    /// The log likelihood at points in the program's own coordinates and, if requested, its
    /// derivatives. A non-finite point has −∞ and zeros. A point with coordinates that are not
    /// finite is non-finite without a call.
    ///
    /// A program that fails is restarted and given the same points again, as often as its command
    /// allows.
    ///
    /// # Errors
    /// The last failure of the program, with the line and the end of stderr; if the gradient is
    /// requested but the program returns none; or if the sizes do not match the points.
    pub fn log_likelihood(
        &self,
        points: &Batch,
        gradient: bool,
        values: &mut [f64],
        slopes: &mut Batch,
    ) -> Result<()> {
        self.check(points, gradient, values, slopes)?;
        if gradient && !self.gives_gradient {
            let program = &self.program;
            return Err(Error::Target(format!("{program} gives no gradient; use differences")));
        }
        let is_finite = |i: &usize| (0..points.dim()).all(|d| points.row(d)[*i].is_finite());
        let sent: Vec<usize> = (0..points.len()).filter(is_finite).collect();
        let pieces: Vec<&[usize]> = sent.chunks(self.piece(sent.len())).collect();
        values[..points.len()].fill(f64::NEG_INFINITY);
        if gradient {
            (0..points.dim()).for_each(|d| slopes.row_mut(d).fill(0.0));
        }
        for (piece, answers) in pieces.iter().zip(self.ask_all(points, &pieces, gradient)?) {
            let columns = answers.len() / piece.len();
            for (answer, &i) in answers.chunks_exact(columns).zip(*piece) {
                values[i] = answer[0];
                for (d, slope) in answer[1..].iter().enumerate() {
                    slopes.row_mut(d)[i] = *slope;
                }
            }
        }
        Ok(())
    }

    /// Refuses values and slopes whose size does not match the points.
    pub(super) fn check(
        &self,
        points: &Batch,
        gradient: bool,
        values: &[f64],
        slopes: &Batch,
    ) -> Result<()> {
        let refuse = |what: &str, found: usize, expected: usize| {
            let (found, expected) = (found.to_string(), expected.to_string());
            Err(Error::Shape { what: what.into(), found, expected })
        };
        let (dim, len) = (self.names.len(), points.len());
        if points.dim() != dim {
            return refuse("coordinates of the points", points.dim(), dim);
        }
        if values.len() < len {
            return refuse("room for log likelihoods", values.len(), len);
        }
        if gradient && (slopes.dim() != dim || slopes.len() != len) {
            return refuse("room for derivatives", slopes.dim() * slopes.len(), dim * len);
        }
        Ok(())
    }

    /// The points of a batch. The size depends only on the number of points, and so do the
    /// program's results, even if it rounds differently in batches of another size.
    fn piece(&self, points: usize) -> usize {
        points.div_ceil(MOST).max(SMALLEST).min(self.largest)
    }

    /// An idle process, or else the first: several threads may call at a time.
    fn free(&self) -> Option<MutexGuard<'_, Worker>> {
        let free = self.workers.iter().find_map(|worker| match worker.try_lock() {
            Ok(free) => Some(free),
            Err(TryLockError::Poisoned(free)) => Some(free.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        free.or_else(|| Some(self.workers.first()?.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Evaluates all pieces, each in the program that is free first.
    fn ask_all(
        &self,
        points: &Batch,
        pieces: &[&[usize]],
        gradient: bool,
    ) -> Result<Vec<Vec<f64>>> {
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = |mut worker: MutexGuard<Worker>| {
            let mut answers = Vec::new();
            while !failed.load(Ordering::Relaxed) {
                let k = next.fetch_add(1, Ordering::Relaxed);
                let Some(piece) = pieces.get(k) else { break };
                let answer = worker.ask(&self.command, &self.names, points, piece, gradient);
                failed.fetch_or(answer.is_err(), Ordering::Relaxed);
                answers.push((k, answer));
            }
            answers
        };
        let in_turn =
            |worker: &Mutex<Worker>| work(worker.lock().unwrap_or_else(PoisonError::into_inner));
        let many = &self.workers[..self.workers.len().min(pieces.len())];
        let mut answers: Vec<_> = match many.len() {
            0 => Vec::new(),
            1 => self.free().map_or_else(Vec::new, work),
            _ => thread::scope(|scope| {
                let in_turn = &in_turn;
                let threads: Vec<_> =
                    many.iter().map(|worker| scope.spawn(move || in_turn(worker))).collect();
                let done = threads.into_iter().map(|thread| thread.join());
                done.flat_map(|answers| answers.expect("requests do not panic")).collect()
            }),
        };
        answers.sort_by_key(|(k, _)| *k);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        // Close all inputs first, so that they exit in parallel.
        for worker in &mut self.workers {
            worker.get_mut().unwrap_or_else(PoisonError::into_inner).close();
        }
    }
}

impl std::fmt::Debug for Simulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulator")
            .field("program", &self.program)
            .field("names", &self.names)
            .field("processes", &self.workers.len())
            .field("gives_gradient", &self.gives_gradient)
            .finish_non_exhaustive()
    }
}
