//! The paper's fourth and fifth examples, compared with exact posteriors from an independent
//! quadrature.
//!
//! One seed by default. To run all five seeds, the comparison with the paper's settings and the
//! runs without annealing: `cargo test --release -p adaann --test examples_4_5 -- --ignored
//! --nocapture`.

use adaann::fit::{Restart, restarts};
use adaann::optim::RateRule;
use adaann::registry::{self, Choices, Data, Problem, Table, mode_weights};
use adaann::schedule::{Schedule, Work};

/// A data set with the mean and standard deviation of its posterior under a flat prior. If there
/// are two modes, those of the mode with positive signs.
struct Case {
    target: &'static str,
    noise_variance: f64,
    data: &'static str,
    mean: [f64; 3],
    sd: [f64; 3],
}

const LORENZ_HIGH: Case = Case {
    target: "lorenz",
    noise_variance: 0.2,
    data: include_str!("../fixtures/lorenz_high.csv"),
    mean: [10.083_065_202_711_83, 2.662_475_184_132_128, 27.974_535_684_534_064],
    sd: [0.062_718_353_117_73, 0.011_938_864_197_567, 0.054_442_064_724_037],
};

const LORENZ_LOW: Case = Case {
    target: "lorenz",
    noise_variance: 0.001,
    data: include_str!("../fixtures/lorenz_low.csv"),
    mean: [10.001_404_909_960_874, 2.666_424_621_715_418, 27.998_878_724_931_835],
    sd: [0.004_401_162_021_757, 0.000_857_754_242_298, 0.003_861_933_290_487],
};

const HIV: Case = Case {
    target: "hiv",
    noise_variance: 0.000_5,
    data: include_str!("../fixtures/hiv.csv"),
    mean: [1.253_874_966_958_481, 1.116_059_410_478_261_5, 1.424_412_409_585_344],
    sd: [0.027_711_150_728_341, 0.226_997_673_228_262, 0.040_518_754_696_935],
};

impl Case {
    fn problem(&self, preset: &str) -> Problem {
        let mut lines = self.data.lines();
        let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let names = fields(lines.next().unwrap());
        let rows = lines.map(|line| fields(line).iter().map(|x| x.parse().unwrap()).collect());
        let table = Table { names, rows: rows.collect() };
        let choices = Choices {
            parameters: vec![("noise-variance".into(), self.noise_variance)],
            preset: Some(preset.into()),
            data: Some(Data::Table(table)),
        };
        registry::find(self.target).unwrap().choose(&choices).unwrap()
    }

    /// Runs some seeds and returns their results.
    fn run(&self, preset: &str, seeds: usize) -> Vec<Found> {
        let problem = self.problem(preset);
        let runs = restarts(&*problem.target, &problem.settings, seeds, |_| ()).unwrap();
        assert!(runs.failed.is_empty(), "{:?}", runs.failed);
        runs.runs.iter().map(|run| self.judge(&problem, run)).collect()
    }

    fn judge(&self, problem: &Problem, run: &Restart) -> Found {
        let sample =
            run.outcome.approximation(&*problem.target).unwrap().sample(40_000, 99).unwrap();
        let points = (0..sample.len()).map(|i| sample.x().point(i));
        // Both modes of HIV, with the negative one reflected.
        let (mut kept, mut turned) = (Vec::new(), Vec::new());
        for mut point in points {
            if self.target == "hiv" && problem.known.mode_of(&point) == Some(1) {
                point[0] = -point[0];
                point[2] = -point[2];
                turned.push(point);
            } else {
                kept.push(point);
            }
        }
        let found = Found {
            seed: run.seed,
            steps: run.outcome.steps.len(),
            weights: mode_weights(&problem.known, sample.x()),
            modes: [kept, turned]
                .iter()
                .filter(|points| points.len() > 1)
                .map(|points| self.compare(points))
                .collect(),
        };
        println!("{} {}: {found:.3?}", self.target, self.noise_variance);
        found
    }

