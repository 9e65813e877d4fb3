//! Compares draws with distribution functions, over fixed seeds.

use super::super::Family::*;
use super::super::*;
use super::{folded, some_arguments};
use crate::rng::{Purpose, Stream};

/// Uniform numbers of a seed.
pub(super) fn uniforms(seed: u64) -> impl FnMut() -> f64 {
    let stream = Stream::new(seed, Purpose::MonteCarlo);
    let mut index = 0;
    move || {
        index += 1;
        stream.uniform_at(index)
    }
}

const DRAWS: usize = 2_000;

/// √n times the largest distance between the two distribution functions (Kolmogorov): above 2.4 in
/// one of 50,000 trials if they are equal, and less often for counts.
#[track_caller]
pub(super) fn assert_drawn_from(mut draws: Vec<f64>, below: impl Fn(f64) -> f64, what: &str) {
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    let mut distance: f64 = 0.0;
    for (i, &x) in draws.iter().enumerate() {
        let exact = below(x);
        // Of equal draws, only the last gives the share at or below it.
        if draws.get(i + 1) != Some(&x) {
            distance = distance.max((exact - (i + 1) as f64 / count).abs());
        }
    }
    assert!(count.sqrt() * distance < 2.4, "{what}: {}", count.sqrt() * distance);
}

#[test]
fn continuous_draws_have_their_distribution() {
    let mut sets: Vec<(Family, Vec<f64>)> = Family::ALL
        .into_iter()
        .filter(|family| !family.is_discrete() && !matches!(family, Flat | VonMises))
        .map(|family| (family, some_arguments(family)))
        .collect();
    sets.extend([
        (Gamma, vec![0.05, 2.0]),
        (Gamma, vec![4e4, 3.0]),
        (InvGamma, vec![0.4, 2.0]),
        (Beta, vec![0.03, 0.2]),
        (Beta, vec![80.0, 0.5]),
        (StudentT, vec![0.4, -2.0, 5.0]),
        (Weibull, vec![0.3, 2.0]),
        (LogUniform, vec![1e-9, 3e4]),
        (SkewNormal, vec![0.0, 1.0, -20.0]),
        (InverseGaussian, vec![3.0, 0.02]),
        (InverseGaussian, vec![0.5, 80.0]),
        (LogLogistic, vec![2.0, 0.4]),
    ]);
    for (seed, (family, arguments)) in sets.into_iter().enumerate() {
        let mut random = uniforms(seed as u64);
        let draws = (0..DRAWS).map(|_| family.draw(&arguments, &mut random)).collect();
        let below =
            |x: f64| family.log_mass(&arguments, f64::NEG_INFINITY, x).expect("converges").exp();
        assert_drawn_from(draws, below, &format!("{family:?}{arguments:?}"));
    }
}

/// Compares angles with sums over the density.
#[test]
fn angles_have_their_distribution() {
    const PARTS: usize = 20_000;
    for (seed, arguments) in [[0.4, 0.3], [-2.9, 2.5], [1.0, 60.0], [0.0, 1e-9]].iter().enumerate()
    {
        let mut random = uniforms(400 + seed as u64);
        let draws: Vec<f64> = (0..DRAWS).map(|_| VonMises.draw(arguments, &mut random)).collect();
        let width = std::f64::consts::TAU / PARTS as f64;
        let mut below = vec![0.0];
        for i in 0..PARTS {
            let middle = (i as f64 + 0.5) * width - std::f64::consts::PI;
            below.push(below[i] + width * folded(VonMises, middle, arguments).exp());
        }
        assert!((below[PARTS] - 1.0).abs() < 1e-6, "{arguments:?}: {}", below[PARTS]);
        let at = |x: f64| below[(((x + std::f64::consts::PI) / width).round() as usize).min(PARTS)];
        assert_drawn_from(draws, at, &format!("{arguments:?}"));
    }
}

