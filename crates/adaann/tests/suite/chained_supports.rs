//! Ordered vectors, simplexes and moving bounds: coordinates whose bounds depend on earlier coordinates.

use crate::support::common;
use adaann::{
    Batch, Expr, Program, Result, Settings,
    fit::fit,
    flow::FlowSpec,
    schedule::{Linear, Schedule, Work},
    target::{Edge, Evaluation, Support, Target, Unconstrained, Weights, Workspace},
};
use common::{Difference, Numbers, assert_close};

/// A density whose coordinates live in the given supports.
struct Chained(Program, Vec<Support>);

impl Target for Chained {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn evaluate(
        &self,
        points: &Batch,
        weights: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.0.evaluate(points, weights, out)
    }

    fn has_prior(&self) -> bool {
        self.0.has_prior()
    }

    fn support(&self, d: usize) -> Support {
        self.1[d].clone()
    }
}

fn simplex(of: usize) -> Vec<Support> {
    (0..of - 1).map(|index| Support::Share { index, of }).collect()
}

fn ordered(first: Support, len: usize) -> Vec<Support> {
    std::iter::once(first).chain(std::iter::repeat_n(Support::After, len - 1)).collect()
}

/// The rows of a Cholesky factor of a correlation matrix.
fn factor(rows: usize) -> Vec<Support> {
    (0..rows).flat_map(|row| (0..row).map(|column| Support::Factor { column })).collect()
}

/// Each support alone, and all in sequence.
fn cases() -> Vec<Vec<Support>> {
    let alone = [
        ordered(Support::Real, 4),
        ordered(Support::Above(0.5), 3),
        ordered(Support::Between(-1.0, 2.0), 2),
        simplex(2),
        simplex(3),
        simplex(5),
        factor(2),
        factor(4),
    ];
    let all = alone.concat();
    alone.into_iter().chain([all]).collect()
}

/// Bounds that depend on earlier coordinates, including ones with moving bounds themselves.
fn moving() -> Vec<Support> {
    let beside = |of, factor, offset| Edge::Beside { offset, terms: vec![(of, factor)] };
    vec![
        Support::Between(0.0, 1.0),
        Support::Within { low: Edge::At(0.0), high: beside(0, -1.0, 1.0) },
        Support::Within { low: beside(1, 2.0, 0.5), high: Edge::Open },
        Support::After,
        Support::Within { low: Edge::Open, high: beside(0, 1.5, -2.0) },
        Support::Within { low: beside(4, 1.0, 0.0), high: beside(2, 1.0, 0.25) },
    ]
}

/// The supports of [`cases`], and moving bounds.
fn cases_with_moving() -> Vec<Vec<Support>> {
    cases().into_iter().chain([moving()]).collect()
}

/// Prior and likelihood without any symmetry, with interactions between all coordinates.
fn skewed(supports: &[Support]) -> Chained {
    let program = Program::record_parts(supports.len(), |x| {
        let mixed = |offset: f64| {
            let terms = x.iter().enumerate().map(|(d, &x)| (0.7 + offset * d as f64) * x);
            terms.sum::<Expr>()
        };
        (-0.5 * mixed(-0.2).square(), mixed(0.3).sin() - 0.1 * mixed(0.1))
    });
    Chained(program, supports.to_vec())
}

fn normals(dim: usize, count: usize, sd: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = Numbers(seed);
    (0..count).map(|_| (0..dim).map(|_| sd * numbers.normal()).collect()).collect()
}

#[test]
fn onto_the_support_and_back() {
    for supports in cases_with_moving() {
        let target = skewed(&supports);
        let target = Unconstrained::new(&target).unwrap();
        let z = normals(supports.len(), 200, 1.5, 3);
        let (theta, _) = target.constrain(&Batch::from_points(supports.len(), &z));
        let back = target.unconstrain(&theta).unwrap();
        for (i, z) in z.iter().enumerate() {
            assert!(Support::contain(&supports, &theta.point(i)), "{supports:?} {z:?}");
            // A gap or remainder of e^-7.5 next to numbers of size 100 has 11 digits.
            back.point(i).iter().zip(z).for_each(|(a, b)| assert_close(*a, *b, 1e-10, "z"));
        }
    }
}

