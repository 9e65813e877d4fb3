//! R-hat and effective sample sizes of chains compared with ArviZ, case by case.

use adaann::chains::rank::{bulk_ess, mean_ess, r_hat, tail_ess};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

/// A formula for draws, and ArviZ's results for them.
#[derive(Deserialize)]
struct Case {
    chains: usize,
    iterations: usize,
    rho: f64,
    noise: String,
    shift: f64,
    widen: f64,
    rounded: bool,
    seed: u64,
    /// `None` for a single chain.
    r_hat: Option<f64>,
    bulk: f64,
    tail: f64,
    mean: f64,
}

impl Case {
    /// Draws iteration by iteration, as in the script that makes the fixture.
    fn draws(&self) -> Vec<f64> {
        const MODULUS: u64 = (1 << 31) - 1;
        let (mut number, mut state) = (self.seed, vec![0.0; self.chains]);
        let mut draws = Vec::new();
        for _ in 0..self.iterations {
            for x in &mut state {
                number = 48271 * number % MODULUS;
                let u = number as f64 / MODULUS as f64 - 0.5;
                let is_cauchy = self.noise == "cauchy";
                *x = self.rho * *x + if is_cauchy { (std::f64::consts::PI * u).tan() } else { u };
            }
            let mut row = state.clone();
            let last = row.last_mut().unwrap();
            *last = self.shift + self.widen * *last;
            if self.rounded {
                row.iter_mut().for_each(|x| *x = (*x * 8.0).round() / 8.0);
            }
            draws.extend(row);
        }
        draws
    }
}

#[test]
fn r_hat_and_effective_sizes_are_those_of_arviz() {
    let fixture: Fixture = serde_json::from_str(include_str!("../fixtures/rank.json")).unwrap();
    assert_eq!(fixture.cases.len(), 14);
    for case in fixture.cases {
        let (draws, chains) = (case.draws(), case.chains);
        let name = format!("{chains} chains of {}, {}", case.iterations, case.rho);
        let check = |what: &str, found: f64, exact: f64| {
            assert!((found / exact - 1.0).abs() < 1e-9, "{name}: {what} {found}, not {exact}");
        };
        if let Some(exact) = case.r_hat {
            check("R-hat", r_hat(&draws, chains), exact);
        }
        check("bulk", bulk_ess(&draws, chains), case.bulk);
        check("tail", tail_ess(&draws, chains), case.tail);
        check("mean", mean_ess(&draws, chains), case.mean);
    }
}
