//! What the tests of flows share: the families, stacks with parameters, and numbers.
#![allow(dead_code)] // each test uses its part

use super::own_layer::Bend;
use adaann::{
    Batch, Buffer,
    flow::{
        Activation, Autoregressive, FlowSpec, Glow, Hidden, Mask, Order, Ordering, PerPoint,
        Precision, RealNvp, ScaleMap, SplineSpec, Stack, UnitActivation, Weights, compose,
    },
};

/// Where bounds from the rounding of each step are sharp.
pub(crate) const DIMENSIONS: [usize; 4] = [1, 2, 3, 10];

/// Where the laws hold, as far as doubles and differences let them be seen.
pub(crate) const LAW_DIMENSIONS: [usize; 5] = [1, 2, 3, 10, 32];

pub(crate) const LAYERS: usize = 5;

pub(crate) fn planar(activation: Activation, precision: Precision) -> FlowSpec {
    FlowSpec::Planar { layers: LAYERS, activation, precision }
}

fn hidden(units: usize) -> Hidden {
    Hidden { units, ..Hidden::default() }
}

/// What the laws hold for: a family of the library, or layers that are not the library's.
#[derive(Debug, Clone)]
pub(crate) enum Family {
    Known(FlowSpec),
    Own,
}

impl From<&FlowSpec> for Family {
    fn from(spec: &FlowSpec) -> Self {
        Self::Known(spec.clone())
    }
}

impl From<&Family> for Family {
    fn from(family: &Family) -> Self {
        family.clone()
    }
}

impl Family {
    pub(crate) fn build(&self, dim: usize) -> Box<dyn Stack> {
        match self {
            Self::Known(spec) => spec.build(dim).unwrap(),
            Self::Own => own_layers(dim),
        }
    }
}

/// Layers that are not the library's, with one that is between them.
pub(crate) fn own_layers(dim: usize) -> Box<dyn Stack> {
    let bend = || Box::new(PerPoint(Bend(dim)));
    let turn = FlowSpec::Permutation(Order::Reversed).build(dim).unwrap();
    compose([("first", bend() as Box<dyn Stack>), ("turn", turn), ("second", bend())]).unwrap()
}

/// Every family, with few enough layers that central differences stay accurate.
pub(crate) fn families() -> Vec<FlowSpec> {
    vec![
        planar(Activation::Tanh, Precision::Double),
        planar(Activation::Algebraic, Precision::Double),
        planar(Activation::Tanh, Precision::Single),
        planar(Activation::Algebraic, Precision::Single),
        FlowSpec::Radial { layers: LAYERS },
        FlowSpec::RealNvp(RealNvp { layers: 4, hidden: hidden(7), ..RealNvp::default() }),
        FlowSpec::RealNvp(RealNvp {
            layers: 2,
            hidden: Hidden { activation: UnitActivation::Silu, ..hidden(17) },
            scale: ScaleMap::TanhHidden,
            mask: Mask::Random { seed: 1 },
            ..RealNvp::default()
        }),
        FlowSpec::Iaf(Autoregressive {
            layers: 3,
            hidden: hidden(20),
            ..Autoregressive::default()
        }),
        FlowSpec::Maf(Autoregressive {
            layers: 2,
            hidden: Hidden { activation: UnitActivation::Tanh, layers: 1, units: 18 },
            order: Ordering::Random { seed: 2 },
            ..Autoregressive::default()
        }),
        FlowSpec::Glow(Glow { layers: 2, hidden: hidden(8), ..Glow::default() }),
        FlowSpec::Spline(SplineSpec { layers: 2, hidden: hidden(9), ..SplineSpec::default() }),
        FlowSpec::SplineAutoregressive(SplineSpec {
            layers: 2,
            bins: 4,
            hidden: hidden(21),
            ..SplineSpec::default()
        }),
        FlowSpec::Affine,
        FlowSpec::Linear,
        FlowSpec::Lu,
        FlowSpec::Compose(vec![
            FlowSpec::Affine,
            FlowSpec::planar(2),
            FlowSpec::Permutation(Order::Reversed),
            FlowSpec::Radial { layers: 2 },
        ]),
        // This one has no parameters.
        FlowSpec::Permutation(Order::Random { seed: 1 }),
    ]
}

/// Does the family change the order of coordinates? Then it is the identity at raw parameters 0 but
/// for the order.
pub(crate) fn reorders(spec: &FlowSpec) -> bool {
    match spec {
        FlowSpec::Permutation(_) => true,
        FlowSpec::Compose(flows) => flows.iter().any(reorders),
        _ => false,
    }
}

/// Half the distance from 1 to the next number of a family's precision. Its forward and backward
/// passes round at this; its inverse runs in double precision always.
pub(crate) fn unit(family: impl Into<Family>) -> f64 {
    match family.into() {
        Family::Known(FlowSpec::Planar { precision: Precision::Single, .. }) => 2.0_f64.powi(-24),
        _ => 2.0_f64.powi(-53),
    }
}

