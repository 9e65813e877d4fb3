//! Layers that move coordinates along curves, parametrised by conditioners: networks of other
//! coordinates.
//!
//! Coupling layers and autoregressive layers are both of this kind. A layer processes its
//! coordinates in stages. A stage reads known coordinates, computes the hidden units that depend on
//! nothing else, and moves one or more coordinates. A coupling has one stage; an autoregressive
//! layer has one per coordinate. In the direction where the inputs of all networks are known, the
//! stages run as one. In the other direction each waits for the previous one, but every unit is
//! still computed only once. Both directions multiply the same numbers, and so do their backward
//! passes.
//!
//! realNVP, Glow's steps, autoregressive flows and neural splines all use this module. A curve
//! (`Curve`) is affine or a spline. The hidden units of an autoregressive layer are sorted by the
//! number of coordinates that they depend on, so that its masked matrices are staircases, and their
//! zeros are never multiplied. Since every unit is computed once, when its inputs are available,
//! drawing from a masked autoregressive flow, or training it on its draws, costs one pass instead
//! of d.
//!
//! The record of a group of points starts with its coordinates; the blocks of each network follow.
//! The tape is a sequence of records, and cotangents have records of the same shape.

pub(super) mod affine;
mod curve;
mod outputs;
mod pass;
mod plan;
pub(super) mod spline;

pub(super) use curve::Curve;
pub(super) use plan::Plan;

use super::{Grain, Parameter, Stack, Weights};
use crate::{
    Batch,
    net::{Activation, GROUP, Network, Records, Row, Shape},
    simd::{self, Buffer},
};
use outputs::Outputs;
use pass::{Direction, Move, PullBack, Way};
use plan::Stage;
use std::{cell::Cell, ops::Range};

/// A layer of conditioned curves.
#[derive(Debug)]
pub(super) struct Conditioned<C> {
    plan: Plan,
    curve: C,
    /// True if the forward pass runs the networks on the layer's input, false if the inverse runs
    /// them on its output.
    reads_input: bool,
    networks: Vec<Network>,
    /// Whether some entries of the networks' matrices are fixed at 0.
    is_masked: bool,
    outputs: Outputs,
    /// Rows of a record: the coordinates in order, then the networks' blocks.
    rows: usize,
    parameters: usize,
}

impl<C: Curve> Conditioned<C> {
    /// A layer whose networks have hidden layers with these activations: one network for all outputs
    /// of the curve, or one network per list.
    pub(super) fn new(plan: Plan, curve: C, reads_input: bool, hidden: &[Vec<Activation>]) -> Self {
        let count = curve.outputs();
        // Outputs per network.
        let each = count / hidden.len();
        debug_assert!(each * hidden.len() == count, "networks share the outputs evenly");
        let (mut networks, mut starts) = (Vec::new(), Vec::new());
        let mut rows = plan.order.len();
        let mut parameters = 0;
        for hidden in hidden {
            let shape = Shape {
                inputs: plan.read,
                hidden: hidden.clone(),
                unit_reach: plan.unit_reach.clone(),
                output_reach: plan
                    .moved_reach
                    .iter()
                    .flat_map(|reach| vec![*reach; each])
                    .collect(),
            };
            let network = Network::new(&shape, rows);
            rows = network.end();
            starts.extend((0..each).map(|output| network.output_at() + output));
            parameters += network.parameter_len();
            networks.push(network);
        }
        let outputs = Outputs { starts, stride: each };
        let is_masked = networks.iter().any(Network::is_masked);
        Self { plan, curve, reads_input, networks, is_masked, outputs, rows, parameters }
    }

    fn records(&self, z: &Batch) -> Records {
        Records { rows: self.rows, points: z.len() }
    }

    /// The networks and the ranges of their parameters.
    fn placed(&self) -> impl Iterator<Item = (&Network, Range<usize>)> {
        let mut at = 0;
        self.networks.iter().map(move |network| {
            let start = at;
            at += network.parameter_len();
            (network, start..at)
        })
    }

    fn direction(&self, forward: bool) -> Direction {
        Direction {
            way: if forward == self.reads_input { Way::Along } else { Way::Against },
            log_slope_sign: if self.reads_input { 1.0 } else { -1.0 },
        }
    }

    /// Moves points forward or backward through the layer.
    fn pass(
        &self,
        forward: bool,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        let direction = self.direction(forward);
        let records = self.records(z);
        with_scratch(if tape.is_none() { self.tape_len(z.padded_len()) } else { 0 }, |scratch| {
            let tape = rows(tape.unwrap_or(scratch));
            let matrices = self.matrices(weights);
            pass::read(&self.plan.order, z, records, tape);
            for stage in self.stages(direction.way) {
                for (network, own) in self.placed() {
                    let outputs = self.outputs_of(&stage);
                    network.forward(&matrices[own], stage.units.clone(), outputs, records, tape);
                }
                simd::dispatch(Move {
                    curve: &self.curve,
                    outputs: &self.outputs,
                    direction,
                    order: &self.plan.order[self.plan.first_moved..],
                    first_place: self.plan.first_moved,
                    moved: stage.moved,
                    records,
                    tape,
                    z,
                    log_det,
                });
            }
        });
    }

