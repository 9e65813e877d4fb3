//! What `adaann export` writes, opened by ArviZ.

use super::{fit, succeed};
use crate::support::common::{Place, table};
use crate::support::python;
use adaann_netcdf::Values;

#[test]
fn arviz_finds_the_draws() {
    let place = Place::new();
    succeed(&place, "init m.toml --kind hierarchical");
    fit(&place, "m.toml --out run");
    succeed(&place, "export run --predictions 10");
    let found = python::read("arviz", &place.path("run/draws.nc"));
    let (header, rows) = table(&place.read("run/draws.csv"));
    let header: Vec<&str> = header.split(',').collect();
    let column = |name: &str| header.iter().position(|n| *n == name).expect(name);
    let line = |place: &str, name: &str, dimensions: &str, columns: &[usize]| {
        let values = rows.iter().flat_map(|row| columns.iter().map(|&c| row[c])).collect();
        let values = python::spelled(&Values::Numbers(values));
        format!("variable {place} {name} ({dimensions}) {values}")
    };
    let vector =
        |name: &str| -> Vec<usize> { (1..=8).map(|i| column(&format!("{name}[{i}]"))).collect() };
    for expected in [
        line("posterior", "mu", "chain, draw", &[column("mu")]),
        line("posterior", "tau", "chain, draw", &[column("tau")]),
        line("posterior", "theta", "chain, draw, theta_dim_0", &vector("theta")),
        line("posterior", "deviation", "chain, draw, deviation_dim_0", &vector("deviation")),
        line("sample_stats", "weight", "chain, draw", &[column("weight")]),
    ] {
        let start = expected.split(" numbers").next().expect("a name");
        assert!(found.contains(&expected), "{start} is not as in draws.csv");
    }
    let effects = Values::Numbers(vec![28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]);
    let observed = format!("variable observed_data effect (row) {}", python::spelled(&effects));
    assert!(found.contains(&observed), "{observed}");
    let predicted = "variable posterior_predictive effect (chain, draw, row) numbers ";
    let predicted =
        found.iter().find_map(|line| line.strip_prefix(predicted)).expect("predictions");
    assert_eq!(predicted.split(' ').count(), 10 * 8);
    let log_weights = found.iter().any(|line| line.starts_with("variable sample_stats log_weight"));
    assert!(log_weights, "log weights");
    let summary = python::read("summary", &place.path("run/draws.nc"));
    assert_eq!(summary.len(), 2 + 8 + 8, "{summary:?}");
}
