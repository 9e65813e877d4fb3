//! Reverse mode through dense routines: the rule for each one is another routine.

use super::dense::Dense;
use super::graph::{Call, Called, Graph};
use super::op::Node;

/// The adjoints of the operands of a call, from those of its results; only for active operands.
pub(super) fn back_call(
    graph: &mut Graph,
    node: Node,
    call: &Call,
    adjoints: &[Option<Node>],
    active: &[bool],
) -> Vec<Option<Node>> {
    let called = Called::Node(node);
    let zero = graph.constant(0.0);
    let slopes = adjoints.iter().map(|adjoint| adjoint.unwrap_or(zero));
    let mut results =
        || -> Vec<Node> { (0..adjoints.len()).map(|index| graph.part(&called, index)).collect() };
    // The routine of the backward pass, its operands, and which of its results belong to which
    // operands.
    let (routine, operands) = match &call.routine {
        Dense::Cholesky { n } => {
            let mut operands = results();
            operands.extend(slopes);
            (Dense::CholeskyBack { n: *n }, operands)
        }
        Dense::LowerTimes { n } => {
            let mut operands = call.operands.clone();
            operands.extend(slopes);
            (Dense::LowerTimesBack { n: *n }, operands)
        }
        Dense::Covariance(of) => {
            let mut operands = call.operands.clone();
            operands.extend(results());
            operands.extend(slopes);
            (Dense::CovarianceBack(of.clone()), operands)
        }
        Dense::MultiNormal { .. } => {
            // The slopes are results after the value.
            let Some(seed) = adjoints[0] else { return vec![None; active.len()] };
            let given = (0..active.len()).map(|operand| {
                active[operand].then(|| {
                    let slope = graph.part(&called, 1 + operand);
                    graph.mul(seed, slope)
                })
            });
            return given.collect();
        }
        Dense::CholeskyBack { .. } | Dense::LowerTimesBack { .. } | Dense::CovarianceBack(_) => {
            unreachable!("gradients are not differentiated")
        }
    };
    let back = graph.call_dense(routine, operands);
    (0..active.len()).map(|index| active[index].then(|| graph.part(&back, index))).collect()
}
