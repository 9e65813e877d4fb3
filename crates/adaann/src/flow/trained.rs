//! A flow with its base and parameters: draws, and log q at any point.

mod given;
mod serial;

pub(crate) use given::Given;
pub use given::LogDensityGradient;

use super::{Base, FlowSpec, Grain, Noise, Parameter, Stack, Weights};
use crate::{
    Batch, Error, Result,
    batch::padded,
    error,
    rng::{Purpose, Stream},
    simd::Buffer,
};
use std::sync::Arc;

/// Points processed at once when drawing and evaluating: such a tile stays in cache.
const TILE: usize = 256;

/// Draws of a flow with their log density, in the flow's own coordinates.
#[derive(Debug, Clone)]
pub struct Draws {
    /// The points.
    pub points: Batch,
    /// log q at each point.
    pub log_q: Vec<f64>,
}

/// A normalizing flow: base, layers and parameters.
#[derive(Debug, Clone)]
pub struct Flow {
    /// The family; `None` for custom layers.
    spec: Option<FlowSpec>,
    base: Base,
    stack: Arc<dyn Stack>,
    /// The base's parameters, then the stack's.
    parameters: Vec<f64>,
    derived: Buffer,
}

impl Flow {
    /// A flow whose layers have raw parameters of 0. Planar and radial layers are then the
    /// identity, and q is the base.
    ///
    /// # Errors
    /// If the settings of the family are out of range.
    pub fn new(spec: &FlowSpec, base: Base) -> Result<Self> {
        let stack = spec.build(base.dim())?;
        Ok(Self::of(Some(spec.clone()), stack, base))
    }

    /// A flow with custom layers, whose parameters are 0; see [`Layer`](super::Layer) for an
    /// example. It supports everything except [`Flow::save`].
    ///
    /// # Errors
    /// If the stack and the base differ in dimension.
    pub fn from_stack(stack: Box<dyn Stack>, base: Base) -> Result<Self> {
        if stack.dim() != base.dim() {
            return Err(error::shape("the dimension of the layers", stack.dim(), base.dim()));
        }
        Ok(Self::of(None, stack, base))
    }

    fn of(spec: Option<FlowSpec>, stack: Box<dyn Stack>, base: Base) -> Self {
        let mut parameters = base.to_parameters();
        parameters.resize(parameters.len() + stack.parameter_len(), 0.0);
        let derived = Buffer::zeros(stack.derived_len());
        let mut flow = Self { spec, base, stack: Arc::from(stack), parameters, derived };
        flow.prepare();
        flow
    }

    /// Draws the layers' parameters from N(0, scale²), to start training.
    pub fn initialise(&mut self, scale: f64, seed: u64) {
        let stream = Stream::new(seed, Purpose::Parameters);
        let first = self.base.parameter_len();
        let mut drawn = 0..;
        let mut normal = || stream.normal_at(drawn.next().expect("endless"));
        self.stack.initialise(scale, &mut normal, &mut self.parameters[first..]);
        self.prepare();
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.base.dim()
    }

    /// The family; `None` for custom layers.
    pub fn spec(&self) -> Option<&FlowSpec> {
        self.spec.as_ref()
    }

    /// The current base.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The flat parameter vector.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The blocks of the parameter vector, in order.
    pub fn blocks(&self) -> Vec<Parameter> {
        let mut blocks = self.base.parameters();
        blocks.extend(self.stack.parameters());
        blocks
    }

    /// Sets the parameter vector.
    ///
    /// # Errors
    /// If its length differs, or a number is not finite.
    pub fn set_parameters(&mut self, parameters: &[f64]) -> Result<()> {
        if parameters.len() != self.parameters.len() {
            return Err(Error::Shape {
                what: "the parameter vector".into(),
                found: format!("{} numbers", parameters.len()),
                expected: self.parameters.len().to_string(),
            });
        }
        if let Some(bad) = parameters.iter().find(|parameter| !parameter.is_finite()) {
            return Err(Error::Load(format!("a parameter is {bad}")));
        }
        self.parameters.copy_from_slice(parameters);
        self.prepare();
        Ok(())
    }

    /// Converts the layers to double precision.
    pub(crate) fn into_double(self) -> Self {
        let spec = self.spec.clone().map(FlowSpec::in_double);
        let Some(spec) = spec.filter(|spec| Some(spec) != self.spec.as_ref()) else {
            return self;
        };
        let stack = spec.build(self.base.dim()).expect("it was built before");
        let derived = Buffer::zeros(stack.derived_len());
        let mut flow = Self { spec: Some(spec), stack: Arc::from(stack), derived, ..self };
        flow.prepare();
        flow
    }

