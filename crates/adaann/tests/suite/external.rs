//! Likelihoods from external programs: values, gradients, differences, processes.

use crate::support::{common, programs};
use adaann::{
    Batch, Program,
    external::{GradientBy, Posterior, Simulator},
    target::{Evaluation, Support, Target, Weights},
};
use common::{Numbers, assert_close};
use programs::*;

fn points(dim: usize, count: usize, seed: u64) -> Batch {
    let mut numbers = Numbers(seed);
    let point = |_| (0..dim).map(|_| numbers.normal()).collect::<Vec<_>>();
    Batch::from_points(dim, &(0..count).map(point).collect::<Vec<_>>())
}

#[test]
fn values_and_gradients_are_the_programs() {
    programs::needs_python!();
    let simulator = start(&python(WITH, SKEWED), 2);
    assert!(simulator.gives_gradient());
    let points = points(2, 150, 1);
    let (values, slopes) = ask(&simulator, &points, true).unwrap();
    let (again, none) = ask(&simulator, &points, false).unwrap();
    assert_eq!(values, again);
    assert!(none.iter().flatten().all(|slope| *slope == 0.0), "slopes that nobody asked for");
    for i in 0..points.len() {
        let (value, gradient) = skewed(points.row(0)[i], points.row(1)[i]);
        // Two implementations of exp that differ in the last place.
        assert_close(values[i], value, 1e-14, "value");
        (0..2).for_each(|d| assert_close(slopes[i][d], gradient[d], 1e-14, "slope"));
    }
}

#[test]
fn a_shell_script_of_a_few_lines_will_do() {
    let script = "read greeting; echo '{}'
        while read word count; do
            for i in $(seq $count); do
                read x; echo $x | awk '{ printf \"%.17g\\n\", -0.5 * $1 * $1 }'
            done
        done";
    let simulator = start(&shell(script), 1);
    assert!(!simulator.gives_gradient());
    let (values, _) =
        ask(&simulator, &Batch::from_points(1, &[[0.5], [-3.0], [1e-3]]), false).unwrap();
    assert_eq!(values, [-0.125, -4.5, -0.5e-6]);
}

#[test]
fn lost_points_are_lost_and_no_others() {
    programs::needs_python!();
    let body = "print(['-inf', 'nan 1', '-2.5 7', '-Inf NaN'][k])";
    let simulator = start(&python(WITH, body), 1);
    let four = Batch::from_points(1, &[[0.0], [1.0], [2.0], [3.0]]);
    let (values, slopes) = ask(&simulator, &four, true).unwrap();
    let lost = f64::NEG_INFINITY;
    assert_eq!(values, [lost, lost, -2.5, lost]);
    assert_eq!(slopes, [[0.0], [0.0], [7.0], [0.0]]);
    // The program does not receive non-finite points: these are the first two points it sees.
    let bad = Batch::from_points(1, &[[f64::NAN], [1.0], [f64::INFINITY], [2.0]]);
    assert_eq!(ask(&simulator, &bad, true).unwrap().0, [lost; 4]);
    let third = Batch::from_points(1, &[[0.0], [f64::NAN], [0.0], [0.0]]);
    assert_eq!(ask(&simulator, &third, true).unwrap().0, [lost, lost, lost, -2.5]);
    assert!(ask(&simulator, &Batch::zeros(1, 0), true).unwrap().0.is_empty());
}

/// Each value contains the number of the point in its batch: the split into batches must not depend on
/// the number of programs.
#[test]
fn the_number_of_processes_changes_no_bit() {
    programs::needs_python!();
    let body = "print(v := x[0]/3 + k*math.exp(x[1]), n, v/7) if gradient else print(k, n)";
    let run = |processes, len| {
        let mut command = python(WITH, body);
        command.processes = processes;
        let simulator = start(&command, 2);
        assert_eq!(simulator.processes(), processes);
        // Twice: the assignment of points to programs may change, but the values may not.
        [1, 2].map(|seed| ask(&simulator, &points(2, len, seed), true).unwrap())
    };
    for len in [1, 33, 1000] {
        let one = run(1, len);
        assert_eq!(one, run(3, len), "{len} points");
    }
}

