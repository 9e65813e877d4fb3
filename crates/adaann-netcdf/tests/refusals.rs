//! Invalid files are rejected with a message that says where and why.

use adaann_netcdf::{Dimension, File, Group, Value, Values, Variable};

fn sample() -> File {
    let theta = Variable {
        name: "theta".into(),
        dimensions: vec!["chain".into(), "draw".into()],
        values: Values::Numbers(vec![0.0; 6]),
        attributes: vec![],
    };
    let posterior = Group {
        name: "posterior".into(),
        attributes: vec![],
        dimensions: vec![Dimension::counted("chain", 2), Dimension::counted("draw", 3)],
        variables: vec![theta],
    };
    File { attributes: vec![], groups: vec![posterior] }
}

/// Changes the group of the sample, and returns the error message.
fn refused(change: impl Fn(&mut Group)) -> String {
    let mut file = sample();
    assert!(file.to_bytes().is_ok());
    change(&mut file.groups[0]);
    file.to_bytes().expect_err("it should be refused").to_string()
}

fn refused_name(name: &str) -> String {
    refused(|group| group.variables[0].name = name.into())
}

#[test]
fn names() {
    let slash = refused_name("theta/x");
    assert!(slash.contains("\"theta/x\" of a variable in group \"posterior\" has '/'"), "{slash}");
    assert!(refused_name("").contains("is empty"));
    assert!(refused_name("[1]").contains("begins with punctuation"));
    assert!(refused_name(" x").contains("begins with punctuation or a space"));
    assert!(refused_name("x ").contains("ends with a space"));
    assert!(refused_name("x\ty").contains("'\\t'"));
    assert!(refused_name("x\0y").contains("'\\0'"));
    assert!(refused_name("_nc4_non_coord_x").contains("choose another"));
    let long = refused_name(&"é".repeat(129));
    assert!(long.contains("258 bytes, but at most 256"), "{long}");
}

#[test]
fn names_that_are_there_already() {
    let twice = refused_name("draw");
    assert_eq!(twice, "group \"posterior\" has two entries named \"draw\"; names must be unique");
    let mut file = sample();
    file.groups.push(file.groups[0].clone());
    let twice = file.to_bytes().expect_err("two groups of one name").to_string();
    assert!(twice.contains("the file has two entries named \"posterior\""), "{twice}");
    let shape = refused(|group| group.variables[0].dimensions[0] = "draw".into());
    assert!(shape.contains("the shape of variable \"theta\""), "{shape}");
}

#[test]
fn lengths() {
    let short = refused(|group| group.variables[0].values = Values::Integers(vec![1; 5]));
    assert_eq!(
        short,
        "variable \"theta\" in group \"posterior\" has 5 values, but its dimensions \
         (chain: 2, draw: 3) require 6"
    );
    let coordinate = refused(|group| group.dimensions[1].length = 4);
    assert!(coordinate.contains("dimension \"draw\""), "{coordinate}");
    assert!(coordinate.contains("(draw: 4) require 4"), "{coordinate}");
    let huge = refused(|group| {
        for dimension in &mut group.dimensions {
            dimension.length = usize::MAX / 16;
            dimension.coordinate = None;
        }
    });
    assert!(huge.contains("require more than memory can hold"), "{huge}");
    let scalar = refused(|group| group.variables[0].dimensions.clear());
    assert!(scalar.contains("() require 1"), "{scalar}");
}

#[test]
fn dimensions() {
    let unknown = refused(|group| group.variables[0].dimensions[0] = "chains".into());
    assert!(unknown.contains("\"chains\""), "{unknown}");
    assert!(unknown.contains("[\"chain\", \"draw\"]"), "{unknown}");
    let many = refused(|group| {
        let name = |i: usize| format!("d{i}");
        group.dimensions = (0..33).map(|i| Dimension::counted(name(i), 1)).collect();
        group.variables[0].dimensions = (0..33).map(name).collect();
    });
    assert!(many.contains("33 dimensions, but at most 32"), "{many}");
}

#[test]
fn attributes() {
    let set = |name: &str, value: Value| {
        refused(|group| group.variables[0].attributes = vec![(name.into(), value.clone())])
    };
    assert!(set("_FillValue", Value::Number(0.0)).contains("reserved by netCDF"));
    assert!(set("DIMENSION_LIST", Value::Integer(0)).contains("reserved by netCDF"));
    let list = set("list", Value::List(Values::Numbers(vec![0.0; 8001])));
    assert!(list.contains("8001 values, but at most 8000"), "{list}");
    let nul = set("text", Value::Text("a\0b".into()));
    assert!(nul.contains("NUL"), "{nul}");
    let labels = refused(|group| {
        group.dimensions[0].coordinate = Some(Values::Texts(vec!["a".into(), "\0".into()]));
    });
    assert!(labels.contains("dimension \"chain\""), "{labels}");
}
