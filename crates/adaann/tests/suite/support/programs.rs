//! Programs in Python and sh, as users write them.
#![allow(dead_code)] // each test uses its part

use adaann::{
    Batch, Result,
    external::{Command, Simulator},
};
use std::{io::Write, sync::LazyLock, time::Duration};

/// Ends a test where there is no Python.
macro_rules! needs_python {
    () => {
        if !$crate::support::programs::has_python() {
            return;
        }
    };
}
pub(crate) use needs_python;

/// Is Python there? Says once if it is not.
pub(crate) fn has_python() -> bool {
    static FOUND: LazyLock<bool> = LazyLock::new(|| {
        let python = std::process::Command::new("python3").args(["-c", ""]).output();
        let found = python.is_ok_and(|output| output.status.success());
        if !found {
            // Not by a macro, whose words the test harness keeps to itself.
            let _ = writeln!(
                std::io::stderr(),
                "skipped: tests of external programs that are in Python: python3 not found"
            );
        }
        found
    });
    *FOUND
}

/// A Python program that reads batches and, for each point, runs lines which print its answer. They
/// know the point `x`, its number `k` in the batch, the batch's length `n`, `gradient`, and `math`,
/// `os`, `sys`, `time`.
pub(crate) fn python(first: &str, body: &str) -> Command {
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    let script = format!(
        "import json, math, os, sys, time\n\
         names = json.loads(sys.stdin.readline())['parameters']\n\
         print('{first}', flush=True)\n\
         for line in sys.stdin:\n\
         \x20   words = line.split()\n\
         \x20   n, gradient = int(words[1]), 'gradient' in words\n\
         \x20   for k in range(n):\n\
         \x20       x = [float(word) for word in sys.stdin.readline().split()]\n\
         {body}\
         \x20   sys.stdout.flush()\n"
    );
    one(Command::new(["python3", "-c", &script]))
}

/// A program in sh.
pub(crate) fn shell(script: &str) -> Command {
    one(Command::new(["sh", "-c", script]))
}

/// One process that is not started again, and as much time as a busy machine needs.
fn one(command: Command) -> Command {
    Command { processes: 1, retries: 0, timeout: Duration::from_secs(100), ..command }
}

pub(crate) fn names(count: usize) -> Vec<String> {
    ["a", "b", "c", "d", "e"][..count].iter().map(|name| name.to_string()).collect()
}

#[track_caller]
pub(crate) fn start(command: &Command, dim: usize) -> Simulator {
    Simulator::start(command, &names(dim)).expect("a program that starts (is python3 installed?)")
}

/// Log likelihoods, and derivatives point by point.
pub(crate) fn ask(
    simulator: &Simulator,
    points: &Batch,
    gradient: bool,
) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
    let mut values = vec![f64::NAN; points.len()];
    let mut slopes = Batch::zeros(points.dim(), points.len());
    simulator.log_likelihood(points, gradient, &mut values, &mut slopes)?;
    Ok((values, (0..points.len()).map(|i| slopes.point(i)).collect()))
}

/// log p = −(a − 1)² + a b − exp(b/2) with its derivatives.
pub(crate) const SKEWED: &str = "\
v = -(x[0] - 1)**2 + x[0]*x[1] - math.exp(x[1]/2)
print(v, -2*(x[0] - 1) + x[1], x[0] - math.exp(x[1]/2)/2) if gradient else print(v)";

pub(crate) fn skewed(a: f64, b: f64) -> (f64, [f64; 2]) {
    let e = (b / 2.0).exp();
    (-(a - 1.0).powi(2) + a * b - e, [-2.0 * (a - 1.0) + b, a - e / 2.0])
}

pub(crate) const WITH: &str = "{\"gradient\": true}";
pub(crate) const WITHOUT: &str = "{\"gradient\": false}";
