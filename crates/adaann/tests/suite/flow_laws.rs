//! The laws that every flow satisfies: to add a family, add one line to [`flows::families`].

use crate::support::{common, flows};
use adaann::{Batch, flow::FlowSpec};
use common::Difference;
use flows::{
    Case, LAW_DIMENSIONS, Random, distance, every_case, families, in_double, is_finite, norm,
    reorders,
};

/// Bounds on the effect of rounding on a point and on its log-determinant.
struct Reach {
    point: f64,
    log_det: f64,
}

/// Number of worst-case roundings of a number. Sums have up to 32 terms, a network has three layers
/// of them and a stack up to five layers, forward and back: 960 roundings. They are independent and
/// add up like √960 = 31. The bound is four times that, since the largest of a few normal
/// perturbations may be small.
const ROUNDINGS: f64 = 128.0;

/// The possible effect of rounding on the way from `start` to `end`, forward or back.
///
/// A rounding changes some number by up to `unit` of itself. It is equivalent to a change of the
/// parameters, which are maps of numbers of size 1, or of points before, between or after layers. So
/// the test perturbs these at random by unit^¾ times 1 + their size, and scales the effect down.
/// This captures how layers amplify the rounding of other layers, which a condition number of the
/// whole map does not.
fn reach(
    case: &Case,
    forward: bool,
    start: &Batch,
    (end, log_det): (&Batch, &[f64]),
    random: &mut Random,
) -> Vec<Reach> {
    let size = case.unit.powf(0.75);
    let mut nudge = |numbers: &mut [f64]| {
        numbers.iter_mut().for_each(|x| *x += size * (1.0 + x.abs()) * random.normal());
    };
    let mut nudged = |points: &Batch| {
        let mut points = points.clone();
        (0..points.dim()).for_each(|d| nudge(points.row_mut(d)));
        points
    };
    let run = |case: &Case, points: &Batch| {
        if forward { case.forward(points) } else { case.inverse(points) }
    };
    let base = if forward { start.clone() } else { case.inverse(start).0 };
    let beginnings = case.beginnings();
    let mut ends = Vec::new();
    for _ in 0..3 {
        let parameters = nudged(&Batch::from_points(case.parameters.len(), &[&case.parameters]));
        ends.push(run(&case.with(&parameters.point(0)), &nudged(start)));
        for first in &beginnings {
            let base = first.inverse(&nudged(&first.forward(&base).0)).0;
            let (image, log_det) = case.forward(&base);
            ends.push((if forward { image } else { base }, log_det));
        }
    }
    // A sum rounds at least at its own size, even if no perturbation moves it. Where perturbations
    // have large effects they are uninformative, and the bound does not grow with them.
    let bound = |moved: f64, sum: f64| {
        let roundings = ROUNDINGS * case.unit * (moved / size + sum);
        if moved < 0.01 * (1.0 + sum) { roundings } else { f64::INFINITY }
    };
    let largest = |i: usize| {
        let points = ends.iter().map(|(points, _)| distance(points, end, i)).fold(0.0, f64::max);
        let log_dets = ends.iter().map(|(_, at)| (at[i] - log_det[i]).abs()).fold(0.0, f64::max);
        Reach {
            point: bound(points, norm(end.point(i))),
            log_det: bound(log_dets, 1.0 + log_det[i].abs()),
        }
    };
    (0..start.len()).map(largest).collect()
}

/// A law with weak bounds is worth little: most points must have sharp bounds. With extreme
/// parameters, layers are nearly singular at many points; the law must hold for the remaining ones.
fn enough(case: &Case, scale: f64, checked: usize, all: usize) {
    let least = if scale > 1.0 { 1 } else { 2 * all / 3 };
    assert!(checked >= least, "{}: only {checked} of {all} checked", case.label);
}

/// f(f⁻¹(x)) = x near and far, and the log-determinants of both directions agree. Families in single
/// precision have their own bounds in `flow_rounding.rs`.
#[test]
fn round_trip() {
    every_case(1, |spec, dim, scale, parameters, random| {
        if !in_double(spec) {
            return;
        }
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        for spread in [1.0, 100.0] {
            let x = random.batch(dim, 37, spread);
            let (z, log_det_back) = case.inverse(&x);
            let (again, log_det) = case.forward(&z);
            let bounds = reach(&case, true, &z, (&x, &log_det_back), random);
            let sharp = hold(&case, &bounds, (&again, &log_det), (&x, &log_det_back));
            enough(&case, scale, sharp, x.len());
        }
    });
}

