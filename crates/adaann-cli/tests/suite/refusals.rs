//! Bad input: one clear sentence, exit code 2, and nothing written.

use crate::support::common;
use common::{Place, stderr};

/// Runs with bad input, and returns the message.
fn refused(words: &str) -> String {
    let place = Place::new();
    let output = place.adaann(words, &[]);
    assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
    assert_eq!(place.entries(), [""; 0], "{words}");
    assert!(output.stdout.is_empty());
    stderr(&output)
}

#[test]
fn masks_fit_the_dimension() {
    for (mask, message) in [
        ("0,2", "--mask is a list with 2, but must be a list of different coordinates from 0 to 1"),
        ("0,0", "--mask is a list with 0, but must be"),
        ("0,1", "--mask is 2 of 2, but must be a list that leaves coordinates both"),
    ] {
        let said = refused(&format!("run two-moons --flow realnvp --mask {mask}"));
        assert!(said.contains(message), "{mask}: {said}");
    }
}

#[test]
fn settings_out_of_range_are_named_with_value_and_range() {
    for (flags, message) in [
        ("--tau 0", "--tau is 0, but must be a positive finite number"),
        ("--tau -1", "--tau is -1, but must be a positive finite number"),
        ("--tau nan", "--tau is NaN, but must be a positive finite number"),
        ("--t0 0", "--t0 is 0, but must be above 0 and at most 1"),
        ("--t0 1.5", "--t0 is 1.5, but must be above 0 and at most 1"),
        ("--t0 -0.1", "--t0 is -0.1, but must be above 0 and at most 1"),
        ("--layers 0", "--layers is 0, but must be from 1 to 100000"),
        ("--flow realnvp --hidden 0", "--hidden is 0, but must be from 1 to"),
        ("--flow realnvp --hidden-layers 0", "--hidden-layers is 0, but must be from 1 to"),
        ("--flow realnvp --hidden 100000", "parameters, but must be one of at most 50000000"),
        ("--flow spline --bins 1", "--bins is 1, but must be from 2 to 100"),
        ("--flow spline --spline-bound 0", "--spline-bound is 0, but must be positive"),
        ("--flow spline+plannar", "there is no flow called 'plannar'; did you mean 'planar'?"),
        ("--flow realnvp --mask x", "must be alternating, halves, random or coordinates"),
        ("--flow iaf --order first", "must be alternating, sequential, reversed or random"),
        ("--hidden 5", "--hidden does not apply to the planar flow; it belongs to realnvp"),
        ("--flow iaf --mask halves", "--mask does not apply to the iaf flow"),
        ("--flow affine+linear --layers 3", "--layers does not apply to the affine+linear flow"),
        ("--flow glow --bins 3", "--bins does not apply to the glow flow; it belongs to spline"),
        ("--samples 1", "--samples is 1, but must be from 2 to"),
        ("--refine-samples 0", "--refine-samples is 0, but must be from 2 to"),
        ("--variance-samples 1", "--variance-samples is 1, but must be from 2 to"),
        ("--updates 0", "--updates is 0, but must be at least 1"),
        ("--refine 10000000000000", "--refine is 10000000000000, but must be at most"),
        ("--lr 0", "--lr is 0, but must be positive and finite"),
        ("--beta1 1", "--beta1 is 1, but must be at least 0 and below 1"),
        ("--optimizer-epsilon 0", "--optimizer-epsilon is 0, but must be a positive"),
        ("--initial-scale -1", "--initial-scale is -1, but must be finite and not negative"),
        ("--base-sd 0", "--base-sd is 0, but must be positive and finite"),
        ("--base-mean 1,2", "--base-mean is a list of 2, but must be one number"),
        ("--base-matrix 1,2", "--base-matrix is a list of 2 numbers, but must be"),
        ("--base-matrix -1", "--base-matrix is not positive definite"),
        ("--base-matrix 1 --base-sd 2", "--base-matrix and --base-sd both"),
        ("--base laplace --base-matrix 1", "--base-matrix does not apply to the laplace base"),
        ("--base-components 0", "--base-components is 0, but must be at least 1"),
        (
            "--base-components 3 --refine-samples 2",
            "--refine-samples is 2, but must be at least 3, the number of base-components",
        ),
        (
            "--base-components 2 --base laplace",
            "--base-components is 2, but must be 1 to start at the laplace approximation",
        ),
        (
            "--base-components 2 --base-matrix 4",
            "--base-components is 2, but must be 1 to have a base-matrix",
        ),
        ("--base-components 2 --base-means 1,2,3", "--base-means is a list of 3, but must be"),
        ("--base-means 1", "--base-means is a list of 1, but must be absent"),
        ("--draws 1", "--draws is 1, but must be from 2 to"),
        ("--seeds 0", "--seeds is 0, but must be from 1 to"),
        (
            "--seed 9223372036854775807 --seeds 2",
            "--seed is 9223372036854775807, but must be at most 9223372036854775806 for 2 seeds",
        ),
        ("--threads 100000", "--threads is 100000, but must be from 0 to 1024"),
        ("--schedule linear --epsilon 0", "--epsilon is 0, but must be"),
        ("--schedule exponential --steps 0", "--steps is 0, but must be at least 1"),
        ("--schedule list --temperatures 0.5,0.2", "--temperatures is 0.5, then 0.2"),
        ("--schedule guarded --max-ratio 1", "--max-ratio is 1, but must be above 1"),
        ("--schedule ess --ess 1", "--ess is 1, but must be"),
        ("--clip 0", "'--clip <NORM>': must be a number above 0"),
        ("--lr-rule step:0:0.5", "every is 0, but must be at least 1"),
        ("--lr-rule wave", "must be constant, step:EVERY:FACTOR"),
        ("--path likelihood", "--path is likelihood, but must be power or bridge"),
        ("--param mu", "write it as NAME=NUMBER"),
    ] {
        let said = refused(&format!("run bimodal {flags}"));
        assert!(said.contains(message), "{flags}: {said}");
    }
}