#[test]
fn next_to_the_boundary_there_is_a_way_back() {
    let points: [(Vec<Support>, Vec<f64>); 4] = [
        (simplex(4), vec![1e-200, 3e-15, 1e-300]),
        (simplex(4), vec![0.999, 1e-3 - 1e-9, 3e-10]),
        (ordered(Support::Real, 3), vec![-1e5, -1e5 + 1e-9, -1e5 + 3.0]),
        (ordered(Support::Above(2.0), 3), vec![2.0 + 1e-12, 2.0 + 2e-12, 1e9]),
    ];
    for (supports, point) in points {
        let target = skewed(&supports);
        let target = Unconstrained::new(&target).unwrap();
        let z = target.unconstrain(&Batch::from_points(point.len(), &[&point])).unwrap();
        let again = target.constrain(&z).0.point(0);
        for (a, b) in again.iter().zip(&point) {
            // A rounding unit of 1 in the remainder of the previous parts, and in the previous
            // coordinate.
            assert!((a - b).abs() <= 1e-13 * b.abs(), "{supports:?}: {a:e} is not {b:e}");
        }
    }
}

#[test]
fn the_middle_is_the_image_of_zero() {
    for of in [2, 3, 7] {
        let target = skewed(&simplex(of));
        let target = Unconstrained::new(&target).unwrap();
        let middle = target.constrain(&Batch::zeros(of - 1, 1)).0.point(0);
        middle.iter().for_each(|part| assert_close(*part, 1.0 / of as f64, 1e-15, "part"));
    }
}

/// log |det| by elimination with pivoting, without assumptions on the zeros.
fn log_determinant(mut rows: Vec<Vec<f64>>) -> f64 {
    let mut log = 0.0;
    while let Some(first) = rows.first() {
        let len = first.len();
        let largest =
            |a: &usize, b: &usize| rows[*a][len - 1].abs().total_cmp(&rows[*b][len - 1].abs());
        let pivot = rows.swap_remove((0..rows.len()).max_by(largest).unwrap());
        log += pivot[len - 1].abs().ln();
        for row in &mut rows {
            let factor = row[len - 1] / pivot[len - 1];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
            row.pop();
        }
    }
    log
}

#[test]
fn the_jacobian_is_the_determinant_of_the_map() {
    for supports in cases_with_moving() {
        let dim = supports.len();
        let target = skewed(&supports);
        let target = Unconstrained::new(&target).unwrap();
        for z in normals(dim, 20, 1.5, 5) {
            let map = |z: &[f64]| target.constrain(&Batch::from_points(dim, &[z]));
            let h = 1e-3;
            let derivative = |d: usize| {
                let shifted = |steps: f64| {
                    let mut z = z.clone();
                    z[d] += steps * h;
                    map(&z).0.point(0)
                };
                let [up2, up, down, down2] = [2.0, 1.0, -1.0, -2.0].map(shifted);
                let slope = |i: usize| ((down2[i] - up2[i]) + 8.0 * (up[i] - down[i])) / (12.0 * h);
                (0..dim).map(slope).collect::<Vec<_>>()
            };
            let numerical = log_determinant((0..dim).map(derivative).collect());
            // h⁴/30 times the fifth derivative, and rounding of 1e-16/h next to slopes of 1e-5, in
            // each coordinate.
            assert_close(map(&z).1[0], numerical, 1e-7, &format!("{supports:?} at {z:?}"));
        }
    }
}

#[test]
fn gradients_pass_through_the_map() {
    let weights = Weights { prior: 0.8, likelihood: 0.3 };
    for supports in cases_with_moving() {
        let dim = supports.len();
        let chained = skewed(&supports);
        let target = Unconstrained::new(&chained).unwrap();
        for (jacobian, z) in [1.0, 0.4].into_iter().zip(normals(dim, 2, 0.7, 11)) {
            let value = |z: &[f64]| {
                let mut work = Workspace::zeros(dim, 1);
                let z = Batch::from_points(dim, &[z]);
                target.evaluate(&z, Some((weights, jacobian)), &mut work).unwrap();
                let out = &work.evaluation;
                let value = weights.prior * out.log_prior[0]
                    + weights.likelihood * out.log_likelihood[0]
                    + jacobian * work.log_jacobian[0];
                (value, out.gradient.point(0))
            };
            let gradient = value(&z).1;
            for d in 0..dim {
                let difference = Difference::of(z[d], |x| {
                    let mut z = z.clone();
                    z[d] = x;
                    value(&z).0
                });
                let allowed = 1e-9 + 10.0 * difference.error;
                assert!(allowed < 1e-5, "differences say nothing: {allowed}");
                assert_close(gradient[d], difference.value, allowed, &format!("{supports:?} {d}"));
            }
        }
    }
}

