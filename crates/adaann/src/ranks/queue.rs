//! Questions that wait for a rank, and the way back of their answers.

use crate::{Error, Result};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    time::Duration,
};

/// How often those who wait look whether there is still somebody to wait for.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What comes back from a rank.
#[derive(Debug)]
pub enum Word {
    /// Something on the way, such as a checkpoint of a trial.
    Note(Vec<u8>),
    /// The answer, or why there is none.
    Answer(Result<Vec<u8>>),
}

/// A question on its way: whoever takes it answers it. One that is dropped has failed.
#[derive(Debug)]
pub struct Request {
    /// Its place among those that were asked together.
    index: usize,
    question: Vec<u8>,
    words: Sender<(usize, Word)>,
    /// May it be answered in the process that asks?
    is_for_all: bool,
    /// Is somebody still waiting for it?
    is_wanted: Arc<AtomicBool>,
    failure: Arc<Failure>,
}

impl Request {
    /// What is asked.
    pub fn question(&self) -> &[u8] {
        &self.question
    }

    /// Tells something before the answer. Nobody may be listening any more.
    pub fn note(&self, note: Vec<u8>) {
        let _ = self.words.send((self.index, Word::Note(note)));
    }

    /// The answer; an error is one of the target, in words that say where it happened.
    pub fn answer(self, answer: std::result::Result<Vec<u8>, String>) {
        if let Err(why) = &answer {
            self.failure.because(why);
        }
        let _ = self.words.send((self.index, Word::Answer(answer.map_err(Error::Target))));
    }
}

/// The first question that came to nothing: what is made after that is no part of a run, and nothing more is asked.
#[derive(Debug, Default)]
struct Failure {
    has_happened: Arc<AtomicBool>,
    why: OnceLock<String>,
}

impl Failure {
    fn because(&self, why: &str) {
        self.why.get_or_init(|| why.to_owned());
        self.has_happened.store(true, Ordering::Relaxed);
    }
}

/// What comes back for questions that were asked together. Dropped, it wants no more of them.
#[derive(Debug)]
pub struct Answers {
    words: Receiver<(usize, Word)>,
    is_wanted: Arc<AtomicBool>,
}

impl Answers {
    /// The next word, with the place of its question; none within this time, or an error if nobody can answer any
    /// more.
    ///
    /// # Errors
    /// If every question that is left was dropped.
    pub fn wait(&self, most: Duration) -> std::result::Result<Option<(usize, Word)>, Dropped> {
        match self.words.recv_timeout(most) {
            Ok(word) => Ok(Some(word)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Dropped),
        }
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
    }
}

/// Questions were dropped by who had taken them.
#[derive(Debug, Clone, Copy)]
pub struct Dropped;

/// Questions that wait for a rank.
///
/// Those who ask wait for what comes back; a transport takes the questions one by one.
#[derive(Debug, Default)]
pub struct Queue {
    inside: Mutex<Inside>,
    changed: Condvar,
    failure: Arc<Failure>,
}

#[derive(Debug, Default)]
struct Inside {
    waiting: VecDeque<Request>,
    /// What every rank is told before the questions that follow.
    announced: Vec<Arc<[u8]>>,
    is_closed: bool,
}

impl Inside {
    /// The next question that somebody still wants to know.
    fn take(&mut self, is_here: bool) -> Option<Request> {
        self.waiting.retain(|request| request.is_wanted.load(Ordering::Relaxed));
        let first = self.waiting.iter().position(|request| request.is_for_all || !is_here)?;
        self.waiting.remove(first)
    }
}

impl Queue {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells every rank something before it is asked what follows.
    pub fn announce(&self, told: Vec<u8>) {
        self.inside().announced.push(told.into());
        self.changed.notify_all();
    }

    /// What ranks are told, from this place of the list on.
    pub fn announced_from(&self, first: usize) -> Vec<Arc<[u8]>> {
        self.inside().announced.iter().skip(first).cloned().collect()
    }

    /// Asks several questions at once; words come back with the place of their question, in any order.
    ///
    /// # Errors
    /// If nothing is answered any more.
    pub fn ask_all(&self, questions: Vec<Vec<u8>>) -> Result<Answers> {
        self.ask_some(questions, true)
    }

    fn ask_some(&self, questions: Vec<Vec<u8>>, is_for_all: bool) -> Result<Answers> {
        let (words, heard) = mpsc::channel();
        let is_wanted = Arc::new(AtomicBool::new(true));
        let mut inside = self.inside();
        if let Some(why) = self.failure() {
            return Err(Error::Target(why.to_owned()));
        }
        let each = questions.into_iter().enumerate().map(|(index, question)| Request {
            index,
            question,
            is_for_all,
            words: words.clone(),
            is_wanted: is_wanted.clone(),
            failure: self.failure.clone(),
        });
        inside.waiting.extend(each);
        drop(inside);
        self.changed.notify_all();
        Ok(Answers { words: heard, is_wanted })
    }

    /// Asks the other ranks one question, hears its notes, and gives its answer.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn ask_elsewhere(&self, question: Vec<u8>, mut note: impl FnMut(&[u8])) -> Result<Vec<u8>> {
        let answers = self.ask_some(vec![question], false)?;
        loop {
            match answers.wait(LOOK_EVERY) {
                Ok(Some((_, Word::Note(told)))) => note(&told),
                Ok(Some((_, Word::Answer(answer)))) => return answer,
                Ok(None) if self.failure().is_none() => {}
                Ok(None) | Err(Dropped) => return Err(self.nobody()),
            }
        }
    }

    /// The error of a question that nobody answers.
    pub(super) fn nobody(&self) -> Error {
        Error::Target(self.failure().unwrap_or("no rank has answered").to_owned())
    }

    /// The next question for another rank, if one waits.
    pub fn take(&self) -> Option<Request> {
        self.inside().take(false)
    }

    /// Waits for the next question that may be answered in this process; none when the queue is closed.
    pub fn wait_for_request(&self) -> Option<Request> {
        let mut inside = self.inside();
        loop {
            if inside.is_closed {
                return None;
            }
            if let Some(request) = inside.take(true) {
                return Some(request);
            }
            inside = self.changed.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until a question waits or something is announced, or for so long.
    pub fn wait(&self, most: Duration) {
        let inside = self.inside();
        if inside.waiting.is_empty() && !inside.is_closed {
            // Whoever is woken for nothing looks, and comes again.
            drop(self.changed.wait_timeout(inside, most));
        }
    }

    /// From now on nothing is answered, for this reason; the first one stays.
    pub fn fail(&self, why: &str) {
        self.failure.because(why);
        let waiting = std::mem::take(&mut self.inside().waiting);
        for request in waiting {
            request.answer(Err(why.to_owned()));
        }
        self.changed.notify_all();
    }

    /// Why nothing is answered any more, if that is so.
    pub fn failure(&self) -> Option<&str> {
        self.failure.why.get().map(String::as_str)
    }

    /// A flag that is raised when a question has come to nothing.
    pub fn failed(&self) -> Arc<AtomicBool> {
        self.failure.has_happened.clone()
    }

    /// Those who wait for questions may go.
    pub fn close(&self) {
        self.inside().is_closed = true;
        self.changed.notify_all();
    }
}
