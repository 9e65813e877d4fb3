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

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Kind {
    /// The description of a rank.
    Hello = 1,
    /// Rank 0 has received all descriptions.
    Welcome,
    /// Rank 0 announces the subject of later requests.
    Told,
    /// A request, with its number.
    Ask,
    /// A reply, with the number of its request.
    Answer,
    /// The reason why a request failed, with its number.
    Failure,
    /// An intermediate result of a request, with its number.
    Note,
    /// Checks whether a rank is alive.
    Ping,
    /// The reply to `Ping`.
    Pong,
    /// Long computations must stop soon.
    End,
    /// The job is finished, so the rank must exit.
    Exit,
    /// The last message of a rank.
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

/// A received message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) from: usize,
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
}

impl Message {
    /// Splits a message into its leading number and the rest.
    pub(crate) fn numbered(&self) -> Option<(u64, &[u8])> {
        let (number, rest) = self.bytes.split_first_chunk()?;
        Some((u64::from_le_bytes(*number), rest))
    }
}

/// Puts a number before a message.
pub(crate) fn numbered(number: u64, rest: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes(), rest].concat()
}

/// The connection to the other ranks.
pub(crate) struct Wire<'a> {
    world: &'a SimpleCommunicator,
    /// Messages received during a send.
    inbox: RefCell<VecDeque<Message>>,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(world: &'a SimpleCommunicator) -> Self {
        Self { world, inbox: RefCell::default() }
    }

    /// The number of ranks.
    pub(crate) fn size(&self) -> usize {
        self.world.size() as usize
    }

    /// Sends a message within the time `most`. Messages that arrive meanwhile are stored; otherwise two ranks that send
    /// to each other would deadlock.
    ///
    /// MPI cannot cancel a send that does not complete. In that case this calls `last` and then aborts the job.
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

    /// The next message, if any.
    pub(crate) fn receive(&self) -> Option<Message> {
        let kept = self.inbox.borrow_mut().pop_front();
        kept.or_else(|| self.poll())
    }

    fn poll(&self) -> Option<Message> {
        let (message, status) = self.world.any_process().immediate_matched_probe()?;
        let (from, tag) = (status.source_rank() as usize, status.tag());
        let (bytes, _) = (message, status).matched_receive_vec();
        // Ignore messages with an unknown tag.
        Kind::of(tag).map(|kind| Message { from, kind, bytes })
    }

    /// Aborts all ranks.
    pub(crate) fn abort(&self, code: i32) -> ! {
        // `mpiexec` forwards our output, and drops what it has not forwarded when it kills ranks.
        thread::sleep(Duration::from_millis(300));
        self.world.abort(code)
    }
}

/// The time to sleep before the next poll. It grows while no message arrives.
#[derive(Debug, Default)]
pub(crate) struct Wait(u32);

/// Sleep times: the first one, the limit of the short ones, and the long one after a while without messages.
const FIRST: Duration = Duration::from_micros(20);
const SHORT: Duration = Duration::from_micros(150);
const LONG: Duration = Duration::from_millis(1);
/// The number of short sleeps before long ones begin: a fifth of a second.
const MANY: u32 = 1_000;

impl Wait {
    /// The next time to sleep.
    pub(crate) fn next(&mut self) -> Duration {
        self.0 = self.0.saturating_add(1);
        if self.0 > MANY { LONG } else { (FIRST * self.0).min(SHORT) }
    }
}
