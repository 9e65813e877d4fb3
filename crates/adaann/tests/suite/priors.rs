//! Priors: values, normalisation through the map onto the support, derivatives, bounds and files.

use crate::support::common;
use adaann::{
    Batch, Program, Result,
    prior::Prior,
    target::{Evaluation, Support, Target, Unconstrained, Weights, Workspace},
};
use common::{Difference, WHOLE, assert_close, evaluate};
use std::collections::BTreeMap;

/// A parameter with only its prior.
struct One(Prior, Program);

impl One {
    fn new(prior: Prior) -> Self {
        prior.check().unwrap();
        Self(prior, Program::record_parts(1, |x| (prior.log_density(x[0]), 0.0.into())))
    }

    /// log p and its derivative at x.
    fn at(&self, x: f64) -> (f64, f64) {
        let out = evaluate(&self.1, &[vec![x]], WHOLE);
        (out.log_prior[0], out.gradient.row(0)[0])
    }

    /// log p + log|J| and its derivative at unconstrained points.
    fn on_the_line(&self, z: &[f64]) -> Vec<(f64, f64)> {
        let points = Batch::from_points(1, &z.iter().map(|z| [*z]).collect::<Vec<_>>());
        let mut work = Workspace::zeros(1, z.len());
        let target = Unconstrained::new(self).unwrap();
        target.evaluate(&points, Some((WHOLE, 1.0)), &mut work).unwrap();
        let (prior, gradient) = (&work.evaluation.log_prior, work.evaluation.gradient.row(0));
        (0..z.len()).map(|i| (prior[i] + work.log_jacobian[i], gradient[i])).collect()
    }
}

impl Target for One {
    fn dim(&self) -> usize {
        1
    }

    fn evaluate(
        &self,
        points: &Batch,
        weights: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.1.evaluate(points, weights, out)
    }

    fn has_prior(&self) -> bool {
        true
    }

    fn support(&self, _: usize) -> Support {
        self.0.support()
    }
}

/// Proper priors without symmetry, each with log p at a point: from textbook densities with mpmath
/// and 50 digits (200 for the last Student case).
fn proper() -> Vec<(Prior, f64, f64)> {
    use Prior::*;
    vec![
        (Uniform { low: -3.0, high: 1.5 }, 0.2, -1.504_077_396_776_274_2),
        (Normal { mean: -1.3, sd: 0.7 }, 0.4, -3.511_243_181_102_675_4),
        (HalfNormal { sd: 2.5 }, 1.1, -1.238_882_084_518_882_6),
        (LogNormal { log_mean: 0.5, log_sd: 0.8 }, 2.2, -1.549_258_317_839_360_2),
        (Exponential { mean: 3.0 }, 1.7, -1.665_278_955_334_776_4),
        (Gamma { shape: 2.5, rate: 0.6 }, 3.1, -1.724_643_762_651_245),
        (Gamma { shape: 0.4, rate: 2.0 }, 0.3, -0.397_035_262_882_243_94),
        (InverseGamma { shape: 1.5, scale: 2.5 }, 0.9, -1.019_158_153_186_734_2),
        (InverseGamma { shape: 0.6, scale: 0.2 }, 0.9, -1.417_542_002_699_395_2),
        (Beta { a: 2.5, b: 4.0 }, 0.3, 0.710_135_681_851_066_2),
        (Beta { a: 0.4, b: 0.8 }, 0.15, 0.136_664_190_726_146_6),
        (StudentT { df: 4.0, location: 0.5, scale: 1.5 }, 2.7, -2.462_140_293_253_151),
        (StudentT { df: 0.5, location: -1.0, scale: 0.3 }, 2.7, -4.397_340_203_154_864),
        (StudentT { df: 1e10, location: -1.0, scale: 0.5 }, 0.7, -6.005_791_349_906_887),
        (Cauchy { location: -0.7, scale: 0.4 }, 1.1, -3.284_796_049_345_671),
        (HalfCauchy { scale: 1.8 }, 0.6, -1.144_729_885_849_400_2),
        (Laplace { location: 0.3, scale: 1.2 }, -0.9, -1.875_468_737_353_9),
        (LogUniform { low: 0.02, high: 30.0 }, 0.7, -1.633_008_778_240_897_7),
        (LogUniform { low: 3.0, high: 3.000_001 }, 3.000_000_4, 13.815_510_591_157_816),
    ]
}

