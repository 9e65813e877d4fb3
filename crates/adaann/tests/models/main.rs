//! Models written as text, against registered posteriors, plain arithmetic and closed forms.

#[path = "../common/mod.rs"]
mod common;
mod draws;
mod dynamics;
mod examples;
mod gallery;
mod hares;
mod likelihoods;
mod many_rows;
mod mistakes;
mod priors;
