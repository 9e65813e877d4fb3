//! Runs the same updates in JAX and PyTorch, for comparison.

use crate::updates::{Kind, Problem};
use serde::Deserialize;
use std::{path::Path, process::Command};

/// A line that the script of a peer prints.
#[derive(Deserialize)]
pub(crate) struct Line {
    pub(crate) framework: String,
    pub(crate) problem: String,
    layers: usize,
    pub(crate) points: usize,
    pub(crate) microseconds: f64,
    pub(crate) variant: String,
}

/// Runs the script of a peer and returns its measurements. Prints errors.
pub(crate) fn lines(script: &str, flag: Option<&str>) -> Vec<Line> {
    lines_of(".venv", script, flag)
}

/// Runs a script whose packages are installed in another folder.
pub(crate) fn lines_of(venv: &str, script: &str, flag: Option<&str>) -> Vec<Line> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = here.join(venv).join("bin/python");
    if !python.exists() {
        let what = venv.strip_prefix(".venv-").unwrap_or_default();
        eprintln!("{} not found: run bench/peers/install.sh {what} first", python.display());
        return Vec::new();
    }
    let output = Command::new(&python).arg(here.join("peers").join(script)).args(flag).output();
    let output = match output {
        Ok(output) if output.status.success() => output.stdout,
        Ok(output) => {
            eprintln!("{script} failed: {}", String::from_utf8_lossy(&output.stderr));
            return Vec::new();
        }
        Err(error) => {
            eprintln!("{script} did not start: {error}");
            return Vec::new();
        }
    };
    let text = String::from_utf8_lossy(&output);
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a peer prints one object a line"))
        .collect()
}

/// Runs the peers and prints how many times longer they take than the better of one and two
/// threads, in double and in single precision.
pub(crate) fn compare(kind: Kind, problems: &[Problem], ours: &[[f64; 4]]) {
    println!(
        "\npeer         problem      L     N   microseconds   ratio to f64   to f32   variant"
    );
    for script in ["jax_updates.py", "torch_updates.py"] {
        for line in lines(script, kind.flag()) {
            let same = |p: &Problem| {
                (p.name, p.layers, p.points) == (line.problem.as_str(), line.layers, line.points)
            };
            let Some(i) = problems.iter().position(same) else { continue };
            let double = ours[i][0].min(ours[i][1]);
            let single = ours[i][2].min(ours[i][3]);
            println!(
                "{:<12} {:<9} {:>4} {:>5} {:>14.1} {:>14.1} {:>8.1}   {}",
                line.framework,
                line.problem,
                line.layers,
                line.points,
                line.microseconds,
                line.microseconds / double,
                line.microseconds / single,
                line.variant
            );
        }
    }
}