/// Checks points and log-determinants after a round trip, and counts those with sharp bounds: bounds
/// that guarantee more than half the digits up to 128 roundings.
fn hold(
    case: &Case,
    bounds: &[Reach],
    (back, log_det): (&Batch, &[f64]),
    (start, expected): (&Batch, &[f64]),
) -> usize {
    let mut sharp = 0;
    for (i, bound) in bounds.iter().enumerate() {
        let off = distance(back, start, i);
        assert!(off <= bound.point, "{} point {i}: off by {off:e} > {:e}", case.label, bound.point);
        let log_off = (log_det[i] - expected[i]).abs();
        assert!(
            log_off <= bound.log_det,
            "{} point {i}: log det off by {log_off:e} > {:e}",
            case.label,
            bound.log_det
        );
        let most = ROUNDINGS * case.unit.sqrt();
        sharp += usize::from(
            bound.point <= most * (1.0 + norm(start.point(i)))
                && bound.log_det <= most * (1.0 + expected[i].abs()),
        );
    }
    sharp
}

/// The log-determinant compared with that of the Jacobian from central differences.
#[test]
fn log_determinant() {
    every_case(2, |spec, dim, scale, parameters, random| {
        if !in_double(spec) {
            return;
        }
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        let z = random.batch(dim, 20, 1.0);
        let log_det = case.forward(&z).1;
        // ∂f/∂z_j of all points at once: entry k of point i is at k n + i.
        let columns: Vec<Vec<Difference>> = (0..dim)
            .map(|j| {
                Difference::each(1.0, |h| {
                    let mut moved = z.clone();
                    moved.row_mut(j).iter_mut().for_each(|z| *z += h);
                    let image = case.forward(&moved).0;
                    (0..dim).flat_map(|k| image.row(k).to_vec()).collect()
                })
            })
            .collect();
        let mut checked = 0;
        for i in 0..z.len() {
            let entry = |k: usize, j: usize| &columns[j][k * z.len() + i];
            let jacobian =
                (0..dim).map(|k| (0..dim).map(|j| entry(k, j).value).collect()).collect();
            let (numerical, inverse) = log_abs_determinant(jacobian);
            // d log det = tr(J⁻¹ dJ): differences cannot resolve nearly singular Jacobians.
            let pairs = (0..dim).flat_map(|j| (0..dim).map(move |k| (j, k)));
            let error: f64 = pairs.map(|(j, k)| inverse[j][k].abs() * entry(k, j).error).sum();
            if error < 1e-4 {
                checked += 1;
                assert!(
                    (log_det[i] - numerical).abs() < 1e-7 * (1.0 + numerical.abs()) + 10.0 * error,
                    "{}: {} is not {numerical} to {error:e}",
                    case.label,
                    log_det[i]
                );
            }
        }
        enough(&case, scale, checked, z.len());
    });
}

/// Gauss-Jordan elimination with pivoting: log |det| and the inverse.
fn log_abs_determinant(mut matrix: Vec<Vec<f64>>) -> (f64, Vec<Vec<f64>>) {
    let n = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
    }
    let mut log = 0.0;
    for i in 0..n {
        let pivot =
            (i..n).max_by(|&a, &b| matrix[a][i].abs().total_cmp(&matrix[b][i].abs())).unwrap();
        matrix.swap(i, pivot);
        let scale = matrix[i][i];
        log += scale.abs().ln();
        for x in &mut matrix[i] {
            *x /= scale;
        }
        let row = matrix[i].clone();
        for (_, other) in matrix.iter_mut().enumerate().filter(|(k, _)| *k != i) {
            let factor = other[i];
            for (x, y) in other.iter_mut().zip(&row) {
                *x -= factor * y;
            }
        }
    }
    (log, matrix.iter().map(|row| row[n..].to_vec()).collect())
}

/// Points with cotangents for themselves and their log-determinants: more than one register and
/// group of points, some of them beyond the bound of the splines.
fn near_and_far(dim: usize, random: &mut Random) -> (Batch, Batch, Vec<f64>) {
    let len = 19;
    let mut points = random.batch(dim, len, 1.0);
    for d in 0..dim {
        points.row_mut(d)[len - 4..].iter_mut().for_each(|x| *x *= 8.0);
    }
    (points, random.batch(dim, len, 1.0), random.normals(len, 1.0))
}

/// Parameter and input gradients of Σ (g·f(z) + k log det) compared with central differences, each
/// component to 1e-6 of itself plus the estimated error of the differences.
#[test]
fn gradients() {
    every_case(3, |spec, dim, scale, parameters, random| {
        if !in_double(spec) {
            return;
        }
        let (z, g, k) = near_and_far(dim, random);
        let mut case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        let (gradient, g_z, back) = case.backward(&z, &g, &k);
        for i in 0..z.len() {
            let start = norm(z.point(i));
            assert!(distance(&back, &z, i) < 1e-9 * (1.0 + start), "{}: the way back", case.label);
        }
        compare(&case, &z, &gradient, &g_z, |case, z| objective(case.forward(z), &g, &k));
    });
}