    /// Errors of the means in exact standard deviations, and the ratios of the standard deviations
    /// to the exact ones. With 20,000 draws their uncertainties are 0.007 and 0.005.
    fn compare(&self, points: &[Vec<f64>]) -> ([f64; 3], [f64; 3]) {
        let n = points.len() as f64;
        let mean = |d: usize| points.iter().map(|p| p[d]).sum::<f64>() / n;
        let sd = |d: usize| {
            let mean = mean(d);
            (points.iter().map(|p| (p[d] - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
        };
        let error = |d: usize| (mean(d) - self.mean[d]) / self.sd[d];
        (std::array::from_fn(error), std::array::from_fn(|d| sd(d) / self.sd[d]))
    }
}

/// The result of a run.
#[derive(Debug)]
#[allow(dead_code, reason = "seed and steps are printed")]
struct Found {
    seed: u64,
    steps: usize,
    weights: Vec<f64>,
    /// For each mode: errors of the means, ratios of the standard deviations.
    modes: Vec<([f64; 3], [f64; 3])>,
}

impl Found {
    fn assert_within(&self, mean: f64, sd: f64) {
        for (errors, ratios) in &self.modes {
            assert!(errors.iter().all(|e| e.abs() < mean), "means off: {self:.3?}");
            assert!(ratios.iter().all(|r| (r - 1.0).abs() < sd), "spreads off: {self:.3?}");
        }
    }
}

fn lorenz(seeds: usize) {
    for case in [LORENZ_HIGH, LORENZ_LOW] {
        case.run("default", seeds).iter().for_each(|found| found.assert_within(0.15, 0.08));
    }
}

impl Found {
    fn has_even_weights(&self) -> bool {
        self.weights.iter().all(|w| (w - 0.5).abs() < 0.06)
    }
}

#[test]
fn lorenz_is_right_at_both_noise_levels() {
    lorenz(1);
}

#[test]
#[ignore = "five seeds take half a minute a noise level"]
fn lorenz_is_right_for_five_seeds() {
    lorenz(5);
}

#[test]
fn hiv_keeps_both_modes() {
    for found in HIV.run("default", 1) {
        assert!(found.has_even_weights(), "{found:.3?}");
        found.assert_within(0.15, 0.12);
    }
}

/// Every seed finds both modes and their means. The weights and spreads of one seed in five are
/// slightly off; these are counted and printed.
#[test]
#[ignore = "five seeds take a minute"]
fn hiv_keeps_both_modes_for_five_seeds() {
    let found = HIV.run("default", 5);
    found.iter().for_each(|found| found.assert_within(0.15, 0.2));
    assert!(found.iter().all(|found| found.weights.iter().all(|w| (w - 0.5).abs() < 0.1)));
    let even = found.iter().filter(|found| found.has_even_weights());
    let exact = |found: &&Found| {
        found.modes.iter().all(|(_, sd)| sd.iter().all(|r| (r - 1.0).abs() < 0.12))
    };
    let count = even.filter(exact).count();
    println!("{count} of 5 seeds have weights within 0.06 and spreads within 12 per cent");
    assert!(count >= 4, "{found:.3?}");
}

/// The results of the paper's settings on the same data: reported; the test only requires the runs
/// to finish.
#[test]
#[ignore = "for comparison; takes a minute"]
fn the_papers_settings_beside_it() {
    for case in [LORENZ_HIGH, LORENZ_LOW, HIV] {
        assert_eq!(case.run("paper", 5).len(), 5);
    }
}

/// Without annealing, from the paper's base and with the paper's number of updates.
#[test]
#[ignore = "twenty seeds take a few minutes"]
fn without_annealing_hiv_loses_modes() {
    let mut problem = HIV.problem("paper");
    problem.settings.schedule = Schedule::None;
    problem.settings.work = Work { warmup: 0, anneal: 1, refine: 20_000 };
    problem.settings.refine_samples = 100;
    problem.settings.refine_lr_rule = RateRule::Constant;
    let runs = restarts(&*problem.target, &problem.settings, 20, |_| ()).unwrap();
    let found = runs.runs.iter().map(|run| HIV.judge(&problem, run));
    let lost = found.filter(|found| found.weights.iter().any(|w| *w < 0.01)).count();
    println!("{lost} of {} seeds lose a mode without annealing", runs.runs.len());
    assert!(lost > 0);
}

/// The registry's own quadrature agrees with the independent one.
#[test]
fn known_answers_are_those_of_an_independent_quadrature() {
    for case in [LORENZ_HIGH, LORENZ_LOW, HIV] {
        let known = case.problem("paper").known;
        let mean = known.mean.as_ref().unwrap();
        // HIV's signs change together, so these means are 0.
        for d in if case.target == "hiv" { 1..2 } else { 0..3 } {
            let error = (mean[d] - case.mean[d]) / case.sd[d];
            assert!(error.abs() < 1e-4, "{} {d}: {error}", case.target);
        }
        // One mode of HIV is the reflection of the other: the distance adds to the spread.
        for (d, sd) in known.sd.as_ref().unwrap().iter().enumerate() {
            let exact = (case.sd[d].powi(2) + case.mean[d].powi(2) - mean[d].powi(2)).sqrt();
            let exact = if known.modes.len() == 1 { case.sd[d] } else { exact };
            assert!((sd / exact - 1.0).abs() < 1e-4, "{} {d}: {sd} for {exact}", case.target);
        }
    }
}
