//! Compositions of stacks, which most families are built from.

use super::{Grain, Parameter, Stack, Weights};
use crate::{Batch, Result, error, pieces};
use std::ops::Range;

/// Doubles per cache line; parts of shared buffers begin on a cache line.
const LINE: usize = 8;

/// Stacks applied one after another.
#[derive(Debug)]
pub(super) struct Compose {
    dim: usize,
    parts: Vec<Part>,
    /// The end of each part's stretch in the shared buffers.
    parameters: usize,
    derived: usize,
    sums: usize,
}

/// Composes stacks, the first nearest to the base. Each has a name, which prefixes the names of its
/// parameters. The stacks may come from a [`FlowSpec`](super::FlowSpec) or be your own.
///
/// ```
/// use adaann::flow::{Base, Flow, FlowSpec, compose};
///
/// let (bend, turn) = (FlowSpec::planar(5).build(2)?, FlowSpec::Linear.build(2)?);
/// let flow = Flow::from_stack(compose([("bend", bend), ("turn", turn)])?, Base::standard(2))?;
/// assert_eq!(flow.blocks()[0].name, "bend.w");
/// # Ok::<(), adaann::Error>(())
/// ```
///
/// # Errors
/// If the list is empty or the dimensions differ.
pub fn compose<N: Into<String>>(
    stacks: impl IntoIterator<Item = (N, Box<dyn Stack>)>,
) -> Result<Box<dyn Stack>> {
    let stacks: Vec<_> = stacks.into_iter().map(|(name, stack)| (name.into(), stack)).collect();
    error::at_least_one("the flows of a composition", stacks.len())?;
    let dim = stacks[0].1.dim();
    if let Some((name, stack)) = stacks.iter().find(|(_, stack)| stack.dim() != dim) {
        return Err(error::shape(&format!("the dimension of '{name}'"), stack.dim(), dim));
    }
    Ok(Box::new(Compose::new(dim, stacks)))
}

/// A stack and its place in the shared buffers.
#[derive(Debug)]
struct Part {
    name: String,
    stack: Box<dyn Stack>,
    parameters: Range<usize>,
    derived: Range<usize>,
    sums: Range<usize>,
}

/// The beginning of a part in the buffers.
struct Place {
    parameters: usize,
    derived: usize,
    sums: usize,
}

impl Part {
    /// Its place in buffers that begin with another part.
    fn place_after(&self, first: &Self) -> Place {
        Place {
            parameters: self.parameters.start - first.parameters.start,
            derived: self.derived.start - first.derived.start,
            sums: self.sums.start - first.sums.start,
        }
    }

    fn weights<'a>(&self, all: Weights<'a>) -> Weights<'a> {
        Weights {
            parameters: &all.parameters[self.parameters.clone()],
            derived: &all.derived[self.derived.clone()],
        }
    }
}

impl Compose {
    /// Composes named stacks of one dimension; the first is nearest to the base.
    pub(super) fn new(dim: usize, stacks: Vec<(String, Box<dyn Stack>)>) -> Self {
        let (mut parameters, mut derived, mut sums) = (0, 0, 0);
        let mut parts = Vec::with_capacity(stacks.len());
        for (name, stack) in stacks {
            assert_eq!(stack.dim(), dim, "stacks of different dimensions");
            let part = Part {
                name,
                parameters: parameters..parameters + stack.parameter_len(),
                derived: derived..derived + stack.derived_len(),
                sums: sums..sums + stack.sums_len(),
                stack,
            };
            parameters = part.parameters.end;
            derived = part.derived.end.next_multiple_of(LINE);
            sums = part.sums.end.next_multiple_of(LINE);
            parts.push(part);
        }
        Self { dim, parts, parameters, derived, sums }
    }
}

/// Length of a part's stretch of the tape.
fn stretch(part: &Part, padded_points: usize) -> usize {
    part.stack.tape_len(padded_points).next_multiple_of(LINE)
}

impl Stack for Compose {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        let named = |part: &Part| {
            let blocks = part.stack.parameters().into_iter();
            blocks
                .map(|block| Parameter { name: format!("{}.{}", part.name, block.name), ..block })
                .collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(named).collect()
    }

    fn initialise(&self, scale: f64, normal: &mut dyn FnMut() -> f64, parameters: &mut [f64]) {
        for part in &self.parts {
            part.stack.initialise(scale, normal, &mut parameters[part.parameters.clone()]);
        }
    }

    fn derived_len(&self) -> usize {
        self.derived
    }

    fn prepare(&self, parameters: &[f64], derived: &mut [f64]) {
        prepare(&self.parts, parameters, derived);
    }

    fn grain(&self) -> Grain {
        let grains = self.parts.iter().map(|part| part.stack.grain());
        let both =
            |a: Grain, b: Grain| Grain { tile: a.tile.max(b.tile), shard: a.shard.max(b.shard) };
        grains.reduce(both).expect("a composition has parts")
    }

