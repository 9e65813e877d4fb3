//! The tests of the library from outside, as one program: one build, a module for each subject.

mod support;

mod allocations;
mod chained_supports;
mod example_1;
mod examples_4_5;
mod external;
mod external_book;
mod external_failures;
mod fit;
mod flow_families;
mod flow_files;
mod flow_laws;
mod flow_rounding;
mod instructions;
mod known;
mod log_density_gradient;
mod math;
mod mixture_base;
mod models;
mod modes;
mod ode_gradients;
mod ode_memory;
mod ode_posterior;
mod ode_solvers;
mod ode_stiff;
mod priors;
mod program;
mod psis;
mod rng;
mod smc;
mod special;
mod supports;
mod targets;
mod theorem;
mod training;
