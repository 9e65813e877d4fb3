//! The paper's theorem by quadrature: KL(p_t ‖ p_{t+ε}) = ε²/2 Var_t(b) + O(ε³), on every path.

use adaann::path::{Line, Parts, PathKind};
use std::f64::consts::PI;

/// A one-dimensional density as lines a + t b at the nodes of the trapezium rule, which converges
/// faster than any power of the spacing for an analytic function that vanishes at both ends.
struct Problem {
    lines: Vec<Line>,
    spacing: f64,
}

impl Problem {
    fn new(kind: PathKind, log_p: LogDensity, reach: f64) -> Self {
        let n = 4_000;
        let spacing = reach / f64::from(n);
        let line = |i: i32| {
            let z = spacing * f64::from(i);
            let prior = match kind {
                PathKind::Likelihood => log_normal(z, 0.5, 9.0),
                _ => 0.0,
            };
            let reference = log_normal(z, 0.0, 4.0);
            kind.line(Parts { prior, likelihood: log_p(z), jacobian: 0.0, reference })
        };
        Self { lines: (-n..=n).map(line).collect(), spacing }
    }

    fn log_normaliser(&self, t: f64) -> f64 {
        (self.lines.iter().map(|line| line.at(t).exp()).sum::<f64>() * self.spacing).ln()
    }

    /// E_t[f] for f of a line.
    fn expect(&self, t: f64, f: impl Fn(Line) -> f64) -> f64 {
        let log_z = self.log_normaliser(t);
        let terms = self.lines.iter().map(|&line| match (line.at(t) - log_z).exp() {
            0.0 => 0.0,
            p => p * f(line),
        });
        terms.sum::<f64>() * self.spacing
    }

    /// KL(p_t ‖ p_{t+ε}), from its definition.
    fn kl(&self, t: f64, epsilon: f64) -> f64 {
        let (here, there) = (self.log_normaliser(t), self.log_normaliser(t + epsilon));
        self.expect(t, |line| (line.at(t) - here) - (line.at(t + epsilon) - there))
    }

    /// Central moment of b under p_t.
    fn moment(&self, t: f64, order: i32) -> f64 {
        let mean = self.expect(t, |line| line.b);
        self.expect(t, |line| (line.b - mean).powi(order))
    }
}

fn log_normal(z: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * ((z - mean).powi(2) / variance + (2.0 * PI * variance).ln())
}

/// Example 1.
fn bimodal(z: f64) -> f64 {
    -((z + 2.0).powi(2) - 3.0).powi(2)
}

/// 0.7 N(−1.5, 0.5²) + 0.3 N(2, 1): without a symmetry that could hide a wrong sign.
fn mixture(z: f64) -> f64 {
    (0.7 * log_normal(z, -1.5, 0.25).exp() + 0.3 * log_normal(z, 2.0, 1.0).exp()).ln()
}

type LogDensity = fn(f64) -> f64;

/// Name, log density, and the distance of the outermost nodes from 0.
const CASES: [(&str, LogDensity, f64); 2] =
    [("bimodal", bimodal, 12.0), ("mixture", mixture, 35.0)];
const KINDS: [PathKind; 3] = [PathKind::Power, PathKind::Likelihood, PathKind::Bridge];

#[test]
fn what_the_theorem_leaves_out_is_of_third_order() {
    for (name, log_p, reach) in CASES {
        for kind in KINDS {
            let problem = Problem::new(kind, log_p, reach);
            let t = 0.3;
            let variance = problem.moment(t, 2);
            let rest = |epsilon: f64| problem.kl(t, epsilon) - epsilon * epsilon * variance / 2.0;
            let epsilons = [0.016, 0.008, 0.004, 0.002];
            let rests = epsilons.map(rest);
            let orders: Vec<f64> = rests.windows(2).map(|r| (r[0] / r[1]).log2()).collect();
            println!("{name} {}: orders {orders:.3?}", kind.name());
            // NaN, from remainders of opposite sign, fails too.
            assert!(orders.iter().all(|order| (order - 3.0).abs() < 0.1), "{name} {kind:?}");
            // The coefficient is the third cumulant of b over 6.
            let coefficient = rests[3] / epsilons[3].powi(3);
            let exact = problem.moment(t, 3) / 6.0;
            assert!((coefficient / exact - 1.0).abs() < 0.05, "{name} {kind:?}");
        }
    }
}

#[test]
fn a_step_of_adaann_is_worth_the_tolerance() {
    for (name, log_p, reach) in CASES {
        for kind in KINDS {
            let problem = Problem::new(kind, log_p, reach);
            let tau = 0.01;
            for t in [0.05, 0.3, 0.8] {
                let epsilon = tau / problem.moment(t, 2).sqrt();
                let worth = problem.kl(t, epsilon) / (tau * tau / 2.0);
                assert!((worth - 1.0).abs() < 0.02, "{name} {kind:?} at t = {t}: {worth}");
            }
        }
    }
}
