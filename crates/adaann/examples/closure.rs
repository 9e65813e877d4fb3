//! A density given as a closure: approximated, sampled, checked.
//!
//! `cargo run --release --example closure -p adaann`

use adaann::{Program, answer::Settings, approximate};

fn main() -> adaann::Result<()> {
    // log p up to a constant: two modes, the right one heavier.
    let target = Program::record(1, |z| -(z[0].square() - 3.0).square() + 0.2 * z[0]);
    let settings = Settings { seed: 7, ..Settings::default() };
    let answer = approximate(&target, &settings, &mut ())?;
    for rung in &answer.rungs {
        println!("{}: {} evaluations, {}", rung.method.name(), rung.evaluations, rung.found);
    }
    if let Some(log_z) = answer.log_z {
        println!("log Z {:.3} ± {:.3}", log_z.value, log_z.error);
    }
    if let Some(examined) = &answer.examination {
        println!("{}", examined.verdict.trust);
    }

    // Estimates under p use the weight of every draw.
    let sample = answer.sample;
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
