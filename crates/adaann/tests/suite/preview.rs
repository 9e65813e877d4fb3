//! The preview of a posterior before the fit: typical points, and directions that the data does not
//! determine.

use adaann::{
    flow::Base,
    model::Model,
    preview::{Effort, typical, unsaid},
    target::Unconstrained,
};

fn found(text: &str) -> Vec<(Vec<String>, f64)> {
    let model = Model::parse("m.toml", text).expect("a model");
    let target = model.target();
    let unconstrained = Unconstrained::new(&*target).expect("supports");
    let typical = typical(&unconstrained, &Base::standard(target.dim()), &Effort::default());
    let typical = typical.expect("a density").expect("a peak");
    let name = |&(d, _): &(usize, f64)| target.names()[d].clone();
    let found = unsaid(&unconstrained, &typical).expect("a gradient");
    found.iter().map(|one| (one.along.iter().map(name).collect(), one.change)).collect()
}

const DATA: &str = "[data]\nx = [170, 180, 165, 190]\ny = [1000, 2100, 600, 2900]\n";

#[test]
fn what_the_data_fixes_is_not_named_however_wide_the_prior() {
    // For draws from these priors the slope's gradient is millions of times that of the intercept.
    let wide = "[parameters]\na = \"normal(0, 1e6)\"\nb = \"normal(0, 1e6)\"\nsigma = \"half_normal(1e6)\"\n\
                [likelihood]\ny = \"normal(a + b * x, sigma)\"\n";
    assert_eq!(found(&format!("{DATA}{wide}")), []);
}

#[test]
fn what_it_does_not_say_is_named_alone_and_together() {
    let sums = "[parameters]\na = \"normal(0, 1)\"\nb = \"normal(0, 1)\"\nc = \"normal(0, 1)\"\n\
                d = \"normal(0, 1)\"\nidle = \"normal(0, 1)\"\n\
                [likelihood]\ny = \"normal(a + b + (c - d) * (x - 175), 1)\"\n";
    let found = found(&format!("{DATA}{sums}"));
    let names: Vec<String> = found
        .iter()
        .map(|(names, _)| {
            let mut names = names.clone();
            names.sort_unstable();
            names.join(" ")
        })
        .collect();
    assert_eq!(names[0], "idle");
    let mut others = names[1..].to_vec();
    others.sort_unstable();
    assert_eq!(others, ["a b", "c d"]);
    assert!(found.iter().all(|(_, change)| *change < 0.02), "{found:?}");
}

/// On a thin ring that is slightly higher on one side, a Gaussian with the local curvature leaves the
/// ring.
#[test]
fn a_bent_ridge_is_looked_at_close_to_its_peak() {
    let text = "density = \"-0.5 * ((sqrt(a^2 + b^2) - 2) / 0.001)^2 - 0.05 * a\"\n\
                [parameters]\na = \"normal(0, 10)\"\nb = \"normal(0, 10)\"\n";
    let model = Model::parse("m.toml", text).expect("a model");
    let target = model.target();
    let unconstrained = Unconstrained::new(&*target).expect("supports");
    let typical = typical(&unconstrained, &Base::standard(2), &Effort::default());
    let typical = typical.expect("a density").expect("a peak");
    assert!(typical.is_peak && typical.width < 1.0, "{typical:?}");
    let (theta, _) = unconstrained.constrain(&typical.points);
    let off = |i: usize| (theta.row(0)[i].hypot(theta.row(1)[i]) - 2.0).abs();
    // A typical point is at most 14 nats below the peak.
    assert!((0..theta.len()).all(|i| off(i) < 0.001 * 28_f64.sqrt()), "{typical:?}");
}
