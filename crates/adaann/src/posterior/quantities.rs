//! Evaluates derived quantities and predictions for a batch of points.

use crate::batch::PAD;
use crate::program::{Block, Graph, Node, Prepared, Room, Rows, of_first_inputs};
use crate::simd::{Kernel, dispatch};
use crate::{Batch, Error, Result};
use fearless_simd::Simd;
use std::ops::Range;

/// Some nodes of a recorded graph, compiled.
#[derive(Debug)]
pub(crate) struct Quantities {
    parameters: usize,
    prepared: Prepared,
}

impl Quantities {
    /// Nodes that depend on parameters only.
    pub(crate) fn new(graph: &Graph, parameters: usize, nodes: &[Node]) -> Self {
        let prepared = Prepared::plain(of_first_inputs(graph, parameters, nodes), parameters);
        Self { parameters, prepared }
    }

    /// Nodes that depend on parameters and some further inputs, which the points hold after the
    /// parameters.
    pub(crate) fn with(
        graph: &Graph,
        parameters: usize,
        behind: Range<usize>,
        nodes: &[Node],
    ) -> Self {
        let all = parameters + behind.len();
        let mut own = Graph::new();
        let nothing = own.constant(f64::NAN);
        let mut inputs: Vec<Node> = (0..parameters as u32).map(|input| own.input(input)).collect();
        inputs.resize(behind.start, nothing);
        inputs.extend((parameters..all).map(|input| own.input(input as u32)));
        let outputs = own.embed(graph, nodes, &inputs);
        Self { parameters: all, prepared: Prepared::plain((own, outputs), all) }
    }

    /// The values at each point.
    ///
    /// # Errors
    /// If the points have the wrong dimension.
    pub(crate) fn evaluate(&self, points: &Batch) -> Result<Batch> {
        if points.dim() != self.parameters {
            return Err(Error::Shape {
                what: "the batch of points".into(),
                found: format!("{} coordinates", points.dim()),
                expected: self.parameters.to_string(),
            });
        }
        let mut out = Batch::zeros(self.prepared.routine.outputs(), points.len());
        let (room, inputs) = (self.prepared.routine.room(), Rows::zeros(self.parameters));
        dispatch(Evaluate { quantities: self, room, inputs, points, out: &mut out });
        Ok(out)
    }
}

struct Evaluate<'a> {
    quantities: &'a Quantities,
    room: Room,
    inputs: Rows,
    points: &'a Batch,
    out: &'a mut Batch,
}

impl Kernel for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let prepared = &self.quantities.prepared;
        let (rows, stride) = self.points.blocks();
        let (out, out_stride) = self.out.blocks_mut();
        for block in 0..self.points.padded_len() / PAD {
            for d in 0..self.quantities.parameters {
                self.inputs[d] = rows[d * stride + block];
            }
            prepared.routine.load(&mut self.room, &self.inputs);
            prepared.run(simd, &mut self.room, 0);
            for row in 0..prepared.routine.outputs() {
                let value: &Block = prepared.routine.output(&self.room, row);
                out[row * out_stride + block] = *value;
            }
        }
    }
}
