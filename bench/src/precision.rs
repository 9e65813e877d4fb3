//! The loss of quality by single-precision layers: the same runs in both precisions.

use adaann::{
    fit::restarts,
    flow::{FlowSpec, Precision},
    registry,
};
use std::time::Instant;

const SEEDS: usize = 20;

/// Prints, for each target, medians over the seeds of KL(q‖p), steps and the worst mode weight.
pub(crate) fn run() {
    println!(
        "medians over {SEEDS} seeds; KL in nats by 10,000 draws; seconds are of all seeds together"
    );
    println!(
        "target        precision     KL   worst KL   steps   largest error of a weight   seconds"
    );
    for name in ["bimodal", "mixture2d", "two-moons"] {
        for precision in [Precision::Double, Precision::Single] {
            let problem =
                registry::find(name).and_then(|entry| entry.build(&[])).expect("registered");
            let mut settings = problem.settings.clone();
            let FlowSpec::Planar { precision: chosen, .. } = &mut settings.flow else {
                unreachable!("the presets of these targets are planar")
            };
            *chosen = precision;
            let start = Instant::now();
            let runs = restarts(&*problem.target, &settings, SEEDS, |_| ())
                .expect("the preset is well posed")
                .runs;
            let seconds = start.elapsed().as_secs_f64();
            let log_z = problem.known.log_z.expect("known for these targets");
            let mut kl: Vec<f64> = runs.iter().map(|run| run.neg_elbo + log_z).collect();
            let mut steps: Vec<f64> =
                runs.iter().map(|run| run.outcome.steps.len() as f64).collect();
            let errors = runs.iter().map(|run| {
                let approximation =
                    run.outcome.approximation(&*problem.target).expect("same dimension");
                let sample = approximation.sample(10_000, run.seed).expect("closed form");
                let weights = registry::mode_weights(&problem.known, sample.x());
                let modes = weights.iter().zip(&problem.known.modes);
                modes.map(|(weight, mode)| (weight - mode.weight).abs()).fold(0.0, f64::max)
            });
            let worst = errors.fold(0.0, f64::max);
            let precision = if precision == Precision::Double { "f64" } else { "f32" };
            println!(
                "{name:<13} {precision:>9} {:>6.4} {:>10.4} {:>7} {worst:>27.3} {seconds:>9.2}",
                median(&mut kl),
                kl.last().expect("sorted"),
                median(&mut steps),
            );
        }
    }
}

/// Sorts the values and returns the median.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    0.5 * (values[(values.len() - 1) / 2] + values[values.len() / 2])
}
