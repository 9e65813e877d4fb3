//! The pipes of a program: lines with a deadline, requests that never block, the last lines of
//! stderr.

use crate::visible;
use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    process::{ChildStderr, ChildStdin},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Bytes read at once.
const CHUNK: usize = 1 << 16;
/// Chunks that may wait to be processed. A program that writes more than this blocks.
const WAITING: usize = 4;
/// The interval between checks of a program that does not answer.
const LOOK: Duration = Duration::from_millis(200);
/// Bytes of stderr that are stored.
const LAST_WORDS: usize = 1 << 12;

/// Why there is no line.
#[derive(Debug)]
pub(super) enum Stop {
    /// The output has ended.
    End,
    /// The deadline has passed.
    Late,
    /// A line exceeds the limit; this is its beginning.
    TooLong(String),
}

/// The output of a program, line by line.
pub(super) struct Lines {
    chunks: Receiver<Vec<u8>>,
    buffer: Vec<u8>,
    /// Start of the next line.
    at: usize,
    /// The longest line that is accepted.
    longest: usize,
}

impl Lines {
    pub(super) fn new(output: impl Read + Send + 'static, longest: usize) -> io::Result<Self> {
        let (sender, chunks) = mpsc::sync_channel(WAITING);
        thread::Builder::new()
            .name("outside-read".into())
            .spawn(move || pass_on(output, &sender))?;
        Ok(Self { chunks, buffer: Vec::new(), at: 0, longest })
    }

    /// The next line, without its end. A child process may inherit the output and keep it open for
    /// ever, so no line is expected once the writer has ended.
    pub(super) fn next(
        &mut self,
        deadline: Instant,
        mut has_ended: impl FnMut() -> bool,
    ) -> Result<&[u8], Stop> {
        let mut searched = self.at;
        let mut was_ended = false;
        let end = loop {
            if let Some(found) = self.buffer[searched..].iter().position(|byte| *byte == b'\n') {
                break searched + found;
            }
            if self.buffer.len() - self.at > self.longest {
                return Err(Stop::TooLong(quoted(&self.buffer[self.at..])));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let chunk = match self.chunks.recv_timeout(left.min(LOOK)) {
                Ok(chunk) => chunk,
                Err(RecvTimeoutError::Disconnected) => return Err(Stop::End),
                // The last output had time to arrive.
                Err(RecvTimeoutError::Timeout) if was_ended => return Err(Stop::End),
                Err(RecvTimeoutError::Timeout) if left <= LOOK => return Err(Stop::Late),
                Err(RecvTimeoutError::Timeout) => {
                    was_ended = has_ended();
                    continue;
                }
            };
            self.buffer.drain(..self.at);
            self.at = 0;
            searched = self.buffer.len();
            self.buffer.extend(chunk);
        };
        let line = &self.buffer[self.at..end];
        self.at = end + 1;
        Ok(line)
    }

    /// Output that arrived without a request.
    pub(super) fn unasked(&mut self) -> Option<String> {
        while let Ok(chunk) = self.chunks.try_recv() {
            self.buffer.extend(chunk);
            if self.buffer.len() - self.at > self.longest {
                break;
            }
        }
        let rest = &self.buffer[self.at..];
        let first = rest.split(|byte| *byte == b'\n').next()?;
        (!rest.is_empty()).then(|| quoted(first))
    }
}

fn pass_on(mut output: impl Read, chunks: &SyncSender<Vec<u8>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return,
            Ok(len) => {
                if chunks.send(buffer[..len].to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// A thread that writes requests, so that sending never blocks on a program that is still
/// answering.
pub(super) fn writer(mut input: ChildStdin) -> io::Result<Sender<Vec<u8>>> {
    let (sender, requests) = mpsc::channel::<Vec<u8>>();
    thread::Builder::new().name("outside-write".into()).spawn(move || {
        for request in requests {
            // A program that does not read has ended or is about to end; its output shows why.
            if input.write_all(&request).and_then(|()| input.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok(sender)
}

/// The end of a program's stderr.
pub(super) struct LastWords {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
}

impl LastWords {
    pub(super) fn new(mut errors: ChildStderr) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(VecDeque::with_capacity(LAST_WORDS)));
        let ring = Arc::clone(&kept);
        let reader = thread::Builder::new().name("outside-errors".into()).spawn(move || {
            let mut buffer = [0; LAST_WORDS];
            loop {
                let len = match errors.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(len) => len,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => return,
                };
                let mut ring = ring.lock().unwrap_or_else(PoisonError::into_inner);
                let too_many = (ring.len() + len).saturating_sub(LAST_WORDS);
                ring.drain(..too_many);
                ring.extend(&buffer[..len]);
            }
        })?;
        Ok(Self { kept, reader })
    }

    /// The last lines, once the program has ended; empty if it wrote nothing.
    pub(super) fn take(&self) -> String {
        // A child process may keep the pipe open for ever.
        wait_until(Duration::from_millis(500), || self.reader.is_finished());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(kept.make_contiguous()).into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(8)..];
        last.iter().map(|line| format!("\n  {}", shortened(visible::line(line), 200))).collect()
    }
}

/// Polls until the condition holds or `at_most` has passed; returns whether it holds.
pub(super) fn wait_until(at_most: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + at_most;
    let mut pause = Duration::from_micros(200);
    while !is_true() {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(20));
    }
    true
}

/// A program's line as quoted in errors.
pub(super) fn quoted(line: &[u8]) -> String {
    let start = &line[..line.len().min(1000)];
    format!("'{}'", shortened(String::from_utf8_lossy(start).trim_end().escape_debug(), 120))
}

/// The first `most` characters of a long text.
pub(super) fn shortened(text: impl ToString, most: usize) -> String {
    let text = text.to_string();
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
