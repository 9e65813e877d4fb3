//! Test helpers: whole runs of a rule, exact spreads, and seeded draws.

use super::{Draws, Position, Rule, ScheduleError, Step};

/// Runs a rule to t = 1, with the draws of an oracle at each position.
pub(super) fn run(
    rule: &impl Rule,
    oracle: impl Fn(Position) -> Vec<f64>,
) -> Result<Vec<Step>, ScheduleError> {
    let (mut at, mut steps) = (Position::start(rule), Vec::new());
    while at.t < 1.0 {
        let step = rule.next(at, &Draws { b: &oracle(at), weights: None })?;
        at = at.after(&step);
        steps.push(step);
    }
    Ok(steps)
}

/// All values of t of a rule without draws.
pub(super) fn planned_values(rule: &impl Rule) -> Vec<f64> {
    assert!(!rule.needs_draws());
    let steps = run(rule, |_| Vec::new()).unwrap();
    let values: Vec<f64> =
        std::iter::once(rule.first()).chain(steps.iter().map(|step| step.t)).collect();
    assert_eq!(rule.count(), Some(values.len()));
    values
}

/// Two draws whose sample standard deviation is `std`.
pub(super) fn two_draws(std: f64) -> Vec<f64> {
    let b = std / 2_f64.sqrt();
    vec![-b, b]
}

/// Exact standard deviation of log p under p^t for Example 1, log p = −((z + 2)² − 3)².
pub(super) fn bimodal_std(t: f64) -> f64 {
    // The trapezium rule converges faster than any power for an analytic function that vanishes at
    // both ends: p^t < e⁻⁴⁵⁰ there.
    let (n, end) = (1_000, (3.0 + (450.0 / t).sqrt()).sqrt());
    let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
    for i in -n..=n {
        let x = end * f64::from(i) / f64::from(n);
        let b = -(x * x - 3.0).powi(2);
        let p = (t * b).exp();
        mass += p;
        first += p * b;
        second += p * b * b;
    }
    let mean = first / mass;
    (second / mass - mean * mean).sqrt()
}

/// Standard normal variates, from SplitMix64 and Box-Muller.
pub(super) fn normal(seed: u64, len: usize) -> Vec<f64> {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 * 2_f64.powi(-53)
    };
    (0..len)
        .map(|_| {
            let (u, v) = (1.0 - uniform(), uniform());
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        })
        .collect()
}

/// Chi-squared variates with `d` degrees of freedom.
pub(super) fn chi_squared(seed: u64, d: usize, len: usize) -> Vec<f64> {
    normal(seed, d * len).chunks_exact(d).map(|z| z.iter().map(|z| z * z).sum()).collect()
}

#[test]
fn the_quadrature_has_converged() {
    // By an adaptive quadrature with 25 digits.
    assert!((bimodal_std(1.0) - 0.755_689_897_492_983).abs() < 1e-13, "{}", bimodal_std(1.0));
}
