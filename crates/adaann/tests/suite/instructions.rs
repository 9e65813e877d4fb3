//! The results agree on every instruction set up to rounding: this test runs itself again with
//! narrower instructions.

use crate::support::flows;
use adaann::Instructions;
use flows::{Case, Random, families, in_double};
use std::{env, process::Command};

/// Prints one line for the instruction set, and one per vector of numbers: its tolerance and the
/// numbers.
#[test]
#[ignore = "prints numbers for the test below"]
fn print_numbers() {
    println!("\n= {}", Instructions::current());
    for spec in families() {
        for dim in [1, 3, 10] {
            let mut random = Random(21);
            let parameters = random.normals(spec.build(dim).unwrap().parameter_len(), 0.5);
            let mut case = Case::new(&spec, dim, &parameters, "");
            let (z, g) = (random.batch(dim, 9, 1.0), random.batch(dim, 9, 1.0));
            let k = random.normals(9, 1.0);
            let (image, log_det) = case.forward(&z);
            let (origin, log_det_back) = case.inverse(&z);
            let (gradient, g_z, _) = case.backward(&z, &g, &k);
            // The inverse is always in double precision.
            let tolerance = if in_double(&spec) { 1e-10 } else { 1e-4 };
            for d in 0..dim {
                print(tolerance, image.row(d));
                print(1e-10, origin.row(d));
                print(tolerance, g_z.row(d));
            }
            print(tolerance, &log_det);
            print(1e-10, &log_det_back);
            print(tolerance, &gradient);
        }
    }
}

fn print(tolerance: f64, numbers: &[f64]) {
    let join = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    println!("= {tolerance} {}", join(numbers));
}

/// The lines of [`print_numbers`] in a process of its own.
fn run(instructions: &str) -> Vec<String> {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "instructions::print_numbers", "--ignored", "--nocapture"])
        .env("ADAANN_SIMD", instructions)
        .output()
        .unwrap();
    assert!(output.status.success(), "{instructions}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("= ")).map(str::to_owned).collect()
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().map(|x| x.parse().unwrap()).collect()
}

#[test]
fn flows_agree_on_every_instruction_set() {
    let widest = run("widest");
    assert!(widest.len() > 100);
    for instructions in ["baseline", "avx2"] {
        let narrow = run(instructions);
        if instructions == "baseline" {
            assert_eq!(narrow[0], Instructions::Baseline.to_string());
        }
        assert_eq!(narrow.len(), widest.len());
        for (narrow, widest) in narrow[1..].iter().zip(&widest[1..]) {
            let (narrow, widest) = (numbers(narrow), numbers(widest));
            let size = widest[1..].iter().fold(1.0_f64, |most, x| most.max(x.abs()));
            for (a, b) in narrow.iter().zip(&widest) {
                assert!((a - b).abs() <= widest[0] * size, "{instructions}: {a} is not {b}");
            }
            assert_eq!(narrow.len(), widest.len());
        }
    }
}

/// Runs the tests of the kernels again with the baseline instructions.
#[test]
fn kernels_pass_their_tests_with_the_narrowest_instructions() {
    let output = Command::new(env::current_exe().unwrap())
        .args(["flow_laws::", "fit::", "program::", "targets::", "ode_gradients::"])
        .env("ADAANN_SIMD", "baseline")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let passed = text.split("test result: ok. ").nth(1).and_then(|rest| rest.split(' ').next());
    assert!(passed.unwrap().parse::<usize>().unwrap() > 50, "{text}");
}
