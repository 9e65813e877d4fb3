//! Examines whether the approximation q is right about p, by its draws and by independent particles.
//!
//! [`examine`] weights draws of q and runs its own search: ascents from other draws, a mixture of its own, and
//! particles. At the points that it finds, it compares p with q. The [`thresholds`], kept in one table, judge the
//! result: a [`Verdict`] is a pure function of numbers. Its reasons are data. [`Finding`] and [`Remedy`] have a text of
//! their own and stable codes; a front end may word them differently.
//!
//! ```
//! use adaann::{Program, Settings, approximation::Approximation};
//! use adaann::diagnostics::{self, Trust, examine};
//! use adaann::flow::{Base, Flow, FlowSpec};
//!
//! // N(1, 2²), and an approximation that is somewhat wider.
//! let target = Program::record(1, |x| -0.125 * (x[0] - 1.0).square());
//! let flow = Flow::new(&FlowSpec::Affine, Base::diagonal(&[1.0], &[2.2])?)?;
//! let approximation = Approximation::new(&target, flow)?;
//! let sample = approximation.sample(1_000, 1)?;
//! let settings = diagnostics::Settings { particles: 500, ..Default::default() };
//! let found = examine(&approximation, &sample, &Settings::default(), &settings, &mut ())?;
//! assert_eq!(found.verdict.trust, Trust::Reliable);
//! let log_z = 0.5 * (8.0 * std::f64::consts::PI).ln();
//! assert!((found.log_z.value - log_z).abs() < 5.0 * found.log_z.error);
//! # Ok::<(), adaann::Error>(())
//! ```
//!
//! # What a verdict rests on
//!
//! The search is independent of q: other draws, other ascents, its own mixture (`own.rs`). Neither it nor the
//! particles use q, so they can find a mode that q has lost. `seen.rs` compares p with q at the points that they
//! find. If a solver computes p, its tightened twin (`Target::tightened`) is evaluated at modes and draws to
//! measure the solver's error (`accuracy.rs`). `coverage.rs` computes what all searches together could have found,
//! and `peaks.rs` whether q covers the peaks that they found. `compared.rs` weights shares of independent points by
//! their evidence, `moment_tail.rs` computes k-hat of each parameter's moments, and `mixed.rs` judges chains.
//!
//! `verdict.rs` is a pure function of the measurements (`findings.rs`). `thresholds.rs` has every threshold, and
//! the book shows its table. An unchecked sample is judged by the same thresholds (`Verdict::of_unchecked`).

mod accuracy;
mod audit;
mod chains;
mod compared;
mod coverage;
mod defects;
mod exact;
mod examination;
mod finding;
mod findings;
mod mixed;
mod modes;
mod moment_tail;
mod own;
mod particles;
mod peaks;
mod power;
mod reason;
mod remedy;
mod seen;
mod spread;
pub mod thresholds;
mod trust;
mod verdict;

pub(crate) use chains::examine_chains;
pub(crate) use coverage::Coverage;
pub use defects::reasons_of_defects;
pub(crate) use exact::examine_exact;
pub(crate) use examination::{Check, examine_from};
pub use examination::{Examination, Settings, examine, examine_with};
pub use finding::{Finding, Place};
pub use modes::Mode;
pub use particles::Particles;
pub use power::Power;
pub use reason::Reason;
pub use remedy::Remedy;
pub(crate) use seen::Witness;
pub use trust::Trust;
pub use verdict::Verdict;