#[test]
fn what_is_no_number_is_met_with_what_is_expected() {
    for (flags, message) in [
        ("--samples -5", "'-5' for '--samples <N>': must be a whole number\n"),
        ("--samples 1e3", "'1e3' for '--samples <N>': must be a whole number, written as 1000\n"),
        ("--layers 2.5", "'2.5' for '--layers <L>': must be a whole number\n"),
        ("--draws -5", "'-5' for '--draws <COUNT>': must be a whole number\n"),
        ("--threads two", "'two' for '--threads <COUNT>': must be a whole number\n"),
        ("--seed -1", "'-1' for '--seed <SEED>': must be a whole number from 0 to"),
        ("--seeds 1.5", "'1.5' for '--seeds <COUNT>': must be a whole number\n"),
        ("--tau small", "'small' for '--tau <TAU>': must be a number, like 0.5"),
        ("--lr 0,1", "'0,1' for '--lr <RATE>': must be a number, like 0.5"),
        ("--base-mean 1,x", "'1,x' for '--base-mean <LIST>': must be numbers separated by commas"),
        (
            "--schedule list --temperatures 0.1;1",
            "'0.1;1' for '--temperatures <LIST>': must be numbers separated by commas",
        ),
        ("--lr-rule step:1.5:0.5", "EVERY is '1.5', but must be a whole number"),
    ] {
        let said = refused(&format!("run bimodal {flags}"));
        assert!(said.contains(message), "{flags}: {said}");
    }
}

#[test]
fn a_diagonal_laplace_base_is_refused() {
    let said = refused("run bimodal --base laplace --base-covariance diagonal");
    assert!(said.contains("--base-covariance is diagonal, but must be full"), "{said}");
}

#[test]
fn flags_of_something_else_are_refused() {
    for (flags, message) in [
        (
            "--schedule linear --tau 0.1",
            "--tau does not apply to the linear schedule; it belongs to adaann, guarded",
        ),
        ("--schedule none --t0 0.1", "--t0 does not apply to the none schedule"),
        ("--epsilon 0.1", "--epsilon does not apply to the adaann schedule; it belongs to linear"),
        ("--steps 3", "--steps does not apply"),
        ("--temperatures 0.1,1", "--temperatures does not apply"),
        ("--ess 0.5", "--ess does not apply"),
        ("--max-ratio 2", "--max-ratio does not apply"),
        ("--no-robust", "--no-robust does not apply"),
        ("--flow radial --activation tanh", "--activation does not apply to the radial flow"),
        ("--optimizer sgd --beta1 0.5", "--beta1 does not apply to the sgd optimizer"),
        ("--momentum 0.5", "--momentum does not apply to the adam optimizer; it belongs to sgd"),
        ("--base laplace --base-sd 1", "--base-sd does not apply to the laplace base"),
    ] {
        let said = refused(&format!("run bimodal {flags}"));
        assert!(said.contains(message), "{flags}: {said}");
    }
}