/// The same for the inverse: gradients of Σ (g·f⁻¹(x) + k log det). Families in single precision are
/// included, since their inverses run in double precision. The points end where they started, at x.
#[test]
fn gradients_of_the_inverse() {
    every_case(9, |spec, dim, scale, parameters, random| {
        let (x, g, k) = near_and_far(dim, random);
        let mut case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        let (gradient, g_x, again) = case.backward_inverse(&x, &g, &k);
        for i in 0..x.len() {
            // Inverse steps are undone with the same numbers: one rounding each, of the size of the
            // shift.
            let most = 1.0 + norm(x.point(i)) + norm(case.inverse(&x).0.point(i));
            let off = distance(&again, &x, i);
            assert!(off < 1e-13 * most, "{}: the image is off by {off:e}", case.label);
        }
        compare(&case, &x, &gradient, &g_x, |case, x| objective(case.inverse(x), &g, &k));
    });
}

/// Gradients in the parameters and in the points compared with differences of `value`, which returns
/// each point's part of the sum. Large parameter vectors are sampled.
fn compare(
    case: &Case,
    points: &Batch,
    gradient: &[f64],
    g_points: &Batch,
    value: impl Fn(&Case, &Batch) -> Vec<f64>,
) {
    let parameters = &case.parameters;
    let (mut all, mut sharp) = (0, 0);
    let mut check = |found: f64, difference: Difference, what: String| {
        // Among thirty entries of a table the best agreement may be by chance.
        let bound = 1e-6 * difference.value.abs() + 30.0 * difference.error;
        assert!(
            (found - difference.value).abs() <= bound,
            "{} {what}: {found} is not {} to {bound:e}",
            case.label,
            difference.value
        );
        all += 1;
        // Behind inactive units and masks, a gradient of 0 and differences of 0 agree to all digits.
        let zero = found == 0.0 && difference.value == 0.0;
        sharp += usize::from(zero || bound <= 1e-4 * found.abs());
    };
    for p in (0..parameters.len()).step_by(1 + parameters.len() / 128) {
        let parts = Difference::each(parameters[p].abs().max(1.0), |h| {
            let mut moved = parameters.clone();
            moved[p] += h;
            value(&case.with(&moved), points)
        });
        check(gradient[p], Difference::sum(&parts), format!("parameter {p}"));
    }
    for d in 0..points.dim() {
        let differences = Difference::each(1.0, |h| {
            let mut moved = points.clone();
            moved.row_mut(d).iter_mut().for_each(|x| *x += h);
            value(case, &moved)
        });
        for (i, difference) in differences.into_iter().enumerate() {
            check(g_points.row(d)[i], difference, format!("coordinate {d} of point {i}"));
        }
    }
    // The differences must be accurate enough to find errors: to four digits almost everywhere.
    // Differences across a kink of a rectifier disagree with each other, and are not counted.
    assert!(5 * sharp >= 4 * all, "{}: {sharp} of {all} checked sharply", case.label);
}

/// g·x + k log det of each point.
fn objective((points, log_det): (Batch, Vec<f64>), g: &Batch, k: &[f64]) -> Vec<f64> {
    let dot = |i: usize| points.point(i).iter().zip(g.point(i)).map(|(x, g)| x * g).sum::<f64>();
    (0..points.len()).map(|i| dot(i) + k[i] * log_det[i]).collect()
}

/// Raw parameters of 0 give the identity, up to rounding and the order of coordinates.
#[test]
fn identity_at_zero() {
    for spec in families() {
        for dim in LAW_DIMENSIONS {
            let stack = spec.build(dim).unwrap();
            let case = Case::new(&spec, dim, &vec![0.0; stack.parameter_len()], "zero");
            let z = Random(4).batch(dim, 9, 2.0);
            let (image, log_det) = case.forward(&z);
            for i in 0..z.len() {
                for (a, b) in in_order(&spec, &image, i).iter().zip(in_order(&spec, &z, i)) {
                    assert!(
                        (a - b).abs() <= 8.0 * case.unit * (b.abs() + knots(&spec)),
                        "{}: {a} is not {b}",
                        case.label
                    );
                }
            }
            let most = 100.0 * case.unit;
            assert!(log_det.iter().all(|x| x.abs() < most), "{}: {log_det:?}", case.label);
        }
    }
}

/// Splines compute a coordinate from knots, which are sums of up to as many widths as there are
/// bins. Each rounds at the size of the box, in x and in y, layer by layer.
fn knots(spec: &FlowSpec) -> f64 {
    match spec {
        FlowSpec::Spline(spline) | FlowSpec::SplineAutoregressive(spline) => {
            spline.bound * (spline.bins * spline.layers) as f64
        }
        _ => 0.0,
    }
}