/// Differences of single numbers say nothing about derivatives.
pub(crate) fn in_double(family: impl Into<Family>) -> bool {
    unit(family) == 2.0_f64.powi(-53)
}

/// Standard deviations of the raw parameters: near the identity, ordinary, extreme. At 3 the layers
/// of ten-dimensional planar flows have w·u of size 30, so c runs from e⁻³⁰ to 30.
pub(crate) const SCALES: [f64; 3] = [0.1, 1.0, 3.0];

/// A small generator, so that the laws do not depend on the library's own.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
    pub(crate) fn normals(&mut self, count: usize, scale: f64) -> Vec<f64> {
        (0..count).map(|_| scale * self.normal()).collect()
    }
    pub(crate) fn batch(&mut self, dim: usize, len: usize, scale: f64) -> Batch {
        let points: Vec<_> = (0..len).map(|_| self.normals(dim, scale)).collect();
        Batch::from_points(dim, &points)
    }
}

/// A stack with parameters, and wrappers that allocate.
pub(crate) struct Case {
    family: Family,
    pub(crate) stack: Box<dyn Stack>,
    pub(crate) parameters: Vec<f64>,
    pub(crate) derived: Buffer,
    pub(crate) unit: f64,
    pub(crate) label: String,
}

impl Case {
    pub(crate) fn new(
        family: impl Into<Family>,
        dim: usize,
        parameters: &[f64],
        label: &str,
    ) -> Self {
        let family = family.into();
        let stack = family.build(dim);
        let mut derived = Buffer::zeros(stack.derived_len());
        stack.prepare(parameters, &mut derived);
        let parameters = parameters.to_vec();
        Self {
            stack,
            parameters,
            derived,
            unit: unit(&family),
            label: format!("{family:?} d = {dim} {label}"),
            family,
        }
    }

    /// The same stack with other parameters.
    pub(crate) fn with(&self, parameters: &[f64]) -> Self {
        Self::new(&self.family, self.stack.dim(), parameters, "")
    }

    /// The first layer, the first two and so on, of stacks whose parameters lie layer by layer.
    pub(crate) fn beginnings(&self) -> Vec<Self> {
        let Family::Known(spec) = &self.family else {
            return Vec::new();
        };
        let first = |layers: usize| match spec.clone() {
            FlowSpec::RealNvp(all) => Some(FlowSpec::RealNvp(RealNvp { layers, ..all })),
            FlowSpec::Iaf(all) => Some(FlowSpec::Iaf(Autoregressive { layers, ..all })),
            FlowSpec::Maf(all) => Some(FlowSpec::Maf(Autoregressive { layers, ..all })),
            FlowSpec::Glow(all) => Some(FlowSpec::Glow(Glow { layers, ..all })),
            FlowSpec::Spline(all) => Some(FlowSpec::Spline(SplineSpec { layers, ..all })),
            FlowSpec::SplineAutoregressive(all) => {
                Some(FlowSpec::SplineAutoregressive(SplineSpec { layers, ..all }))
            }
            _ => None,
        };
        let case = |spec: FlowSpec| {
            let dim = self.stack.dim();
            let len = spec.build(dim).unwrap().parameter_len();
            Self::new(&spec, dim, &self.parameters[..len], "")
        };
        (1..spec.layers()).filter_map(first).map(case).collect()
    }

