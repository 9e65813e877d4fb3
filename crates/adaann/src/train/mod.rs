//! Training of a flow: updates on its own draws, or on points that are given with weights.
//!
//! What an update descends is a [`trainer::Objective`]; [`Trainer`] does the rest of it, the same for
//! all: the mean gradient, its clipping, the optimizer's step, and what happens when there is none.

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
