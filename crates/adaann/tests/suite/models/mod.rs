//! Models written as text, compared with registered posteriors, plain arithmetic and closed forms.

mod columns;
mod concave;
mod doses;
mod draws;
mod dynamics;
mod emax;
mod examples;
mod gallery;
mod hares;
mod likelihoods;
mod many_rows;
mod matrices;
mod mistakes;
mod no_integral;
mod observations;
mod prior_alone;
mod priors;
mod series;
mod settled;
mod solver_error;
mod subjects;
mod trajectories;
