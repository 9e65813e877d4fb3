//! Adaptive importance sampling against densities whose integrals and moments are known.

use super::{Rules, Shape, archive::Archive, flow_of, run};

use crate::{
    Program,
    approximation::Approximation,
    checkpoint::Ledger,
    flow::{Base, Flow, FlowSpec},
    importance::{Estimate, Quantity},
    mixture::{Component, Mixture},
    path::lopsided::{Lopsided, MOMENTS},
    target::Unconstrained,
};

fn mixture(components: &[(f64, Vec<f64>, Vec<f64>)]) -> Mixture {
    let component = |(weight, mean, covariance): &(f64, Vec<f64>, Vec<f64>)| Component {
        weight: *weight,
        mean: mean.clone(),
        covariance: covariance.clone(),
        degrees: None,
    };
    Mixture::of(&components.iter().map(component).collect::<Vec<_>>()).unwrap()
}

/// θ² e^−θ over θ times ∫ exp(−2 r²) dr: log Z = ln 2 + ½ ln (π/2). The start is too wide, next to the mode and
/// not skewed.
#[test]
fn a_density_without_symmetry_is_weighted_right_and_its_evaluations_are_counted() {
    let exact = 2_f64.ln() + 0.5 * std::f64::consts::FRAC_PI_2.ln();
    for seed in 1..=4 {
        let target = Lopsided::default();
        let start = mixture(&[(1.0, vec![0.0, 0.5], vec![2.0, 0.0, 0.0, 2.0])]);
        let adapted = run(&target, start, &Rules::new(2), seed, &mut Ledger::off()).unwrap();
        assert_eq!(adapted.evaluations, target.count());
        assert!(adapted.is_good && adapted.ess_share > 0.5, "{}", adapted.ess_share);
        let sums = adapted.sample.weight_sums().unwrap();
        assert!(sums.ess() >= 4_000.0, "{}", sums.ess());
        // Of seven numbers in four runs the furthest is beyond 4.5 errors once in 5,000.
        let off = (sums.log_z() - exact) / sums.log_z_error();
        assert!(off.abs() < 4.5, "seed {seed}: log Z is off by {off} errors");
        let (x, y) = (adapted.sample.z().row(0), adapted.sample.z().row(1));
        // The error of the third moment depends on the sixth, which this many draws do not determine.
        for (name, f, exact) in MOMENTS.into_iter().filter(|(name, ..)| !name.ends_with('³')) {
            let values: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect();
            let mean = Quantity::new(&values, adapted.sample.weights()).unwrap().mean();
            let off = (mean.value - exact) / mean.error;
            assert!(off.abs() < 4.5, "seed {seed}: {name} is off by {off} errors");
        }
    }
}

/// Draws of two proposals, whose weights are p over the mean of both densities.
#[test]
fn weights_are_those_of_the_mixture_of_all_proposals() {
    let target = Program::record(1, |z| -0.5 * (z[0] - 0.5).square());
    let unconstrained = Unconstrained::new(&target).unwrap();
    let mut archive = Archive::new(1);
    let normals = [(0.0, 1.0, 300), (2.0, 1.5, 100)];
    let mut z = Vec::new();
    for (mean, sd, count) in normals {
        let base = Base::diagonal(&[mean], &[sd]).unwrap();
        let flow = Flow::new(&FlowSpec::Affine, base).unwrap();
        let approximation = Approximation::new(&target, flow.clone()).unwrap();
        let sample = approximation.sample(count, 3).unwrap();
        z.extend_from_slice(sample.z().row(0));
        archive.add(&unconstrained, &flow, &sample).unwrap();
    }
    let (points, weights) = archive.weighted(0.0, 1).unwrap();
    assert_eq!(points.row(0), &z[..], "none is negligible here");
    let density = |x: f64, mean: f64, sd: f64| (-0.5 * ((x - mean) / sd).powi(2)).exp() / sd;
    let exact: Vec<f64> = (z.iter())
        .map(|&x| {
            let q: f64 =
                normals.iter().map(|&(m, sd, n)| f64::from(n as u32) * density(x, m, sd)).sum();
            density(x, 0.5, 1.0) / q
        })
        .collect();
    let total: f64 = exact.iter().sum();
    // No weight is above 1/√400 of the sum, where weights are truncated.
    for (weight, exact) in weights.iter().zip(&exact) {
        assert!(exact / total < 0.05);
        assert!((weight - exact / total).abs() < 1e-12, "{weight} is not {}", exact / total);
    }
}

