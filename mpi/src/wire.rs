//! Messages between the main threads of ranks.

use mpi::{
    point_to_point::{Destination, MatchedReceiveVec, Source},
    request,
    topology::SimpleCommunicator,
    traits::Communicator,
};
use std::{
    cell::RefCell,
    collections::VecDeque,
    thread,
    time::{Duration, Instant},
};

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Kind {
    /// A rank says who it is.
    Hello = 1,
    /// Rank 0 has seen all of them.
    Welcome,
    /// Rank 0 tells what it is going to ask about.
    Told,
    /// A question, with its number.
    Ask,
    /// An answer, and why there is none, with the number of its question.
    Answer,
    Failure,
    /// Something on the way to an answer, with the number of its question.
    Note,
    /// Are you there? I am.
    Ping,
    Pong,
    /// Whatever takes long is to end soon.
    End,
    /// All is done.
    Exit,
    /// And this is the last word.
    Bye,
}

impl Kind {
    const ALL: [Self; 12] = [
        Self::Hello,
        Self::Welcome,
        Self::Told,
        Self::Ask,
        Self::Answer,
        Self::Failure,
        Self::Note,
        Self::Ping,
        Self::Pong,
        Self::End,
        Self::Exit,
        Self::Bye,
    ];

    fn of(tag: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i32 == tag)
    }
}

/// A message that has come.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) from: usize,
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
}

impl Message {
    /// The number that a message begins with, and the rest of it.
    pub(crate) fn numbered(&self) -> Option<(u64, &[u8])> {
        let (number, rest) = self.bytes.split_first_chunk()?;
        Some((u64::from_le_bytes(*number), rest))
    }
}

/// A message that begins with a number.
pub(crate) fn numbered(number: u64, rest: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes(), rest].concat()
}

/// The way to the other ranks.
pub(crate) struct Wire<'a> {
    world: &'a SimpleCommunicator,
    /// What has come while something was sent.
    inbox: RefCell<VecDeque<Message>>,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(world: &'a SimpleCommunicator) -> Self {
        Self { world, inbox: RefCell::default() }
    }

    /// How many ranks there are.
    pub(crate) fn size(&self) -> usize {
        self.world.size() as usize
    }

    /// Sends a message, and says whether it went out within this time. What comes meanwhile is kept: two ranks that send
    /// to each other would else wait for each other.
    ///
    /// One that does not go out leaves a request behind that MPI knows no end of: the job is then to be aborted, and this
    /// does it, once `last` has done what there is to do.
    pub(crate) fn send(
        &self,
        to: usize,
        kind: Kind,
        bytes: &[u8],
        most: Duration,
        last: impl FnOnce(),
    ) {
        let started = Instant::now();
        let mut wait = Wait::default();
        request::scope(|scope| {
            let other = self.world.process_at_rank(to as i32);
            let mut sending = other.immediate_send_with_tag(scope, bytes, kind as i32);
            loop {
                match sending.test() {
                    Ok(_) => return,
                    Err(still) => sending = still,
                }
                if let Some(message) = self.poll() {
                    self.inbox.borrow_mut().push_back(message);
                } else {
                    thread::sleep(wait.next());
                }
                if started.elapsed() > most {
                    last();
                    self.abort(1);
                }
            }
        });
    }

    /// The next message, if one has come.
    pub(crate) fn receive(&self) -> Option<Message> {
        let kept = self.inbox.borrow_mut().pop_front();
        kept.or_else(|| self.poll())
    }

    fn poll(&self) -> Option<Message> {
        let (message, status) = self.world.any_process().immediate_matched_probe()?;
        let (from, tag) = (status.source_rank() as usize, status.tag());
        let (bytes, _) = (message, status).matched_receive_vec();
        // A tag of nobody's is nobody's message.
        Kind::of(tag).map(|kind| Message { from, kind, bytes })
    }

    /// Ends all ranks, wherever they are.
    pub(crate) fn abort(&self, code: i32) -> ! {
        // What was printed goes through `mpiexec`, which drops what it has when it ends ranks.
        thread::sleep(Duration::from_millis(300));
        self.world.abort(code)
    }
}

/// How long to sleep before looking again: a little longer each time, and longer yet where nothing comes for a while.
#[derive(Debug, Default)]
pub(crate) struct Wait(u32);

/// Sleeps of different lengths: the first, those for as long as something may come any moment, and those after that.
const FIRST: Duration = Duration::from_micros(20);
const SHORT: Duration = Duration::from_micros(150);
const LONG: Duration = Duration::from_millis(1);
/// Short ones before the long ones begin: a fifth of a second.
const MANY: u32 = 1_000;

impl Wait {
    /// How long to sleep now.
    pub(crate) fn next(&mut self) -> Duration {
        self.0 = self.0.saturating_add(1);
        if self.0 > MANY { LONG } else { (FIRST * self.0).min(SHORT) }
    }
}
