//! States that are restored, and the handling of those that cannot be.

mod damage;
mod faults;
mod keeper;
mod ledger;
pub(crate) mod memory;
mod refusals;
mod round_trip;
mod store;

use super::{
    Fingerprint, Header,
    checksum::checksum,
    container::{self, Parts, Refusal},
    decode::decode,
    encode::encode,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeMap, fs, path::PathBuf};

fn header() -> Header {
    Header::new("avx2", Fingerprint::new().with("tau", 0.01))
}

/// The file of a state.
fn to_bytes<T: Serialize>(state: &T) -> Vec<u8> {
    let value = encode(state).unwrap();
    let mut bytes = Vec::new();
    let length = Parts::new(&header(), &value).unwrap().write(&mut bytes).unwrap();
    assert_eq!(length, bytes.len() as u64);
    bytes
}

/// A state from its file, or the reason for refusing it.
fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let (_, value) = container::read(bytes).map_err(|refusal| match refusal {
        Refusal::Damaged(why) | Refusal::Version(why) => why,
    })?;
    decode(value).map_err(|error| error.to_string())
}

/// The same bytes with a matching checksum, so that everything else is read.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 8;
    let sum = checksum(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// A state with one of everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    t: f64,
    floor: f64,
    seed: u64,
    least: i64,
    done: bool,
    name: String,
    initial: char,
    nothing: (),
    best: Option<f64>,
    worst: Option<f64>,
    twice: [Option<Option<u8>>; 3],
    weights: Vec<f64>,
    single: Vec<f32>,
    counts: Vec<usize>,
    offsets: Vec<i32>,
    kept: Vec<bool>,
    empty: Vec<f64>,
    few: Vec<f64>,
    points: Vec<Vec<f64>>,
    ragged: Vec<Vec<f64>>,
    sometimes: Vec<Option<f64>>,
    pair: (u8, String),
    wrapped: Wrapped,
    by_name: BTreeMap<String, Vec<f64>>,
    by_number: BTreeMap<u32, bool>,
    phases: Vec<Phase>,
    nested: Nested,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Wrapped(Vec<u64>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Nested {
    inner: Option<Box<Nested>>,
    values: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Phase {
    Waiting,
    At(f64),
    Between(f64, u64),
    Moving { from: Vec<f64>, rate: f32 },
}

fn everything() -> Everything {
    let many = |n: u32| (0..n).map(|i| f64::from(i).sqrt() - 2.0).collect::<Vec<_>>();
    let mut weights = many(20);
    weights[3..7].copy_from_slice(&[f64::NEG_INFINITY, -0.0, 5e-324, f64::INFINITY]);
    Everything {
        t: 1.0 / 3.0,
        floor: f64::NEG_INFINITY,
        seed: u64::MAX - 1,
        least: i64::MIN,
        done: true,
        name: "two \"moons\"\n\u{1f319} \\".into(),
        initial: 'é',
        nothing: (),
        best: None,
        worst: Some(-0.0),
        twice: [None, Some(None), Some(Some(3))],
        weights,
        single: (0..12u8).map(|i| f32::from(i) / 7.0).collect(),
        counts: (0..30).map(|i| usize::MAX - i).collect(),
        offsets: (-6..6).collect(),
        kept: (0..19).map(|i| i % 3 == 0).collect(),
        empty: Vec::new(),
        few: vec![f64::MAX, 0.1],
        points: (0..9).map(|_| many(3)).collect(),
        ragged: vec![many(3), Vec::new(), many(40), many(3)],
        sometimes: (0..12).map(|i| (i % 2 == 0).then_some(f64::from(i))).collect(),
        pair: (7, "seven".into()),
        wrapped: Wrapped((0..11).map(|i| (1 << 53) + 1 + i).collect()),
        by_name: BTreeMap::from([
            ("a.b".into(), many(10)),
            ("$tensor".into(), many(10)),
            ("".into(), vec![]),
        ]),
        by_number: BTreeMap::from([(3, true), (10, false)]),
        phases: vec![
            Phase::Waiting,
            Phase::At(0.5),
            Phase::Between(0.5, 3),
            Phase::Moving { from: many(9), rate: 0.1 },
        ],
        nested: Nested {
            inner: Some(Box::new(Nested { inner: None, values: many(15) })),
            values: many(14),
        },
    }
}

/// A folder for one test, removed at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("adaann-checkpoint-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The folder for a run's checkpoints.
    fn state(&self) -> PathBuf {
        self.0.join("state")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
