//! Rank 0: the algorithm runs in its own thread, and the main thread dispatches its requests to free ranks.

use crate::{
    arguments::Arguments,
    greeting::{Hello, hear},
    wire::{Kind, Message, Wait, Wire, numbered},
};
use adaann::ranks::{Queue, Request};
use adaann_cli::embed::{command_of_ranks, is_asked_to_end};
use std::{
    collections::BTreeMap,
    process::ExitCode,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How long the algorithm may take to write its checkpoint after a rank is lost.
const LAST_WORK: Duration = Duration::from_secs(30);

/// Runs the command and serves its requests.
pub(crate) fn run(wire: &Wire, arguments: Arguments, threads: usize) -> ExitCode {
    let own = Hello::own(threads);
    let patience = arguments.rank_timeout;
    let others = match hear(wire, &own, patience) {
        Ok(others) => others,
        Err(why) => {
            eprintln!("error: {why}");
            wire.abort(2);
        }
    };
    let queue = Arc::new(Queue::default());
    let seats = others.iter().map(|other| other.threads).sum();
    let (asked, all) = (queue.clone(), arguments.all);
    let work = thread::Builder::new()
        .name("main".into())
        .spawn(move || command_of_ranks(all, asked, threads, seats));
    let work = match work {
        Ok(work) => work,
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            wire.abort(1);
        }
    };
    let mut asking = Asking {
        wire,
        queue,
        work: Some(work),
        others: others.into_iter().map(Other::new).collect(),
        next: 0,
        patience,
        has_said_end: false,
        pinged: Instant::now(),
    };
    asking.say_to_all(Kind::Welcome, &patience.as_secs_f64().to_le_bytes());
    asking.serve();
    let code = asking.ended();
    asking.part();
    code
}

/// Another rank, as rank 0 sees it.
struct Other {
    hello: Hello,
    /// The number of announcements sent to it.
    told: usize,
    /// Its open requests, by number.
    asked: BTreeMap<u64, Request>,
    heard: Instant,
}

impl Other {
    fn new(hello: Hello) -> Self {
        Self { hello, told: 0, asked: BTreeMap::new(), heard: Instant::now() }
    }

    fn free(&self) -> usize {
        self.hello.threads.saturating_sub(self.asked.len())
    }
}

struct Asking<'a> {
    wire: &'a Wire<'a>,
    queue: Arc<Queue>,
    work: Option<JoinHandle<ExitCode>>,
    /// The other ranks, starting with rank 1.
    others: Vec<Other>,
    /// The number of the next request.
    next: u64,
    patience: Duration,
    has_said_end: bool,
    pinged: Instant,
}

