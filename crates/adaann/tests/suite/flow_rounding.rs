//! Planar and radial flows at the limits of their arithmetic: single precision, and extreme
//! parameters that training should not reach.

use crate::support::{common, flows};
use adaann::{
    Batch,
    flow::{Activation, FlowSpec, Precision},
};
use common::Difference;
use flows::{Case, DIMENSIONS, LAYERS, Random, distance, is_finite, norm, planar};
use std::f64::consts::E;

/// A planar stack in plain arithmetic, with a bound on the effect of rounding at `unit`.
struct Reference<'a> {
    dim: usize,
    layers: usize,
    activation: Activation,
    parameters: &'a [f64],
    unit: f64,
}

/// One point's image and log-determinant, with bounds on their rounding errors.
struct Image {
    point: Vec<f64>,
    log_det: f64,
    /// Euclidean.
    point_error: f64,
    log_det_error: f64,
}

struct Layer {
    w: Vec<f64>,
    /// û
    hat: Vec<f64>,
    hat_error: f64,
    b: f64,
    c: f64,
}

impl Reference<'_> {
    /// A layer computed from the definitions.
    fn layer(&self, l: usize) -> Layer {
        let number = |row: usize| self.parameters[row * self.layers + l];
        let w: Vec<f64> = (0..self.dim).map(number).collect();
        let u: Vec<f64> = (self.dim..2 * self.dim).map(number).collect();
        let wu: f64 = w.iter().zip(&u).map(|(w, u)| w * u).sum();
        let square: f64 = w.iter().map(|w| w * w).sum();
        // c − 1 − w·u = log(e^{−w·u}/e + 1 − 1/e)
        let excess = ((-wu).exp_m1() / E).ln_1p();
        let shift = if square == 0.0 { 0.0 } else { excess / square };
        let c = ((E - 1.0) * wu.min(30.0).exp()).ln_1p() + (wu - 30.0).max(0.0);
        let hat: Vec<f64> = u.iter().zip(&w).map(|(u, w)| u + shift * w).collect();
        // The preparation is always in double precision; u and shift·w may cancel.
        let size = norm(u) + shift.abs() * norm(w.iter().copied());
        Layer { hat, hat_error: 4.0 * f64::EPSILON * size, b: number(2 * self.dim), c, w }
    }

    /// h(a)
    fn value(&self, a: f64) -> f64 {
        match self.activation {
            Activation::Tanh => a.tanh(),
            Activation::Algebraic => a / a.hypot(1.0),
        }
    }

    /// 1 − h(a)², without cancellation.
    fn rest(&self, a: f64) -> f64 {
        match self.activation {
            Activation::Tanh => a.cosh().powi(-2),
            Activation::Algebraic => 1.0 / (1.0 + a * a),
        }
    }

    /// h' from 1 − h²
    fn slope(&self, rest: f64) -> f64 {
        match self.activation {
            Activation::Tanh => rest,
            Activation::Algebraic => rest.powf(1.5),
        }
    }

    fn image(&self, z: &[f64]) -> Image {
        let mut z = z.to_vec();
        let (mut log_det, mut log_det_error) = (0.0, 0.0);
        let mut error = self.unit * norm(z.iter().copied());
        for l in 0..self.layers {
            let Layer { w, hat, hat_error, b, c } = self.layer(l);
            let terms: f64 = w.iter().zip(&z).map(|(w, z)| (w * z).abs()).sum();
            let a = w.iter().zip(&z).map(|(w, z)| w * z).sum::<f64>() + b;
            // Each of the d + 1 terms is rounded when it is computed and when it is added.
            let a_error = norm(w.iter().copied()) * error
                + (self.dim + 2) as f64 * self.unit * (terms + b.abs());
            let h = self.value(a);
            // h' decreases in |a|: its maximum over the interval is at the inner end.
            let steepest = self.slope(self.rest((a.abs() - a_error).max(0.0)));
            // Kernels compute h with an absolute error of 3 units in the last place of 1.
            let h_error = (steepest * a_error + 6.0 * self.unit).min(2.0);
            let rest = self.rest(a);
            let slope = self.slope(rest);
            let rest_error = 2.0 * h.abs() * h_error + h_error * h_error + 2.0 * self.unit;
            let slope_error = self.slope(rest + rest_error) - slope + 3.0 * self.unit;
            let det = (1.0 - slope) + c * slope;
            let det_error = (c - 1.0).abs() * slope_error + 4.0 * self.unit * det;
            log_det += det.ln();
            // Above one half the bound is useless and becomes infinite.
            log_det_error += if 2.0 * det_error < det {
                -(-det_error / det).ln_1p() + self.unit
            } else {
                f64::INFINITY
            };
            for (z, u) in z.iter_mut().zip(&hat) {
                *z += u * h;
            }
            error += norm(hat) * (h_error + 2.0 * self.unit * h.abs()) + hat_error * h.abs();
            error += self.unit * norm(z.iter().copied());
        }
        log_det_error += 4.0 * self.unit * (1.0 + log_det.abs());
        Image { point: z, log_det, point_error: error, log_det_error }
    }
}

