//! ArviZ and every netCDF-4 reader that it may use can open the files of this crate.

mod python;

use adaann_netcdf::{Dimension, File, Group, Value, Values, Variable};
use std::{fs, path::PathBuf};

const READERS: [&str; 4] = ["h5py", "netCDF4", "xarray-netcdf4", "xarray-h5netcdf"];

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn texts<const N: usize>(texts: [&str; N]) -> Values {
    Values::Texts(texts.map(String::from).to_vec())
}

fn variable(name: &str, dimensions: &[&str], values: Values) -> Variable {
    let dimensions = dimensions.iter().map(|&name| name.into()).collect();
    Variable { name: name.into(), dimensions, values, attributes: vec![] }
}

fn one_group(dimensions: Vec<Dimension>, variables: Vec<Variable>) -> File {
    let group = Group { name: "posterior".into(), attributes: vec![], dimensions, variables };
    File { attributes: vec![], groups: vec![group] }
}

/// Multiples of 1/8, whose sums are exact in any order.
fn eighths(count: usize, stride: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * stride) % 97) as f64 / 8.0 - 3.0).collect()
}

/// Groups and attributes as ArviZ writes them: 2 chains, 8 draws, 3 components.
fn inference() -> File {
    let draws = || vec![Dimension::counted("chain", 2), Dimension::counted("draw", 8)];
    let labels = Dimension::labelled("theta_dim_0", texts(["a", "β γ", "third"]));
    let mut theta = variable(
        "theta",
        &["chain", "draw", "theta_dim_0"],
        Values::Numbers(eighths(2 * 8 * 3, 29)),
    );
    theta.attributes.push(("unit".into(), text("m/s²")));
    let posterior = Group {
        name: "posterior".into(),
        attributes: vec![
            ("created_at".into(), text("2026-01-02T03:04:05+00:00")),
            ("inference_library".into(), text("adaann")),
            ("sampling_time".into(), Value::Number(1.25)),
            ("tuning_steps".into(), Value::Integer(-1000)),
        ],
        dimensions: [draws(), vec![labels]].concat(),
        variables: vec![
            theta,
            variable("sigma[1]", &["chain", "draw"], Values::Numbers(eighths(16, 31))),
        ],
    };
    let y = || Dimension::labelled("y_dim_0", Values::Numbers(vec![0.5, -1e300, 3.0, 1e-310]));
    let predictive = Group {
        name: "posterior_predictive".into(),
        attributes: vec![],
        dimensions: [draws(), vec![y()]].concat(),
        variables: vec![variable(
            "y",
            &["chain", "draw", "y_dim_0"],
            Values::Numbers(eighths(64, 5)),
        )],
    };
    let statistics = Group {
        name: "sample_stats".into(),
        attributes: vec![],
        dimensions: draws(),
        variables: vec![
            variable("lp", &["chain", "draw"], Values::Numbers(eighths(16, 3))),
            variable(
                "mode",
                &["chain", "draw"],
                Values::Integers((0..16).map(|i| i % 3).collect()),
            ),
        ],
    };
    let observed = Group {
        name: "observed_data".into(),
        attributes: vec![],
        dimensions: vec![y()],
        variables: vec![variable(
            "y",
            &["y_dim_0"],
            Values::Numbers(vec![f64::NAN, f64::INFINITY, -0.0, f64::MIN_POSITIVE]),
        )],
    };
    File {
        attributes: vec![("title".into(), text("a test"))],
        groups: vec![posterior, predictive, statistics, observed],
    }
}

