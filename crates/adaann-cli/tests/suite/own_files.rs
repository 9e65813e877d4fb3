//! A run is read only from its own folder.

use crate::support::common;
use common::{Place, TINY, stderr};
use std::fs;

#[test]
fn data_that_is_missing_is_not_looked_for_elsewhere() {
    let place = Place::new();
    place.write("d.csv", "y\n1\n2\n3\n");
    place.write(
        "m.toml",
        "[data]\nfile = \"d.csv\"\n[parameters]\na = \"normal(0, 2)\"\n[likelihood]\ny = \"normal(a, 1)\"\n",
    );
    let output = place.adaann("fit m.toml --out r --quiet", TINY);
    assert!(output.status.success(), "{}", stderr(&output));
    let flags = ["--layers", "2", "--refine", "3", "--draws", "50", "--schedule", "none"];
    let output = place.adaann("run lorenz --out l --quiet --check-particles 0", &flags);
    assert!(output.status.success(), "{}", stderr(&output));
    for run in ["r", "l"] {
        fs::remove_file(place.path(&format!("{run}/data.csv"))).unwrap();
        for words in ["report", "export", "sample"] {
            let output = place.adaann(&format!("{words} {run}"), &[]);
            assert_eq!(output.status.code(), Some(2), "{words} {run}: {}", stderr(&output));
            assert!(stderr(&output).contains("data.csv"), "{}", stderr(&output));
        }
    }
}
