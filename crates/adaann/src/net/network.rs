//! A network: hidden layers and a linear output layer, with all blocks in one record.

use super::Parameter;
use super::{
    Activation, Records,
    activation::{Activate, Slope},
    dense::{Apply, Dense, Into, Place, Pull},
    gather::Gather,
    tile::Row,
};
use crate::simd;
use std::ops::Range;

/// The shape of a network.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) inputs: usize,
    /// The activation of each hidden layer.
    pub(crate) hidden: Vec<Activation>,
    /// For each unit of a hidden layer, the number of inputs it may depend on; never decreasing.
    pub(crate) unit_reach: Vec<usize>,
    /// The same for each output.
    pub(crate) output_reach: Vec<usize>,
}

/// A network whose input block is at the beginning of a record. Its other blocks are contiguous from
/// a given row on.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    layers: Vec<Layer>,
    /// Row of the record after its last block.
    end: usize,
}

#[derive(Debug, Clone)]
struct Layer {
    dense: Dense,
    /// `None` for the last layer.
    activation: Option<Activation>,
    place: Place,
    /// The range of its parameters.
    parameters: Range<usize>,
}

impl Network {
    /// Builds a network whose blocks start at row `at` of a record.
    pub(crate) fn new(shape: &Shape, at: usize) -> Self {
        let seen = |reach: usize| shape.unit_reach.partition_point(|unit| *unit <= reach);
        let between = |to: &[usize]| to.iter().map(|reach| seen(*reach)).collect::<Vec<_>>();
        let units = shape.unit_reach.len();
        let mut layers: Vec<Layer> = Vec::new();
        let (mut input, mut output, mut parameters) = (0, at, 0);
        for l in 0..=shape.hidden.len() {
            let activation = shape.hidden.get(l).copied();
            let reach = if activation.is_some() { &shape.unit_reach } else { &shape.output_reach };
            let dense = if l == 0 {
                Dense::new(shape.inputs, reach.clone())
            } else {
                Dense::new(units, between(reach))
            };
            let rows = dense.outputs() * activation.map_or(1, Activation::blocks);
            let end = parameters + dense.parameter_len();
            layers.push(Layer {
                dense,
                activation,
                place: Place { input, output },
                parameters: parameters..end,
            });
            (input, output, parameters) = (output, output + rows, end);
        }
        Self { layers, end: output }
    }

    fn last(&self) -> &Layer {
        self.layers.last().expect("a network has an output layer")
    }

    /// Row of the record after its last block.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// First row of the output block.
    pub(crate) fn output_at(&self) -> usize {
        self.last().place.output
    }

    /// Length of its parameters.
    pub(crate) fn parameter_len(&self) -> usize {
        self.last().parameters.end
    }

    /// Its blocks of parameters.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let blocks = |(l, layer): (usize, &Layer)| {
            let (outputs, inputs) = (layer.dense.outputs(), layer.dense.inputs);
            [
                Parameter::new(&format!("{l}.weight"), &[outputs, inputs]),
                Parameter::new(&format!("{l}.bias"), &[outputs]),
            ]
        };
        self.layers.iter().enumerate().flat_map(blocks).collect()
    }

    /// Whether some entries of its matrices are fixed at 0.
    pub(crate) fn is_masked(&self) -> bool {
        self.layers.iter().any(|layer| !layer.dense.is_full())
    }

    /// Sets the masked entries of a parameter vector to 0.
    pub(crate) fn mask(&self, parameters: &mut [f64]) {
        for Layer { dense, parameters: own, .. } in &self.layers {
            for i in 0..dense.outputs() {
                let row = own.start + i * dense.inputs;
                parameters[row + dense.reach[i]..row + dense.inputs].fill(0.0);
            }
        }
    }

    /// Draws hidden weights that preserve the size of activations (variance 2 or 1 over the number
    /// of inputs) and output weights `scale` times as large; biases are 0.
    pub(crate) fn initialise(
        &self,
        scale: f64,
        normal: &mut dyn FnMut() -> f64,
        parameters: &mut [f64],
    ) {
        for Layer { dense, activation, parameters: own, .. } in &self.layers {
            let parameters = &mut parameters[own.clone()];
            parameters.fill(0.0);
            let gain = match activation {
                None => scale,
                Some(Activation::Relu | Activation::Silu) => 2.0_f64.sqrt(),
                Some(Activation::Tanh) => 1.0,
            };
            for i in 0..dense.outputs() {
                let reach = dense.reach[i];
                for weight in &mut parameters[i * dense.inputs..][..reach] {
                    *weight = gain * normal() / (reach as f64).sqrt();
                }
            }
        }
    }

    /// Computes some of the hidden units and outputs from the inputs.
    pub(crate) fn forward(
        &self,
        parameters: &[f64],
        units: Range<usize>,
        outputs: Range<usize>,
        records: Records,
        tape: &mut [Row],
    ) {
        for Layer { dense, activation, place, parameters: own } in &self.layers {
            let rows = if activation.is_some() { units.clone() } else { outputs.clone() };
            let rectified = *activation == Some(Activation::Relu);
            simd::dispatch(Apply {
                dense,
                parameters: &parameters[own.clone()],
                rows: rows.clone(),
                floor: if rectified { 0.0 } else { f64::NEG_INFINITY },
                place: *place,
                records,
                tape,
            });
            if let Some(activation) = *activation
                && !rectified
            {
                let place = (place.output, dense.outputs());
                simd::dispatch(Activate { activation, rows, place, records, tape });
            }
        }
    }

    /// Computes the cotangents of some units and inputs from those of the outputs and of later
    /// units. The inputs' cotangents are added to the existing numbers.
    pub(crate) fn pull(
        &self,
        parameters: &[f64],
        inputs: Range<usize>,
        units: Range<usize>,
        records: Records,
        tape: &[Row],
        cotangents: &mut [Row],
    ) {
        for (l, Layer { dense, place, parameters: own, .. }) in self.layers.iter().enumerate().rev()
        {
            let below = l.checked_sub(1).map(|l| &self.layers[l]);
            let activation = below.and_then(|layer| layer.activation);
            let columns = if below.is_some() { units.clone() } else { inputs.clone() };
            simd::dispatch(Pull {
                dense,
                parameters: &parameters[own.clone()],
                columns: columns.clone(),
                into: match activation {
                    None => Into::Sum,
                    Some(Activation::Relu) => Into::Rectified,
                    Some(_) => Into::Place,
                },
                place: *place,
                records,
                tape,
                cotangents,
            });
            if let Some(activation) =
                activation.filter(|activation| *activation != Activation::Relu)
            {
                let place = (place.input, dense.inputs);
                let rows = columns;
                simd::dispatch(Slope { activation, rows, place, records, tape, cotangents });
            }
        }
    }

    /// Adds the gradients of all parameters, given the cotangents of all units and outputs;
    /// overwrites the sums if they are `fresh`.
    pub(crate) fn gather(
        &self,
        records: Records,
        tape: &[Row],
        cotangents: &[Row],
        scratch: &mut [Row],
        fresh: bool,
        sums: &mut [f64],
    ) {
        for Layer { dense, place, parameters: own, .. } in &self.layers {
            simd::dispatch(Gather {
                dense,
                place: *place,
                records,
                tape,
                cotangents,
                scratch,
                fresh,
                sums: &mut sums[own.clone()],
            });
        }
    }
}
