//! Recorded programs compared with hand-written kernels: nanoseconds per sample for value and gradient.

use adaann::program::log_sum_exp;
use adaann::support::hand::{Bimodal, Mixture2d, TwoMoons};
use adaann::target::{Evaluation, Target, Weights};
use adaann::{Batch, Program};
use std::f64::consts::PI;
use std::hint::black_box;
use std::time::Instant;

/// Prints one line for each density and batch.
pub(crate) fn run() {
    println!("density      points  by hand  program  ratio  instructions");
    let mu = 1.0;
    compare("bimodal", &Bimodal, &Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square()));
    let mixture = Program::record(2, |z| {
        let (x, y) = (z[0], z[1]);
        let mode = |u: f64| (8.0 / PI).ln() - 16.0 * ((x - u).square() + (y - mu).square());
        log_sum_exp(&[mode(-mu - 1.0), mode(mu + 1.0)])
    });
    compare("mixture", &Mixture2d { mu }, &mixture);
    let moons = Program::record(2, |z| {
        let (x, y) = (z[0], z[1]);
        let r = (x * x + y * y).sqrt();
        let side = |u: f64| -((x - u) / 0.3).square() / 2.0;
        -((r - 2.0) / 0.2).square() / 2.0 + log_sum_exp(&[side(2.0), side(-2.0)])
    });
    compare("two moons", &TwoMoons, &moons);
}

fn compare(name: &str, hand: &impl Target, program: &Program) {
    for len in [32, 64] {
        let points: Vec<Vec<f64>> = (0..len)
            .map(|i| (0..hand.dim()).map(|d| (i as f64 * 0.7 + d as f64).sin() * 3.0).collect())
            .collect();
        let points = Batch::from_points(hand.dim(), &points);
        let (mut by_hand, mut by_program) = (f64::INFINITY, f64::INFINITY);
        // Alternate and take the fastest of many runs, because other load on the machine slows down both.
        for _ in 0..40 {
            by_hand = by_hand.min(nanoseconds(hand, &points));
            by_program = by_program.min(nanoseconds(program, &points));
        }
        let ratio = by_program / by_hand;
        let (instructions, _) = program.instructions();
        println!(
            "{name:<12} {len:>6} {by_hand:>8.3} {by_program:>8.3} {ratio:>6.2} {instructions:>13}"
        );
    }
}

/// Time per sample, over some thousand calls.
fn nanoseconds(target: &impl Target, points: &Batch) -> f64 {
    const CALLS: usize = 2000;
    let mut out = Evaluation::zeros(points.dim(), points.len());
    let weights = Weights { prior: 1.0, likelihood: 0.7 };
    let start = Instant::now();
    for _ in 0..CALLS {
        target.evaluate(black_box(points), Some(weights), black_box(&mut out)).expect("same shape");
    }
    start.elapsed().as_secs_f64() * 1e9 / (CALLS * points.len()) as f64
}
