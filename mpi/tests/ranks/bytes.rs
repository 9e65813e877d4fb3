//! With any number of ranks, jobs write the same bytes as without MPI.

use crate::place::{Place, stderr};

/// A command gives the same files with 1 to 4 ranks as without MPI.
fn assert_same(place: &Place, words: &str) {
    place.must(None, &format!("{words} --threads 1 --out without"));
    for ranks in 1..=4 {
        let out = format!("with-{ranks}");
        place.must(Some(ranks), &format!("{words} --threads 1 --out {out}"));
        place.assert_same("without", &out);
    }
}

fn model(name: &str) -> String {
    format!("{}/../models/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn an_annealed_flow() {
    assert_same(
        &Place::new(),
        "run bimodal --tau 0.1 --refine 500 --draws 2000 --check-particles 300 --quiet",
    );
}

#[test]
fn the_ladder_on_a_model_file() {
    assert_same(&Place::new(), &format!("fit {} --quiet", model("garch")));
}

#[test]
fn the_ladder_on_another() {
    assert_same(&Place::new(), &format!("fit {} --quiet", model("viral_load")));
}

#[test]
fn particles() {
    assert_same(&Place::new(), "smc mixture2d --particles 600 --islands 2 --quiet");
}

#[test]
fn a_program_of_the_users() {
    let place = Place::new();
    place.write_slow(0.0, 1e9);
    assert_same(&place, "fit slow.toml --quiet");
}

#[test]
fn several_seeds() {
    assert_same(
        &Place::new(),
        "run bimodal --seeds 4 --tau 0.3 --refine 300 --draws 1000 --check-particles 300 --quiet",
    );
}

#[test]
fn a_calibration() {
    let place = Place::new();
    let text = "[data]\ny = [0.3, -1.1, 0.8, 2.0]\n[parameters]\nmu = \"normal(1, 2)\"\n\
                sigma = \"lognormal(0, 0.5)\"\n[likelihood]\ny = \"normal(mu, sigma)\"\n";
    std::fs::write(place.path("mean.toml"), text).unwrap();
    assert_same(&place, "calibrate mean.toml -n 6 --draws 50 --quiet");
}

#[test]
fn the_paper() {
    let place = Place::new();
    let words = "paper ex1 --quick --trials 1 --threads 1 --quiet --out";
    place.must(None, &format!("{words} without"));
    place.must(Some(3), &format!("{words} with"));
    let results = |out: &str| {
        let text = std::fs::read_to_string(place.path(out).join("results.json")).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        strip_cpu(&mut value);
        value
    };
    assert_eq!(results("without"), results("with"));
}

fn strip_cpu(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|name, _| !name.contains("seconds"));
            map.values_mut().for_each(strip_cpu);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(strip_cpu),
        _ => {}
    }
}

/// Output and errors are printed only once.
#[test]
fn rank_0_alone_prints() {
    let place = Place::new();
    let check = format!("check {}", model("eight_schools"));
    let (without, with) = (place.must(None, &check), place.must(Some(3), &check));
    assert_eq!(String::from_utf8_lossy(&without.stdout), String::from_utf8_lossy(&with.stdout));
    let wrong = place.run(Some(3), "fit nothing.toml");
    let said = stderr(&wrong);
    assert_eq!((wrong.status.code(), said.matches("nothing.toml").count()), (Some(2), 1), "{said}");
    let help = place.must(Some(2), "--help");
    assert_eq!(String::from_utf8_lossy(&help.stdout).matches("Usage:").count(), 1);
    place.must(None, "run gaussian --quiet --out run");
    let (without, with) =
        (place.must(None, "sample run -n 5"), place.must(Some(2), "sample run -n 5"));
    assert_eq!(without.stdout, with.stdout);
}