impl Asking<'_> {
    /// Forwards requests and replies until the algorithm has finished.
    fn serve(&mut self) {
        let mut wait = Wait::default();
        while self.is_at_work() {
            let mut is_idle = true;
            while let Some(message) = self.wire.receive() {
                self.hear(message);
                is_idle = false;
            }
            is_idle &= !self.hand_out();
            if is_asked_to_end() && !self.has_said_end {
                self.has_said_end = true;
                self.say_to_all(Kind::End, &[]);
            }
            self.ping();
            match (is_idle, self.others.iter().any(|other| !other.asked.is_empty())) {
                (false, _) => wait = Wait::default(),
                (true, true) => thread::sleep(wait.next()),
                (true, false) => self.queue.wait(wait.next()),
            }
        }
    }

    fn is_at_work(&self) -> bool {
        self.work.as_ref().is_some_and(|work| !work.is_finished())
    }

    /// The exit code of the finished algorithm. If a rank is lost, only an abort can end the job.
    fn ended(&mut self) -> ExitCode {
        let code = self.work.take().map_or(Ok(ExitCode::FAILURE), JoinHandle::join);
        if self.lost().is_some() {
            self.wire.abort(1);
        }
        code.unwrap_or(ExitCode::FAILURE)
    }

    /// Stops all ranks and waits for their last messages, because MPI cannot finalize with messages in flight.
    fn part(&mut self) {
        self.say_to_all(Kind::Exit, &[]);
        let (started, mut left) = (Instant::now(), self.others.len());
        while left > 0 {
            match self.wire.receive() {
                Some(message) if message.kind == Kind::Bye => left -= 1,
                Some(_) => {}
                None if started.elapsed() > self.patience => self.wire.abort(1),
                None => thread::sleep(Duration::from_micros(100)),
            }
        }
    }

    fn hear(&mut self, message: Message) {
        let rank = message.from;
        let Some(other) = rank.checked_sub(1).and_then(|i| self.others.get_mut(i)) else { return };
        other.heard = Instant::now();
        let Some((number, rest)) = message.numbered() else { return };
        match message.kind {
            Kind::Note => {
                other.asked.get(&number).into_iter().for_each(|asked| asked.note(rest.to_vec()))
            }
            Kind::Answer => {
                other
                    .asked
                    .remove(&number)
                    .into_iter()
                    .for_each(|asked| asked.answer(Ok(rest.to_vec())));
            }
            Kind::Failure => {
                let place = other.hello.place();
                let why = format!("rank {rank} ({place}): {}", String::from_utf8_lossy(rest));
                other
                    .asked
                    .remove(&number)
                    .into_iter()
                    .for_each(|asked| asked.answer(Err(why.clone())));
                // Other open requests are no longer needed.
                self.queue.fail(&why);
            }
            _ => {}
        }
    }

    /// Sends requests to ranks with free threads, those with the most first. Returns whether any were sent.
    fn hand_out(&mut self) -> bool {
        let mut has_sent = false;
        loop {
            let freest = (0..self.others.len()).rev().max_by_key(|i| self.others[*i].free());
            let Some(i) = freest.filter(|i| self.others[*i].free() > 0) else { return has_sent };
            let Some(request) = self.queue.take() else { return has_sent };
            for told in self.queue.announced_from(self.others[i].told) {
                self.say(i, Kind::Told, &told);
                self.others[i].told += 1;
            }
            self.say(i, Kind::Ask, &numbered(self.next, request.question()));
            self.others[i].asked.insert(self.next, request);
            self.next += 1;
            has_sent = true;
        }
    }

    fn say_to_all(&mut self, kind: Kind, bytes: &[u8]) {
        (0..self.others.len()).for_each(|i| self.say(i, kind, bytes));
    }

    fn say(&self, i: usize, kind: Kind, bytes: &[u8]) {
        self.wire.send(i + 1, kind, bytes, self.patience, || self.lose(i));
    }

    /// Pings all ranks at regular intervals. A rank that has been silent for too long is lost.
    fn ping(&mut self) {
        let every = (self.patience / 10).clamp(Duration::from_millis(100), Duration::from_secs(5));
        if self.pinged.elapsed() < every {
            return;
        }
        if let Some(i) = self.lost() {
            self.lose(i);
            return;
        }
        self.pinged = Instant::now();
        self.say_to_all(Kind::Ping, &[0; 8]);
    }

    fn lost(&self) -> Option<usize> {
        self.others.iter().position(|other| other.heard.elapsed() > self.patience)
    }

    /// Handles the loss of a rank: all requests fail, and the algorithm gets some time to write its checkpoint.
    fn lose(&self, i: usize) {
        let (rank, place, seconds) =
            (i + 1, self.others[i].hello.place(), self.patience.as_secs_f64());
        self.queue.fail(&format!(
            "rank {rank} ({place}) has not answered for {seconds} s: it has stopped or its machine is down; \
             to wait longer, increase --rank-timeout"
        ));
        let started = Instant::now();
        while self.is_at_work() && started.elapsed() < LAST_WORK {
            thread::sleep(Duration::from_millis(10));
        }
        if self.is_at_work() {
            eprintln!(
                "error: rank {rank} ({place}) has not answered for {seconds} s; no new checkpoint was written"
            );
            self.wire.abort(1);
        }
    }
}
