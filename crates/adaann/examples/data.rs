//! A posterior with data, with separate prior and likelihood, so that the check can start from the
//! prior.
//!
//! `cargo run --release --example data -p adaann`

use adaann::{Program, answer::Settings, approximate};

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
    // Mean, effect of tiredness and log of the standard deviation, each with a standard normal
    // prior.
    let target = Program::record_parts(3, |z| {
        let log_prior = z.iter().map(|z| -0.5 * z.square()).sum();
        let precision = (-2.0 * z[2]).exp();
        let log_likelihood = TIMES
            .iter()
            .map(|(time, tired)| -0.5 * precision * (*time - z[0] - *tired * z[1]).square() - z[2])
            .sum();
        (log_prior, log_likelihood)
    });
    let answer = approximate(&target, &Settings::default(), &mut ())?;
    for (name, found) in ["mean", "tired", "log sd"].iter().zip(answer.sample.coordinates()?) {
        println!("{name:7} {:+.3} ± {:.3}", found.mean.value, found.mean.error);
    }

    // The method behind the answer, and the result of the independent check.
    println!("by {} with {} evaluations", answer.method.name(), answer.evaluations);
    if let Some(examined) = answer.examination {
        println!("{}", examined.verdict.trust);
    }
    Ok(())
}