const PLANAR: [(Activation, Precision); 4] = [
    (Activation::Tanh, Precision::Double),
    (Activation::Algebraic, Precision::Double),
    (Activation::Tanh, Precision::Single),
    (Activation::Algebraic, Precision::Single),
];

/// Forward passes and round trips agree with plain arithmetic up to their precision. The inverse
/// runs in double precision, so the error of f(f⁻¹(x)) is the rounding of the forward pass. `newton`
/// is the additional error of the inverse, relative to 1 + |x|.
fn follows_plain_arithmetic(
    case: &Case,
    reference: &Reference,
    z: &Batch,
    x: &Batch,
    newton: f64,
) -> usize {
    let (image, log_det) = case.forward(z);
    let (origin, log_det_back) = case.inverse(x);
    let (again, _) = case.forward(&origin);
    assert!(is_finite(&image) && is_finite(&origin) && is_finite(&again), "{}", case.label);
    assert!(log_det.iter().chain(&log_det_back).all(|x| x.is_finite()), "{}", case.label);
    let mut sharp = 0;
    let hold = |off: f64, bound: f64, what: &str| {
        assert!(off <= bound, "{}: {what} off by {off:e} > {bound:e}", case.label);
    };
    for i in 0..z.len() {
        let expected = reference.image(&z.point(i));
        let off = norm(expected.point.iter().zip(image.point(i)).map(|(a, b)| a - b));
        hold(off, expected.point_error, "image");
        hold((log_det[i] - expected.log_det).abs(), expected.log_det_error, "log det");
        sharp += usize::from(expected.log_det_error < 1e4 * case.unit);
    }
    for i in 0..x.len() {
        let bound = reference.image(&origin.point(i)).point_error;
        let newton = newton * (1.0 + norm(x.point(i)));
        hold(distance(&again, x, i), bound + newton, "round trip");
    }
    sharp
}

#[test]
fn planar_flows_follow_plain_arithmetic() {
    for (activation, precision) in PLANAR {
        for (layers, scale) in [(5, 0.1), (5, 1.0), (5, 3.0), (50, 0.1)] {
            let spec = FlowSpec::Planar { layers, activation, precision };
            for dim in DIMENSIONS {
                let mut random = Random(11);
                let parameters = random.normals(spec.build(dim).unwrap().parameter_len(), scale);
                let case = Case::new(&spec, dim, &parameters, &format!("scale = {scale}"));
                let reference =
                    Reference { dim, layers, activation, parameters: &parameters, unit: case.unit };
                let (z, x) = (random.batch(dim, 60, 1.0), random.batch(dim, 60, 1.0));
                let sharp = follows_plain_arithmetic(&case, &reference, &z, &x, 1e-12);
                // Useless bounds must be rare.
                assert!(sharp >= 54, "{}: {sharp} of 60 bounds are sharp", case.label);
            }
        }
    }
}

