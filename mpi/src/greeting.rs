//! The handshake of ranks, which must run the same program on processors that round alike.

use crate::wire::{Kind, Wire};
use adaann::{
    Instructions,
    checkpoint::{from_bytes, to_bytes},
    tasks::{MOST_THREADS, bounded, fingerprint},
};
use mpi::{topology::SimpleCommunicator, traits::Communicator};
use serde::{Deserialize, Serialize};
use std::{
    env, fs, thread,
    time::{Duration, Instant},
};

/// The description of a rank.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Hello {
    version: String,
    /// A checksum of the program file.
    program: u64,
    instructions: String,
    host: String,
    process: u32,
    /// The number of requests that it handles at a time.
    pub(crate) threads: usize,
}

impl Hello {
    /// The description of this rank.
    pub(crate) fn own(threads: usize) -> Self {
        let host = mpi::environment::processor_name();
        Self::at(host.unwrap_or_else(|_| "an unnamed host".into()), threads)
    }

    fn at(host: String, threads: usize) -> Self {
        let program = env::current_exe().and_then(fs::read).unwrap_or_default();
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: sum(&program),
            instructions: Instructions::current().to_string(),
            host,
            process: std::process::id(),
            threads,
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self).expect("texts and numbers serialise")
    }

    /// The host and process of the rank, for messages.
    pub(crate) fn place(&self) -> String {
        format!("{}, process {}", self.host, self.process)
    }

    /// Why another rank is incompatible with this one, or `None`.
    fn differs(&self, rank: usize, other: &Self) -> Option<String> {
        let place = other.place();
        if self.version != other.version || self.program != other.program {
            return Some(format!(
                "rank {rank} ({place}) runs another program (adaann-mpi {}, checksum {:016x}) than rank 0 \
                 ({}, checksum {:016x}); start the same file on all ranks",
                other.version, other.program, self.version, self.program
            ));
        }
        if self.instructions != other.instructions {
            return Some(format!(
                "rank {rank} ({place}) has other CPU instructions ({}) than rank 0 ({}) and would round differently; \
                 set ADAANN_SIMD=avx2 or ADAANN_SIMD=baseline on all ranks",
                other.instructions, self.instructions
            ));
        }
        None
    }
}

/// A checksum of the bytes of a file, in words of eight bytes.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| {
        (sum.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    sum ^ fingerprint(rest)
}

/// Receives the descriptions of all other ranks.
///
/// # Errors
/// If a rank is silent for longer than `most`, or is incompatible with this one.
pub(crate) fn hear(wire: &Wire, own: &Hello, most: Duration) -> Result<Vec<Hello>, String> {
    let mut found: Vec<Option<Hello>> = (1..wire.size()).map(|_| None).collect();
    let started = Instant::now();
    while let Some(missing) = found.iter().position(Option::is_none) {
        match wire.receive() {
            Some(message) if message.kind == Kind::Hello => {
                let hello: Hello = from_bytes(&message.bytes).map_err(|_| {
                    format!("rank {} runs another program than rank 0", message.from)
                })?;
                if let Some(why) = own.differs(message.from, &hello) {
                    return Err(why);
                }
                found[message.from - 1] = Some(hello);
            }
            _ if started.elapsed() > most => {
                let rank = missing + 1;
                return Err(format!(
                    "rank {rank} has not answered for {} s since the start",
                    most.as_secs()
                ));
            }
            _ => thread::sleep(Duration::from_micros(200)),
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// The number of threads of this rank: the requested number, that of the scheduler, or its share of the cores.
///
/// # Errors
/// If the number is too large. The error names its source.
pub(crate) fn threads(world: &SimpleCommunicator, asked: Option<usize>) -> adaann::Result<usize> {
    let of_scheduler = |name| Some((name, env::var(name).ok()?.parse().ok()?));
    let given = asked
        .map(|threads| ("threads", threads))
        .or_else(|| of_scheduler("SLURM_CPUS_PER_TASK"))
        .or_else(|| of_scheduler("OMP_NUM_THREADS"))
        .filter(|(_, threads)| *threads > 0);
    if let Some((name, threads)) = given {
        return bounded(name, threads);
    }
    let neighbours = world.split_shared(world.rank()).size() as usize;
    let own = thread::available_parallelism().map_or(1, usize::from);
    Ok(share(own, neighbours, online().unwrap_or(own)).min(MOST_THREADS))
}

/// The number of cores for a rank that may use `own` of `online` cores and has `neighbours` ranks on its machine,
/// including itself. Ranks that are pinned to separate cores use all of theirs.
fn share(own: usize, neighbours: usize, online: usize) -> usize {
    if own < online && own * neighbours <= online { own } else { (own / neighbours).max(1) }
}

/// The number of cores of this machine.
fn online() -> Option<usize> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    let count = |range: &str| -> Option<usize> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<usize>().ok()? + 1 - first.parse::<usize>().ok()?)
    };
    text.trim().split(',').map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_shared_unless_ranks_are_pinned() {
        for (own, neighbours, online, expected) in
            [(8, 4, 8, 2), (8, 3, 8, 2), (2, 4, 2, 1), (2, 4, 8, 2), (4, 4, 8, 1), (8, 1, 8, 8)]
        {
            assert_eq!(
                share(own, neighbours, online),
                expected,
                "{own} of {online} for {neighbours}"
            );
        }
    }

    #[test]
    fn another_program_has_another_sum() {
        let bytes: Vec<u8> = (0..100).collect();
        for at in 0..100 {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_ne!(sum(&bytes), sum(&other), "{at}");
        }
        assert_ne!(sum(&bytes), sum(&[&bytes[..], &[0]].concat()));
        let own = Hello::at("here".into(), 1);
        assert!(own.differs(1, &own.clone()).is_none());
        let other = Hello { instructions: "less".into(), ..own.clone() };
        assert!(own.differs(1, &other).unwrap().contains("ADAANN_SIMD"));
    }
}
