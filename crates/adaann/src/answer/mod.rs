//! The ladder: methods from the cheapest to the strongest, of which the first that is good enough gives
//! the answer.
//!
//! A prior without data is drawn from as it is. Else ascents find the modes; a mixture of the Gaussians at their peaks is adapted by importance sampling;
//! where its weights stay poor, particles come from the base; what they leave over is for a flow, or,
//! in many dimensions, for long chains. What is reported comes from fresh draws of a proposal that no
//! longer changes.

mod candidate;
mod chains;
mod check;
mod context;
#[cfg(test)]
mod faults;
mod flow;
mod forecast;
mod ladder;
mod lengthen;
mod method;
mod observer;
mod outcome;
mod overlay;
mod particles;
mod plan;
mod prior;
mod rung;
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
