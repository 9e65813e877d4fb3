//! Feeds bytes to the parser of program output, for the fuzz target: starting a process for every
//! input would be a thousand times slower.

use super::answer::{abilities, answer};
use super::pipes::{Lines, quoted};
use std::{
    io::{self, Cursor, Read},
    time::{Duration, Instant},
};

/// Number of parameters.
const NAMES: usize = 2;
/// The longest line, in bytes. The real limit is higher; this one is small so that a fuzzer reaches
/// it.
const LONGEST: usize = 256;

/// Reads bytes as a program's first line and its answers; returns the count of numbers read.
///
/// # Panics
/// If the parser has accepted an answer that is not valid, which is a bug in it.
pub fn exercise(bytes: &[u8]) -> usize {
    let output = Pieces { bytes: Cursor::new(bytes.to_vec()), most: 1 + bytes.len() % 13 };
    let mut lines = Lines::new(output, LONGEST).expect("a thread can be had");
    let deadline = Instant::now() + Duration::from_secs(60);
    let Ok(first) = lines.next(deadline, || false) else { return 0 };
    let Ok(abilities) = abilities(first) else { return 0 };
    assert_ne!(abilities.batch, Some(0));
    let mut numbers = Vec::new();
    // Alternately with and without the gradient.
    for turn in 0.. {
        let slopes = if abilities.gradient && turn % 2 == 0 { NAMES } else { 0 };
        let spare = if abilities.gradient { NAMES - slopes } else { 0 };
        let Ok(line) = lines.next(deadline, || false) else { break };
        let before = numbers.len();
        if answer(line, slopes, spare, &mut numbers).is_err() {
            assert!(quoted(line).len() < 10 * LONGEST, "an error has a short line");
            break;
        }
        let found = &numbers[before..];
        assert_eq!(found.len(), 1 + slopes);
        let is_non_finite =
            found[0] == f64::NEG_INFINITY && found[1..].iter().all(|slope| *slope == 0.0);
        assert!(is_non_finite || found.iter().all(|number| number.is_finite()), "{found:?}");
    }
    lines.unasked();
    numbers.len()
}

/// The output of a pipe, a few bytes at a time.
struct Pieces {
    bytes: Cursor<Vec<u8>>,
    most: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.most.min(buffer.len());
        self.bytes.read(&mut buffer[..most])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_read_to_its_first_fault() {
        let said = |text: &str| exercise(text.as_bytes());
        assert_eq!(said("{\"gradient\": true}\n-1 2 3\n-4\n-inf\nx\n-5\n"), 3 + 1 + 3);
        assert_eq!(said("{}\n-1\n-2"), 1, "an unfinished line is no answer");
        assert_eq!(said("{\"batch\": 0}\n-1\n"), 0);
        assert_eq!(said(&format!("{{}}\n-1{}\n", " ".repeat(3 * LONGEST))), 0);
    }
}