fn improper() -> [Prior; 3] {
    [Prior::Flat, Prior::FlatAbove { low: 5.0 }, Prior::FlatAbove { low: -0.3 }]
}

fn all() -> Vec<Prior> {
    proper().into_iter().map(|(prior, ..)| prior).chain(improper()).collect()
}

/// The finite ends of a support.
fn bounds(prior: Prior) -> (Option<f64>, Option<f64>) {
    let [low, high] = prior.support().bounds();
    (Some(low).filter(|low| low.is_finite()), Some(high).filter(|high| high.is_finite()))
}

#[test]
fn values_are_those_of_the_textbook() {
    for (prior, x, exact) in proper() {
        assert_close(One::new(prior).at(x).0, exact, 1e-14, &prior.to_string());
    }
    let wide = Prior::LogUniform { low: 1e-300, high: 1e300 };
    assert_close(One::new(wide).at(2.0).0, -7.924_109_281_024_047, 1e-14, "log-uniform");
    for prior in improper() {
        assert_eq!(One::new(prior).at(5.5), (0.0, 0.0), "{prior}");
    }
}

/// ∫ p |J| dz = 1, by the trapezoidal rule on both sides of a centre: z = centre ± e^s. With steps
/// of 0.01 its error is far below rounding for a function that is smooth on each side.
#[test]
fn proper_priors_integrate_to_one_on_the_line() {
    let step = 0.01;
    for (prior, ..) in proper() {
        assert!(prior.is_proper(), "{prior}");
        // Laplace's density has a kink.
        let centre = if let Prior::Laplace { location, .. } = prior { location } else { 0.0 };
        // Beyond |z| = 700 the map overflows; for an unbounded support x^(-df) is 4e-18 at e^80.
        let farthest = if prior.support() == Support::Real { 80.0 } else { 700.0_f64.ln() };
        let count = ((farthest + 40.0) / step) as usize;
        let jumps: Vec<f64> = (0..count).map(|i| (farthest - step * i as f64).exp()).collect();
        let target = One::new(prior);
        let mut integral = 0.0;
        for sign in [-1.0, 1.0] {
            let z: Vec<f64> = jumps.iter().map(|jump| centre + sign * jump).collect();
            let values = target.on_the_line(&z);
            integral += values.iter().zip(&jumps).map(|(v, jump)| v.0.exp() * jump).sum::<f64>();
        }
        // Beta(0.4, 0.8) loses the mass between 1 and the preceding double: 1e-16^0.8.
        let tolerance = if matches!(prior, Prior::Beta { b, .. } if b < 1.0) { 1e-12 } else { 0.0 };
        assert_close(step * integral, 1.0, tolerance + 1e-13, &prior.to_string());
    }
}

#[test]
fn derivatives_are_those_of_the_values() {
    for prior in all() {
        let target = One::new(prior);
        for z in [-2.3, -0.45, 0.85, 1.9, 3.1] {
            let found = target.on_the_line(&[z])[0].1;
            let exact = Difference::of(z, |z| target.on_the_line(&[z])[0].0);
            assert!(exact.error < 1e-8, "{prior} at {z}: {}", exact.error);
            assert_close(found, exact.value, 1e-8, &format!("{prior} at {z}"));
        }
    }
}