#[test]
fn a_program_may_want_small_batches() {
    programs::needs_python!();
    let simulator = start(&python("{\"batch\": 3}", "print(n)"), 1);
    let (values, _) = ask(&simulator, &points(1, 8, 1), false).unwrap();
    assert_eq!(values, [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 2.0, 2.0]);
}

/// More data than pipes can buffer, to a program that answers while reading and one that reads
/// everything first.
#[test]
fn a_huge_batch_blocks_nobody() {
    programs::needs_python!();
    let points = points(5, 100_000, 9);
    let hasty = python(WITH, "print(x[0], *x)");
    let patient = "import sys\n\
        sys.stdin.readline(); print('{\"gradient\": true, \"batch\": 100000}', flush=True)\n\
        for line in sys.stdin:\n\
        \x20   rows = [sys.stdin.readline() for _ in range(int(line.split()[1]))]\n\
        \x20   sys.stdout.write(''.join(row.split()[0] + ' ' + row for row in rows))\n\
        \x20   sys.stdout.flush()\n";
    let mut patient_command = hasty.clone();
    patient_command.program[2] = patient.into();
    for command in [hasty, patient_command] {
        let simulator = start(&command, 5);
        let (values, slopes) = ask(&simulator, &points, true).unwrap();
        assert_eq!(values, points.row(0), "numbers come back as they went");
        assert!((0..points.len()).all(|i| slopes[i] == points.point(i)));
    }
}

#[test]
fn ten_megabytes_on_stderr_block_nobody() {
    programs::needs_python!();
    let body = "if k == 0: sys.stderr.write(('x'*99 + '\\n')*100000)\nprint(1)";
    let simulator = start(&python(WITHOUT, body), 1);
    for _ in 0..2 {
        assert_eq!(ask(&simulator, &points(1, 3, 1), false).unwrap().0, [1.0; 3]);
    }
}

/// f' ± 1e-8: steps of 6e-6 have an error of h² f'''/6 = 1e-11 and rounding ε |f|/h = 4e-11 |f|.
#[test]
fn differences_are_taken_where_the_caller_says() {
    programs::needs_python!();
    let simulator = start(&python(WITHOUT, SKEWED), 2);
    let z = points(2, 40, 4);
    let (mut values, mut slopes) = (vec![0.0; 40], Batch::zeros(2, 40));
    // a = eᶻ, b = 2 z₂ + z₁
    let map = |z: &Batch| {
        let at = |i: usize| [z.row(0)[i].exp(), 2.0 * z.row(1)[i] + z.row(0)[i]];
        Batch::from_points(2, &(0..z.len()).map(at).collect::<Vec<_>>())
    };
    simulator.differences(&z, map, &mut values, &mut slopes).unwrap();
    for i in 0..40 {
        let (a, b) = (z.row(0)[i].exp(), 2.0 * z.row(1)[i] + z.row(0)[i]);
        let (value, [by_a, by_b]) = skewed(a, b);
        assert_close(values[i], value, 1e-14, "value");
        assert_close(slopes.row(0)[i], by_a * a + by_b, 1e-8, "by z1");
        assert_close(slopes.row(1)[i], 2.0 * by_b, 1e-8, "by z2");
    }
    let error = ask(&simulator, &z, true).unwrap_err().to_string();
    assert!(error.contains("gives no gradient"), "{error}");
}

#[test]
fn a_difference_with_one_side_lost_has_the_other() {
    programs::needs_python!();
    let body = "print(3*x[0] if x[0] <= 1 and x[1] == 0 else '-inf')";
    let simulator = start(&python(WITHOUT, body), 2);
    let edge = Batch::from_points(2, &[[1.0, 0.0], [2.0, 0.0]]);
    let (mut values, mut slopes) = (vec![0.0; 2], Batch::zeros(2, 2));
    // Every step of the second coordinate leaves the support.
    simulator.differences(&edge, Batch::clone, &mut values, &mut slopes).unwrap();
    assert_eq!(values, [f64::NEG_INFINITY; 2]);
    assert_eq!([slopes.point(0), slopes.point(1)], [[0.0; 2]; 2]);
    let still = |z: &Batch| {
        let mut x = z.clone();
        x.row_mut(1).fill(0.0);
        x
    };
    simulator.differences(&edge, still, &mut values, &mut slopes).unwrap();
    assert_eq!(values, [3.0, f64::NEG_INFINITY]);
    assert_close(slopes.row(0)[0], 3.0, 1e-9, "from below");
    assert_eq!(slopes.row(1), [0.0, 0.0]);
}

