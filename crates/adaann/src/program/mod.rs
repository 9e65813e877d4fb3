//! Recorded expressions: a log density written as a closure becomes a program over blocks of samples.
//!
//! The closure runs once, on symbolic numbers, and leaves a graph. The graph is differentiated in
//! reverse mode and compiled, with its gradient, into instructions that each make one pass over a
//! block of samples; user code never runs in the inner loop.
//!
//! Nodes of a graph are single numbers. Functions of whole matrices are calls (`dense/`): one node, whose results
//! are `Part`s, and one instruction. `call_gradient.rs` has the reverse rule of each routine, which is another
//! routine: Cholesky's is not derived from its operations. Unused results, such as derivatives in a program without
//! gradient, are not computed. Constants are folded by running the routine. There is no forward mode for calls:
//! beside differential equations matrices are unrolled into single operations (`matrices.rs`).

mod affine;
mod allocate;
mod call_gradient;
mod code;
mod compile;
mod concavity;
mod cost;
mod dense;
mod density;
mod expr;
mod function;
mod gradient;
mod graph;
mod groups;
mod halves;
mod matrices;
mod op;
mod prepared;
mod quick_hash;
mod routine;
mod row_sum;
mod run;
mod special;
mod split;
mod summands;
mod tabulate;
mod tail;
mod tangent;
mod terms;

#[cfg(test)]
mod tests;

pub(crate) use concavity::{Shape, shapes};
pub(crate) use dense::{CovarianceKind, in_triangle, triangle};
pub use density::Program;
pub use expr::{Condition, Expr, log_sum_exp};
pub(crate) use function::{Function, of_first_inputs};
pub(crate) use gradient::gradient;
pub(crate) use graph::Graph;
pub(crate) use groups::{Group, at_groups};
pub(crate) use halves::Halves;
pub(crate) use matrices::{
    CovarianceSettings, Way, cholesky, covariances, lower_times, normal_residuals, solve_lower,
    solve_lower_transposed, times,
};
pub(crate) use op::{Comparison, Node, Unary};
pub(crate) use prepared::{Prepared, Recorded, Rows};
pub(crate) use routine::Room;
#[cfg(test)]
pub(crate) use routine::{Routine, Tables};
pub(crate) use row_sum::{Data, Gather, RowSum, RowSumRoom, Summed, sum_over_rows};
pub(crate) use run::Block;
pub(crate) use special::ln_gamma_rest;
pub(crate) use split::{
    Inputs, Numbered, RowInput, RowPart, Source, free_of_rows, split, split_within,
};
pub(crate) use tangent::tangent;