/// A mode of which the first draws see almost nothing is not dropped from the proposal.
#[test]
fn a_component_that_few_draws_speak_for_is_kept() {
    // Weights 0.99 and 0.01, eight standard deviations apart.
    let target = Program::record(1, |z| {
        let [a, b] = [0.0, 8.0].map(|at| -0.5 * (z[0] - at).square());
        (0.99 * a.exp() + 0.01 * b.exp()).ln()
    });
    let start = mixture(&[(0.999, vec![0.0], vec![1.5]), (0.001, vec![8.0], vec![1.5])]);
    let adapted = run(&target, start, &Rules::new(1), 1, &mut Ledger::off()).unwrap();
    let far: f64 = (adapted.sample.z().row(0).iter().zip(adapted.sample.weights()))
        .filter(|(z, _)| **z > 4.0)
        .map(|(_, weight)| weight)
        .sum();
    // With 4,000 effective draws the error of a share of 0.01 is at most 0.0016.
    assert!((far - 0.01).abs() < 4.0 * 0.0016, "{far}");
}

/// Heavy tails: weights of a Gaussian would have no variance here.
#[test]
fn tails_of_the_proposal_follow_those_of_the_target() {
    // Student with four degrees of freedom, scale 2: log Z = ln(2 √4 B(1/2, 2)) = ln(2 · 2 · 4/3).
    let target = Program::record(1, |z| -2.5 * (1.0 + 0.0625 * (z[0] - 1.0).square()).ln());
    let start = mixture(&[(1.0, vec![0.0], vec![1.0])]);
    let adapted = run(&target, start, &Rules::new(1), 5, &mut Ledger::off()).unwrap();
    assert!(adapted.is_good && adapted.ess_share > 0.9, "{}", adapted.ess_share);
    let sums = adapted.sample.weight_sums().unwrap();
    let exact = (16.0_f64 / 3.0).ln();
    assert!((sums.log_z() - exact).abs() < 4.5 * sums.log_z_error(), "{}", sums.log_z());
}

/// The first round of a shell has poor weights; a result that cannot become good is reported as such.
#[test]
fn a_target_that_no_mixture_makes_is_not_called_good() {
    let target = Program::record(12, |z| {
        let square = z.iter().fold(0.0 * z[0], |sum, z| sum + z.square());
        -0.5 * ((square.sqrt() - 10.0) / 0.01).square()
    });
    let identity: Vec<f64> = (0..144).map(|i| f64::from(u8::from(i % 13 == 0))).collect();
    let start = mixture(&[(1.0, vec![2.9; 12], identity)]);
    let rules = Rules { attempts: 2, most_rounds: 3, ..Rules::new(12) };
    assert!(!run(&target, start, &rules, 1, &mut Ledger::off()).unwrap().is_good);
}

/// A normalised funnel that opens to one side and is centred away from 0: its width is exp(z₀/2), z₀ ~ N(½,
/// 1.5²). A mixture of a few Gaussians cannot describe it.
#[test]
fn a_funnel_is_bent_and_its_evidence_is_right() {
    let target = Program::record(4, |z| {
        let axis = (z[0] - 0.5) * (1.0 / 1.5);
        let others = (z[1] - 1.0).square() + (z[2] - 1.0).square() + (z[3] - 1.0).square();
        -0.5 * axis.square() - 1.5 * z[0] - 0.5 * others * (-z[0]).exp()
    });
    let exact = 1.5_f64.ln() + 2.0 * std::f64::consts::TAU.ln();
    for seed in 1..=3 {
        let mut wide = vec![0.0; 16];
        (0..4).for_each(|d| wide[5 * d] = 4.0);
        let start = mixture(&[(1.0, vec![0.0; 4], wide)]);
        let adapted = run(&target, start, &Rules::new(4), seed, &mut Ledger::off()).unwrap();
        assert!(adapted.shape.warp.is_some() && adapted.is_good, "seed {seed}");
        assert!(adapted.ess_share > 0.6, "seed {seed}: {}", adapted.ess_share);
        let sums = adapted.sample.weight_sums().unwrap();
        let off = (sums.log_z() - exact) / sums.log_z_error();
        // Of three numbers the furthest is beyond 4.5 errors once in 50,000.
        assert!(off.abs() < 4.5, "seed {seed}: log Z is off by {off} errors");
        let axis = Quantity::new(adapted.sample.z().row(0), adapted.sample.weights()).unwrap();
        let off = (axis.mean().value - 0.5) / axis.mean().error;
        assert!(off.abs() < 4.5, "seed {seed}: the axis is off by {off} errors");
    }
}

