//! A dose of 0 in an Emax model: 0^h has the limits 0 for its value and its slope in h.

use crate::models::likelihoods::parse;
use adaann::{
    Batch,
    answer::{Settings, approximate},
    importance::Quantity,
    model::Model,
    target::{Unconstrained, compare_gradient, find_defects},
};

/// E0 = 2, Emax = 8, ED50 = 20, h = 1.5 and sigma = 0.3, with some noise.
fn emax(effect: &str) -> Model {
    parse(&format!(
        "[data]\ndose = [0, 0, 0, 5, 5, 10, 10, 25, 25, 50, 50, 100, 100, 200]\n\
         response = [2.21, 1.74, 2.05, 3.01, 2.62, 4.33, 3.90, 6.51, 6.72, 8.22, 8.63, 9.45, 9.20, 9.91]\n\
         [parameters]\ne0 = \"normal(0, 10)\"\nemax = \"normal(0, 20)\"\ned50 = \"lognormal(3, 1)\"\n\
         h = \"lognormal(0, 0.5)\"\nsigma = \"half_normal(5)\"\n\
         [likelihood]\nresponse = \"normal({effect}, sigma)\"\n"
    ))
}

#[test]
fn gradients_at_dose_0_are_those_of_differences() {
    for effect in [
        "e0 + emax * dose^h / (ed50^h + dose^h)",
        "e0 + emax * (dose / ed50)^h / (1 + (dose / ed50)^h)",
    ] {
        let model = emax(effect);
        let target = model.target();
        let target = Unconstrained::new(&*target).unwrap();
        let theta = Batch::from_points(
            5,
            &[[2.0, 8.0, 20.0, 1.5, 0.3], [1.0, 5.0, 3.0, 0.4, 1.0], [0.0, -3.0, 90.0, 3.0, 2.0]],
        );
        let z = target.unconstrain(&theta).unwrap();
        let worst = compare_gradient(&target, &z, &[1.0; 5]).unwrap().expect("finite points");
        assert!(worst.error < 1e-6, "{effect}: {worst:?}");
        let found = find_defects(&target, &z, 1).unwrap();
        assert!(found.noise.is_none() && found.not_a_number.is_none(), "{effect}: {found}");
    }
}

#[test]
fn it_is_fitted() {
    let model = emax("e0 + emax * dose^h / (ed50^h + dose^h)");
    let settings = Settings { seed: 1, ..Settings::default() };
    let answer = approximate(&*model.target(), &settings, &mut ()).unwrap();
    let mean = |d: usize| {
        Quantity::new(answer.sample.x().row(d), answer.sample.weights()).unwrap().mean().value
    };
    // Three responses to no dose: E0 is known to 0.3/√3.
    assert!((mean(0) - 2.0).abs() < 4.0 * 0.3 / 3.0_f64.sqrt(), "{}", mean(0));
    assert!((5.0..14.0).contains(&mean(1)), "{}", mean(1));
}

/// x ln x is 0 at x = 0, for x in the data.
#[test]
fn entropy_terms_of_zero_counts_are_0() {
    let model = parse(
        "[data]\nx = [0, 1, 2]\ny = [0.1, 0.4, 1.2]\n[parameters]\nb = \"normal(0, 1)\"\n\
         [likelihood]\ny = \"normal(b * (x * log(x)), 1)\"\n",
    );
    let target = model.target();
    let target = Unconstrained::new(&*target).unwrap();
    let z = Batch::from_points(1, &[[0.3], [-1.0]]);
    let worst = compare_gradient(&target, &z, &[1.0]).unwrap().expect("finite points");
    assert!(worst.error < 1e-6, "{worst:?}");
}
