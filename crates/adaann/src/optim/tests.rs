//! Optimizers compared with scalar code, with hand calculations, and on functions with known
//! minima.

use super::*;
use crate::Error;
use proptest::prelude::*;

fn all() -> [Optimizer; 4] {
    [
        Optimizer::Sgd(Sgd::default()),
        Optimizer::Sgd(Sgd { momentum: 0.9 }),
        Optimizer::RmsProp(RmsProp::default()),
        Optimizer::Adam(Adam::default()),
    ]
}

/// One parameter after the given gradients, by the algorithms in PyTorch's documentation.
fn scalar(optimizer: Optimizer, mut param: f64, gradients: &[f64], rate: f64) -> f64 {
    let (mut m, mut v) = (0.0, 0.0);
    for (i, &g) in gradients.iter().enumerate() {
        match optimizer {
            Optimizer::Sgd(Sgd { momentum }) => {
                m = if i == 0 { g } else { momentum * m + g };
                param -= rate * m;
            }
            Optimizer::RmsProp(RmsProp { decay, epsilon }) => {
                v = decay * v + (1.0 - decay) * g * g;
                param -= rate * g / (f64::sqrt(v) + epsilon);
            }
            Optimizer::Adam(Adam { beta1, beta2, epsilon }) => {
                m = beta1 * m + (1.0 - beta1) * g;
                v = beta2 * v + (1.0 - beta2) * g * g;
                let m_hat = m / (1.0 - beta1.powi(i as i32 + 1));
                let v_hat = v / (1.0 - beta2.powi(i as i32 + 1));
                param -= rate * m_hat / (v_hat.sqrt() + epsilon);
            }
        }
    }
    param
}

fn minimise(
    optimizer: Optimizer,
    start: &[f64],
    rate: impl Fn(u64) -> f64,
    updates: u64,
    gradient: impl Fn(&[f64], &mut [f64]),
) -> Vec<f64> {
    let (mut state, mut params) = (State::new(optimizer, start.len()), start.to_vec());
    let mut g = vec![0.0; start.len()];
    for i in 0..updates {
        gradient(&params, &mut g);
        state.update(&mut params, &g, rate(i));
    }
    params
}

/// Gradients 2, then −1; rate 0.1; starting at 1. Expected values were derived by hand.
#[test]
fn first_updates_are_those_worked_out_by_hand() {
    let after = |optimizer, gradients: &[f64]| {
        let (mut state, mut param) = (State::new(optimizer, 1), [1.0]);
        for g in gradients {
            state.update(&mut param, &[*g], 0.1);
        }
        param[0]
    };
    let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-14, "{x} is not {y}");

    let sgd = Optimizer::Sgd(Sgd { momentum: 0.9 });
    close(after(sgd, &[2.0]), 0.8);
    // v = 0.9·2 − 1
    close(after(sgd, &[2.0, -1.0]), 0.8 - 0.1 * 0.8);

    // v = 0.01·4, its root 0.2
    let rmsprop = Optimizer::RmsProp(RmsProp::default());
    close(after(rmsprop, &[2.0]), 1.0 - 0.2 / (0.2 + 1e-8));

    // The corrections cancel the decay at the first update: m̂ = 2, √v̂ = 2.
    let adam = Optimizer::Adam(Adam::default());
    close(after(adam, &[2.0]), 1.0 - 0.1 * 2.0 / (2.0 + 1e-8));
    // m = 0.9·0.2 − 0.1, 1 − 0.9² = 0.19; v = 0.999·0.004 + 0.001, 1 − 0.999² = 0.001999
    let second = (0.08 / 0.19) / ((0.004_996_f64 / 0.001_999).sqrt() + 1e-8);
    close(after(adam, &[2.0, -1.0]), 1.0 - 0.2 / (2.0 + 1e-8) - 0.1 * second);
}

/// The first update of Adam is −η sign(g), whatever the gradient's size.
#[test]
fn adams_first_update_has_the_size_of_the_rate() {
    for g in [1e-3, -1.0, 1e6, -1e100] {
        let mut param = [0.0];
        State::new(Optimizer::default(), 1).update(&mut param, &[g], 0.005);
        assert!((param[0] + 0.005 * g.signum()).abs() < 1e-7, "{g}: {}", param[0]);
    }
}