/// Point `i`, with its coordinates sorted if the family reorders them.
fn in_order(spec: &FlowSpec, batch: &Batch, i: usize) -> Vec<f64> {
    let mut point = batch.point(i);
    if reorders(spec) {
        point.sort_by(f64::total_cmp);
    }
    point
}

/// Training starts near the identity. At scale ε a row of a layer has up to d + 1 raw numbers of
/// size ε, which move a coordinate of z by ε (1 + |z|) and a point by √d times as much. The bound of
/// ten times that allows for several layers and rare numbers. With the plain softplus, layers
/// contract by a third for any ε, far outside the bound.
#[test]
fn starts_near_the_identity() {
    let scale = 1e-3;
    for spec in families() {
        for dim in LAW_DIMENSIONS {
            let stack = spec.build(dim).unwrap();
            let mut random = Random(10);
            let mut parameters = vec![f64::NAN; stack.parameter_len()];
            stack.initialise(scale, &mut || random.normal(), &mut parameters);
            let case = Case::new(&spec, dim, &parameters, "start");
            let z = random.batch(dim, 40, 1.0);
            let (image, log_det) = case.forward(&z);
            let most = 10.0 * scale * (dim as f64).sqrt();
            for i in 0..z.len() {
                let (from, to) = (in_order(&spec, &z, i), in_order(&spec, &image, i));
                let moved = norm(from.iter().zip(&to).map(|(a, b)| a - b));
                let size = norm(from);
                assert!(moved < most * (1.0 + size), "{}: moved by {moved}", case.label);
                assert!(log_det[i].abs() < most, "{}: log det {}", case.label, log_det[i]);
            }
        }
    }
}

/// Parameters of size 0.1, as at the start of training, must not collapse a deep stack: the plain
/// softplus would shrink 250 layers to a point.
#[test]
fn deep_stacks_keep_their_spread() {
    for spec in [FlowSpec::planar(250), FlowSpec::Radial { layers: 250 }] {
        let stack = spec.build(3).unwrap();
        let mut random = Random(5);
        let case = Case::new(&spec, 3, &random.normals(stack.parameter_len(), 0.1), "deep");
        let z = random.batch(3, 400, 2.0);
        let (image, _) = case.forward(&z);
        for d in 0..3 {
            let ratio = sd(image.row(d)) / sd(z.row(d));
            assert!((0.3..3.0).contains(&ratio), "{}: spread times {ratio}", case.label);
        }
    }
}

fn sd(x: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (x.len() - 1) as f64).sqrt()
}

/// Points of size 1e3 and more have finite images in both directions, and return.
#[test]
fn far_points_come_back() {
    every_case(6, |spec, dim, scale, parameters, random| {
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        for spread in [1e3, 1e6] {
            let z = random.batch(dim, 50, spread);
            let (image, log_det) = case.forward(&z);
            assert!(is_finite(&image) && log_det.iter().all(|x| x.is_finite()), "{}", case.label);
            for x in [&image, &z] {
                let (base, log_det) = case.inverse(x);
                assert!(
                    is_finite(&base) && log_det.iter().all(|x| x.is_finite()),
                    "{}",
                    case.label
                );
            }
            let (back, log_det_back) = case.inverse(&image);
            let bounds = reach(&case, false, &image, (&z, &log_det), random);
            let sharp = hold(&case, &bounds, (&back, &log_det_back), (&z, &log_det));
            enough(&case, scale, sharp, z.len());
        }
    });
}

/// Each point has the same bits for any number of points, also at the end of a register.
#[test]
fn points_do_not_depend_on_their_neighbours() {
    every_case(7, |spec, dim, scale, parameters, random| {
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        let all = random.batch(dim, 101, 1.0);
        let (image, log_det) = case.forward(&all);
        for len in [1, 2, 5, 16, 31, 33] {
            let mut some = Batch::zeros(dim, len);
            some.copy_points(0, &all, 0, len);
            let (few, few_log_det) = case.forward(&some);
            for d in 0..dim {
                assert_eq!(few.row(d), &image.row(d)[..len], "{}", case.label);
            }
            assert_eq!(few_log_det, log_det[..len], "{}", case.label);
        }
    });
}

/// The same for the inverse, whose iterations end when the slowest point of a register has
/// converged.
#[test]
fn inverses_do_not_depend_on_their_neighbours() {
    every_case(8, |spec, dim, scale, parameters, random| {
        let case = Case::new(spec, dim, &parameters, &format!("scale = {scale}"));
        let all = random.batch(dim, 40, 3.0);
        let (z, log_det) = case.inverse(&all);
        for i in 0..all.len() {
            let (alone, alone_log_det) = case.inverse(&Batch::from_points(dim, &[all.point(i)]));
            assert_eq!(alone.point(0), z.point(i), "{} point {i}", case.label);
            assert_eq!(alone_log_det[0], log_det[i], "{} point {i}", case.label);
        }
    });
}