/// Tails where x² would overflow beyond 1e154: log p = c − (df + 1) ln|x|.
#[test]
fn heavy_tails_have_no_end() {
    let cauchy = Prior::Cauchy { location: -0.7, scale: 0.4 };
    let t = Prior::StudentT { df: 0.5, location: -1.0, scale: 0.3 };
    let half = Prior::HalfCauchy { scale: 1.8 };
    for (prior, x, exact, power) in [
        (cauchy, 1e9, -43.507_552_293_016_374, 2.0),
        (cauchy, -1e200, -923.095_057_815_341_9, 2.0),
        (t, 1e200, -693.207_907_611_708_2, 1.5),
        (half, 1e300, -1_381.414_851_836_814_7, 2.0),
    ] {
        let (value, slope) = One::new(prior).at(x);
        assert_close(value, exact, 1e-14, &format!("{prior} at {x}"));
        assert_close(slope * x, -power, 1e-8, &format!("slope of {prior} at {x}"));
    }
    // The two pieces of ln(1 + u²) meet.
    let at = |u: f64| One::new(Prior::Cauchy { location: 0.0, scale: 1.0 }).at(u);
    let (below, above) = (at(134_217_727.0), at(134_217_729.0));
    assert_close(above.0 - below.0, -4.0 / 134_217_728.0, 1e-14, "step");
    assert!(below.1 < above.1 && above.1 < 0.0, "{below:?} {above:?}");
    // The lightest tails end at −∞, but not in NaN.
    for (prior, ..) in proper() {
        let far = [1e308, f64::MAX, f64::INFINITY].map(|x| One::new(prior).at(x).0);
        assert!(far.iter().all(|value| *value < -7.0), "{prior}: {far:?}");
    }
}

#[test]
fn outside_there_is_nothing() {
    let mut seen = 0;
    for prior in all() {
        let (low, high) = bounds(prior);
        let below = low.map(|low| [low - 1e-7, low - 0.5, -1e300, f64::NEG_INFINITY, f64::NAN]);
        let above = high.map(|high| [high + 1e-7, high + 0.5, 1e300, f64::INFINITY, f64::NAN]);
        let mut outside: Vec<f64> = below.into_iter().chain(above).flatten().collect();
        if matches!(prior, Prior::LogUniform { .. }) {
            outside.push(0.0);
        }
        // Where −∞ is masked, only the expression itself can keep the derivative finite.
        let hidden = Program::record(1, |x| prior.log_density(x[0]).max(-1e6) + 3.0 * x[0]);
        for x in outside {
            assert!(!Support::contain(&[prior.support()], &[x]));
            assert_eq!(One::new(prior).at(x), (f64::NEG_INFINITY, 0.0), "{prior} at {x}");
            if x.is_finite() {
                let slope = evaluate(&hidden, &[vec![x]], WHOLE).gradient.row(0)[0];
                assert_eq!(slope, 3.0, "{prior} at {x}");
            }
            seen += 1;
        }
    }
    assert!(seen > 90, "{seen}");
}

/// z beyond ±37 is rounded to a bound other than 0; such a point still has a density, and log|J|
/// leads it back.
#[test]
fn points_rounded_onto_a_bound_are_not_lost() {
    for prior in all() {
        let (low, high) = bounds(prior);
        let target = One::new(prior);
        for bound in [low, high].into_iter().flatten() {
            let (value, slope) = target.at(bound);
            assert!(value.is_finite() || bound == 0.0, "{prior} at {bound}: {value}");
            assert!(value < f64::INFINITY && slope.is_finite(), "{prior} at {bound}: {slope}");
        }
        if let Some(high) = high {
            let near = target.at(high.next_down()).0;
            assert_eq!(target.at(high).0, near, "{prior}");
            let (value, slope) = target.on_the_line(&[45.0])[0];
            assert_close(value, near + (high - low.unwrap()).ln() - 45.0, 1e-12, "value");
            assert_close(slope, -1.0, 1e-8, &format!("slope of {prior}"));
        }
    }
    let (value, slope) = One::new(Prior::FlatAbove { low: 5.0 }).on_the_line(&[-45.0])[0];
    assert_eq!((value, slope), (-45.0, 1.0));
}