#[test]
fn a_quadratic_is_minimised() {
    let scales = [1.0, 3.0, 10.0, 0.5, 2.0];
    for optimizer in all() {
        let rate = |i: u64| 0.05 / (1.0 + i as f64 / 200.0);
        let end = minimise(optimizer, &[3.0; 5], rate, 5_000, |x, g| {
            for i in 0..5 {
                g[i] = scales[i] * (x[i] - i as f64);
            }
        });
        for (i, x) in end.iter().enumerate() {
            assert!((x - i as f64).abs() < 2e-3, "{} ended at {end:?}", optimizer.name());
        }
    }
}

#[test]
fn adam_and_rmsprop_find_rosenbrocks_minimum() {
    for optimizer in [Optimizer::RmsProp(RmsProp::default()), Optimizer::default()] {
        let rate = |i: u64| RateRule::Cosine { over: 20_000, floor: 0.0 }.factor(i as usize) * 0.01;
        let end = minimise(optimizer, &[-1.2, 1.0], rate, 20_000, |x, g| {
            g[0] = -400.0 * x[0] * (x[1] - x[0] * x[0]) - 2.0 * (1.0 - x[0]);
            g[1] = 200.0 * (x[1] - x[0] * x[0]);
        });
        let far = (end[0] - 1.0).abs().max((end[1] - 1.0).abs());
        assert!(far < 1e-3, "{} ended at {end:?}", optimizer.name());
    }
}

#[test]
fn settings_outside_their_range_are_refused_by_name() {
    let adam = Adam::default();
    let rmsprop = RmsProp::default();
    for (optimizer, name) in [
        (Optimizer::Sgd(Sgd { momentum: 1.0 }), "momentum"),
        (Optimizer::Sgd(Sgd { momentum: -0.1 }), "momentum"),
        (Optimizer::RmsProp(RmsProp { decay: f64::NAN, ..rmsprop }), "decay"),
        (Optimizer::RmsProp(RmsProp { epsilon: 0.0, ..rmsprop }), "optimizer-epsilon"),
        (Optimizer::Adam(Adam { beta1: 1.0, ..adam }), "beta1"),
        (Optimizer::Adam(Adam { beta2: -1.0, ..adam }), "beta2"),
        (Optimizer::Adam(Adam { epsilon: f64::INFINITY, ..adam }), "optimizer-epsilon"),
    ] {
        let error = optimizer.check().unwrap_err();
        let Error::Setting { setting, .. } = error else { panic!("{error}") };
        assert_eq!(setting, name);
    }
}

#[test]
fn every_name_has_its_optimizer_and_survives_a_file() {
    for (name, _) in Optimizer::ALL {
        let optimizer = Optimizer::named(name).unwrap();
        assert_eq!(optimizer.name(), *name);
        optimizer.check().unwrap();
        let text = serde_json::to_string(&optimizer).unwrap();
        assert_eq!(serde_json::from_str::<Optimizer>(&text).unwrap(), optimizer);
        let defaults = format!("{{\"{name}\": {{}}}}");
        assert_eq!(serde_json::from_str::<Optimizer>(&defaults).unwrap(), optimizer);
    }
    assert!(Optimizer::named("lbfgs").is_err());
}

proptest! {
    /// The lengths leave different remainders after the whole registers.
    #[test]
    fn updates_are_those_of_the_scalar_code(
        len in 0..40_usize, updates in 1..30_usize, seed in any::<u32>(),
    ) {
        let gradient = |i: usize, j: usize| {
            let x = (f64::from(seed) * 1e-3 + (i * 41 + j) as f64).sin();
            10_f64.powf(4.0 * x) * (x * 1e4).sin()
        };
        for optimizer in all() {
            let (mut state, mut params) = (State::new(optimizer, len), vec![0.25; len]);
            for i in 0..updates {
                let g: Vec<f64> = (0..len).map(|j| gradient(i, j)).collect();
                state.update(&mut params, &g, 0.003);
            }
            for j in 0..len {
                let history: Vec<f64> = (0..updates).map(|i| gradient(i, j)).collect();
                let expected = scalar(optimizer, 0.25, &history, 0.003);
                // Rounding of the momentum sum is relative to its largest term.
                let size = 0.25 + history.iter().fold(0.0, |s: f64, g| s.max(g.abs())) * 0.03;
                prop_assert!((params[j] - expected).abs() < 1e-12 * size, "{optimizer:?}");
            }
        }
    }
}
