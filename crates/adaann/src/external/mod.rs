//! Likelihoods outside: a program of the user's computes them, over a pipe, in lines of text.
//!
//! The program is started once for each core and answers until its input ends. Everything is text,
//! one line after another:
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
//! - First comes one line of JSON with the names of the parameters, and the program answers with one
//!   of its own: does it give gradients, and how many points may a batch have at most (`"batch"`, no
//!   limit if it is not there).
//! - Then come batches: a line `batch N` or `batch N gradient`, and N lines with the parameters,
//!   separated by spaces, in digits that read back as the same number. The word `gradient` comes only
//!   to a program that has said it gives them.
//! - The program answers each batch with N lines: the log likelihood and, if the gradient is asked
//!   for, its derivatives by all parameters. Derivatives that nobody asked for are dropped. A point
//!   that has no likelihood has `-inf` or `nan`, with or without derivatives behind it; it is lost.
//! - It flushes its output after each batch, and ends when its input does. Nothing else may be
//!   written to its output; messages belong on stderr, whose last lines an error quotes.
//!
//! Points are cut into batches by their number alone, and each program takes the next batch as soon
//! as it is free: a program whose answer depends on nothing but the point gives the same bits in any
//! number of processes.
//!
//! A program that dies, answers what is no answer, or does not answer in time is ended with all that it
//! has started, started again, and asked for the same batch.

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
