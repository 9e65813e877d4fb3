//! Tests that reported errors match the spread over repetitions: q is standard normal, p is a multiple of
//! q exp(a x).

use crate::Batch;
use crate::importance::{Estimate, Quantity, WeightSums};
use crate::rng::{Purpose, Stream};

const RUNS: usize = 400;
const DRAWS: usize = 2000;
const TILT: f64 = 0.6;
const LOG_SCALE: f64 = -40.0;

/// All estimates of one repetition: log Z, mean, sd, and two quantiles.
fn estimates(seed: u64) -> [Estimate; 5] {
    let mut draws = Batch::zeros(1, DRAWS);
    Stream::new(seed, Purpose::MonteCarlo).fill_normals(0, 0, &mut draws);
    let log_ratios: Vec<f64> = draws.row(0).iter().map(|x| TILT * x + LOG_SCALE).collect();
    let mut sums = WeightSums::default();
    sums.add(&log_ratios).unwrap();
    let weights: Vec<f64> = log_ratios.iter().map(|l| (l - LOG_SCALE).exp()).collect();
    let quantity = Quantity::new(draws.row(0), &weights).unwrap();
    let log_z = Estimate { value: sums.log_z(), error: sums.log_z_error() };
    let [low, high] = [0.1, 0.8].map(|p| quantity.quantile(p).unwrap());
    [log_z, quantity.mean(), quantity.sd(), low, high]
}

/// p is normal with mean a and standard deviation 1, and its Z is exp(a²/2) times the scale.
const EXACT: [f64; 5] = [
    LOG_SCALE + TILT * TILT / 2.0,
    TILT,
    1.0,
    TILT - 1.281_551_565_544_600_4,
    TILT + 0.841_621_233_572_914_2,
];

#[test]
fn errors_are_those_of_repetition() {
    let runs: Vec<[Estimate; 5]> = (0..RUNS as u64).map(estimates).collect();
    for (what, exact) in EXACT.into_iter().enumerate() {
        let mean = |f: &dyn Fn(Estimate) -> f64| {
            runs.iter().map(|run| f(run[what])).sum::<f64>() / RUNS as f64
        };
        let value = mean(&|e| e.value);
        let sd = (mean(&|e| (e.value - value).powi(2)) * RUNS as f64 / (RUNS as f64 - 1.0)).sqrt();
        let reported = mean(&|e| e.error);
        // The sd over R runs has relative error 1/√(2 R) = 0.035; four of them are allowed. The error of
        // the delta method is of order 1/S.
        assert!((sd / reported - 1.0).abs() < 0.14, "{what}: {sd} was reported as {reported}");
        // The mean over R runs has standard error sd/√R; four of them are allowed, plus a bias of order
        // 1/S: a few squared errors.
        let allowed = 4.0 * sd / (RUNS as f64).sqrt() + 4.0 * sd * sd;
        assert!((value - exact).abs() < allowed, "{what}: {value} is not {exact}, to {allowed}");
    }
}