/// The gradient in single precision compared with that in double precision, block by block, and the
/// return to the base.
#[test]
fn single_precision_gradients_follow_double() {
    // Each of the five layers contributes about ten roundings to the sums. At scale 1, layers
    // magnify them like the numbers themselves, by up to 1 + |û||w|, and terms of opposite sign
    // cancel.
    for (scale, roundings) in [(0.1, 50.0), (1.0, 1000.0)] {
        for activation in [Activation::Tanh, Activation::Algebraic] {
            for dim in DIMENSIONS {
                let (double, single) =
                    (planar(activation, Precision::Double), planar(activation, Precision::Single));
                let mut random = Random(12);
                let parameters = random.normals(double.build(dim).unwrap().parameter_len(), scale);
                let mut exact = Case::new(&double, dim, &parameters, "");
                let mut close = Case::new(&single, dim, &parameters, &format!("scale = {scale}"));
                let z = random.batch(dim, 50, 1.0);
                let (g, k) = (random.batch(dim, 50, 1.0), random.normals(50, 1.0));
                let (a, a_z, _) = exact.backward(&z, &g, &k);
                let (b, b_z, back) = close.backward(&z, &g, &k);
                let same = |a: &[f64], b: &[f64], what: &str| {
                    let off = norm(a.iter().zip(b).map(|(a, b)| a - b));
                    let bound = roundings * close.unit * norm(a.iter().copied());
                    assert!(off < bound, "{} {what}: {off:e} > {bound:e}", close.label);
                };
                let mut start = 0;
                for block in exact.stack.parameters() {
                    let range = start..start + block.len();
                    same(&a[range.clone()], &b[range], &block.name);
                    start += block.len();
                }
                let flat = |x: &Batch| (0..dim).flat_map(|d| x.row(d).to_vec()).collect::<Vec<_>>();
                same(&flat(&a_z), &flat(&b_z), "points");
                // Two roundings per layer and coordinate, of numbers about as large as the image.
                let image = exact.forward(&z).0;
                for i in 0..z.len() {
                    let size = 1.0 + norm(z.point(i)) + norm(image.point(i));
                    let off = distance(&back, &z, i) / close.unit;
                    assert!(off < 2.0 * LAYERS as f64 * size, "{}: the way back", close.label);
                }
            }
        }
    }
}

/// w, u and b of one layer, with w and u parallel.
fn along(dim: usize, w: f64, u: f64, b: f64) -> Vec<f64> {
    let each = (dim as f64).sqrt();
    let mut parameters = vec![w / each; dim];
    parameters.extend(vec![u / each; dim]);
    parameters.push(b);
    parameters
}

#[test]
fn planar_layers_bear_extreme_parameters() {
    // |w|, |u| with sign, b
    let extremes = [
        (0.0, 1.5, 0.3),
        (0.0, 0.0, 0.0),
        (1e-150, 1.5, 0.3),
        (1e-150, -700.0, 0.3),
        (1e-160, 1.5, 0.3),
        (1.0, 700.0, 0.3),
        (1.0, -700.0, 0.3),
        (1.0, -700.0, 0.0),
        (26.0, 27.0, 0.3),
        (26.0, -27.0, 0.3),
        (1e-3, -7e5, 0.3),
        (700.0, -1.0, 0.3),
    ];
    for (activation, precision) in PLANAR {
        for dim in DIMENSIONS {
            for (w, u, b) in extremes {
                let spec = FlowSpec::Planar { layers: 1, activation, precision };
                let parameters = along(dim, w, u, b);
                let mut case =
                    Case::new(&spec, dim, &parameters, &format!("|w| = {w:e}, u {u}, b = {b}"));
                let unit = case.unit;
                let reference =
                    Reference { dim, layers: 1, activation, parameters: &parameters, unit };
                let mut random = Random(13);
                let (z, x) = (random.batch(dim, 40, 1.0), random.batch(dim, 40, 1.0));
                // |w|² below the smallest normal number counts as w = 0.
                let none = w * w < f64::MIN_POSITIVE;
                if !none {
                    // Newton's method ends when a has an error of 4 ε max(1, |a|), |a| < 1 + |w||x|;
                    // û propagates this to the point, and the forward pass magnifies it.
                    let u = norm(reference.layer(0).hat);
                    let newton = 4.0 * f64::EPSILON * (1.0 + w) * u * (1.0 + u * w);
                    follows_plain_arithmetic(&case, &reference, &z, &x, 1e-15 + newton);
                }
                let (g, k) = (random.batch(dim, 40, 1.0), random.normals(40, 1.0));
                let (gradient, g_z, back) = case.backward(&z, &g, &k);
                assert!(
                    is_finite(&g_z) && is_finite(&back) && gradient.iter().all(|g| g.is_finite()),
                    "{}: {gradient:?}",
                    case.label
                );
                if none {
                    // All points move equally, and volumes are preserved.
                    let (image, log_det) = case.forward(&z);
                    let origin = case.inverse(&image).0;
                    let shift = u / (dim as f64).sqrt() * reference.value(b);
                    for i in 0..z.len() {
                        let off =
                            norm(image.point(i).iter().zip(z.point(i)).map(|(a, z)| a - z - shift));
                        assert!(off <= 8.0 * unit * (1.0 + norm(z.point(i))), "{}", case.label);
                        assert!(log_det[i].abs() <= 8.0 * unit, "{}", case.label);
                        let size = 1.0 + norm(z.point(i));
                        assert!(distance(&origin, &z, i) <= 8.0 * unit * size, "{}", case.label);
                    }
                }
                // Where w·u is ±700, differences can still resolve the parameters' derivatives.
                if precision == Precision::Double && w >= 1.0 {
                    for p in 0..parameters.len() {
                        let difference = Difference::of(parameters[p], |x| {
                            let mut moved = parameters.clone();
                            moved[p] = x;
                            let (image, log_det) = Case::new(&spec, dim, &moved, "").forward(&z);
                            let dot = |i: usize| {
                                image
                                    .point(i)
                                    .iter()
                                    .zip(g.point(i))
                                    .map(|(a, b)| a * b)
                                    .sum::<f64>()
                            };
                            (0..z.len()).map(|i| dot(i) + k[i] * log_det[i]).sum()
                        });
                        let bound = 1e-6 * difference.value.abs() + 10.0 * difference.error;
                        assert!(
                            (gradient[p] - difference.value).abs() < bound,
                            "{} parameter {p}: {} is not {} to {bound:e}",
                            case.label,
                            gradient[p],
                            difference.value
                        );
                    }
                }
            }
        }
    }
}

