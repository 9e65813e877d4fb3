//! Training of a flow: updates on its own draws, or on given weighted points.
//!
//! An update descends a [`trainer::Objective`]. [`Trainer`] handles the common part: the mean
//! gradient, clipping, the optimizer's step, and skipped updates.
//!
//! An update whose gradient is not finite is skipped and counted, so that no NaN reaches a
//! parameter. A non-finite point has weight 0 in the update (`non_finite.rs`).

mod gradient;
mod on_draws;
mod on_points;
mod point_clip;
mod seed;
mod shards;
mod totals;
mod trainer;

pub use gradient::Gradient;
pub(crate) use on_draws::{DrawShards, Drawn, OnDraws};
pub(crate) use on_points::{OnPoints, PointSet, PointShards};
pub(crate) use point_clip::PointClip;
pub(crate) use trainer::{MOST_SKIPPED_IN_A_ROW, Pace, State, Trainer};
