//! A custom schedule: halve the remaining way to t = 1, then end.
//!
//! `cargo run --release --example own_schedule -p adaann`

use adaann::{
    Program,
    fit::{Fit, Settings},
    schedule::{Draws, Position, Reason, Rule, ScheduleError, Step, Work},
};

/// Covers half of the remaining way in each step, a given number of times.
struct Halving {
    t0: f64,
    steps: usize,
}

impl Rule for Halving {
    fn first(&self) -> f64 {
        self.t0
    }

    fn needs_draws(&self) -> bool {
        false
    }

    fn next(&self, at: Position, _: &Draws) -> Result<Step, ScheduleError> {
        let t = if at.index < self.steps { 0.5 * (at.t + 1.0) } else { 1.0 };
        Step::new(at, t, Reason::Planned)
    }

    fn check(&self, _allow_zero: bool) -> adaann::Result<()> {
        Ok(())
    }
}

fn main() -> adaann::Result<()> {
    let target = Program::record(1, |z| -(z[0].square() - 3.0).square() + 0.2 * z[0]);
    let work = Work { warmup: 500, anneal: 100, refine: 2_000 };
    let settings = Settings { work, ..Settings::default() };
    let rule = Halving { t0: 0.01, steps: 5 };
    let outcome = Fit::new(&target, &settings).rule(&rule).run(&mut ())?;
    for step in &outcome.steps {
        println!("t = {:.4} after {} updates", step.t, step.updates);
    }
    Ok(())
}
