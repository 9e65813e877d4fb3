//! Settings of a fit: from the model file, and from flags before it.

use crate::common::{Place, stderr, stdout};
use crate::{refuse, succeed};

const MODEL: &str = "density = \"-z^2\"\n[parameters]\nz = {}\n";

fn with_fit(place: &Place, lines: &str) {
    place.write("m.toml", &format!("{MODEL}[fit]\n{lines}\n"));
}

#[test]
fn flags_count_before_the_file() {
    let place = Place::new();
    with_fit(
        &place,
        "tau = 0.3\ndraws = 123\nflow = \"planar\"\nlayers = 3\nbase-mean = [1.5]\nseed = 9",
    );
    let settings = |words: &str| stdout(&succeed(&place, &format!("fit m.toml --dry-run {words}")));
    let own = settings("");
    for line in ["tau = 0.3", "draws = 123", "layers = 3", "mean = [1.5]", "seed = 9"] {
        assert!(own.contains(line), "{line} is not in\n{own}");
    }
    let given = settings("--tau 0.7 --layers=5 --seed 4");
    for line in ["tau = 0.7", "draws = 123", "layers = 5", "mean = [1.5]", "seed = 4"] {
        assert!(given.contains(line), "{line} is not in\n{given}");
    }
    assert_eq!(place.entries(), ["m.toml"]);
}

#[test]
fn switches_and_folders_stand_in_the_file() {
    let place = Place::new();
    let quick = "warmup = 5\nupdates = 1\nrefine = 5\nsamples = 8\nrefine-samples = 8\n\
                 variance-samples = 16\nflow = \"planar\"\nlayers = 2\ndraws = 50";
    with_fit(&place, &format!("{quick}\nquiet = true\nforce = false\nout = \"here\""));
    let output = succeed(&place, "fit m.toml");
    assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()));
    assert_eq!(place.entries(), ["here", "m.toml"]);
    refuse(&place, "fit m.toml", 2);
    succeed(&place, "fit m.toml --force");
}

#[test]
fn mistakes_among_settings_have_their_place() {
    let place = Place::new();
    for (lines, at, words) in [
        ("taw = 1", "m.toml:5:", "taw"),
        ("draws = 10\ntau = \"high\"", "m.toml:6:7", "high"),
        ("flow = \"plannar\"", "m.toml:5:8", "plannar"),
        ("layers = 2.5", "m.toml:5:10", "2.5"),
        ("help = true", "m.toml:5:", "help"),
        ("data = \"other.csv\"", "m.toml:5:", "data"),
    ] {
        with_fit(&place, lines);
        let said = refuse(&place, "fit m.toml", 2);
        assert!(said.contains(at) && said.contains(words), "{lines}: {said}");
    }
    with_fit(&place, "tau = -1");
    let said = refuse(&place, "fit m.toml", 2);
    assert!(said.contains("tau is -1"), "{said}");
    assert_eq!(place.entries(), ["m.toml"]);
}
