//! Runs that would never finish are refused or report it.

use crate::support::common;
use common::{Place, stderr};

#[test]
fn steps_that_lead_nowhere_end_the_run() {
    let place = Place::new();
    let output = place.adaann("run mixture2d --param mu=1e5 --out r --quiet", &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("hardly moves t = 0.0100") && said.contains("raise --tau"), "{said}");
    let output = place.adaann("run bimodal --t0 1e-320 --out r --quiet", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--t0 is 1e-320, but must be at least"));
    assert_eq!(place.entries(), [""; 0]);
}

/// At mu = y the density is sigma⁻ⁿ: it is unbounded and has no integral.
#[test]
fn equal_measurements_are_refused_with_what_would_help() {
    let place = Place::new();
    for (rows, y) in [(400_000, "3.5"), (400_000, "1"), (50, "0.1"), (7, "0")] {
        place.write("d.csv", &format!("y\n{}", format!("{y}\n").repeat(rows)));
        for sigma in
            ["\"half_normal(5)\"", "{ lower = 0 }", "{ prior = \"normal(0, 5)\", lower = 0 }"]
        {
            let model = format!(
                "[data]\nfile = \"d.csv\"\n[parameters]\nmu = \"normal(0, 10)\"\nsigma = {sigma}\n\
                 [likelihood]\ny = \"normal(mu, sigma)\"\n"
            );
            place.write("m.toml", &model);
            let output = place.adaann("fit m.toml --out r --quiet", &[]);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{rows} {y} {sigma}: {said}");
            // In the coordinate log sigma the density is sigma^(1 - n), up to rounding.
            let rate =
                said.split("by ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
            let off = rate.map(|rate: f64| rate / (rows - 1) as f64 - 1.0);
            assert!(off.is_some_and(|off| off.abs() < 0.02), "{rows} {y} {sigma}: {said}");
            for words in
                ["grows without bound as sigma goes to 0", "mu =", "`lower`", "inv_gamma(2, 1)"]
            {
                assert!(said.contains(words), "{rows} {y} {sigma}: {words} is not in {said}");
            }
        }
        // The remedy in the message works.
        for sigma in ["\"inv_gamma(2, 1)\"", "{ prior = \"half_normal(5)\", lower = 0.01 }"] {
            let model = format!(
                "[data]\nfile = \"d.csv\"\n[parameters]\nmu = \"normal(0, 10)\"\nsigma = {sigma}\n\
                 [likelihood]\ny = \"normal(mu, sigma)\"\n"
            );
            place.write("m.toml", &model);
            let output = place.adaann("fit m.toml --out r --quiet --force", &[]);
            assert!(output.status.success(), "{rows} {y} {sigma}: {}", stderr(&output));
        }
        std::fs::remove_dir_all(place.path("r")).unwrap();
    }
}
