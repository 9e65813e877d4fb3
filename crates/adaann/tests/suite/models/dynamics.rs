//! Likelihoods of systems of equations, compared with closed-form solutions.

use crate::models::likelihoods::{assert_terms_within, normal, parse};

/// Rows that are unsorted, share times, and have missing values.
const DATA: &str = "[data]\nmissing = \"skip\"\ntime = [2, 0.5, 1, 0.5, 0.25]\ng = [1, 2, 1, 2, 2]\n\
                    y = [0.3, nan, 0.9, 1.2, nan]\nz = [1, 2, nan, 0.1, 0.5]\n";
const ROWS: [(f64, usize, Option<f64>, Option<f64>); 5] = [
    (2.0, 0, Some(0.3), Some(1.0)),
    (0.5, 1, None, Some(2.0)),
    (1.0, 0, Some(0.9), None),
    (0.5, 1, Some(1.2), Some(0.1)),
    (0.25, 1, None, Some(0.5)),
];

const MODEL: &str = "[parameters]\nk = \"lognormal(0, 0.3)\"\nx0 = \"lognormal(0, 0.3)\"\n\
                     a = { prior = \"normal(0, 1)\", size = 2 }\n\
                     [quantities]\nlevel = \"x + a[g] * time\"\nloss = \"k * x\"\nhalf = \"log(2) / k\"\n\
                     [ode.states]\nx = { start = \"x0\", rate = \"-loss\" }\n\
                     w = { start = 0, rate = \"x + 2 * time\" }\n\
                     [likelihood]\ny = \"normal(level, 0.5)\"\nz = \"normal(w, 1 + time)\"\n";

/// x = x0 e^(-k s) and w = x0 (1 - e^(-k s)) / k + t^2 - t0^2, with s = t - t0 and t0 = 1/4.
fn terms(p: &[f64]) -> Vec<f64> {
    let (k, x0) = (p[0], p[1]);
    let mut terms = vec![-k];
    for (t, g, y, z) in ROWS {
        let s = t - 0.25;
        let x = x0 * (-k * s).exp();
        let w = -x0 * (-k * s).exp_m1() / k + t * t - 0.0625;
        terms.extend(y.map(|y| normal(y, x + p[2 + g] * t, 0.5)));
        terms.extend(z.map(|z| normal(z, w, 1.0 + t)));
    }
    terms
}

/// The terms have the tolerances of the states, since they are not much steeper.
#[test]
fn solutions_enter_the_likelihood() {
    for (solver, tolerance) in [
        ("rtol = 1e-11\natol = 1e-12", 1e-9),
        ("solver = \"dopri5\"\nrtol = 1e-11\natol = 1e-12", 1e-9),
        ("solver = \"stiff\"\nrtol = 1e-10\natol = 1e-12", 1e-8),
        // The error of a step of h = 1/64 is (k h)^5 / 120, and there are a hundred of them.
        ("solver = \"rk4\"\nstep = 0.015625", 1e-7),
    ] {
        let ode = format!("[ode]\ntime = \"time\"\nstart = \"1 / 4\"\n{solver}\n");
        let model = parse(&format!("density = \"-k\"\n{DATA}{ode}{MODEL}"));
        assert_eq!(model.quantity_names(), ["half"]);
        assert_eq!(model.time(), Some("time"));
        assert_terms_within(tolerance, &model, terms);
    }
}

/// u = k (1 - e^(-10^6 t)) and v = k t - u / 10^6, from 0. No solver is named, and dopri5 fails on it.
#[test]
fn a_stiff_system_needs_no_words() {
    let model = |solver: &str| {
        parse(&format!(
            "[data]\nt = [0.5, 2]\ny = [0.4, 1.9]\n[parameters]\nk = \"lognormal(0, 0.3)\"\n\
             [ode]\n{solver}\n[ode.states]\nu = {{ start = 0, rate = \"1e6 * (k - u)\" }}\n\
             v = {{ start = 0, rate = \"u\" }}\n[likelihood]\ny = \"normal(v, 0.5)\"\n"
        ))
    };
    let terms = |p: &[f64]| {
        [(0.5, 0.4), (2.0, 1.9)].map(|(t, y)| normal(y, p[0] * (t - 1e-6), 0.5)).to_vec()
    };
    for solver in ["", "solver = \"auto\"", "solver = \"stiff\""] {
        assert_terms_within(1e-5, &model(solver), terms);
    }
    let points = [vec![1.0]];
    let explicit = model("solver = \"dopri5\"");
    let found = crate::support::common::evaluate(
        &*explicit.target(),
        &points,
        crate::support::common::WHOLE,
    );
    assert_eq!(found.log_likelihood[0], f64::NEG_INFINITY);
}

/// A trajectory that leaves the finite range has no density; other samples are unaffected.
#[test]
fn lost_trajectories_have_no_density() {
    let model = parse(
        "[data]\nt = [1]\ny = [1]\n[parameters]\nk = \"normal(0, 3)\"\n[ode]\nmax-steps = 100\n\
         [ode.states]\nx = { start = 1, rate = \"k * x^2\" }\n[likelihood]\ny = \"normal(x, 1)\"",
    );
    // x = 1 / (1 - k t) has a pole at t = 1 / k.
    let points: Vec<Vec<f64>> = [0.5, 3.0, -1.0, 1.5].iter().map(|k| vec![*k]).collect();
    let found =
        crate::support::common::evaluate(&*model.target(), &points, crate::support::common::WHOLE);
    for (i, point) in points.iter().enumerate() {
        let own = found.log_likelihood[i];
        if point[0] < 1.0 {
            let expected = normal(1.0, 1.0 / (1.0 - point[0]), 1.0);
            assert!((own - expected).abs() < 1e-4, "{own} is not {expected}");
        } else {
            assert_eq!(own, f64::NEG_INFINITY);
            assert_eq!(found.gradient.point(i), [0.0]);
        }
    }
}
