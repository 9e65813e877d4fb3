//! Algorithm 1: a flow follows a density from t_0 to 1, in steps that the schedule chooses.
//!
//! ```
//! use adaann::{Program, fit::{Settings, fit}, schedule::Work};
//!
//! // log p, up to a constant: two modes, at -2 ± √3.
//! let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
//! let settings = Settings {
//!     work: Work { warmup: 100, anneal: 2, refine: 100 },
//!     refine_samples: 100,
//!     ..Settings::default()
//! };
//! let outcome = fit(&target, &settings, &mut ())?;
//! let draws = outcome.approximation(&target)?.sample(1000, 7)?;
//! assert_eq!(draws.len(), 1000);
//! # Ok::<(), adaann::Error>(())
//! ```
//!
//! # Counts
//!
//! A step is one value of t, including t_0 and 1. Updates number T_0 + (K − 2) T + T_1 for K steps,
//! unless stages end when the flow fits. The forward-KL refinement is not a step: its updates
//! follow in the trace. Target evaluations include the draws of schedule, stages, t_0 and that
//! refinement.
//!
//! An observer can take the state of a fit from any event, and [`resume`] continues from it to the
//! same bits.

mod annealing;
mod builder;
mod fallen;
mod forward_kl;
mod kept;
mod multiple_importance;
mod observer;
mod outcome;
pub mod overlay;
mod particles;
mod records;
mod restarts;
mod round;
mod rounds;
mod run;
mod settings;
mod stage;
mod state;
mod trace;

pub use crate::train::Gradient;
pub use builder::{Fit, fit, resume};
pub use forward_kl::{Divergence, ForwardKl};
pub use kept::PutDown;
pub use observer::{Event, Observer};
pub use outcome::Outcome;
pub use overlay::Overlay;
pub use records::{RoundRecord, StepRecord, UpdateRecord};
pub use restarts::{Comparison, Restart, Restarts, restart, restarts, restarts_with};
pub use settings::Settings;
pub use stage::Stage;
pub use state::{Snapshot, State};