/// A point in the plane w·z + b = 0 of a layer with c = e^−700 is contracted almost to zero volume,
/// without NaN: log det = −699.5, and the derivative of log det in w·u is 1.
#[test]
fn a_point_in_the_plane_of_a_singular_layer() {
    for activation in [Activation::Tanh, Activation::Algebraic] {
        let spec = FlowSpec::Planar { layers: 1, activation, precision: Precision::Double };
        let mut case = Case::new(&spec, 1, &[1.0, -700.0, 0.0], "w·u = −700");
        let z = Batch::from_points(1, &[[0.0]]);
        let (_, log_det) = case.forward(&z);
        let expected = -700.0 + (E - 1.0).ln();
        assert!((log_det[0] - expected).abs() < 1e-10, "{log_det:?}");
        let (_, back) = case.inverse(&z);
        assert!((back[0] - expected).abs() < 1e-10, "{back:?}");
        let (gradient, g_z, _) = case.backward(&z, &Batch::from_points(1, &[[0.0]]), &[1.0]);
        // ∂/∂w = u + …: c depends only on w u, and a = w z + b is 0 for all w.
        assert!((gradient[0] + 700.0).abs() < 1e-8 && (gradient[1] - 1.0).abs() < 1e-10);
        assert!(gradient[2] == 0.0 && g_z.row(0)[0] == 0.0, "{gradient:?}");
    }
}

#[test]
fn radial_layers_bear_extreme_parameters() {
    for dim in DIMENSIONS {
        for alpha in [-700.0, -300.0, -30.0, 0.0, 30.0, 700.0] {
            for c in [-700.0, -30.0, 0.0, 30.0, 700.0] {
                let mut parameters = vec![0.25; dim];
                parameters.extend([alpha, c]);
                let spec = FlowSpec::Radial { layers: 1 };
                let mut case =
                    Case::new(&spec, dim, &parameters, &format!("alpha = {alpha}, c = {c}"));
                let mut random = Random(14);
                let (z, x) = (random.batch(dim, 40, 1.0), random.batch(dim, 40, 1.0));
                let (image, log_det) = case.forward(&z);
                let (origin, log_det_back) = case.inverse(&x);
                assert!(is_finite(&image) && is_finite(&origin), "{}", case.label);
                let finite = log_det.iter().chain(&log_det_back).all(|x| x.is_finite());
                assert!(finite, "{}: {log_det:?} {log_det_back:?}", case.label);
                let again = case.forward(&origin).0;
                for i in 0..x.len() {
                    let off = distance(&again, &x, i);
                    assert!(
                        off < 1e-12 * (1.0 + norm(x.point(i))),
                        "{}: off by {off:e}",
                        case.label
                    );
                }
                let (g, k) = (random.batch(dim, 40, 1.0), random.normals(40, 1.0));
                let (gradient, g_z, back) = case.backward(&z, &g, &k);
                assert!(
                    is_finite(&g_z) && is_finite(&back) && gradient.iter().all(|g| g.is_finite()),
                    "{}: {gradient:?}",
                    case.label
                );
                // The centre itself does not move.
                let centre = Batch::from_points(dim, &[vec![0.25; dim]]);
                let (image, log_det) = case.forward(&centre);
                assert_eq!(image.point(0), centre.point(0), "{}", case.label);
                assert!(log_det[0].is_finite(), "{}", case.label);
                let (gradient, g_z, _) = case.backward(&centre, &centre, &[1.0]);
                assert!(
                    is_finite(&g_z) && gradient.iter().all(|g| g.is_finite()),
                    "{} at the centre: {gradient:?}",
                    case.label
                );
            }
        }
    }
}