#[test]
fn unknown_names_get_the_nearest() {
    for (words, message) in [
        ("run bimodl", "there is no target called 'bimodl'; did you mean 'bimodal'?"),
        ("run mixture1d --param mi=2", "there is no parameter called 'mi'; did you mean 'mu'?"),
        (
            "run bimodal --flow planer",
            "'--flow <NAME>': there is no flow called 'planer'; did you mean 'planar'?\n",
        ),
        ("run bimodal --flow transformer", "'--flow <NAME>': must be planar, radial, realnvp, "),
        ("run bimodal --schedule adaan", "no schedule called 'adaan'; did you mean 'adaann'?\n"),
        ("run bimodal --path pwoer", "no path called 'pwoer'; did you mean 'power'?\n"),
        ("run bimodal --optimizer adm", "no optimizer called 'adm'; did you mean 'adam'?\n"),
        ("run bimodal --activation relu", "'--activation <NAME>': must be tanh or algebraic\n"),
        ("run bimodal --precision f16", "'--precision <NAME>': must be f64 or f32\n"),
        ("run bimodal --base uniform", "'--base <NAME>': must be normal or laplace\n"),
        (
            "run bimodal --base-covariance low",
            "'--base-covariance <NAME>': must be diagonal or full\n",
        ),
        ("run bimodal --lairs 3", "unexpected argument '--lairs'"),
        ("densty r f.csv", "a similar subcommand exists: 'density'"),
    ] {
        let said = refused(words);
        assert!(said.contains(message), "{words}: {said}");
    }
}

#[test]
fn parameters_of_targets_are_checked() {
    for (words, message) in [
        ("run gaussian --param dim=2.5", "dim is 2.5, but must be a whole number"),
        ("run mixture1d --param mu=inf", "mu is inf, but must be finite"),
    ] {
        let said = refused(words);
        assert!(said.contains(message), "{words}: {said}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_found_out_at_once() {
    let place = Place::new();
    place.write("file", "");
    for flags in ["", "--dry-run"] {
        let output = place.adaann(&format!("run bimodal --out file/r {flags}"), &[]);
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(
            said.starts_with("error: --out: cannot create the output folder file/r: "),
            "{said}"
        );
        assert!(output.stdout.is_empty());
        assert_eq!(place.entries(), ["file"]);
    }
}

#[test]
fn a_dry_run_looks_at_the_folder() {
    let place = Place::new();
    place.run("bimodal --out r");
    let output = place.adaann("run bimodal --out r --dry-run", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the output folder r exists"), "{}", stderr(&output));
    place.run("bimodal --out r --dry-run --force");
    place.run("bimodal --out new/deep/r --dry-run");
    assert_eq!(place.entries(), ["r"]);
}

#[test]
fn a_run_that_fails_leaves_no_parents() {
    let place = Place::new();
    // Such large steps make the flow non-finite.
    let failing = "--optimizer sgd --lr 1e300 --schedule none --refine 200";
    let output = place.adaann(&format!("run bimodal {failing} --out a/b/r --quiet"), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(place.entries(), [""; 0]);
}

/// Flags and environment variables have the same bound, which is checked before anything starts.
#[test]
fn more_threads_than_are_started_are_refused() {
    let bound = "but must be a whole number from 0 to 1024";
    for words in ["run bimodal", "smc bimodal", "resume r", "paper ex1"] {
        let said = refused(&format!("{words} --threads 20000"));
        assert!(said.contains("--threads is 20000") && said.contains("from 0 to 1024"), "{said}");
    }
    let place = Place::new();
    for (value, shown) in
        [("20000", "20000"), ("99999999999999999999", "9"), ("-1", "-1"), ("x", "x")]
    {
        for words in ["run bimodal", "run bimodal --threads 2", "smc bimodal", "list"] {
            let mut command = place.command();
            command.args(words.split(' ')).env("RAYON_NUM_THREADS", value);
            let output = command.output().unwrap();
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{words}: {said}");
            assert!(said.contains(&format!("RAYON_NUM_THREADS is {shown}")), "{words}: {said}");
            assert!(said.contains(bound) && said.lines().count() == 1, "{words}: {said}");
        }
    }
    assert_eq!(place.entries(), [""; 0]);
    let list = place.command().arg("list").env("RAYON_NUM_THREADS", "3").output().unwrap();
    assert!(list.status.success(), "{}", stderr(&list));
}
