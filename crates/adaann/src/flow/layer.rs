//! Custom layers, written for one point: the simplest way to implement a new stack.

use super::{Parameter, Stack, Weights};
use crate::{Batch, linear};

/// An invertible map of R^d with parameters, written for one point at a time.
///
/// [`PerPoint`] turns it into a [`Stack`]. Three methods suffice: gradients of the inverse follow
/// from [`Layer::backward`] by solving a linear system of `dim` equations per point. Implement
/// [`Stack`] directly to process many points at once or to use a faster inverse gradient.
///
/// ```
/// use adaann::flow::{Base, Flow, Layer, Parameter, PerPoint};
///
/// /// x = z + shift, the same for every coordinate.
/// #[derive(Debug)]
/// struct Shift(usize);
///
/// impl Layer for Shift {
///     fn dim(&self) -> usize {
///         self.0
///     }
///     fn parameters(&self) -> Vec<Parameter> {
///         vec![Parameter::new("shift", &[1])]
///     }
///     fn forward(&self, parameters: &[f64], point: &mut [f64]) -> f64 {
///         point.iter_mut().for_each(|z| *z += parameters[0]);
///         0.0
///     }
///     fn inverse(&self, parameters: &[f64], point: &mut [f64]) -> f64 {
///         point.iter_mut().for_each(|x| *x -= parameters[0]);
///         0.0
///     }
///     fn backward(&self, _: &[f64], _: &[f64], g: &mut [f64], _: f64, g_parameters: &mut [f64]) {
///         g_parameters[0] += g.iter().sum::<f64>();
///     }
/// }
///
/// let mut flow = Flow::from_stack(Box::new(PerPoint(Shift(2))), Base::standard(2))?;
/// flow.set_parameters(&[3.0])?;
/// let draws = flow.sample(1000, 1);
/// assert!(draws.points.row(0).iter().sum::<f64>() > 2_800.0);
/// # Ok::<(), adaann::Error>(())
/// ```
pub trait Layer: Send + Sync + std::fmt::Debug {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// The blocks of the flat parameter vector, in order.
    fn parameters(&self) -> Vec<Parameter>;

    /// Initialises the parameters for training, as [`Stack::initialise`] does.
    fn initialise(&self, scale: f64, normal: &mut dyn FnMut() -> f64, parameters: &mut [f64]) {
        for parameter in parameters {
            *parameter = scale * normal();
        }
    }

    /// Moves a point z to its image x = f(z; θ) and returns log |det ∂f/∂z|.
    fn forward(&self, parameters: &[f64], point: &mut [f64]) -> f64;

    /// Moves an image x back to the point z with f(z; θ) = x, and returns log |det ∂f/∂z| there, the
    /// value that [`Layer::forward`] returns for z.
    fn inverse(&self, parameters: &[f64], point: &mut [f64]) -> f64;

    /// The vector-Jacobian product of [`Layer::forward`] at the point z. Given the cotangents g of
    /// the image and k of the log-determinant L, replaces `g` with gᵀ ∂f/∂z + k ∂L/∂z and adds gᵀ
    /// ∂f/∂θ + k ∂L/∂θ to `g_parameters`.
    fn backward(
        &self,
        parameters: &[f64],
        point: &[f64],
        g: &mut [f64],
        g_log_det: f64,
        g_parameters: &mut [f64],
    );
}

/// Turns a [`Layer`] into a [`Stack`], which processes point after point.
#[derive(Debug, Clone, Copy)]
pub struct PerPoint<L>(pub L);

/// Copies point `i` of a batch.
fn read(batch: &Batch, i: usize, point: &mut [f64]) {
    for (d, x) in point.iter_mut().enumerate() {
        *x = batch.row(d)[i];
    }
}

/// The tape of a batch: its points before the layer, followed by their images.
struct Tape<'a> {
    before: &'a [f64],
    after: &'a [f64],
}

impl Tape<'_> {
    fn of(tape: &[f64], numbers: usize) -> Tape<'_> {
        let (before, after) = tape[..2 * numbers].split_at(numbers);
        Tape { before, after }
    }
}

