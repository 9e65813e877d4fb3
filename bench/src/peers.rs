//! The same updates in JAX and PyTorch, run side by side.

use crate::updates::{Kind, Problem};
use serde::Deserialize;
use std::{path::Path, process::Command};

/// A line that a peer's script prints.
#[derive(Deserialize)]
struct Line {
    framework: String,
    problem: String,
    layers: usize,
    points: usize,
    microseconds: f64,
    variant: String,
}

/// Runs the peers and prints how many times longer they take than the better of one and two
/// threads, in double and in single precision.
pub(crate) fn compare(kind: Kind, problems: &[Problem], ours: &[[f64; 4]]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = here.join(".venv/bin/python");
    if !python.exists() {
        eprintln!("no {}: run bench/peers/install.sh first", python.display());
        return;
    }
    println!(
        "\npeer         problem      L     N   microseconds   ratio to f64   to f32   variant"
    );
    for script in ["jax_updates.py", "torch_updates.py"] {
        let output =
            Command::new(&python).arg(here.join("peers").join(script)).args(kind.flag()).output();
        let output = match output {
            Ok(output) if output.status.success() => output.stdout,
            Ok(output) => {
                eprintln!("{script} failed: {}", String::from_utf8_lossy(&output.stderr));
                continue;
            }
            Err(error) => {
                eprintln!("{script} did not start: {error}");
                continue;
            }
        };
        for line in String::from_utf8_lossy(&output).lines() {
            let line: Line = serde_json::from_str(line).expect("a peer prints one object a line");
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
