//! Values carried from row to row of a table, and log densities that depend on them: one loop over
//! the rows with an exact reverse sweep, whatever the number of rows.
//!
//! A row is one program over a block of samples. It maps the values carried to it to the values it
//! carries on and to its term of the log likelihood. The row's numbers are its uniforms. The
//! solvers of `ode` loop as well, but each sample takes its own steps, with step-size control and
//! changes of method between them. Rows are the same for all samples, so their loop is simpler.
//!
//! `[series]` of a model file defines the states of a row from those of the row before.
//! `posterior/carried.rs` splits it like rows: values that depend only on parameters are in the
//! prelude, elements that a row takes by its own index are inputs of the row, and its numbers are
//! uniforms.
//!
//! `stretch.rs` splits the loop over all rows into segments of up to 128 rows that do the same,
//! since each run has a fixed cost. Each kind of segment is one program. If the rows differ so much
//! that there would be many kinds, segments are shorter. Equal rows are split evenly, at the cost
//! of some more runs, so that one program serves most of them and little is compiled. Numbers that
//! are equal in all segments, such as a column and the same column referenced from the next row,
//! are stored once.
//!
//! With its reverse, such a program runs in two halves (`program/halves.rs`): the carried and
//! accumulated values, and the rest, in the same slots, which are the tape. Beyond 4 MiB a window
//! of the tape is recomputed, as in `ode/`.

mod likelihood;
mod recursion;
mod step;
mod stretch;
mod sweep;
mod tape;

pub(crate) use likelihood::{Likelihood, LikelihoodRoom};
pub(crate) use recursion::{Argument, Pattern, Recursion};
