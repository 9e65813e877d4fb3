//! A density as a closure: fitted, drawn from, judged.
//!
//! `cargo run --release --example closure -p adaann`

use adaann::{Program, Settings, fit};

fn main() -> adaann::Result<()> {
    // log p up to a constant: two modes, the one on the right heavier.
    let target = Program::record(1, |z| -(z[0].square() - 3.0).square() + 0.2 * z[0]);
    let settings = Settings { seed: 7, ..Settings::default() };
    let outcome = fit(&target, &settings, &mut ())?;

    let sample = outcome.approximation(&target)?.sample(10_000, 1)?;
    let sums = sample.weight_sums()?;
    println!("log Z {:.3} ± {:.3}", sums.log_z(), sums.log_z_error());
    println!("draws worth {:.0} of {}", sums.ess(), sample.len());

    // Under p, not under the flow: every draw has its weight p/q.
    let right: f64 = sample
        .x()
        .row(0)
        .iter()
        .zip(sample.weights())
        .filter(|(z, _)| **z > 0.0)
        .map(|(_, weight)| weight)
        .sum();
    println!("weight of the right mode {right:.3}");
    Ok(())
}
