//! The other ranks: the main thread receives the requests of rank 0, and worker threads handle them.

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

/// How long a rank waits for the first message of rank 0.
const FIRST_WORD: Duration = Duration::from_secs(600);

/// The input of a worker thread.
enum Work {
    Hear(Vec<u8>),
    Answer { number: u64, question: Vec<u8> },
}

/// The output of a worker thread.
enum Done {
    Heard,
    Answered { number: u64, answer: Result<Vec<u8>, String> },
    Note { number: u64, note: Vec<u8> },
}

/// Handles requests until rank 0 sends `Exit`.
pub(crate) fn run(wire: &Wire, threads: usize) -> ExitCode {
    // Rank 0 handles signals. Without a handler they would kill this rank.
    let _ = ctrlc::set_handler(|| ());
    // Only rank 0 prints: drop log lines here. Panics are part of the replies.
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
                    // Twice as long as rank 0, which reports a lost rank first.
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
        // Process an announcement before the requests that refer to it.
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
                // Rank 0 is gone, so no message can be sent.
                external::end_all();
                wire.abort(1);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => wire.abort(1),
        }
    }
}

/// The loop of a worker thread: handles one item after another.
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
                    // The receiver is gone once the process exits.
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