/// ∫ exp(log p + log|J|) dz by the trapezoidal rule over a box; each axis is (from, step, count).
fn integral(target: &dyn Target, axes: &[(f64, f64, usize)]) -> f64 {
    let unconstrained = Unconstrained::new(target).unwrap();
    let count: usize = axes.iter().map(|axis| axis.2).product();
    let mut sum = 0.0;
    for from in (0..count).step_by(4096) {
        let len = 4096.min(count - from);
        let mut z = Batch::zeros(axes.len(), len);
        for i in 0..len {
            let mut rest = from + i;
            for (d, (start, step, steps)) in axes.iter().enumerate() {
                z.row_mut(d)[i] = start + step * (rest % steps) as f64;
                rest /= steps;
            }
        }
        let mut work = Workspace::zeros(axes.len(), len);
        unconstrained.evaluate(&z, None, &mut work).unwrap();
        let log_p = |i: usize| work.evaluation.log_likelihood[i] + work.log_jacobian[i];
        sum += (0..len).map(|i| log_p(i).exp()).sum::<f64>();
    }
    sum * axes.iter().map(|axis| axis.1).product::<f64>()
}

/// The volume of a simplex with K parts is 1/(K − 1)!.
#[test]
fn a_flat_density_on_a_simplex_integrates_to_its_volume() {
    for (of, volume) in [(2, 1.0), (3, 1.0 / 2.0), (4, 1.0 / 6.0)] {
        let supports = simplex(of);
        let flat = Chained(Program::record(of - 1, |x| 0.0 * x[0]), supports);
        // Poles at ±iπ, of order up to K: the rule is off by (2π/0.6)^(K−1) e^(−2π²/0.6) = 6e-12, the
        // ends by K e^−23.4 = 3e-10.
        let found = integral(&flat, &vec![(-24.0, 0.6, 80); of - 1]);
        assert_close(found, volume, 1e-9, &format!("{of} parts"));
    }
}

/// K independent normals are in order with probability 1/K!.
#[test]
fn normals_are_in_order_as_often_as_they_should_be() {
    for (len, share) in [(2, 1.0 / 2.0), (3, 1.0 / 6.0)] {
        let program = Program::record(len, |x| {
            let log_norm = 0.5 * std::f64::consts::TAU.ln();
            x.iter().map(|x| -0.5 * x.square() - log_norm).sum::<Expr>()
        });
        let target = Chained(program, ordered(Support::Real, len));
        let mut axes = vec![(-24.0, 0.25, 108); len];
        axes[0] = (-8.0, 0.5, 33);
        // φ(x + e^z) grows beyond |Im z| = π/4: the rule is off by e^(−2π·(π/4)/0.25) = 3e-9 an axis.
        assert_close(integral(&target, &axes), share, 1e-7, &format!("{len} normals"));
    }
}