/// log prior −(a² + b²)/2, recorded.
fn prior(dim: usize) -> Box<Program> {
    Box::new(Program::record(dim, |x| x.iter().map(|x| -0.5 * x.square()).sum::<adaann::Expr>()))
}

fn evaluate(target: &Posterior, points: &Batch, weights: Weights) -> Evaluation {
    let mut out = Evaluation::zeros(points.dim(), points.len());
    target.evaluate(points, Some(weights), &mut out).unwrap();
    out
}

#[test]
fn a_posterior_has_both_parts() {
    programs::needs_python!();
    let weights = Weights { prior: 0.8, likelihood: 0.3 };
    for gradient in [GradientBy::Auto, GradientBy::Differences] {
        let mut command = python(WITH, SKEWED);
        command.gradient = gradient;
        let is_exact = gradient == GradientBy::Auto;
        let supports = vec![Support::Real; 2];
        let target = Posterior::new(prior(2), supports, start(&command, 2)).unwrap();
        assert!(target.wants_whole_batch() && target.has_prior());
        assert_eq!(target.names(), ["a", "b"]);
        let said = target.notes().join("");
        assert!(said.contains(if is_exact { "and gradient by" } else { "5 calls" }), "{said}");
        let points = points(2, 50, 6);
        let out = evaluate(&target, &points, weights);
        for i in 0..50 {
            let [a, b] = [points.row(0)[i], points.row(1)[i]];
            let (value, slopes) = skewed(a, b);
            assert_close(out.log_prior[i], -0.5 * (a * a + b * b), 1e-14, "prior");
            assert_close(out.log_likelihood[i], value, 1e-14, "likelihood");
            for (d, x) in [a, b].into_iter().enumerate() {
                let exact = 0.3 * slopes[d] - 0.8 * x;
                let tolerance = if is_exact { 1e-14 } else { 1e-8 };
                assert_close(out.gradient.row(d)[i], exact, tolerance, "gradient");
            }
        }
        // With weight 0, the likelihood's gradient is not requested.
        let out = evaluate(&target, &points, Weights { prior: 1.0, likelihood: 0.0 });
        assert!((0..50).all(|i| out.gradient.row(1)[i] == -points.row(1)[i]));
    }
}

#[test]
fn a_lost_point_of_a_posterior_has_no_gradient() {
    programs::needs_python!();
    let body = "print('-inf' if x[0] > 1 else x[0], 1)";
    let cliff = Program::record(1, |x| x[0].ge(-1.0).select(-x[0], f64::NEG_INFINITY));
    let simulator = start(&python(WITH, body), 1);
    let target = Posterior::new(Box::new(cliff), vec![Support::Real], simulator).unwrap();
    let points = Batch::from_points(1, &[[0.5], [2.0], [-2.0]]);
    let out = evaluate(&target, &points, Weights { prior: 1.0, likelihood: 0.5 });
    let lost = f64::NEG_INFINITY;
    assert_eq!(out.log_likelihood[..3], [0.5, lost, lost]);
    assert_eq!(out.log_prior[..3], [-0.5, -2.0, lost]);
    assert_eq!(out.gradient.row(0), [-0.5, 0.0, 0.0]);
    let out = evaluate(&target, &points, Weights { prior: 1.0, likelihood: 0.0 });
    assert_eq!(out.gradient.row(0), [-1.0, -1.0, 0.0], "at weight 0 nothing is lost");
}