    /// Applies `change` to the parameters.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut [f64])) {
        change(&mut self.parameters);
        self.prepare();
    }

    fn prepare(&mut self) {
        let (base, layers) = self.parameters.split_at(self.base.parameter_len());
        self.base.set_parameters(base);
        self.stack.prepare(layers, &mut self.derived);
    }

    fn weights(&self) -> Weights<'_> {
        let parameters = &self.parameters[self.base.parameter_len()..];
        Weights { parameters, derived: &self.derived }
    }

    /// How the layers prefer points to be split.
    pub(crate) fn grain(&self) -> Grain {
        self.stack.grain()
    }

    /// Length of the tape for a tile of `points` points.
    pub(crate) fn tape_len(&self, points: usize) -> usize {
        self.stack.tape_len(padded(points))
    }

    /// Length of the sums that [`Flow::backward`] accumulates.
    pub(crate) fn sums_len(&self) -> usize {
        self.base.sums_len() + self.stack.sums_len()
    }

    /// z = f(base(noise)), with log q₀ at the base points and the log-determinant.
    pub(crate) fn forward(
        &self,
        noise: &Noise,
        z: &mut Batch,
        log_base: &mut [f64],
        log_det: &mut [f64],
        tape: Option<&mut [f64]>,
    ) {
        self.base.forward(noise, z, log_base);
        log_det[..z.padded_len()].fill(0.0);
        self.stack.forward(self.weights(), z, log_det, tape);
    }

    /// Pulls the cotangents of the image and of log q₀ − log det (`g_log_q`, with its negative in
    /// `g_log_det`) back to the parameters and adds them to `sums`. `loss` is each point's
    /// contribution to the objective, including its weight. `z` and `g_z` end at the base.
    #[expect(
        clippy::too_many_arguments,
        reason = "buffers that the caller owns, each with its own name"
    )]
    pub(crate) fn backward(
        &self,
        noise: &Noise,
        z: &mut Batch,
        g_z: &mut Batch,
        g_log_q: &[f64],
        g_log_det: &[f64],
        loss: &[f64],
        tape: &[f64],
        sums: &mut [f64],
    ) {
        let (base, layers) = sums.split_at_mut(self.base.sums_len());
        self.stack.backward(self.weights(), z, g_z, g_log_det, tape, layers);
        self.base.backward(noise, z, g_z, g_log_q, loss, base);
    }

    /// Prepares sums for the first backward pass of an update.
    pub(crate) fn clear(&self, sums: &mut [f64]) {
        let (base, layers) = sums.split_at_mut(self.base.sums_len());
        base.fill(0.0);
        self.stack.clear(layers);
    }

    /// Converts the sums to the gradient in the flat parameter vector.
    pub(crate) fn gradient(&mut self, sums: &[f64], gradient: &mut [f64]) {
        let split = self.base.parameter_len();
        let (base_sums, sums) = sums.split_at(self.base.sums_len());
        self.base.gradient(base_sums, &mut gradient[..split]);
        let layers = &self.parameters[split..];
        self.stack.gradient(layers, &mut self.derived, sums, &mut gradient[split..]);
    }

    /// Draws `count` points; the seed fixes them.
    pub fn sample(&self, count: usize, seed: u64) -> Draws {
        self.sample_from(0, count, seed)
    }

    /// Draws number `first` to `first + count − 1` of a seed's sequence.
    pub(crate) fn sample_from(&self, first: usize, count: usize, seed: u64) -> Draws {
        let mut draws = Draws { points: Batch::zeros(self.dim(), count), log_q: vec![0.0; count] };
        let stream = Stream::new(seed, Purpose::Posterior);
        let mut noise = Noise::zeros(self.dim(), TILE);
        let mut z = Batch::zeros(self.dim(), TILE);
        let mut log_base = vec![0.0; TILE];
        let mut log_det = vec![0.0; TILE];
        for at in (0..count).step_by(TILE) {
            let len = TILE.min(count - at);
            noise.truncate(len);
            z.truncate(len);
            self.base.draw(&stream, 0, (first + at) as u64, &mut noise);
            self.forward(&noise, &mut z, &mut log_base, &mut log_det, None);
            draws.points.copy_points(at, &z, 0, len);
            for (i, log_q) in draws.log_q[at..at + len].iter_mut().enumerate() {
                *log_q = log_base[i] - log_det[i];
            }
        }
        draws
    }

    /// log q at any points, through the inverse.
    ///
    /// # Errors
    /// If the points have another dimension.
    pub fn log_density(&self, points: &Batch) -> Result<Vec<f64>> {
        self.check_dim(points)?;
        let mut z = points.clone();
        let mut log_det = vec![0.0; points.padded_len()];
        self.stack.inverse(self.weights(), &mut z, &mut log_det, None);
        let mut log_q: Vec<f64> = log_det.iter().map(|log_det| -log_det).collect();
        self.base.log_density(&z, &mut Batch::zeros(self.dim(), points.len()), &mut log_q);
        log_q.truncate(points.len());
        Ok(log_q)
    }

    fn check_dim(&self, points: &Batch) -> Result<()> {
        if points.dim() == self.dim() {
            return Ok(());
        }
        Err(Error::Shape {
            what: "a point".into(),
            found: format!("{} coordinates", points.dim()),
            expected: self.dim().to_string(),
        })
    }
}
