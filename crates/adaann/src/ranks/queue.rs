//! The queue of requests for ranks, and the path of their replies.

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

/// How often waiting threads check that a reply can still arrive.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A message from a rank.
#[derive(Debug)]
pub enum Word {
    /// A message before the reply, such as a checkpoint of a trial.
    Note(Vec<u8>),
    /// The reply, or why there is none.
    Answer(Result<Vec<u8>>),
}

/// A request, to be answered by whoever takes it. A request that is dropped has failed.
#[derive(Debug)]
pub struct Request {
    /// Its index among the requests sent together.
    index: usize,
    question: Vec<u8>,
    words: Sender<(usize, Word)>,
    /// Whether the requesting process may answer it.
    is_for_all: bool,
    /// Whether someone still waits for the reply.
    is_wanted: Arc<AtomicBool>,
    failure: Arc<Failure>,
}

impl Request {
    /// The bytes of the request.
    pub fn question(&self) -> &[u8] {
        &self.question
    }

    /// Sends a message before the reply. It is ignored if nobody waits any more.
    pub fn note(&self, note: Vec<u8>) {
        let _ = self.words.send((self.index, Word::Note(note)));
    }

    /// Sends the reply; an error is one of the target, and its text says where it happened.
    pub fn answer(self, answer: std::result::Result<Vec<u8>, String>) {
        if let Err(why) = &answer {
            self.failure.because(why);
        }
        let _ = self.words.send((self.index, Word::Answer(answer.map_err(Error::Target))));
    }
}

/// The first failed request. Anything computed after it is not part of a run, and no further
/// requests are sent.
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

/// The replies to requests sent together. Dropping it cancels the remaining requests.
#[derive(Debug)]
pub struct Answers {
    words: Receiver<(usize, Word)>,
    is_wanted: Arc<AtomicBool>,
}

impl Answers {
    /// The next message with the index of its request; `None` if none arrives within this time.
    ///
    /// # Errors
    /// If every remaining request was dropped.
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

/// The requests were dropped by whoever had taken them.
#[derive(Debug, Clone, Copy)]
pub struct Dropped;

/// A queue of requests for ranks.
///
/// Senders wait for the replies; a transport takes the requests one by one.
#[derive(Debug, Default)]
pub struct Queue {
    inside: Mutex<Inside>,
    changed: Condvar,
    failure: Arc<Failure>,
}

#[derive(Debug, Default)]
struct Inside {
    waiting: VecDeque<Request>,
    /// Messages that every rank must receive before later requests.
    announced: Vec<Arc<[u8]>>,
    is_closed: bool,
}

impl Inside {
    /// The next request whose reply is still wanted.
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

    /// Sends every rank a message before later requests.
    pub fn announce(&self, told: Vec<u8>) {
        self.inside().announced.push(told.into());
        self.changed.notify_all();
    }

    /// The announcements from this index on.
    pub fn announced_from(&self, first: usize) -> Vec<Arc<[u8]>> {
        self.inside().announced.iter().skip(first).cloned().collect()
    }

    /// Sends several requests at once; messages come back with the index of their request, in any
    /// order.
    ///
    /// # Errors
    /// If the queue has failed.
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

    /// Sends one request to the other ranks, passes on its messages, and returns its reply.
    ///
    /// # Errors
    /// If no reply arrives.
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

    /// The error of a request without a reply.
    pub(super) fn nobody(&self) -> Error {
        Error::Target(self.failure().unwrap_or("no rank returned a result").to_owned())
    }

    /// The next request for another rank, if one waits.
    pub fn take(&self) -> Option<Request> {
        self.inside().take(false)
    }

    /// Waits for the next request that this process may answer; `None` once the queue is closed.
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

    /// Waits until a request or an announcement is there, or until `most` has passed.
    pub fn wait(&self, most: Duration) {
        let inside = self.inside();
        if inside.waiting.is_empty() && !inside.is_closed {
            // A spurious wake-up is harmless: the caller checks and waits again.
            drop(self.changed.wait_timeout(inside, most));
        }
    }

    /// Refuses all requests from now on, for this reason; the first reason stays.
    pub fn fail(&self, why: &str) {
        self.failure.because(why);
        let waiting = std::mem::take(&mut self.inside().waiting);
        for request in waiting {
            request.answer(Err(why.to_owned()));
        }
        self.changed.notify_all();
    }

    /// Why requests are refused, if they are.
    pub fn failure(&self) -> Option<&str> {
        self.failure.why.get().map(String::as_str)
    }

    /// A flag that is raised when a request has failed.
    pub fn failed(&self) -> Arc<AtomicBool> {
        self.failure.has_happened.clone()
    }

    /// Releases the threads that wait for requests.
    pub fn close(&self) {
        self.inside().is_closed = true;
        self.changed.notify_all();
    }
}