    pub(crate) fn weights(&self) -> Weights<'_> {
        Weights { parameters: &self.parameters, derived: &self.derived }
    }

    pub(crate) fn forward(&self, z: &Batch) -> (Batch, Vec<f64>) {
        let mut image = z.clone();
        let mut log_det = vec![0.0; z.padded_len()];
        self.stack.forward(self.weights(), &mut image, &mut log_det, None);
        (image, log_det[..z.len()].to_vec())
    }

    pub(crate) fn inverse(&self, image: &Batch) -> (Batch, Vec<f64>) {
        let mut z = image.clone();
        let mut log_det = vec![0.0; z.padded_len()];
        self.stack.inverse(self.weights(), &mut z, &mut log_det, None);
        (z, log_det[..image.len()].to_vec())
    }

    /// Cotangents of the parameters and of the points for Σ (g·f(z) + k log det), and the points
    /// that the way back ends at.
    pub(crate) fn backward(&mut self, z: &Batch, g: &Batch, k: &[f64]) -> (Vec<f64>, Batch, Batch) {
        let mut image = z.clone();
        let mut log_det = vec![0.0; z.padded_len()];
        let mut tape = vec![0.0; self.stack.tape_len(z.padded_len())];
        self.stack.forward(self.weights(), &mut image, &mut log_det, Some(&mut tape));
        let mut g = g.clone();
        let mut g_log_det = vec![0.0; z.padded_len()];
        g_log_det[..k.len()].copy_from_slice(k);
        let mut sums = vec![0.0; self.stack.sums_len()];
        self.stack.backward(self.weights(), &mut image, &mut g, &g_log_det, &tape, &mut sums);
        let mut gradient = vec![0.0; self.stack.parameter_len()];
        self.stack.gradient(&self.parameters, &mut self.derived, &sums, &mut gradient);
        (gradient, g, image)
    }

    /// Cotangents of the parameters and of the images for Σ (g·f⁻¹(x) + k log det), and the points
    /// that the way back ends at.
    pub(crate) fn backward_inverse(
        &mut self,
        x: &Batch,
        g: &Batch,
        k: &[f64],
    ) -> (Vec<f64>, Batch, Batch) {
        let mut z = x.clone();
        let mut log_det = vec![0.0; x.padded_len()];
        // What an earlier pass left on a tape, or past its end, must not matter.
        let mut tape = vec![f64::NAN; self.stack.tape_len(x.padded_len())];
        self.stack.inverse(self.weights(), &mut z, &mut log_det, Some(&mut tape));
        let mut g = g.clone();
        let mut g_log_det = vec![0.0; x.padded_len()];
        g_log_det[..k.len()].copy_from_slice(k);
        let mut sums = vec![0.0; self.stack.sums_len()];
        self.stack.backward_inverse(self.weights(), &mut z, &mut g, &g_log_det, &tape, &mut sums);
        let mut gradient = vec![0.0; self.stack.parameter_len()];
        self.stack.gradient(&self.parameters, &mut self.derived, &sums, &mut gradient);
        (gradient, g, z)
    }
}

pub(crate) fn is_finite(batch: &Batch) -> bool {
    (0..batch.dim()).all(|d| batch.row(d).iter().all(|x| x.is_finite()))
}

/// Euclidean distance of point `i` in two batches.
pub(crate) fn distance(a: &Batch, b: &Batch, i: usize) -> f64 {
    norm(a.point(i).iter().zip(b.point(i)).map(|(a, b)| a - b))
}

pub(crate) fn norm(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Parameters of a size: raw numbers, or those of networks that make outputs of that size. Some are
/// smaller, where no law could be seen in doubles otherwise:
///
/// - Rows of a matrix have up to d entries. With entries of size 1 a triangle of 32 rows has a
///   condition number beyond 1/ε; entries of size 1/√d make rows of size 1, as networks have them.
/// - Bins and slopes of splines are exponentials of their outputs. At 3 they are as narrow and as flat
///   as they may be, 1e-3, and differences see nothing but knots. They are a third of the size.
/// - Glow has scales, which are exponentials too, and matrices in each step, one after another; they
///   are of size 1 at most.
///
/// What a start leaves at 0, biases and masked weights, is given a size of 0.1: enough to be seen if
/// it is forgotten, or not masked.
pub(crate) fn parameters(
    family: impl Into<Family>,
    dim: usize,
    scale: f64,
    random: &mut Random,
) -> Vec<f64> {
    let family = family.into();
    let stack = family.build(dim);
    let mut parameters = vec![0.0; stack.parameter_len()];
    let is_spline =
        matches!(family, Family::Known(FlowSpec::Spline(_) | FlowSpec::SplineAutoregressive(_)));
    let has_networks = matches!(&family, Family::Known(spec) if spec.has_networks());
    let start = if is_spline { scale / 3.0 } else { scale };
    stack.initialise(start, &mut || random.normal(), &mut parameters);
    let mut rest = &mut parameters[..];
    for block in stack.parameters() {
        let own = rest.split_off_mut(..block.len()).unwrap();
        let name = block.name.rsplit('.').next().unwrap();
        let mut factor = 1.0;
        if ["log_diagonal", "lower", "upper"].contains(&name) {
            factor /= (dim as f64).sqrt();
        }
        if has_networks && !["weight", "bias"].contains(&name) {
            factor /= scale.max(1.0);
        }
        for number in own {
            *number = if *number == 0.0 { 0.1 * random.normal() } else { factor * *number };
        }
    }
    parameters
}

/// Runs a check for every family and layers of the tests' own, in every dimension and scale of the raw parameters.
pub(crate) fn every_case(
    seed: u64,
    mut check: impl FnMut(&Family, usize, f64, Vec<f64>, &mut Random),
) {
    let known = families().into_iter().map(Family::Known);
    for family in known.chain([Family::Own]) {
        for dim in LAW_DIMENSIONS {
            for scale in SCALES {
                let mut random = Random(seed);
                let parameters = parameters(&family, dim, scale, &mut random);
                check(&family, dim, scale, parameters, &mut random);
            }
        }
    }
}