/// A prior as in a file, with its name and its parameters.
fn as_table(prior: Prior) -> (String, toml::Table) {
    match toml::Value::try_from(prior).unwrap() {
        toml::Value::Table(table) => {
            let (name, parameters) = table.into_iter().next().unwrap();
            (name, parameters.as_table().unwrap().clone())
        }
        value => (value.as_str().unwrap().to_owned(), toml::Table::new()),
    }
}

#[test]
fn every_bad_parameter_is_refused_by_name() {
    let mut refused = 0;
    for prior in all() {
        let (name, parameters) = as_table(prior);
        for parameter in parameters.keys() {
            let may_be_any = matches!(parameter.as_str(), "location" | "log-mean")
                || parameter == "mean" && name == "normal"
                || parameter == "low" && name != "log-uniform";
            let mut bad = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
            if parameter == "high" {
                let low = parameters["low"].as_float().unwrap();
                bad.extend([low, low - 1.0]);
            } else if !may_be_any {
                bad.extend([0.0, -0.0, -1.5]);
            }
            for value in bad {
                let mut spoilt = parameters.clone();
                spoilt[parameter] = value.into();
                let table = toml::Table::from_iter([(name.clone(), spoilt.into())]);
                let error = table.try_into::<Prior>().unwrap().check().unwrap_err().to_string();
                let start = format!("{parameter} is {value} in {name}(");
                assert!(error.starts_with(&start) && error.contains("must be"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 150, "{refused}");
    let message = |prior: Prior| prior.check().unwrap_err().to_string();
    assert_eq!(
        message(Prior::Normal { mean: 0.0, sd: -1.0 }),
        "sd is -1 in normal(mean 0, sd -1), but must be above 0 and finite"
    );
    assert_eq!(
        message(Prior::Uniform { low: 2.0, high: 1.0 }),
        "high is 1 in uniform(low 2, high 1), but must be above 2, by a finite distance"
    );
    assert!(Prior::Uniform { low: -f64::MAX, high: f64::MAX }.check().is_err());
}

#[test]
fn survives_a_file() {
    for prior in all() {
        let file = BTreeMap::from([("x", prior)]);
        let text = toml::to_string(&file).unwrap();
        assert_eq!(toml::from_str::<BTreeMap<&str, Prior>>(&text).unwrap(), file, "{text}");
        // Its textual form has the same name.
        let (name, parameters) = as_table(prior);
        let words = prior.to_string();
        assert!(words.starts_with(&name), "{words}");
        assert_eq!(words.matches(", ").count(), parameters.len().saturating_sub(1), "{words}");
        for (parameter, value) in parameters {
            let part = format!("{parameter} {}", value.as_float().unwrap());
            assert!(words.contains(&part), "{words} without {part}");
        }
    }
    let written = r#"
        a = "flat"
        b = { normal = { mean = 0, sd = 2 } }
        [c.log-normal]
        log-mean = -1
        log-sd = 0.5
    "#;
    let read: BTreeMap<String, Prior> = toml::from_str(written).unwrap();
    let words: Vec<String> = read.values().map(Prior::to_string).collect();
    assert_eq!(words, ["flat", "normal(mean 0, sd 2)", "log-normal(log-mean -1, log-sd 0.5)"]);
    for (bad, says) in [
        ("x = { normal = { mean = 0, sd = 2, df = 3 } }", "df"),
        ("x = { normal = { mean = 0 } }", "sd"),
        ("x = { gama = { shape = 1, rate = 1 } }", "gama"),
    ] {
        let error = toml::from_str::<BTreeMap<String, Prior>>(bad).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn flat_priors_are_improper() {
    assert!(improper().iter().all(|prior| !prior.is_proper()));
    assert_eq!(Prior::Flat.support(), Support::Real);
    assert_eq!(Prior::FlatAbove { low: 5.0 }.support(), Support::Above(5.0));
}