    /// The stages one by one, or merged into one if the inputs of all networks are given.
    fn stages(&self, way: Way) -> impl DoubleEndedIterator<Item = Stage> {
        let whole = Stage {
            read: 0..self.plan.read,
            units: 0..self.plan.unit_reach.len(),
            moved: 0..self.plan.moved_reach.len(),
        };
        let (one, many) = match way {
            Way::Along => (Some(whole), &[][..]),
            Way::Against => (None, &self.plan.stages[..]),
        };
        one.into_iter().chain(many.iter().cloned())
    }

    /// The outputs of a network that a stage computes.
    fn outputs_of(&self, stage: &Stage) -> Range<usize> {
        stage.moved.start * self.outputs.stride..stage.moved.end * self.outputs.stride
    }

    fn matrices<'a>(&self, weights: Weights<'a>) -> &'a [f64] {
        if self.is_masked { weights.derived } else { weights.parameters }
    }

    /// Pulls cotangents back through [`Conditioned::pass`].
    #[expect(clippy::too_many_arguments, reason = "the contract's buffers and the direction")]
    fn pull_back(
        &self,
        forward: bool,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        let direction = self.direction(forward);
        let records = self.records(z);
        let cotangents_len = self.tape_len(z.padded_len());
        with_scratch(cotangents_len + z.padded_len() * GROUP, |scratch| {
            let (cotangents, transposed) = scratch.split_at_mut(cotangents_len);
            let (cotangents, transposed) = (rows(cotangents), rows(transposed));
            let tape = tape.as_chunks().0;
            let matrices = self.matrices(weights);
            pass::read(&self.plan.order, g_z, records, cotangents);
            for stage in self.stages(direction.way).rev() {
                simd::dispatch(PullBack {
                    curve: &self.curve,
                    outputs: &self.outputs,
                    direction,
                    order: &self.plan.order[self.plan.first_moved..],
                    first_place: self.plan.first_moved,
                    moved: stage.moved.clone(),
                    records,
                    tape,
                    cotangents,
                    z,
                    g_log_det,
                });
                for (network, own) in self.placed() {
                    let Stage { read, units, .. } = &stage;
                    let (read, units) = (read.clone(), units.clone());
                    network.pull(&matrices[own], read, units, records, tape, cotangents);
                }
            }
            let fresh = std::mem::replace(&mut sums[self.parameters], 0.0) == FRESH;
            for (network, own) in self.placed() {
                network.gather(records, tape, cotangents, transposed, fresh, &mut sums[own]);
            }
            pass::write(&self.plan.order, g_z, records, cotangents);
        });
    }
}

/// Marks sums as empty.
const FRESH: f64 = 1.0;

thread_local! {
    /// Scratch memory within one call: the tape of a pass that returns none, and cotangents. Taken
    /// and put back.
    static SCRATCH: Cell<Buffer> = Cell::default();
}

fn with_scratch(len: usize, work: impl FnOnce(&mut [f64])) {
    let mut scratch = SCRATCH.take();
    scratch.reserve(len);
    work(&mut scratch[..len]);
    SCRATCH.set(scratch);
}

fn rows(numbers: &mut [f64]) -> &mut [Row] {
    numbers.as_chunks_mut().0
}

impl<C: Curve> Stack for Conditioned<C> {
    fn dim(&self) -> usize {
        self.plan.order.len()
    }

    fn parameters(&self) -> Vec<Parameter> {
        let named = |(i, network): (usize, &Network)| {
            let blocks = network.parameters().into_iter();
            blocks.map(move |block| Parameter { name: format!("{i}.{}", block.name), ..block })
        };
        self.networks.iter().enumerate().flat_map(named).collect()
    }

    fn initialise(&self, scale: f64, normal: &mut dyn FnMut() -> f64, parameters: &mut [f64]) {
        for (network, own) in self.placed() {
            network.initialise(scale, normal, &mut parameters[own]);
        }
    }

    fn derived_len(&self) -> usize {
        if self.is_masked { self.parameters } else { 0 }
    }

    fn prepare(&self, parameters: &[f64], derived: &mut [f64]) {
        if self.is_masked {
            derived.copy_from_slice(parameters);
            for (network, own) in self.placed() {
                network.mask(&mut derived[own]);
            }
        }
    }

    fn grain(&self) -> Grain {
        // Sums of the parameters' length cost as much as a few dozen points.
        Grain { tile: 128, shard: 96 }
    }

    fn tape_len(&self, padded_points: usize) -> usize {
        padded_points * self.rows
    }

    fn forward(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        self.pass(true, weights, z, log_det, tape);
    }

    fn sums_len(&self) -> usize {
        // One sum per parameter, and a marker that the sums are to be overwritten instead of added
        // to: clearing as many numbers as there are weights would cost as much as a pass over
        // several points.
        self.parameters + 1
    }

    fn clear(&self, sums: &mut [f64]) {
        sums[self.parameters] = FRESH;
    }

    fn backward(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        self.pull_back(true, weights, z, g_z, g_log_det, tape, sums);
    }

    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        self.pass(false, weights, z, log_det, tape);
    }

    fn backward_inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_det: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        self.pull_back(false, weights, z, g_z, g_log_det, tape, sums);
    }

    fn gradient(&self, _: &[f64], _: &mut [f64], sums: &[f64], gradient: &mut [f64]) {
        gradient.copy_from_slice(&sums[..self.parameters]);
        if self.is_masked {
            for (network, own) in self.placed() {
                network.mask(&mut gradient[own]);
            }
        }
    }

    fn parameter_len(&self) -> usize {
        self.parameters
    }
}
