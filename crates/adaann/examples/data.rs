//! A posterior with data: prior and likelihood apart, so that the likelihood alone is tempered.
//!
//! `cargo run --release --example data -p adaann`

use adaann::{Program, Settings, diagnostics::examine, fit, path::PathKind};

/// Reaction times in seconds of subjects who are awake (0) or tired (1).
const TIMES: [(f64, f64); 8] = [
    (0.31, 0.0),
    (0.35, 0.0),
    (0.29, 0.0),
    (0.40, 0.0),
    (0.52, 1.0),
    (0.47, 1.0),
    (0.61, 1.0),
    (0.44, 1.0),
];

fn main() -> adaann::Result<()> {
    // Mean, effect of tiredness and log of the scatter, each with a standard normal prior.
    let target = Program::record_parts(3, |z| {
        let log_prior = z.iter().map(|z| -0.5 * z.square()).sum();
        let precision = (-2.0 * z[2]).exp();
        let log_likelihood = TIMES
            .iter()
            .map(|(time, tired)| -0.5 * precision * (*time - z[0] - *tired * z[1]).square() - z[2])
            .sum();
        (log_prior, log_likelihood)
    });
    let settings = Settings { path: PathKind::Likelihood, ..Settings::default() }.automatic();
    let outcome = fit(&target, &settings, &mut ())?;
    let approximation = outcome.approximation(&target)?;
    let sample = approximation.sample(4_000, 1)?;
    for (name, found) in ["mean", "tired", "log sd"].iter().zip(sample.coordinates()?) {
        println!("{name:7} {:+.3} ± {:.3}", found.mean.value, found.mean.error);
    }

    // Particles that never saw the approximation look for what it may have missed.
    let examined = examine(&approximation, &sample, &settings, &Default::default(), &mut ())?;
    println!("{:?}", examined.verdict.trust);
    Ok(())
}
