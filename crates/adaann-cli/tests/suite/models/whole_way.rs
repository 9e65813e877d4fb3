//! From a template to a fit, its page, predictions, more draws and a comparison.

use super::{fit, refuse, succeed};
use crate::support::common::{Place, names, stderr, stdout, table};
use std::path::Path;

#[test]
fn every_kind_goes_the_whole_way() {
    let place = Place::new();
    for (kind, unknowns, new_inputs, lines) in [
        ("density", 2, "", 0),
        ("regression", 3, "x\n0.25\n100\n", 8),
        ("ode", 4, "t\n20\n0\n", 10),
        ("hierarchical", 10, "school,error\n3,1\n8,2\n", 8),
    ] {
        succeed(&place, &format!("init {kind}.toml --kind {kind}"));
        let text = place.read(&format!("{kind}.toml"));
        assert!(text.contains(&format!("adaann fit {kind}.toml")), "{text}");
        let checked = stdout(&succeed(&place, &format!("check {kind}.toml")));
        assert!(checked.contains(&format!("{unknowns} unknowns")), "{checked}");
        assert!(!checked.contains("warning"), "{checked}");
        fit(&place, &format!("{kind}.toml --out {kind}"));
        let folder = names(&place.path(kind));
        for file in ["draws.csv", "flow.safetensors", "model.toml", "report.html", "summary.json"] {
            assert!(folder.iter().any(|name| name == file), "{kind}: {file} is not in {folder:?}");
        }
        assert_eq!(place.read(&format!("{kind}/model.toml")), text);
        let page = place.read(&format!("{kind}/report.html"));
        succeed(&place, &format!("report {kind}"));
        assert!(place.read(&format!("{kind}/report.html")) == page, "{kind}: another page");
        predict(&place, kind, new_inputs, lines);
        let draws = place.read(&format!("{kind}/draws.csv"));
        succeed(&place, &format!("export {kind} --out out.csv --unweighted --force"));
        assert!(place.read("out.csv") == draws, "{kind}: other draws");
        let more = stdout(&succeed(&place, &format!("sample {kind} -n 7 --seed 5")));
        let (header, rows) = table(&more);
        assert_eq!((format!("{header},log_q,weight"), rows.len()), (table(&draws).0, 7));
        assert!(rows.iter().flatten().all(|x| x.is_finite()), "{more}");
        assert_eq!(more, stdout(&succeed(&place, &format!("sample {kind} -n 7 --seed 5"))));
    }
    let compared = stdout(&succeed(&place, "compare regression hierarchical"));
    for words in
        ["regression", "hierarchical", "slope", "deviation[8]", "theta[1]", "different data"]
    {
        assert!(compared.contains(words), "{words} is not in\n{compared}");
    }
    fit(&place, "regression.toml --out again --seed 2");
    let compared = stdout(&succeed(&place, "compare regression again"));
    for words in ["log evidence", "verdict", "at_ten"] {
        assert!(compared.contains(words), "{words} is not in\n{compared}");
    }
    refuse(&place, "compare regression", 2);
}

fn predict(place: &Place, kind: &str, new_inputs: &str, lines: usize) {
    if lines == 0 {
        let said = refuse(place, &format!("predict {kind}"), 2);
        assert!(said.contains("it has nothing to predict"), "{said}");
        return;
    }
    succeed(place, &format!("predict {kind} --draws 100"));
    let predicted = place.read(&format!("{kind}/predictions.csv"));
    assert_eq!(predicted.lines().count(), 1 + lines, "{predicted}");
    place.write("new.csv", new_inputs);
    succeed(place, &format!("predict {kind} --at new.csv --out {kind}-new.csv --draws 100"));
    let predicted = place.read(&format!("{kind}-new.csv"));
    let mut rows = predicted.lines();
    let header: Vec<&str> = rows.next().expect("a header").split(',').collect();
    let column = |name: &str| header.iter().position(|n| *n == name).expect(name);
    let (expected, low, high) = (column("expected"), column("q025"), column("q975"));
    for (i, row) in rows.enumerate() {
        let cells: Vec<&str> = row.split(',').collect();
        assert_eq!(cells[0], (i + 1).to_string());
        assert_eq!(cells[column("observed")], "", "nothing was observed there: {row}");
        let number = |at: usize| cells[at].parse::<f64>().expect(row);
        assert!(number(low) < number(high) && number(expected).is_finite(), "{row}");
        // The table has the new inputs and their predictions.
        let given = new_inputs.lines().nth(i + 1).expect("as many rows");
        let given: Vec<f64> = given.split(',').map(|x| x.parse().expect(x)).collect();
        for (c, x) in given.iter().enumerate() {
            assert_eq!(number(1 + c), *x, "{row}");
        }
    }
    assert_eq!(predicted.lines().count(), new_inputs.lines().count());
}

/// Names that need quotes, and names of the table's own columns.
#[test]
fn columns_of_any_name_are_predicted_beside() {
    let place = Place::new();
    place.write("d.csv", "\"x, first\",y,sd\n1,2,3\n2,3,4\n");
    place.write(
        "m.toml",
        "[data]\nfile = \"d.csv\"\nrename = { x = \"x, first\" }\n[parameters]\n\
         a = \"normal(0, 1)\"\n[likelihood]\ny = \"normal(a * sd, 1)\"\n",
    );
    fit(&place, "m.toml --out renamed");
    succeed(&place, "predict renamed");
    let text = place.read("m.toml").replace("rename = { x = \"x, first\" }\n", "");
    place.write("m.toml", &text);
    fit(&place, "m.toml --out quoted");
    succeed(&place, "predict quoted");
    for (run, start) in [("renamed", "row,x,y,sd,"), ("quoted", "row,\"x, first\",y,sd,")] {
        let predicted = place.read(&format!("{run}/predictions.csv"));
        assert!(predicted.starts_with(start), "{predicted}");
    }
}

/// Their settings are accepted, and no errors are found.
#[test]
fn the_gallery_is_fine() {
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let models: Vec<String> =
        names(&folder).into_iter().filter(|name| name.ends_with(".toml")).collect();
    assert!(models.len() >= 14, "{models:?}");
    for model in models {
        let path = folder.join(&model).display().to_string();
        for words in [["check", &path, "--latex"], ["fit", &path, "--dry-run"]] {
            let output = place.adaann("", &words);
            assert!(output.status.success(), "{words:?}: {}{}", stdout(&output), stderr(&output));
            assert_eq!(stderr(&output), "", "{words:?}");
        }
    }
    assert!(place.entries().is_empty());
}

#[test]
fn templates_replace_nothing_unasked() {
    let place = Place::new();
    place.write("mine.toml", "mine");
    let said = refuse(&place, "init mine.toml", 2);
    assert!(said.contains("'mine.toml', which exists") && said.contains("--force"), "{said}");
    assert_eq!(place.read("mine.toml"), "mine");
    succeed(&place, "init mine.toml --force --schema schema.json");
    assert!(place.read("mine.toml").contains("[likelihood]"));
    let schema: serde_json::Value = serde_json::from_str(&place.read("schema.json")).expect("JSON");
    let fit = &schema["properties"]["fit"]["properties"];
    assert!(fit["tau"]["description"].is_string(), "{fit}");
    assert_eq!(place.entries(), ["mine.toml", "schema.json"]);
}