/// A likelihood that ends the program outside the support: no step may lead there. The slope grows with
/// the inverse distance, and so does the tolerance.
#[test]
fn differences_stay_inside_the_support() {
    programs::needs_python!();
    let part = |index| Support::Share { index, of: 3 };
    type Case = (Vec<Support>, &'static str, Vec<[f64; 2]>);
    let cases: [Case; 3] = [
        (
            vec![part(0), part(1)],
            "print(2*math.log(x[0]) + 3*math.log(x[1]) + 4*math.log(1 - x[0] - x[1]))",
            vec![[0.2, 0.3], [1e-9, 0.98], [0.98, 1e-12], [1e-200, 1e-6]],
        ),
        (
            vec![Support::Above(0.0), Support::After],
            "print(2*math.log(x[0]) + 3*math.log(x[1] - x[0]) - x[1])",
            vec![[0.5, 3.0], [1e-8, 1.0], [1.0, 1.001], [1e-300, 1e-290], [1e8, 5e8]],
        ),
        (
            vec![Support::Between(-1.0, 2.0), Support::Below(0.25)],
            "print(math.log(x[0] + 1) + 2*math.log(2 - x[0]) + 3*math.log(0.25 - x[1]))",
            vec![[0.0, -5.0], [-0.999, 0.2499], [1.999, -1e9]],
        ),
    ];
    let exact = |case: usize, [a, b]: [f64; 2]| match case {
        0 => [2.0 / a - 4.0 / (1.0 - a - b), 3.0 / b - 4.0 / (1.0 - a - b)],
        1 => [2.0 / a - 3.0 / (b - a), 3.0 / (b - a) - 1.0],
        _ => [1.0 / (a + 1.0) - 2.0 / (2.0 - a), -3.0 / (0.25 - b)],
    };
    let weights = Weights { prior: 0.0, likelihood: 1.0 };
    for (case, (supports, body, at)) in cases.into_iter().enumerate() {
        let simulator = start(&python(WITHOUT, body), 2);
        let target = Posterior::new(prior(2), supports, simulator).unwrap();
        let out = evaluate(&target, &Batch::from_points(2, &at), weights);
        for (i, point) in at.iter().enumerate() {
            let exact = exact(case, *point);
            for (d, exact) in exact.iter().enumerate() {
                let found = out.gradient.row(d)[i];
                // f is up to 2000, with error 2e-13, over steps of 6e-6 distances: 4e-8 over the
                // distance; 1 − a − b has an error of 1e-16/0.02, which is 1e-9 over the distance.
                let scale = exact.abs().max(1.0);
                assert!((found - exact).abs() < 1e-7 * scale, "{point:?}: {found} for {exact}");
            }
        }
    }
}

#[test]
fn dimensions_must_agree() {
    let simulator = || start(&shell("read x; echo '{}'; cat > /dev/null"), 2);
    let said = |prior_dim, supports| {
        let made = Posterior::new(prior(prior_dim), supports, simulator());
        made.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(said(3, vec![Support::Real; 2]).contains("the prior: 3 found, 2"));
    assert!(said(2, vec![Support::Real; 1]).contains("the supports: 1 found, 2"));
    assert!(said(2, vec![Support::After; 2]).contains("support is"));
    let error = ask(&simulator(), &Batch::zeros(3, 1), false).unwrap_err().to_string();
    assert!(error.contains("3 found, 2 expected"), "{error}");
}

fn is_running(pid: f64) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

/// A zombie stays in /proc until its parent waits for it.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_behind() {
    programs::needs_python!();
    // The second ignores the end of its input; the third runs below a shell.
    let polite = python("{\"batch\": 1}", "print(os.getpid())");
    let mut deaf = polite.clone();
    deaf.program[2].push_str("time.sleep(1000)\n");
    let mut below = deaf.clone();
    let script = std::mem::take(&mut below.program[2]);
    below.program =
        ["sh", "-c", "python3 -c \"$1\"; exit 0", "sh", &script].map(String::from).to_vec();
    for mut command in [polite, deaf, below] {
        command.processes = 2;
        let simulator = start(&command, 1);
        let (pids, _) = ask(&simulator, &points(1, 40, 1), false).unwrap();
        assert!(pids.iter().all(|pid| is_running(*pid)));
        drop(simulator);
        // A process below a shell is reaped by others, soon.
        let gone = || !pids.iter().any(|pid| is_running(*pid));
        for _ in 0..100 {
            if !gone() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        assert!(gone(), "{pids:?}");
    }
}

/// Ctrl-C goes to the terminal's process group; the program has its own group.
#[cfg(unix)]
#[test]
fn an_interrupt_is_not_the_programs() {
    programs::needs_python!();
    let simulator = start(&python(WITHOUT, "print(os.getpgrp() - os.getpid())"), 1);
    assert_eq!(ask(&simulator, &points(1, 1, 1), false).unwrap().0, [0.0]);
}

#[test]
fn a_simulator_may_be_shared() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Simulator>();
    is_shared::<Posterior>();
}