impl<L: Layer> PerPoint<L> {
    /// Moves points by `step`, and stores them before and after the layer.
    fn pass(
        &self,
        z: &mut Batch,
        log_det: &mut [f64],
        mut tape: Option<&mut [f64]>,
        is_inverse: bool,
        step: impl Fn(&mut [f64]) -> f64,
    ) {
        let dim = self.0.dim();
        let numbers = dim * z.len();
        let (mut start, mut end) = (vec![0.0; dim], vec![0.0; dim]);
        for (i, log_det) in log_det[..z.len()].iter_mut().enumerate() {
            read(z, i, &mut start);
            end.copy_from_slice(&start);
            *log_det += step(&mut end);
            z.set_point(i, &end);
            if let Some(tape) = &mut tape {
                let (before, after) = tape[..2 * numbers].split_at_mut(numbers);
                let (z, x) = if is_inverse { (&end, &start) } else { (&start, &end) };
                before[i * dim..][..dim].copy_from_slice(z);
                after[i * dim..][..dim].copy_from_slice(x);
            }
        }
    }

    /// Replaces `g` with the solution of gᵀ ∂f/∂z = `g`ᵀ + k ∂L/∂z.
    fn solve(&self, parameters: &[f64], point: &[f64], g: &mut [f64], k: f64, room: &mut Room) {
        let dim = g.len();
        let Room { transposed, row, ignored } = room;
        for i in 0..dim {
            row.fill(0.0);
            row[i] = 1.0;
            self.0.backward(parameters, point, row, 0.0, ignored);
            for j in 0..dim {
                transposed[j * dim + i] = row[j];
            }
        }
        row.fill(0.0);
        self.0.backward(parameters, point, row, k, ignored);
        for (g, l) in g.iter_mut().zip(row.iter()) {
            *g += l;
        }
        linear::solve(dim, transposed, g);
    }
}

/// Memory for a linear system.
struct Room {
    /// The Jacobian's transpose.
    transposed: Vec<f64>,
    row: Vec<f64>,
    /// Gradients of the parameters, not used here.
    ignored: Vec<f64>,
}

impl<L: Layer> Stack for PerPoint<L> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.0.parameters()
    }

    fn initialise(&self, scale: f64, normal: &mut dyn FnMut() -> f64, parameters: &mut [f64]) {
        self.0.initialise(scale, normal, parameters);
    }

    fn derived_len(&self) -> usize {
        0
    }

    fn prepare(&self, _: &[f64], _: &mut [f64]) {}

    fn tape_len(&self, padded_points: usize) -> usize {
        2 * self.0.dim() * padded_points
    }

    fn forward(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        self.pass(z, log_det, tape, false, |point| self.0.forward(weights.parameters, point));
    }

    fn sums_len(&self) -> usize {
        self.parameter_len()
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
        let dim = self.0.dim();
        let tape = Tape::of(tape, dim * z.len());
        let mut g = vec![0.0; dim];
        for i in 0..z.len() {
            let point = &tape.before[i * dim..][..dim];
            read(g_z, i, &mut g);
            self.0.backward(weights.parameters, point, &mut g, g_log_det[i], sums);
            g_z.set_point(i, &g);
            z.set_point(i, point);
        }
    }

    fn inverse(
        &self,
        weights: Weights,
        z: &mut Batch,
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        self.pass(z, log_det, tape, true, |point| self.0.inverse(weights.parameters, point));
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
        let dim = self.0.dim();
        let tape = Tape::of(tape, dim * z.len());
        let mut room = Room {
            transposed: vec![0.0; dim * dim],
            row: vec![0.0; dim],
            ignored: vec![0.0; sums.len()],
        };
        let mut g = vec![0.0; dim];
        for i in 0..z.len() {
            let point = &tape.before[i * dim..][..dim];
            read(g_z, i, &mut g);
            self.solve(weights.parameters, point, &mut g, g_log_det[i], &mut room);
            g_z.set_point(i, &g);
            g.iter_mut().for_each(|g| *g = -*g);
            self.0.backward(weights.parameters, point, &mut g, g_log_det[i], sums);
            z.set_point(i, &tape.after[i * dim..][..dim]);
        }
    }

    fn gradient(&self, _: &[f64], _: &mut [f64], sums: &[f64], gradient: &mut [f64]) {
        gradient.copy_from_slice(sums);
    }
}
