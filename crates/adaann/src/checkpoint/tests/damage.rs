//! Thousands of damaged files: each is refused or keeps its meaning, without excessive memory or panics.

use super::*;
use crate::rng::{Purpose, Stream};

/// Seeded choices.
struct Dice {
    stream: Stream,
    drawn: u64,
}

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.drawn += 1;
        (self.stream.uniform_at(self.drawn) * n as f64) as usize % n.max(1)
    }

    /// A kind of damage.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let (len, at) = (bytes.len(), self.below(bytes.len()));
        let block = 1 + self.below(64.min(len / 4));
        match self.below(7) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.below(256) as u8,
            2 => bytes.truncate(at),
            3 => {
                let (from, to) = (self.below(len - block), self.below(len - block));
                for i in 0..block {
                    bytes.swap(from + i, to + i);
                }
            }
            4 => {
                let new: Vec<u8> = (0..block).map(|_| self.below(256) as u8).collect();
                bytes.splice(at..at, new);
            }
            5 => drop(bytes.drain(at..len.min(at + block))),
            // A block of zeros, as a disk returns for bytes that were never written.
            _ => bytes[at..len.min(at + block)].fill(0),
        }
    }
}

/// Reads damaged files, and returns how many were read nevertheless.
fn read_damaged(count: usize, seed: u64, after: impl Fn(Vec<u8>) -> Option<Vec<u8>>) -> usize {
    let state = everything();
    let whole = to_bytes(&state);
    let mut dice = Dice { stream: Stream::new(seed, Purpose::Data), drawn: 0 };
    let mut read = 0;
    for i in 0..count {
        let mut bytes = whole.clone();
        for _ in 0..1 + dice.below(3) {
            if bytes.len() > 8 {
                dice.damage(&mut bytes);
            }
        }
        let Some(bytes) = after(bytes) else { continue };
        let mut outcome: Result<Option<Everything>, String> = Ok(None);
        let cost = allocation_counter::measure(|| outcome = from_bytes(&bytes).map(Some));
        let bound = 64 * bytes.len() as u64 + 100_000;
        assert!(cost.bytes_max < bound, "{i}: {cost:?} for {} bytes", bytes.len());
        if let Ok(Some(back)) = outcome {
            assert!(bytes == sealed(bytes.clone()), "{i}: a wrong sum went unnoticed");
            if bytes == whole {
                assert_eq!(back, state, "{i}");
            }
            read += usize::from(bytes != whole);
        }
    }
    read
}

#[test]
fn no_damage_goes_unnoticed() {
    assert_eq!(read_damaged(10_000, 1, Some), 0);
}

/// With a checksum that matches the damage, the code after the checksum meets the damage itself. Some of
/// the damage is in numbers, which may have any value.
#[test]
fn damage_under_a_right_sum_does_no_harm() {
    let read = read_damaged(10_000, 2, |bytes| (bytes.len() >= 8).then(|| sealed(bytes)));
    assert!(
        (100..9_000).contains(&read),
        "{read} of 10,000 were read: the damage is too tame or wild"
    );
}

/// Damage in the head alone, where it is most likely to be accepted.
#[test]
fn damage_of_the_head_does_no_harm() {
    let whole = to_bytes(&everything());
    let length = u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    let mut dice = Dice { stream: Stream::new(3, Purpose::Data), drawn: 0 };
    let likely = b"0123456789-.,:{}[]\"$\\ex~ns";
    for _ in 0..10_000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + dice.below(2) {
            bytes[8 + dice.below(length)] = likely[dice.below(likely.len())];
        }
        let bytes = sealed(bytes);
        let cost = allocation_counter::measure(|| drop(from_bytes::<Everything>(&bytes)));
        assert!(cost.bytes_max < 64 * bytes.len() as u64 + 100_000, "{cost:?}");
    }
}

#[test]
fn every_cut_and_every_flipped_bit_is_noticed() {
    let whole = to_bytes(&vec![0.5; 9]);
    for len in 0..whole.len() {
        assert!(from_bytes::<Vec<f64>>(&whole[..len]).is_err(), "cut to {len}");
    }
    for bit in 0..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(from_bytes::<Vec<f64>>(&bytes).is_err(), "bit {bit}");
    }
}
