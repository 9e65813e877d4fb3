//! The ladder: methods from the cheapest to the strongest, of which the first that is good enough gives the answer.
//!
//! A prior without data is sampled directly. Otherwise, ascents find the modes, and importance sampling adapts a
//! mixture of the Gaussians at their peaks. If its weights stay poor, particles start from the base. A flow covers what
//! they leave over; in many dimensions, long chains do. The reported numbers come from fresh draws of a proposal that
//! no longer changes.
//!
//! There is one file for each rung and one rule: the answer is the first candidate whose weights are good enough,
//! or otherwise the one that covers most of p. `Target::exact_draws` samples a prior without data. `check.rs`
//! repairs an incomplete answer with what the check has found, and checks it again. Chains are checked by chains
//! from other starts.

mod candidate;
mod chains;
mod check;
mod context;
#[cfg(test)]
mod faults;
mod flow;
mod forecast;
mod found;
mod ladder;
mod lengthen;
mod method;
mod mixture;
mod observer;
mod outcome;
mod overlay;
mod particles;
mod plan;
mod prior;
mod rung;
mod search;
mod settings;

pub use check::check;
pub use ladder::{approximate, approximate_with};
pub use lengthen::lengthen;
pub use method::Method;
pub use observer::{Event, Observer};
pub use outcome::Answer;
pub use overlay::Overlay;
pub use plan::Plan;
pub use rung::{Left, Rung};
pub use settings::Settings;
