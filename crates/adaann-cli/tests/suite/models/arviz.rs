//! ArviZ reads the files of `adaann export`.

use super::{fit, succeed};
use crate::support::common::{Place, stdout, table};
use crate::support::python;
use adaann_netcdf::Values;

/// The number at the end of a line.
fn bits(line: &str) -> f64 {
    let bits = line.rsplit(' ').next().expect("a number");
    f64::from_bits(u64::from_str_radix(bits, 16).expect("sixteen digits"))
}

#[test]
fn arviz_finds_the_draws() {
    if !python::is_there() {
        return;
    }
    let place = Place::new();
    succeed(&place, "init m.toml --kind hierarchical");
    fit(&place, "m.toml --out run");
    let said = stdout(&succeed(&place, "export run --predictions 300 --unweighted"));
    assert!(said.contains("unweighted draws of the flow"), "{said}");
    succeed(&place, "export run --out chosen.csv");
    let found = python::read("arviz", &place.path("run/draws.nc"));
    let vector = |name: &str| -> Vec<String> { (1..=8).map(|i| format!("{name}[{i}]")).collect() };
    let (mu, tau) = (vec!["mu".to_owned()], vec!["tau".to_owned()]);
    let [log_p, log_q, weight] = ["log_p", "log_q", "weight"].map(|name| vec![name.to_owned()]);
    // The posterior has resampled draws; the flow's own draws are in a separate group.
    for (file, group, own) in [
        ("chosen.csv", "posterior", vec![]),
        ("chosen.csv", "sample_stats", vec![("lp", &log_p)]),
        ("run/draws.csv", "unweighted", vec![]),
        (
            "run/draws.csv",
            "unweighted_stats",
            vec![("lp", &log_p), ("log_q", &log_q), ("weight", &weight)],
        ),
    ] {
        let (header, rows) = table(&place.read(file));
        let header: Vec<&str> = header.split(',').collect();
        let line = |name: &str, dimensions: &str, columns: &[String]| {
            let column = |name: &String| header.iter().position(|n| n == name).expect("a column");
            let columns: Vec<usize> = columns.iter().map(column).collect();
            let values = rows.iter().flat_map(|row| columns.iter().map(|&c| row[c])).collect();
            let values = python::spelled(&Values::Numbers(values));
            format!("variable {group} {name} ({dimensions}) {values}")
        };
        let mut expected: Vec<String> =
            own.iter().map(|(name, columns)| line(name, "chain, draw", columns)).collect();
        if own.is_empty() {
            expected.push(line("mu", "chain, draw", &mu));
            expected.push(line("tau", "chain, draw", &tau));
            for name in ["theta", "deviation"] {
                let dimensions = format!("chain, draw, {name}_dim_0");
                expected.push(line(name, &dimensions, &vector(name)));
            }
        }
        for expected in expected {
            let start = expected.split(" numbers").next().expect("a name");
            assert!(found.contains(&expected), "{start} is not as in {file}");
        }
    }
    let effects = Values::Numbers(vec![28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]);
    let observed = format!("variable observed_data effect (row) {}", python::spelled(&effects));
    assert!(found.contains(&observed), "{observed}");
    let predicted = "variable posterior_predictive effect (chain, draw, row) numbers ";
    let predicted =
        found.iter().find_map(|line| line.strip_prefix(predicted)).expect("predictions");
    assert_eq!(predicted.split(' ').count(), 300 * 8);
    let by_row = "variable log_likelihood effect (chain, draw, row) numbers ";
    let by_row = found.iter().find_map(|line| line.strip_prefix(by_row)).expect("row by row");
    assert_eq!(by_row.split(' ').count(), 300 * 8);
    // Eight numbers with standard errors of 9 to 18 and a common mean: any program gives about −30.8.
    let loo = bits(&python::read("loo", &place.path("run/draws.nc"))[0]);
    assert!((-32.0..-29.5).contains(&loo), "{loo}");
    let about = |line: &&String| line.starts_with("attribute unweighted description");
    assert_eq!(found.iter().filter(about).count(), 1, "the group says what it is");
    let summary = python::read("summary", &place.path("run/draws.nc"));
    assert_eq!(summary.len(), 2 + 8 + 8, "{summary:?}");
}

/// A flow that stays at its base, N(0, 2²), for a target N(1, 1): without weights ArviZ would report a mean of 0.
#[test]
fn arviz_agrees_with_the_summary() {
    if !python::is_there() {
        return;
    }
    const DRAWS: f64 = 2_000.0;
    let place = Place::new();
    succeed(
        &place,
        "run gaussian --param dim=1 --schedule none --refine 1 --lr 1e-9 --initial-scale 1e-6 \
         --base-mean 0 --base-sd 2 --draws 2000 --check-particles 0 --quiet --out run",
    );
    succeed(&place, "export run --predictions 0");
    let summary = place.summary("run");
    let number = |key: &str| summary["parameters"][0][key].as_f64().expect("a number");
    let said = python::read("summary", &place.path("run/draws.nc"));
    let mean = bits(&said[0]);
    // Systematic resampling is at least as good as independent resampling, whose error is sd/√n.
    let error = number("sd") / DRAWS.sqrt();
    assert!((mean - number("mean")).abs() < 4.0 * error, "{mean} in ArviZ, {summary}");
    assert!((number("mean_q") - number("mean")).abs() > 20.0 * error, "the flow is elsewhere");
}
