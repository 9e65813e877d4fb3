//! Compares distributions with SciPy and mpmath, through compiled programs, and at the ends of
//! their supports.

mod draws;
mod joint;
mod tails;

use super::Family::*;
use super::argument::Range;
use super::*;
use crate::target::{Evaluation, Target, Weights};
use crate::{Batch, Expr, Program};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Fixture {
    densities: BTreeMap<String, Vec<Case>>,
    log_masses: BTreeMap<String, Vec<Mass>>,
    tails: BTreeMap<String, Vec<Tail>>,
}

/// Arguments, x, and for each of ln P(X ≤ x) and ln P(X > x): the value with the size of its terms,
/// and the derivatives by x and by each argument.
#[derive(Deserialize)]
struct Tail(Vec<f64>, f64, [Side; 2]);

#[derive(Deserialize)]
struct Side(f64, f64, Vec<Option<f64>>);

/// Arguments, low, high, log mass; numbers as text, since JSON has no infinity.
#[derive(Deserialize)]
struct Mass(Vec<f64>, String, String, f64);

#[derive(Deserialize)]
struct Case {
    arguments: Vec<f64>,
    points: Vec<Point>,
}

/// x, log p and the size of its terms; the derivatives by x and by each argument, with the sizes of
/// theirs.
#[derive(Deserialize)]
struct Point(f64, f64, f64, Vec<Option<(f64, f64)>>);

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../../../tests/fixtures/distributions.json")).unwrap()
}

const WHOLE: Weights = Weights { prior: 1.0, likelihood: 1.0 };

/// A program of x and the arguments.
fn program(family: Family) -> Program {
    Program::record(1 + family.arguments().len(), |z| family.log_density(z[0], &z[1..]))
}

/// log p and its derivatives at some (x, arguments).
fn evaluate(program: &Program, points: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
    let mut out = Evaluation::zeros(program.dim(), points.len());
    program.evaluate(&Batch::from_points(program.dim(), points), Some(WHOLE), &mut out).unwrap();
    (0..points.len()).map(|i| (out.log_likelihood[i], out.gradient.point(i))).collect()
}

/// log p of constants.
fn folded(family: Family, x: f64, arguments: &[f64]) -> f64 {
    let arguments: Vec<Expr<'_>> = arguments.iter().map(|&a| a.into()).collect();
    mean::value(family.log_density(x.into(), &arguments))
}

#[test]
fn values_and_gradients_are_exact() {
    for (name, cases) in fixture().densities {
        let family = Family::named(&name).unwrap();
        let program = program(family);
        for Case { arguments, points } in cases {
            let at: Vec<Vec<f64>> =
                points.iter().map(|point| [&[point.0], &arguments[..]].concat()).collect();
            let found = evaluate(&program, &at);
            for (Point(x, exact, size, slopes), (value, gradient)) in points.iter().zip(found) {
                let what = format!("{name}{arguments:?} at {x}");
                // The rounding error of a sum of terms of that size.
                let rounding = 8.0 * f64::EPSILON * size;
                for value in [value, folded(family, *x, &arguments)] {
                    let error = (value - exact).abs();
                    let tolerance = 1e-12 * exact.abs().max(1.0) + rounding;
                    assert!(error <= tolerance, "{what}: {value} is not {exact}");
                }
                for (i, (slope, found)) in slopes.iter().zip(gradient).enumerate() {
                    let Some((exact, size)) = *slope else { continue };
                    let tolerance = 1e-10 * exact.abs().max(1.0) + 32.0 * f64::EPSILON * size;
                    let error = (found - exact).abs();
                    assert!(error <= tolerance, "{what}: slope {i} is {found}, not {exact}");
                }
            }
        }
    }
}

