//! The programs from the book's chapter: they run, agree with each other, and are fitted.

use crate::support::{common, programs};
use adaann::{
    Batch, Program, Settings,
    external::{Command, Posterior, Simulator},
    fit::fit,
    flow::{BaseSpec, FlowSpec, Start},
    optim::RateRule,
    path::PathKind,
    schedule::{Linear, Schedule, Work},
    target::Support,
};
use common::assert_close;
use programs::ask;

/// The chapter's Python programs: without gradients, and with.
fn chapter() -> [Command; 2] {
    let text = include_str!("../../../../docs/src/external.md");
    let blocks = text.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next());
    let commands: Vec<Command> =
        blocks.map(|script| Command::new(["python3", "-c", script])).collect();
    commands.try_into().expect("two programs in the chapter")
}

fn start(command: &Command) -> Simulator {
    let names = ["amplitude", "rate"].map(String::from);
    Simulator::start(command, &names).expect("a program that starts (is python3 installed?)")
}

fn log_likelihood(amplitude: f64, rate: f64) -> f64 {
    let seen = [(0.5, 7.1), (1.0, 5.2), (2.0, 2.4), (4.0, 0.6)];
    let miss = |(t, y): (f64, f64)| (y - amplitude * (-rate * t).exp()) / 0.3;
    seen.into_iter().map(|seen| -0.5 * miss(seen).powi(2)).sum()
}

#[test]
fn the_chapters_programs_agree() {
    programs::needs_python!();
    let [plain, with_gradient] = chapter().map(|command| start(&command));
    assert!(!plain.gives_gradient() && with_gradient.gives_gradient());
    // The last one overflows, which raises an exception in Python.
    let points = Batch::from_points(2, &[[8.5, 0.625], [3.0, 2.0], [-1.0, -0.25], [1.0, -1e4]]);
    let (values, slopes) = ask(&with_gradient, &points, true).unwrap();
    let (again, _) = ask(&with_gradient, &points, false).unwrap();
    assert_eq!(values, again);
    let (mut found, mut differences) = (vec![0.0; 4], Batch::zeros(2, 4));
    plain.differences(&points, Batch::clone, &mut found, &mut differences).unwrap();
    for i in 0..3 {
        let exact = log_likelihood(points.row(0)[i], points.row(1)[i]);
        assert_close(values[i], exact, 1e-13, "with gradients");
        assert_close(found[i], exact, 1e-13, "without");
        // Values of 600 with error 1e-13, over steps of 6e-6.
        (0..2).for_each(|d| assert_close(slopes[i][d], differences.row(d)[i], 1e-7, "slope"));
    }
    assert_eq!([values[3], found[3]], [f64::NEG_INFINITY; 2]);
    assert_eq!(slopes[3], [0.0, 0.0]);
}

/// log prior −a²/200 − 2 r on a, r > 0.
fn log_prior(amplitude: f64, rate: f64) -> f64 {
    -amplitude.powi(2) / 200.0 - 2.0 * rate
}

/// Z and the posterior's means and sds, by the trapezoidal rule where all the mass is.
fn exact() -> (f64, [f64; 2], [f64; 2]) {
    let (mut sums, mut squares, mut total) = ([0.0; 2], [0.0; 2], 0.0);
    let (step_a, step_r) = (0.02, 0.002);
    for i in 0..750 {
        for j in 0..1000 {
            let at = [step_a * (f64::from(i) + 0.5), step_r * (f64::from(j) + 0.5)];
            let p = (log_prior(at[0], at[1]) + log_likelihood(at[0], at[1])).exp();
            total += p;
            for d in 0..2 {
                sums[d] += p * at[d];
                squares[d] += p * at[d] * at[d];
            }
        }
    }
    let mean = sums.map(|sum| sum / total);
    let sd = [0, 1].map(|d| (squares[d] / total - mean[d] * mean[d]).sqrt());
    (total * step_a * step_r, mean, sd)
}

#[test]
fn the_chapters_program_is_fitted() {
    programs::needs_python!();
    let prior = Program::record(2, |x| -x[0].square() / 200.0 - 2.0 * x[1]);
    let [_, command] = chapter();
    let simulator = start(&Command { processes: 2, ..command });
    let supports = vec![Support::Above(0.0); 2];
    let target = Posterior::new(Box::new(prior), supports, simulator).unwrap();
    // In logarithmic coordinates the posterior is almost Gaussian.
    let settings = Settings {
        path: PathKind::Likelihood,
        flow: FlowSpec::Linear,
        base: BaseSpec { start: Start::Laplace, mean: vec![2.0, -0.5], ..BaseSpec::default() },
        schedule: Schedule::Linear(Linear { t0: 0.5, epsilon: 0.1 }),
        work: Work { warmup: 100, anneal: 5, refine: 400 },
        refine_lr_rule: RateRule::Cosine { over: 400, floor: 0.01 },
        ..Settings::default()
    };
    let approximation = fit(&target, &settings, &mut ()).unwrap().approximation(&target).unwrap();
    let sample = approximation.sample(4000, 5).unwrap();
    let (z, mean, sd) = exact();
    for d in 0..2 {
        let row = sample.x().row(d);
        let found = row.iter().sum::<f64>() / 4000.0;
        let square = row.iter().map(|x| (x - found).powi(2)).sum::<f64>() / 4000.0;
        // The Monte Carlo errors are 0.016 and 0.011 sd; the rest is the flow's error.
        assert!((found - mean[d]).abs() < 0.1 * sd[d], "mean {found}, exactly {}", mean[d]);
        let ratio = square.sqrt() / sd[d];
        assert!((0.9..1.1).contains(&ratio), "sd {}, exactly {}", square.sqrt(), sd[d]);
    }
    let kl = sample.neg_elbo() + z.ln();
    assert!((-0.02..0.05).contains(&kl), "{kl}");
}
