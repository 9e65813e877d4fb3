//! The posterior of a system of differential equations with unknown parameters, initial state and
//! noise.
//!
//! `cargo run --release --example ode -p adaann`

use adaann::{
    answer::Settings,
    approximate,
    ode::{Noise, Observations, Scatter, Solver, System},
    posterior::OdePosterior,
    prior::Prior,
};

fn main() -> adaann::Result<()> {
    // Prey and predators, with a known initial number of predators.
    let system = System::record(
        &["prey", "predators"],
        &["birth", "death", "prey_0", "noise"],
        |_t, x, p| vec![p[0] * x[0] - x[0] * x[1], x[0] * x[1] - p[1] * x[1]],
        0.0,
        |p| vec![p[2], 0.5.into()],
    )?;
    // Seven counts of prey, one of them missing.
    let times = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
    let prey = [1.16, 1.38, 1.61, f64::NAN, 1.62, 1.11, 0.71];
    let noise = Noise::LogNormal(Scatter::SdParameter(3));
    let data = Observations::of_states(&system, &["prey"], noise, &times, &prey)?;
    let positive = Prior::LogNormal { log_mean: 0.0, log_sd: 1.0 };
    let priors = [positive, positive, positive, Prior::HalfNormal { sd: 0.5 }];
    let posterior = OdePosterior::new(&system, Solver::ADAPTIVE, data, &priors)?;

    let answer = approximate(&posterior, &Settings::default(), &mut ())?;
    for (name, found) in system.parameters().iter().zip(answer.sample.coordinates()?) {
        println!(
            "{name:8} {:.3} ± {:.3}, sd {:.3}",
            found.mean.value, found.mean.error, found.sd.value
        );
    }
    Ok(())
}