#[test]
fn log_masses_are_exact() {
    let mut seen = 0;
    for (name, rows) in fixture().log_masses {
        let family = Family::named(&name).unwrap();
        for Mass(arguments, low, high, exact) in rows {
            let (low, high) = (low.parse().unwrap(), high.parse().unwrap());
            let found = family.log_mass(&arguments, low, high).unwrap_or(f64::NAN);
            let error = (found - exact).abs();
            // 1e-12 of the mass, but no more digits of its logarithm than it has.
            let tolerance = 1e-12 + 4.0 * f64::EPSILON * exact.abs();
            assert!(error <= tolerance, "{name}{arguments:?} {low} {high}: {found} is not {exact}");
            seen += 1;
        }
    }
    assert!(seen > 250, "{seen}");
}

#[test]
fn names_arguments_and_ranges() {
    for family in Family::ALL {
        assert_eq!(Family::named(family.name()), Some(family));
        let arguments = family.arguments();
        if let Some(i) = family.symmetric_location() {
            assert!(matches!(arguments[i].name, "mean" | "location"), "{family:?}");
        }
        for (i, argument) in arguments.iter().enumerate() {
            // 1 is in every range; bounds must be in order too.
            let mut values = vec![1.0; arguments.len()];
            if matches!(family, Uniform | LogUniform) {
                values[1] = 2.0;
            }
            assert!(family.accepts(&values), "{family:?}");
            values[i] = match argument.range {
                Range::Finite => f64::INFINITY,
                Range::Positive => 0.0,
                Range::NotNegative => -1e-9,
                Range::UnitInterval => 1.1,
                Range::Count => 1.5,
            };
            assert!(!family.accepts(&values) && !argument.range.contains(values[i]), "{family:?}");
            assert!(family.draw(&values, &mut || 0.5).is_nan() && family.mean(&values).is_nan());
            assert_eq!(family.log_mass(&values, 0.1, 0.2), None);
        }
        assert!(!family.accepts(&vec![1.0; arguments.len() + 1]));
    }
    assert_eq!(Family::named("Normal"), None);
    assert!(!Uniform.accepts(&[2.0, 2.0]) && !Uniform.accepts(&[-f64::MAX, f64::MAX]));
}

/// Arguments to test, one set for each family.
fn some_arguments(family: Family) -> Vec<f64> {
    match family {
        Flat => vec![],
        StudentT => vec![3.5, 0.7, 1.3],
        Uniform | LogUniform => vec![0.5, 4.5],
        Binomial => vec![7.0, 0.3],
        BinomialLogit => vec![7.0, 0.8],
        Bernoulli => vec![0.3],
        BetaBinomial => vec![7.0, 1.7, 0.6],
        SkewNormal => vec![1.7, 0.6, 3.5],
        // The mean exists for shapes above 1, the variance above 2.
        LogLogistic => vec![1.7, 3.5],
        VonMises => vec![0.0, 1.6],
        _ => [1.7, 0.6][..family.arguments().len()].to_vec(),
    }
}

/// −∞ outside the support, even where other terms could hide it, with no other effect; finite on
/// the ends.
#[test]
fn outside_there_is_nothing() {
    for family in Family::ALL {
        let arguments = some_arguments(family);
        let known: Vec<Option<f64>> = arguments.iter().copied().map(Some).collect();
        let support = family.support(&known);
        let hidden = Program::record(1 + arguments.len(), |z| {
            family.log_density(z[0], &z[1..]).max(-1e6) + z.iter().sum::<Expr<'_>>()
        });
        let (low, high) = (support.low.unwrap(), support.high.unwrap());
        let mut outside = vec![low.at - 1e-6, low.at - 3.0, -1e300, high.at + 1e-6, high.at + 2.0];
        if family.is_discrete() {
            outside.extend([0.5, 1e-300]);
        }
        outside.retain(|x| x.is_finite() && (!support.contains(*x) || family.is_discrete()));
        for x in outside {
            let point = [&[x], &arguments[..]].concat();
            assert_eq!(folded(family, x, &arguments), f64::NEG_INFINITY, "{family:?} at {x}");
            let (value, _) = evaluate(&program(family), std::slice::from_ref(&point))[0];
            assert_eq!(value, f64::NEG_INFINITY, "{family:?} at {x}");
            let gradient = &evaluate(&hidden, &[point])[0].1;
            assert!(gradient.iter().all(|g| *g == 1.0), "{family:?} at {x}: {gradient:?}");
        }
        for end in [low, high].into_iter().filter(|end| end.at.is_finite()) {
            assert_eq!(support.contains(end.at), end.is_inside);
            let (value, gradient) =
                evaluate(&program(family), &[[&[end.at], &arguments[..]].concat()])[0].clone();
            assert!(value.is_finite(), "{family:?} at {}: {value}", end.at);
            assert!(gradient.iter().all(|g| g.is_finite()), "{family:?} at {}", end.at);
        }
        let nan = folded(family, f64::NAN, &arguments);
        let is_bounded = low.at.is_finite();
        assert!(!is_bounded || nan == f64::NEG_INFINITY, "{family:?} of NaN is {nan}");
    }
}