/// For arbitrarily large z, the order is strict and the rounded sum of the parts stays below 1.
#[test]
fn constraints_hold_exactly_where_doubles_run_out() {
    for supports in cases() {
        let dim = supports.len();
        let target = skewed(&supports);
        let target = Unconstrained::new(&target).unwrap();
        for sd in [1.0, 10.0, 40.0, 300.0] {
            let z: Vec<Vec<f64>> = normals(dim, 2000, sd, 17)
                .into_iter()
                .map(|z| z.into_iter().map(|z| z.min(650.0)).collect())
                .collect();
            let (theta, log_jacobian) = target.constrain(&Batch::from_points(dim, &z));
            for i in 0..z.len() {
                assert!(log_jacobian[i].is_finite());
                let (theta, mut sum) = (theta.point(i), 0.0);
                for (d, support) in supports.iter().enumerate() {
                    match *support {
                        Support::After => assert!(theta[d] > theta[d - 1], "{theta:?}"),
                        Support::Share { index, .. } => {
                            sum = if index == 0 { theta[d] } else { sum + theta[d] };
                            assert!(theta[d] > 0.0 && sum < 1.0, "{theta:?} from {:?}", z[i]);
                        }
                        Support::Factor { column } => {
                            sum = if column == 0 { 0.0 } else { sum } + theta[d] * theta[d];
                            assert!(sum < 1.0, "{theta:?} from {:?}", z[i]);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

#[test]
fn a_lost_point_stays_lost() {
    for supports in cases() {
        let target = skewed(&supports);
        let target = Unconstrained::new(&target).unwrap();
        let (theta, _) = target
            .constrain(&Batch::from_points(supports.len(), &[vec![f64::NAN; supports.len()]]));
        assert!(theta.point(0).iter().all(|x| x.is_nan()), "{supports:?}");
    }
}

#[test]
fn chains_without_a_beginning_or_an_end_are_refused() {
    use Support::{After, Real, Share};
    let part = |index, of| Share { index, of };
    let bad = [
        vec![After, Real],
        vec![part(1, 3), part(0, 3)],
        vec![part(0, 3)],
        vec![part(0, 3), Real],
        vec![part(0, 3), part(1, 4)],
        vec![part(0, 3), part(0, 3), part(1, 3)],
        vec![part(0, 1)],
        vec![part(0, 0)],
        vec![part(0, 2), After],
        vec![
            Support::Within {
                low: Edge::Beside { offset: 0.0, terms: vec![(0, 1.0)] },
                high: Edge::Open,
            },
            Real,
        ],
        vec![Real, Support::Within { low: Edge::At(f64::NAN), high: Edge::Open }],
    ];
    for supports in bad {
        let refused = Unconstrained::new(&skewed(&supports)).err().map(|error| error.to_string());
        assert!(refused.is_some_and(|said| said.starts_with("support is ")), "{supports:?}");
    }
    let simplexes = [simplex(3), simplex(3), simplex(2)].concat();
    assert!(Unconstrained::new(&skewed(&simplexes)).is_ok(), "one behind another");
}

#[test]
fn what_is_outside_is_said() {
    let says = |supports: &[Support], point: &[f64], parts: &[&str]| {
        let target = skewed(supports);
        let points = Batch::from_points(point.len(), &[point]);
        let error = Unconstrained::new(&target).unwrap().unconstrain(&points).unwrap_err();
        let error = error.to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        assert!(!Support::contain(supports, point));
    };
    says(&ordered(Support::Real, 3), &[1.0, 2.0, 1.5], &["coordinate 3", "1.5", "(2, inf)"]);
    says(&moving()[..2], &[0.75, 0.5], &["coordinate 2", "0.5", "(0, 0.25)"]);
    says(&simplex(3), &[0.75, 0.5], &["coordinate 2", "0.5", "(0, 0.25)"]);
    says(&simplex(3), &[0.5, 0.5], &["coordinate 2"]);
    says(&simplex(3), &[f64::NAN, 0.5], &["coordinate 1", "NaN"]);
}

#[test]
fn supports_are_written_and_read() {
    for supports in cases_with_moving() {
        let text = serde_json::to_string(&supports).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Support>>(&text).unwrap(), supports, "{text}");
    }
}

/// A Dirichlet density with parameters (2, 3, 5): the draws lie on a simplex, with the right means and
/// the right integral.
#[test]
fn a_dirichlet_density_is_fitted() {
    let target = Chained(
        Program::record(2, |x| x[0].ln() + 2.0 * x[1].ln() + 4.0 * (1.0 - x[0] - x[1]).ln()),
        simplex(3),
    );
    let settings = Settings {
        flow: FlowSpec::planar(10),
        schedule: Schedule::Linear(Linear { t0: 0.2, epsilon: 0.02 }),
        work: Work { warmup: 500, anneal: 5, refine: 3000 },
        ..Settings::default()
    };
    let approximation = fit(&target, &settings, &mut ()).unwrap().approximation(&target).unwrap();
    let sample = approximation.sample(40_000, 5).unwrap();
    let [first, second] = [0, 1].map(|d| sample.x().row(d));
    assert!(first.iter().zip(second).all(|(a, b)| *a > 0.0 && *b > 0.0 && a + b < 1.0));
    for (row, exact) in [(first, 0.2), (second, 0.3)] {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        // The Monte Carlo error is 0.14/200; the rest is the flow's.
        assert!((mean - exact).abs() < 0.01, "{mean}");
    }
    // Z = Γ(2)Γ(3)Γ(5)/Γ(10); E_q[log q − log p] is KL − log Z.
    let kl = sample.neg_elbo() + (1.0 * 2.0 * 24.0 / 362_880.0_f64).ln();
    assert!((-0.005..0.03).contains(&kl), "{kl}");
    let again = approximation.log_q(sample.x()).unwrap();
    for (a, b) in again.iter().zip(sample.log_q().unwrap()) {
        assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{a} {b}");
    }
}