#[test]
fn counts_have_their_distribution() {
    let sets: [(Family, Vec<f64>); 16] = [
        (BetaBinomial, vec![20.0, 1.7, 0.6]),
        (BetaBinomial, vec![300.0, 12.0, 40.0]),
        (Poisson, vec![0.3]),
        (Poisson, vec![8.0]),
        (Poisson, vec![40.0]),
        (Poisson, vec![1_000.0]),
        (PoissonLog, vec![3.3]),
        (Binomial, vec![20.0, 0.7]),
        (Binomial, vec![200.0, 0.03]),
        (Binomial, vec![3_000.0, 0.6]),
        (BinomialLogit, vec![50.0, -1.0]),
        (Bernoulli, vec![0.2]),
        (BernoulliLogit, vec![0.7]),
        (NegBinomial, vec![12.0, 0.7]),
        (NegBinomial, vec![3.0, 40.0]),
        (Binomial, vec![40.0, 0.999]),
    ];
    for (seed, (family, arguments)) in sets.into_iter().enumerate() {
        let mut random = uniforms(100 + seed as u64);
        let draws: Vec<f64> = (0..DRAWS).map(|_| family.draw(&arguments, &mut random)).collect();
        let largest = draws.iter().copied().fold(0.0, f64::max) as usize;
        let mut below = Vec::with_capacity(largest + 1);
        let mut sum = 0.0;
        for y in 0..=largest {
            sum += folded(family, y as f64, &arguments).exp();
            below.push(sum);
        }
        assert_drawn_from(draws, |y| below[y as usize], &format!("{family:?}{arguments:?}"));
    }
}

/// Mean and variance of counts too large for sums: within five standard errors.
#[test]
fn large_counts_have_their_moments() {
    for (seed, (family, arguments, variance)) in [
        (Poisson, vec![1e9], 1e9),
        (Poisson, vec![3e14], 3e14),
        (Binomial, vec![1e12, 0.3], 0.21e12),
        (Binomial, vec![1e15, 1e-9], 1e6),
        (NegBinomial, vec![1e6, 50.0], 1e6 + 1e12 / 50.0),
    ]
    .into_iter()
    .enumerate()
    {
        let mut random = uniforms(200 + seed as u64);
        let mean = family.mean(&arguments);
        let standard: Vec<f64> = (0..DRAWS)
            .map(|_| (family.draw(&arguments, &mut random) - mean) / f64::sqrt(variance))
            .collect();
        let count = DRAWS as f64;
        let first = standard.iter().sum::<f64>() / count;
        let second = standard.iter().map(|u| u * u).sum::<f64>() / count;
        let what = format!("{family:?}{arguments:?}: {first} {second}");
        assert!(first.abs() < 5.0 / count.sqrt(), "{what}");
        assert!((second - 1.0).abs() < 5.0 * (2.0 / count).sqrt(), "{what}");
    }
}

#[test]
fn means_are_those_of_draws() {
    for (seed, family) in Family::ALL.into_iter().enumerate() {
        // Heavy tails have no standard error.
        let arguments = match family {
            StudentT => vec![5.0, 0.7, 1.3],
            HalfStudentT => vec![5.0, 2.0],
            InvGamma => vec![5.0, 2.0],
            _ => some_arguments(family),
        };
        let mean = family.mean(&arguments);
        if matches!(family, Flat | Cauchy | HalfCauchy) {
            assert!(mean.is_nan(), "{family:?}");
            continue;
        }
        let mut random = uniforms(300 + seed as u64);
        let draws: Vec<f64> =
            (0..4 * DRAWS).map(|_| family.draw(&arguments, &mut random)).collect();
        let count = draws.len() as f64;
        let found = draws.iter().sum::<f64>() / count;
        let variance = draws.iter().map(|x| (x - found).powi(2)).sum::<f64>() / count;
        let error = (variance / count).sqrt();
        assert!((found - mean).abs() < 5.0 * error, "{family:?}: {found} is not {mean}");
    }
    for (family, arguments) in [
        (StudentT, vec![1.0, 0.0, 1.0]),
        (InvGamma, vec![0.9, 1.0]),
        (HalfStudentT, vec![0.5, 1.0]),
    ] {
        assert!(family.mean(&arguments).is_nan(), "{family:?}");
    }
}

#[test]
fn a_gamma_number_of_no_finite_shape_is_none_and_comes_to_an_end() {
    let mut random = uniforms(1);
    assert_eq!(draw::ln_gamma_draw(f64::INFINITY, &mut random), f64::INFINITY);
    assert!(draw::ln_gamma_draw(f64::NAN, &mut random).is_nan());
    // For any size, the draw is the mean up to rounding.
    let large = draw::ln_gamma_draw(1e300, &mut random);
    assert!((large - 1e300_f64.ln()).abs() < 1e-9, "{large}");
}