/// Contents that netCDF allows but adaann does not write.
fn oddities() -> File {
    let mut posterior = Group { name: "posterior".into(), ..Default::default() };
    posterior.attributes = vec![
        ("empty".into(), text("")),
        ("no integers".into(), Value::List(Values::Integers(vec![]))),
        ("numbers".into(), Value::List(Values::Numbers(vec![1.5, f64::NEG_INFINITY]))),
        ("integers".into(), Value::List(Values::Integers(vec![i64::MIN, 7, i64::MAX]))),
        ("texts".into(), Value::List(texts(["one", "zwei", "", "四"]))),
        ("long".into(), text(&"lang ".repeat(30_000))),
    ];
    // More than the eight that HDF5 itself would store in a header.
    posterior.attributes.extend((0..20).map(|i| (format!("number {i}"), Value::Integer(i * i))));
    posterior.dimensions = vec![
        Dimension { name: "without".into(), length: 5, coordinate: None },
        Dimension { name: "nothing".into(), length: 0, coordinate: None },
        Dimension::counted("none", 0),
        Dimension::labelled("no text", texts([])),
        Dimension::labelled("texts", texts(["", "b", "c\n\"d\" \u{1f600}"])),
        Dimension::counted("unused", 4),
    ];
    posterior.variables = vec![
        variable("a-b.c+d@e(f)[1,2]{g}~ h", &["without"], Values::Numbers(eighths(5, 11))),
        variable("θ", &["texts", "without"], Values::Integers((-7..8).collect())),
        variable("0", &[], Values::Numbers(vec![f64::NAN])),
        variable("scalar text", &[], texts(["so"])),
        variable("labels", &["texts"], texts(["x", "", "z"])),
        variable("e1", &["without", "nothing"], Values::Numbers(vec![])),
        variable("e2", &["none"], Values::Integers(vec![])),
        variable("e3", &["no text", "texts"], Values::Numbers(vec![])),
    ];
    let empty = Group { name: "empty group".into(), ..Default::default() };
    File { attributes: vec![], groups: vec![empty, posterior] }
}

fn written(file: &File) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("file.nc");
    fs::write(&path, file.to_bytes().expect("the file is allowed")).expect("it is written");
    (folder, path)
}

fn assert_read(file: &File, readers: &[&str]) {
    if !python::is_there() {
        return;
    }
    let (_folder, path) = written(file);
    for reader in readers {
        let (found, expected) = (python::read(reader, &path), python::expected(file));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "by {reader}");
        }
        assert_eq!(found.len(), expected.len(), "things found by {reader}");
    }
}

#[test]
fn arviz_finds_what_was_written() {
    let file = inference();
    assert_read(&file, &READERS);
    assert_read(&file, &["arviz"]);
}

#[test]
fn arviz_summarises_what_was_written() {
    if !python::is_there() {
        return;
    }
    let file = inference();
    let (_folder, path) = written(&file);
    let mean = |values: Vec<f64>| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        python::spelled(&Values::Numbers(vec![mean]))
    };
    let theta = |i| eighths(48, 29).into_iter().skip(i).step_by(3).collect();
    let mut expected = vec![
        format!("mean sigma[1] {}", mean(eighths(16, 31))),
        format!("mean theta[a] {}", mean(theta(0))),
        format!("mean theta[β γ] {}", mean(theta(1))),
        format!("mean theta[third] {}", mean(theta(2))),
    ];
    expected.sort();
    assert_eq!(python::read("summary", &path), expected);
}

#[test]
fn every_reader_finds_oddities() {
    assert_read(&oddities(), &READERS);
}

#[test]
fn many_labels_fill_many_collections() {
    let labels = (0..20_000).map(|i| format!("label {}", "ä".repeat(i % 13))).collect();
    let labels = Dimension::labelled("draw", Values::Texts(labels));
    let values = Values::Numbers(eighths(20_000, 7));
    assert_read(&one_group(vec![labels], vec![variable("x", &["draw"], values)]), &READERS);
}

#[test]
fn more_variables_than_a_scale_can_list() {
    let variables = (0..4100).map(|i| {
        let values = Values::Integers(vec![i, -i]);
        variable(&format!("x{i}"), &["draw"], values)
    });
    let file = one_group(vec![Dimension::counted("draw", 2)], variables.collect());
    // Use the two libraries below xarray, because xarray is slow with this many variables.
    assert_read(&file, &["h5py", "netCDF4"]);
}