/// A mode that one round has found counts against all proposals that have almost no draws there.
#[test]
fn a_proposal_is_judged_by_the_draws_of_others() {
    // Two halves; the narrow proposal sees only one of them.
    let target = Program::record(1, |z| {
        let (low, high) = (-0.5 * (z[0] + 4.0).square(), -0.5 * (z[0] - 4.0).square());
        crate::program::log_sum_exp(&[low, high])
    });
    let unconstrained = Unconstrained::new(&target).unwrap();
    let mut archive = Archive::new(1);
    for (mean, sd) in [(-4.0, 1.1), (0.0, 6.0)] {
        let base = Base::diagonal(&[mean], &[sd]).unwrap();
        let flow = Flow::new(&FlowSpec::Affine, base).unwrap();
        let approximation = Approximation::new(&target, flow.clone()).unwrap();
        let sample = approximation.sample(2_000, 1).unwrap();
        archive.add(&unconstrained, &flow, &sample).unwrap();
        if mean < 0.0 {
            assert!(archive.ess_share(0) > 0.9, "alone it looks good");
        }
    }
    // Half of the mass is where it has no draws: 1/E[p/q] is at most 1/(½ 100).
    assert!(archive.ess_share(0) < 0.03, "{}", archive.ess_share(0));
    assert!(archive.ess_share(1) > 0.3, "{}", archive.ess_share(1));
}

/// The archive of draws of N(0, sd²) for a standard normal target.
fn of_normal(target: &Program, sd: f64, count: usize) -> Archive {
    let base = Base::diagonal(&[0.0], &[sd]).unwrap();
    let flow = Flow::new(&FlowSpec::Affine, base).unwrap();
    let approximation = Approximation::new(target, flow.clone()).unwrap();
    let sample = approximation.sample(count, 7).unwrap();
    let mut archive = Archive::new(1);
    archive.add(approximation.target(), &flow, &sample).unwrap();
    archive
}

/// p/q is 0.6 exp(8/9 z²) for a proposal of standard deviation 0.6: above 3 beyond |z| = 1.35, where p has
/// 18 per cent of its mass.
#[test]
fn edges_are_where_all_proposals_draw_too_rarely() {
    let target = Program::record(1, |z| -0.5 * z[0].square());
    let start = Shape::from(mixture(&[(1.0, vec![0.0], vec![0.36])]));
    let mut archive = of_normal(&target, 0.6, 2_000);
    let edges = archive.edges(&start).expect("a narrow proposal has edges");
    assert!(edges.joining.iter().all(|edge| edge.mean[0].abs() > 1.2), "{:?}", edges.joining);
    assert!(edges.joining.iter().any(|edge| edge.mean[0] > 0.0));
    assert!(edges.joining.iter().any(|edge| edge.mean[0] < 0.0));

    // With draws around the edges, log Z from all draws is right, and its gap to another estimate is that
    // estimate's error.
    let exact = 0.5 * std::f64::consts::TAU.ln();
    let narrow = Approximation::new(&target, flow_of(&start.mixture).unwrap()).unwrap();
    let sample = narrow.sample(100, 1).unwrap();
    let flow = flow_of(&edges.drawn).unwrap();
    let around = Approximation::new(&target, flow.clone()).unwrap();
    archive.add(around.target(), &flow, &around.sample(1_000, 9).unwrap()).unwrap();
    let found = archive.gaps_of(narrow.target(), &sample).expect("worth more than 100 draws");
    // The effective sample size of all draws is about 2,000: four errors of their log Z.
    let at = sample.weight_sums().unwrap().log_z();
    let gap = found.widen_log_z(Estimate { value: at, error: 0.0 }).error;
    assert!((gap - (at - exact).abs()).abs() < 4.0 / 2_000_f64.sqrt(), "{gap} of {at}");
}

#[test]
fn a_proposal_like_the_target_has_no_edges() {
    let target = Program::record(1, |z| -0.5 * z[0].square());
    let shape = Shape::from(mixture(&[(1.0, vec![0.0], vec![1.0])]));
    assert!(of_normal(&target, 1.0, 2_000).edges(&shape).is_none());
    assert!(of_normal(&target, 1.3, 2_000).edges(&shape).is_none());
}

/// A ridge u₂ = u₁² under a rotation, which no triangular map straightens: variances (1 + 2 + 0.5²)/2.
#[test]
fn the_arms_of_a_bent_ridge_are_in_the_spread() {
    let exact = (0.5_f64 * 3.25).sqrt();
    for seed in 1..=4 {
        let target = Program::record(2, |z| {
            let half = 0.5_f64.sqrt();
            let (u, v) = ((z[0] + z[1]) * half, (z[1] - z[0]) * half);
            -0.5 * u.square() - 2.0 * (v - u.square()).square()
        });
        let start = mixture(&[(1.0, vec![0.0, 0.0], vec![0.6, 0.3, 0.3, 0.6])]);
        let adapted = run(&target, start, &Rules::new(2), seed, &mut Ledger::off()).unwrap();
        assert!(adapted.is_good);
        for coordinate in adapted.sample.coordinates().unwrap() {
            let off = (coordinate.sd.value - exact) / coordinate.sd.error;
            // Of eight numbers the furthest is beyond 4 errors once in 2,000.
            assert!(off.abs() < 4.0, "seed {seed}: {:?} is not {exact}", coordinate.sd);
        }
    }
}