    fn tape_len(&self, padded_points: usize) -> usize {
        self.parts.iter().map(|part| stretch(part, padded_points)).sum()
    }

    fn forward(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        mut tape: Option<&mut [f64]>,
    ) {
        let points = z.padded_len();
        for part in &self.parts {
            let own = cut(&mut tape, |tape| tape.split_off_mut(..stretch(part, points)));
            part.stack.forward(part.weights(weights), z, log_det, own);
        }
    }

    fn sums_len(&self) -> usize {
        self.sums
    }

    fn clear(&self, sums: &mut [f64]) {
        for part in &self.parts {
            part.stack.clear(&mut sums[part.sums.clone()]);
        }
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
        let mut rest = &tape[..self.tape_len(z.padded_len())];
        for part in self.parts.iter().rev() {
            let (before, own) = rest.split_at(rest.len() - stretch(part, z.padded_len()));
            rest = before;
            let sums = &mut sums[part.sums.clone()];
            part.stack.backward(part.weights(weights), z, g_z, g_log_det, own, sums);
        }
    }

    fn shares_tape(&self) -> bool {
        self.parts.iter().all(|part| part.stack.shares_tape())
    }

    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        let points = z.padded_len();
        let mut tape = tape.map(|tape| &mut tape[..self.tape_len(points)]);
        for part in self.parts.iter().rev() {
            let own =
                cut(&mut tape, |tape| tape.split_off_mut(tape.len() - stretch(part, points)..));
            part.stack.inverse(part.weights(weights), z, log_det, own);
        }
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
        let mut rest = tape;
        for part in &self.parts {
            let (own, after) = rest.split_at(stretch(part, z.padded_len()));
            rest = after;
            let sums = &mut sums[part.sums.clone()];
            part.stack.backward_inverse(part.weights(weights), z, g_z, g_log_det, own, sums);
        }
    }

    fn gradient(
        &self,
        parameters: &[f64],
        derived: &mut [f64],
        sums: &[f64],
        gradient: &mut [f64],
    ) {
        gradient_of(&self.parts, parameters, derived, sums, gradient);
    }

    fn parameter_len(&self) -> usize {
        self.parameters
    }
}

/// Splits a stretch off a tape, if a tape is given.
fn cut<'a>(
    tape: &mut Option<&'a mut [f64]>,
    off: impl FnOnce(&mut &'a mut [f64]) -> Option<&'a mut [f64]>,
) -> Option<&'a mut [f64]> {
    tape.as_mut().map(|tape| off(tape).expect("a tape is as long as its stretches"))
}

/// Prepares adjacent parts, on several threads if they are large. The buffers begin with the
/// stretch of the first part.
fn prepare(parts: &[Part], parameters: &[f64], derived: &mut [f64]) {
    if let Some((left, right, at)) = halves(parts, parameters.len()) {
        let (parameters, parameters_right) = parameters.split_at(at.parameters);
        let (derived, derived_right) = derived.split_at_mut(at.derived);
        rayon::join(
            || prepare(left, parameters, derived),
            || prepare(right, parameters_right, derived_right),
        );
        return;
    }
    for part in parts {
        let place = part.place_after(&parts[0]);
        part.stack.prepare(
            &parameters[place.parameters..][..part.parameters.len()],
            &mut derived[place.derived..][..part.derived.len()],
        );
    }
}

/// The gradients of adjacent parts, likewise.
fn gradient_of(
    parts: &[Part],
    parameters: &[f64],
    derived: &mut [f64],
    sums: &[f64],
    gradient: &mut [f64],
) {
    if let Some((left, right, at)) = halves(parts, parameters.len()) {
        let (parameters, parameters_right) = parameters.split_at(at.parameters);
        let (derived, derived_right) = derived.split_at_mut(at.derived);
        let (sums, sums_right) = sums.split_at(at.sums);
        let (gradient, gradient_right) = gradient.split_at_mut(at.parameters);
        rayon::join(
            || gradient_of(left, parameters, derived, sums, gradient),
            || gradient_of(right, parameters_right, derived_right, sums_right, gradient_right),
        );
        return;
    }
    for part in parts {
        let place = part.place_after(&parts[0]);
        part.stack.gradient(
            &parameters[place.parameters..][..part.parameters.len()],
            &mut derived[place.derived..][..part.derived.len()],
            &sums[place.sums..][..part.sums.len()],
            &mut gradient[place.parameters..][..part.parameters.len()],
        );
    }
}

/// Splits parts with this many parameters in two, if a second thread pays off. Returns the halves
/// and the place of the second.
fn halves(parts: &[Part], parameters: usize) -> Option<(&[Part], &[Part], Place)> {
    if parts.len() < 2 {
        return None;
    }
    pieces::cut(parameters)?;
    let (left, right) = parts.split_at(parts.len() / 2);
    Some((left, right, right[0].place_after(&left[0])))
}
