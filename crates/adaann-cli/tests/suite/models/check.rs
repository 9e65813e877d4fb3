//! `adaann check` reports what holds at typical points of the posterior.

use super::succeed;
use crate::support::common::{Place, stdout};

/// Weights by height, with priors far wider than the posterior.
const PEOPLE: &str = "[data]\nx = [170, 180, 165, 190, 176]\ny = [64, 82, 55, 97, 70]\n";

fn said(text: &str) -> String {
    let place = Place::new();
    place.write("m.toml", text);
    stdout(&succeed(&place, "check m.toml"))
}

/// Is there a warning with all these words?
fn warns(said: &str, words: &[&str]) -> bool {
    let is_it = |line: &&str| words.iter().all(|word| line.contains(word));
    said.lines().filter(|line| line.starts_with("warning:")).any(|line| is_it(&line))
}

#[test]
fn a_coefficient_that_the_data_fixes_is_not_called_unknown() {
    let text = format!(
        "{PEOPLE}[parameters]\nbeta = {{ prior = \"normal(0, 1e5)\", size = 2 }}\n\
         sigma = \"half_normal(1e4)\"\n[likelihood]\ny = \"normal(beta[1] + beta[2] * x, sigma)\"\n"
    );
    let said = said(&text);
    assert!(
        !said.contains("almost nothing") && said.contains("a peak of the density: beta[1] = "),
        "{said}"
    );
}

#[test]
fn what_the_data_leaves_open_is_named() {
    let text = format!(
        "{PEOPLE}[parameters]\na = \"normal(0, 50)\"\nb = \"normal(0, 50)\"\nslope = \"normal(0, 10)\"\n\
         idle = \"normal(0, 1)\"\n[likelihood]\ny = \"normal(a + b + slope * (x - 175), 5)\"\n"
    );
    let said = said(&text);
    assert!(warns(&said, &["nothing about idle: its posterior is its prior"]), "{said}");
    assert!(
        warns(&said, &["a combination of a, b:"]) || warns(&said, &["a combination of b, a:"]),
        "{said}"
    );
    assert!(!warns(&said, &["slope"]), "{said}");
}

#[test]
fn every_group_with_data_is_known() {
    let rows: Vec<String> = (1..=30).map(|i| i.to_string()).collect();
    let measured: Vec<String> =
        (1..=30).map(|i| format!("{:.2}", (f64::from(i) * 1.7).sin())).collect();
    let text = format!(
        "[data]\ncounty = [{}]\ny = [{}]\n[parameters]\nmu = \"normal(0, 10)\"\n\
         tau = \"half_normal(10)\"\nraw = {{ prior = \"normal(0, 1)\", size = 30 }}\nsigma = \"half_normal(10)\"\n\
         [likelihood]\ny = \"normal(mu + tau * raw[county], sigma)\"\n",
        rows.join(", "),
        measured.join(", ")
    );
    let said = said(&text);
    assert!(!said.contains("almost nothing"), "{said}");
}

#[test]
fn a_gradient_is_judged_where_the_posterior_is() {
    // The priors extend to points where the gradient has 66 digits.
    let text = "[data]\nn = [47, 148, 119]\nr = [0, 18, 8]\n[parameters]\nmu = \"normal(0, 1000)\"\n\
                precision = \"gamma(0.001, 0.001)\"\nb = { prior = \"normal(mu, 1 / sqrt(precision))\", size = 3 }\n\
                [likelihood]\nr = \"binomial_logit(n, b[row])\"\n";
    let text = text.replace("n = [47", "row = [1, 2, 3]\nn = [47");
    let said = said(&text);
    assert!(!said.contains("error:"), "{said}");
    assert!(said.contains("the gradient agrees with finite differences"), "{said}");
}

#[test]
fn a_normal_prior_of_a_standard_deviation_is_noticed() {
    let text = format!(
        "{PEOPLE}[parameters]\nmean = \"normal(70, 20)\"\nsigma = \"normal(10, 10)\"\n\
         [likelihood]\ny = \"normal(mean, sigma)\"\n"
    );
    let said = said(&text);
    assert!(warns(&said, &["sigma is the sd of normal, which must be above 0"]), "{said}");
}

#[test]
fn flat_and_distant_priors_and_scales_far_apart_are_noticed() {
    let text = format!(
        "{PEOPLE}[parameters]\nmean = {{}}\nfar = \"normal(0, 0.01)\"\nsigma = \"half_normal(20)\"\n\
         [likelihood]\ny = \"normal(mean, sigma)\"\nx = \"normal(1e4 * far, 1)\"\n"
    );
    let flat = said(&text);
    assert!(warns(&flat, &["mean has no proper prior"]), "{flat}");
    // A proper prior is compared with the peak.
    let proper = text.replace("mean = {}", "mean = \"normal(70, 20)\"").replace("0.01", "0.001");
    let distant = said(&proper);
    assert!(warns(&distant, &["the posterior peaks at far = ", "beyond all"]), "{distant}");
    let apart = text.replace("1e4 * far", "1e8 * far");
    let apart = said(&apart);
    assert!(warns(&apart, &["wide in far", "in mean", "far apart"]), "{apart}");
}

#[test]
fn a_hidden_quantity_is_used_and_not_reported() {
    let text = format!(
        "{PEOPLE}[parameters]\na = \"normal(70, 20)\"\n[quantities]\n\
         twice = {{ formula = \"2 * a\", hidden = true }}\nthrice = {{ formula = \"3 * a\" }}\n\
         [likelihood]\ny = \"normal(twice / 2, 5)\"\n"
    );
    let said = said(&text);
    assert!(said.contains("also reported: thrice\n"), "{said}");
}

#[test]
fn a_system_that_still_moves_and_quantities_without_a_value_are_noticed() {
    let text = |settle: &str, until: &str| {
        format!(
            "[data]\nt = [0, 1, 3]\ny = [2, 1.6, 1.1]\n[parameters]\nk = \"lognormal(0, 0.3)\"\n\
             works = \"beta(3, 3)\"\n[quantities]\nlow = \"minimum(x, 0, {until})\"\nplain = \"2 * k\"\n\
             [ode]\nsolver = \"stiff\"\nmax-steps = 300\nsettle = {settle}\n\
             [ode.states]\nx = {{ start = 0, rate = \"2 * (1 - works * drug) - k * x\" }}\n\
             drug = {{ start = 0, rate = 0 }}\n[[ode.events]]\nat = 0\nset = {{ drug = 1 }}\n\
             [likelihood]\ny = \"normal(x, 0.2)\"\n"
        )
    };
    let moves = said(&text("0.3", "1e300"));
    assert!(warns(&moves, &["the system has not settled: x is ", "twice as long"]), "{moves}");
    assert!(warns(&moves, &["low has no value here", "cannot be solved so far"]), "{moves}");
    let rests = said(&text("1000", "20"));
    assert!(!rests.contains("settled") && !rests.contains("no value"), "{rests}");
    assert!(rests.contains("also reported: low, plain\n"), "{rests}");
}
