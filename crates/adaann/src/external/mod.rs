//! External likelihoods: a program of the user computes them and exchanges lines of text over
//! pipes.
//!
//! The program is started once per core and answers requests until its input ends. Every message is
//! a line of text:
//!
//! ```text
//! adaann   {"adaann": 1, "parameters": ["a", "b"]}
//! program  {"gradient": true}
//! adaann   batch 2 gradient
//! adaann   0.5 -1.25
//! adaann   0.75 3.0
//! program  -12.5 0.3 1.7
//! program  -inf
//! adaann   batch 1
//! adaann   0.5 -1.25
//! program  -12.5
//! ```
//!
//! - The first line is JSON with the names of the parameters. The program replies with one line of
//!   JSON: whether it returns gradients, and the largest number of points in a batch (`"batch"`, no
//!   limit if absent).
//! - Then come batches: a line `batch N` or `batch N gradient`, and N lines with the parameters,
//!   separated by spaces, in digits that read back as the same number. The word `gradient` is sent
//!   only to a program that returns gradients.
//! - The program replies to each batch with N lines: the log likelihood and, if the gradient is
//!   requested, its derivatives by all parameters. Unrequested derivatives are dropped. For a point
//!   without a likelihood it writes `-inf` or `nan`, with or without derivatives; the point is then
//!   non-finite.
//! - It flushes its output after each batch, and exits when its input ends. Its output must contain
//!   nothing else; messages belong on stderr, whose last lines appear in errors.
//!
//! The division of points into batches depends on their number alone, and each program takes the
//! next batch as soon as it is free. If the program's output depends only on the point, the results
//! have the same bits for any number of processes.
//!
//! A program that dies, returns an invalid line, or does not reply in time is terminated with all
//! its children, restarted, and given the same batch again.

mod answer;
mod command;
mod differences;
mod exercise;
mod group;
mod pipes;
mod posterior;
mod process;
mod simulator;
mod start;
mod worker;

pub use command::{Command, GradientBy};
#[doc(hidden)]
pub use exercise::exercise;
pub use group::end_all;
pub use posterior::Posterior;
pub use simulator::Simulator;
