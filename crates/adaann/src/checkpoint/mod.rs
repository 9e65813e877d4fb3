//! States on disk: anything that serde can serialise, restored to the same bits.
//!
//! ```
//! use adaann::checkpoint::{Fingerprint, Header, Store};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct State {
//!     t: f64,
//!     particles: Vec<Vec<f64>>,
//!     log_weights: Vec<f64>,
//!     best: Option<f64>,
//! }
//!
//! let folder = std::env::temp_dir().join(format!("adaann-checkpoint-{}", std::process::id()));
//! let fingerprint = Fingerprint::new().with("model", "two moons").with("data.rows", 40);
//! let header = Header::new("avx2", fingerprint.clone()).with("stage", 7);
//! let state = State {
//!     t: 0.25,
//!     particles: vec![vec![1.5, -0.0]; 100],
//!     log_weights: vec![f64::NEG_INFINITY; 100],
//!     best: None,
//! };
//! Store::open(&folder)?.write(&header, &state)?;
//!
//! // Another process, later.
//! let mut store = Store::open(&folder)?;
//! let (header, state, fallen) = store.read::<State>()?.expect("one was written");
//! assert!(fallen.is_empty(), "the newest was whole");
//! assert!(header.fingerprint.differences(&fingerprint).is_empty(), "and is of the same run");
//! assert_eq!((header.sequence, header.about["stage"].as_str()), (1, "7"));
//! assert_eq!(state.particles[99][1].to_bits(), (-0.0f64).to_bits());
//! assert_eq!(state.log_weights[0], f64::NEG_INFINITY);
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), adaann::Error>(())
//! ```
//!
//! A checkpoint is a single safetensors file. Lists of numbers are tensors named by their path in the state
//! (`particles`, `log_weights`); everything else is JSON in the metadata. A list of lists of equal length
//! is one tensor. A checksum over all bytes detects a damaged file; the previous one is read instead
//! ([`Store`]). [`Fingerprint`] shows whether a checkpoint belongs to the same run, and [`Keeper`] decides
//! when the next one is due.
//!
//! Unknown fields, missing fields and values of another type are errors that name their path. Fields for
//! which serde has a default (`#[serde(default)]`, an `Option`) may be absent, as in any other format.
//!
//! # States and parts
//!
//! The state of a run is one serialisable `State` (of `fit`, `smc`, `chains`), separate from its reports.
//!
//! A run is a sequence of named parts in an order that its random numbers determine. A [`Ledger`] has the results
//! of the finished parts, and the state of the current one. A resumed run takes each finished part from the list
//! and continues where the list ends. Every computation that evaluates the target is such a part or provides its
//! state. Code between parts runs again, so it must depend only on settings and on results of parts. Results
//! produced after a stop are not recorded.
//!
//! The final state of a finished fit or `smc` stays in its folder (`final`), and is the first entry in the list of
//! an extended run.

mod bytes;
mod checksum;
mod container;
mod decode;
mod disk;
mod encode;
mod entry;
mod fingerprint;
mod gather;
mod header;
mod keeper;
mod key;
mod ledger;
mod number;
mod skeleton;
mod store;
#[cfg(test)]
pub(crate) mod tests;
mod trouble;
mod value;

pub use bytes::{from_bytes, to_bytes};
pub use fingerprint::Fingerprint;
pub use header::{FORMAT, Header};
pub use keeper::{Cost, Keeper};
pub use ledger::{Done, Ledger, Part};
pub use store::{Fallen, Store, Written};
