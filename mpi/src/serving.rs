//! The other ranks: the main thread hears what rank 0 asks, others answer it.

use crate::{
    greeting::Hello,
    wire::{Kind, Wait, Wire, numbered},
};
use adaann::external;
use adaann_cli::embed::{Rank, ask_to_end, begin};
use std::{
    collections::VecDeque,
    process::ExitCode,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

/// How long a rank waits for the first word of rank 0.
const FIRST_WORD: Duration = Duration::from_secs(600);

/// What a thread that answers is given.
enum Work {
    Hear(Vec<u8>),
    Answer { number: u64, question: Vec<u8> },
}

/// What comes of it.
enum Done {
    Heard,
    Answered { number: u64, answer: Result<Vec<u8>, String> },
    Note { number: u64, note: Vec<u8> },
}

/// Answers until rank 0 says that all is done.
pub(crate) fn run(wire: &Wire, threads: usize) -> ExitCode {
    // Signals are for rank 0, which says what is to be done; without a handler this rank would die of them.
    let _ = ctrlc::set_handler(|| ());
    // Rank 0 alone prints: what is said here is dropped, and panics are in answers.
    begin(|_| (), |thread| thread());
    std::panic::set_hook(Box::new(|_| ()));
    let mut patience = FIRST_WORD;
    wire.send(0, Kind::Hello, &Hello::own(threads).to_bytes(), patience, || ());
    let Ok(rank) = Rank::new(threads) else { wire.abort(1) };
    let (give, take) = mpsc::channel();
    let (tell, done) = mpsc::channel();
    let (rank, take) = (Arc::new(rank), Arc::new(Mutex::new(take)));
    for _ in 0..threads {
        let (rank, take, tell) = (rank.clone(), take.clone(), tell.clone());
        let answer = move || answer(&rank, &take, &tell);
        if thread::Builder::new().spawn(answer).is_err() {
            wire.abort(1);
        }
    }
    let mut waiting = VecDeque::new();
    let (mut is_hearing, mut heard, mut wait) = (false, Instant::now(), Wait::default());
    loop {
        while let Some(message) = wire.receive() {
            (heard, wait) = (Instant::now(), Wait::default());
            match message.kind {
                Kind::Welcome => {
                    let seconds = message.bytes.first_chunk().copied().map(f64::from_le_bytes);
                    // Twice, since rank 0 may be about to give up a rank, and says so in its own time.
                    patience = 2 * Duration::from_secs_f64(seconds.unwrap_or(60.0));
                }
                Kind::Told => waiting.push_back(Work::Hear(message.bytes)),
                Kind::Ask => {
                    if let Some((number, question)) = message.numbered() {
                        waiting.push_back(Work::Answer { number, question: question.to_vec() });
                    }
                }
                Kind::Ping => wire.send(0, Kind::Pong, &[0; 8], patience, || ()),
                Kind::End => {
                    ask_to_end();
                }
                Kind::Exit => {
                    external::end_all();
                    wire.send(0, Kind::Bye, &[], patience, || ());
                    return ExitCode::SUCCESS;
                }
                _ => {}
            }
        }
        // What it is told comes before what it is asked about it.
        while !is_hearing && let Some(work) = waiting.pop_front() {
            is_hearing = matches!(work, Work::Hear(_));
            if give.send(work).is_err() {
                wire.abort(1);
            }
        }
        match done.recv_timeout(wait.next()) {
            Ok(Done::Heard) => is_hearing = false,
            Ok(Done::Note { number, note }) => {
                wire.send(0, Kind::Note, &numbered(number, &note), patience, || ());
            }
            Ok(Done::Answered { number, answer }) => {
                let (kind, bytes) = match answer {
                    Ok(bytes) => (Kind::Answer, bytes),
                    Err(why) => (Kind::Failure, why.into_bytes()),
                };
                wire.send(0, kind, &numbered(number, &bytes), patience, || ());
            }
            Err(RecvTimeoutError::Timeout) if heard.elapsed() > patience => {
                // Rank 0 is gone, and nobody is left to tell.
                external::end_all();
                wire.abort(1);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => wire.abort(1),
        }
    }
}

/// Does what it is given, one after another.
fn answer(rank: &Rank, take: &Mutex<Receiver<Work>>, tell: &Sender<Done>) {
    loop {
        let work = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let done = match work {
            Ok(Work::Hear(told)) => {
                rank.hear(&told);
                Done::Heard
            }
            Ok(Work::Answer { number, question }) => {
                let notes = tell.clone();
                let note = move |note: &[u8]| {
                    // Nobody listens once the process ends.
                    let _ = notes.send(Done::Note { number, note: note.to_vec() });
                };
                Done::Answered { number, answer: rank.answer(&question, note) }
            }
            Err(_) => return,
        };
        if tell.send(done).is_err() {
            return;
        }
    }
}