#[test]
fn impossible_counts_and_certain_ones() {
    const NO: f64 = f64::NEG_INFINITY;
    for (family, x, arguments, exact) in [
        (Poisson, 0.0, vec![0.0], 0.0),
        (Poisson, 1.0, vec![0.0], NO),
        (Poisson, 3.0, vec![0.0], NO),
        (Binomial, 0.0, vec![9.0, 0.0], 0.0),
        (Binomial, 9.0, vec![9.0, 1.0], 0.0),
        (Binomial, 1.0, vec![9.0, 0.0], NO),
        (Binomial, 8.0, vec![9.0, 1.0], NO),
        (Binomial, 0.0, vec![0.0, 0.4], 0.0),
        (Bernoulli, 0.0, vec![0.0], 0.0),
        (Bernoulli, 1.0, vec![1.0], 0.0),
        (Bernoulli, 1.0, vec![0.0], NO),
        (Bernoulli, 0.0, vec![1.0], NO),
        (NegBinomial, 0.0, vec![0.0, 2.0], 0.0),
        (NegBinomial, 4.0, vec![0.0, 2.0], NO),
    ] {
        let found = evaluate(&program(family), &[[&[x], &arguments[..]].concat()])[0].clone();
        let what = format!("{family:?}{arguments:?} at {x}: {found:?}");
        assert!(found.0 == exact || (found.0 - exact).abs() < 1e-14, "{what}");
        // By p or the mean, which are not counts.
        let i = arguments.len().min(if family == NegBinomial { 1 } else { 2 });
        assert!(found.1[i].is_finite(), "{what}");
    }
    for (family, arguments) in [
        (Poisson, vec![-0.1]),
        (Binomial, vec![3.0, -0.1]),
        (Binomial, vec![3.0, 1.1]),
        (Bernoulli, vec![1.1]),
        (NegBinomial, vec![-0.1, 2.0]),
        (Normal, vec![0.0, -1.0]),
        (Gamma, vec![-1.0, 1.0]),
        (Beta, vec![2.0, -1.0]),
    ] {
        for x in [0.0, 1.0] {
            let value = folded(family, x, &arguments);
            assert!(value.is_nan(), "{family:?}{arguments:?} at {x}: {value}");
        }
    }
}

/// If only x is a constant, the terms in x fold when they are recorded.
#[test]
fn work_on_constants_folds() {
    let instructions = |family: Family, x: f64| {
        let arguments = family.arguments().len();
        Program::record(arguments, |z| family.log_density(x.into(), z)).instructions().1
    };
    // exp and two sums; ln and a sum; 1/sd, its square, the residual, its square, ln sd and their sum.
    assert!(instructions(PoissonLog, 3.0) <= 3, "{}", instructions(PoissonLog, 3.0));
    assert!(instructions(Exponential, 3.0) <= 3, "{}", instructions(Exponential, 3.0));
    assert!(instructions(Normal, 3.0) <= 6, "{}", instructions(Normal, 3.0));
}
