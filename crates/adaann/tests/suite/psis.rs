//! Pareto-smoothed importance sampling compared with ArviZ, case by case.

use adaann::importance::pareto::smooth;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

/// A formula for log ratios, and ArviZ's results for them.
#[derive(Deserialize)]
struct Case {
    family: String,
    parameter: f64,
    draws: usize,
    shift: f64,
    lost_of_ten: usize,
    seed: u64,
    tail: usize,
    /// `None` for +∞.
    k_hat: Option<f64>,
    ess: f64,
    /// `None` for −∞.
    log_weights: Option<Vec<Option<f64>>>,
}

/// Lehmer's generator, as in the script that makes the fixture.
fn uniforms(seed: u64, count: usize) -> Vec<f64> {
    const MODULUS: u64 = (1 << 31) - 1;
    let numbers = std::iter::successors(Some(seed), |x| Some(48271 * x % MODULUS));
    numbers.skip(1).take(count).map(|x| x as f64 / MODULUS as f64).collect()
}

impl Case {
    fn log_ratio(&self, u: f64, v: f64) -> f64 {
        let a = self.parameter;
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        match self.family.as_str() {
            "tilted normal" => a * normal,
            "pareto" if a == 0.0 => (-u.ln()).ln(),
            "pareto" => ((u.powf(-a) - 1.0) / a).ln(),
            "t over normal" => {
                normal.powi(2) / 2.0 - (a + 1.0) / 2.0 * (normal.powi(2) / a).ln_1p()
            }
            "normal over t" => {
                let t = a * (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt();
                -t.powi(2) / 2.0 + 1.5 * ((t / a).powi(2) / 2.0).ln_1p()
            }
            "rounded" => (a * normal * 4.0).round() / 4.0,
            other => panic!("no formula for {other}"),
        }
    }

    fn log_ratios(&self) -> Vec<f64> {
        let numbers = uniforms(self.seed, 2 * self.draws);
        let (u, v) = numbers.split_at(self.draws);
        let log_ratio = |i: usize| match i % 10 < self.lost_of_ten {
            // Both kinds of non-finite values are equivalent.
            true => [f64::NAN, f64::NEG_INFINITY][i % 2],
            false => self.log_ratio(u[i], v[i]) + self.shift,
        };
        (0..self.draws).map(log_ratio).collect()
    }
}

#[test]
fn shapes_and_weights_are_those_of_arviz() {
    let fixture: Fixture = serde_json::from_str(include_str!("../fixtures/psis.json")).unwrap();
    assert_eq!(fixture.cases.len(), 24);
    for case in fixture.cases {
        let name = format!("{} {} of {} draws", case.family, case.parameter, case.draws);
        let smoothed = smooth(&case.log_ratios()).unwrap();
        assert_eq!(smoothed.tail, case.tail, "{name}");
        // Log ratios up to 10⁴ are rounded by 10⁻¹², and k̂ is a mean of logs of differences of their
        // exponentials.
        match case.k_hat {
            Some(k) => {
                assert!((smoothed.k_hat - k).abs() < 1e-10, "{name}: {} {k}", smoothed.k_hat)
            }
            None => assert_eq!(smoothed.k_hat, f64::INFINITY, "{name}"),
        }
        assert!((smoothed.ess() / case.ess - 1.0).abs() < 1e-10, "{name}: {}", smoothed.ess());
        let weights = case.log_weights.iter().flatten().map(|l| l.map_or(0.0, f64::exp));
        for (w, exact) in smoothed.weights.iter().zip(weights) {
            assert!((w - exact).abs() <= 1e-10 * exact, "{name}: {w} {exact}");
        }
    }
}
