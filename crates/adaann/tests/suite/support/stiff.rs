//! Stiff systems with known solutions.
#![allow(dead_code, reason = "every test file uses some of them")]

use adaann::ode::System;
use std::f64::consts::LN_10;

/// Robertson's chemical reactions, in the decimal logarithms of the rates.
pub(crate) fn robertson() -> System {
    System::record(
        &["a", "b", "c"],
        &["log_k1", "log_k2", "log_k3"],
        |_, x, p| {
            let k = [0, 1, 2].map(|j| (LN_10 * p[j]).exp());
            let lost = k[0] * x[0] - k[2] * x[1] * x[2];
            let made = k[1] * x[1] * x[1];
            vec![-lost, lost - made, made]
        },
        0.0,
        |_| vec![1.0.into(), 0.0.into(), 0.0.into()],
    )
    .unwrap()
}

pub(crate) fn log_rates() -> Vec<f64> {
    [0.04_f64, 3e7, 1e4].map(f64::log10).to_vec()
}

pub(crate) const TIMES: [f64; 5] = [0.4, 40.0, 4e3, 4e5, 1e11];

/// Robertson's system at [`TIMES`]: Radau IIA of order 5 on a fixed geometric grid, of which 60 and
/// 120 steps a decade agree to these digits; at the last, the reference solution of the Test Set for IVP
/// Solvers (ROBER).
pub(crate) const STATES: [[f64; 3]; 5] = [
    [9.85172114e-1, 3.38639538e-5, 1.47940222e-2],
    [7.15827069e-1, 9.18553476e-6, 2.84163746e-1],
    [1.83202258e-1, 8.94237125e-7, 8.16796848e-1],
    [4.93827452e-3, 1.98499409e-8, 9.95061706e-1],
    [0.2083340149701255e-7, 0.8333360770334713e-13, 0.999999979166505],
];

/// Van der Pol's oscillator x″ = μ (1 − x²) x′ − x from x = 2 at rest.
pub(crate) fn van_der_pol() -> System {
    System::record(
        &["x", "v"],
        &["mu"],
        |_, x, p| vec![x[1], p[0] * (1.0 - x[0] * x[0]) * x[1] - x[0]],
        0.0,
        |_| vec![2.0.into(), 0.0.into()],
    )
    .unwrap()
}

/// Prothero and Robinson's problem with a second state that the first drives and not the other way:
/// the solution is (cos t, sin t) for any rates.
pub(crate) fn prothero_robinson() -> System {
    System::record(
        &["x", "y"],
        &["fast", "slow"],
        |t, x, p| {
            let off = x[0] - t.cos();
            vec![-p[0] * off - t.sin(), 30.0 * off - p[1] * (x[1] - t.sin()) + t.cos()]
        },
        0.0,
        |_| vec![1.0.into(), 0.0.into()],
    )
    .unwrap()
}
