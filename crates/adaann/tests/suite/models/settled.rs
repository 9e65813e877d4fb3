//! Systems that start in their steady state, compared with closed forms.

use crate::models::likelihoods::{assert_terms_within, normal, parse};
use crate::support::common::{WHOLE, evaluate};
use adaann::Batch;
use adaann::model::{Model, Notation};

const SOLVERS: [(&str, f64); 4] = [
    ("rtol = 1e-11\natol = 1e-12", 1e-7),
    ("solver = \"dopri5\"\nrtol = 1e-11\natol = 1e-12", 1e-7),
    ("solver = \"stiff\"\nrtol = 1e-10\natol = 1e-12", 1e-7),
    ("solver = \"rk4\"\nstep = 0.03125", 1e-5),
];

const TURNOVER: &str = "[data]\nt = [0.25, 0.5, 2]\ny = [2.1, 1.7, 3.3]\n\
     [parameters]\nkin = \"lognormal(0, 0.3)\"\nkout = \"lognormal(0.5, 0.3)\"\na = \"lognormal(0, 0.3)\"\n\
     [ode.states]\nR = { start = 7, rate = \"kin * (1 + a * t) - kout * R\" }\n\
     [likelihood]\ny = \"normal(R, 0.5)\"\n";

/// R' = kin (1 + a t) − kout R. The clock is held at t0 = 1/4 until the start: R(t0) = kin (1 + a t0)/kout. After
/// it, R = P(t) + (R(t0) − P(t0)) e^(−kout (t − t0)) with P = kin (1 + a t)/kout − a kin/kout².
fn turnover(p: &[f64]) -> Vec<f64> {
    let (kin, kout, a) = (p[0], p[1], p[2]);
    let moves = |t: f64| kin * (1.0 + a * t) / kout - a * kin / (kout * kout);
    let start = kin * (1.0 + a * 0.25) / kout;
    let one = |(t, y): (f64, f64)| {
        let r = moves(t) + (start - moves(0.25)) * (-kout * (t - 0.25)).exp();
        normal(y, r, 0.5)
    };
    [(0.25, 2.1), (0.5, 1.7), (2.0, 3.3)].map(one).to_vec()
}

#[test]
fn a_turnover_starts_at_rest_and_its_clock_is_held_until_then() {
    for (solver, tolerance) in SOLVERS {
        let ode = format!("[ode]\nstart = 0.25\nsettle = 60\n{solver}\n");
        assert_terms_within(tolerance, &parse(&format!("{TURNOVER}{ode}")), turnover);
    }
}

/// The Jacobian of a ⇌ b is singular: their sum, a parameter, is conserved. From t = 0 on the first rate is twice
/// as fast.
#[test]
fn what_is_conserved_is_kept() {
    let terms = |p: &[f64]| {
        let (k1, k2, all) = (p[0], p[1], p[2]);
        let (rest, goal) = (all * k2 / (k1 + k2), all * k2 / (2.0 * k1 + k2));
        let one = |(t, y): (f64, f64)| {
            normal(y, goal + (rest - goal) * (-(2.0 * k1 + k2) * t).exp(), 0.3)
        };
        [(0.0, 1.2), (0.4, 0.9), (1.5, 0.3)].map(one).to_vec()
    };
    for (solver, tolerance) in &SOLVERS[..3] {
        for settle in ["40", "1e6"] {
            // Thousands of explicit steps would not reach the end.
            if solver.contains("dopri5") && settle == "1e6" {
                continue;
            }
            let model = parse(&format!(
                "[data]\nt = [0, 0.4, 1.5]\ny = [1.2, 0.9, 0.3]\n[parameters]\nk1 = \"lognormal(0, 0.3)\"\n\
                 k2 = \"lognormal(-0.5, 0.3)\"\nall = \"lognormal(1, 0.3)\"\n\
                 [quantities]\nflow = \"k1 * if(t > 0, 2, 1) * a - k2 * b\"\n[ode]\nsettle = {settle}\n{solver}\n\
                 [ode.states]\na = {{ start = \"all\", rate = \"-flow\" }}\n\
                 b = {{ start = 0, rate = \"flow\" }}\n[likelihood]\ny = \"normal(a, 0.3)\"\n"
            ));
            assert_terms_within(100.0 * tolerance, &model, terms);
        }
    }
}

/// Cells T, infected cells I and virus V before a treatment that starts at t = 0.
fn virus(start: [&str; 3], ode: &str) -> Model {
    let [t, i, v] = start;
    parse(&format!(
        "[data]\nt = [0, 0.5, 1, 2, 4]\ny = [4.1, 2.9, 1.6, 0.7, 0.2]\n\
         [parameters]\ns = \"lognormal(2.3, 0.2)\"\nd = \"lognormal(-2, 0.2)\"\nb = \"lognormal(-1.5, 0.2)\"\n\
         delta = \"lognormal(0, 0.2)\"\np = \"lognormal(0.7, 0.2)\"\nc = \"lognormal(1.1, 0.2)\"\n\
         works = \"beta(5, 2)\"\n[quantities]\ncatch = \"b * if(t > 0, 1 - works, 1) * T * V\"\n\
         [ode]\n{ode}\n[ode.states]\nT = {{ start = \"{t}\", rate = \"s - d * T - catch\" }}\n\
         I = {{ start = \"{i}\", rate = \"catch - delta * I\" }}\n\
         V = {{ start = \"{v}\", rate = \"p * I - c * V\" }}\n[likelihood]\ny = \"normal(V, 0.3)\"\n"
    ))
}

/// T = c δ/(b p), V = s p/(c δ) − d/b and I = c V/p are the steady state: a model that starts there is the same
/// model.
#[test]
fn a_nonlinear_system_settles_where_its_rates_are_zero() {
    let tight = "rtol = 1e-11\natol = 1e-12\nmax-steps = 100000";
    let at_rest = virus(
        [
            "c * delta / (b * p)",
            "c * (s * p / (c * delta) - d / b) / p",
            "s * p / (c * delta) - d / b",
        ],
        tight,
    );
    let points: Vec<Vec<f64>> = vec![
        vec![9.0, 0.12, 0.25, 1.1, 2.1, 3.1, 0.8],
        vec![12.0, 0.2, 0.31, 0.8, 1.7, 2.7, 0.6],
        vec![8.0, 0.1, 0.2, 1.3, 2.6, 3.9, 0.9],
    ];
    let expected = evaluate(&*at_rest.target(), &points, WHOLE);
    for solver in ["", "solver = \"stiff\""] {
        let settled = virus(["5", "1", "1"], &format!("{tight}\nsettle = 600\n{solver}"));
        let found = evaluate(&*settled.target(), &points, WHOLE);
        for i in 0..points.len() {
            let (a, b) = (found.log_likelihood[i], expected.log_likelihood[i]);
            assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{solver} {i}: {a} for {b}");
            for d in 0..7 {
                let (a, b) = (found.gradient.row(d)[i], expected.gradient.row(d)[i]);
                assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{solver} {i}, {d}: {a} for {b}");
            }
            let batch = Batch::from_points(7, &points[i..=i]);
            assert_eq!(settled.unsettled(&batch).unwrap(), None);
        }
    }
}

/// Settling takes ten thousand times as long as the time scale of the rates, but no short steps.
#[test]
fn rest_is_waited_for_in_long_steps() {
    let points = [vec![1.1, 1.6, 0.9]];
    for ode in
        ["settle = 1e4\nmax-steps = 500", "settle = 1e7\nsolver = \"stiff\"\nmax-steps = 150"]
    {
        let model = parse(&format!("{TURNOVER}[ode]\nstart = 0.25\n{ode}\n"));
        let found = evaluate(&*model.target(), &points, WHOLE);
        let expected: f64 = turnover(&points[0]).iter().sum();
        let found = found.log_likelihood[0];
        assert!((found - expected).abs() < 1e-3, "{ode}: {found} for {expected}");
    }
}

const SUBJECTS: &str = "[data]\nid = [4, 4, 9, 9]\nwt = [60, 60, 90, 90]\nt = [0, 2, 0, 3]\ny = [1, 2, 3, 4]\n\
     [parameters]\nk = \"lognormal(0, 0.2)\"\nsigma = \"lognormal(-1, 0.2)\"\n\
     [quantities]\nbefore_dose = \"at(x, 0)\"\ntop = \"maximum(x, 0, 3)\"\narea = \"integral(light, 0, 4)\"\n\
     [ode]\ngroup = \"id\"\nsettle = 50\n[ode.states]\nx = { start = 0, rate = \"wt * light - k * x\" }\n\
     [ode.inputs]\nlight = { times = [0, 4], values = [1, 3] }\n[[ode.events]]\nat = 0\nadd = { x = 500 }\n\
     [likelihood]\ny = \"normal(x, sigma)\"\n";

/// While the system settles, inputs are held at their value at the start, and events, quantities and predictions
/// wait.
#[test]
fn subjects_settle_each_by_itself() {
    let model = parse(SUBJECTS);
    let k = 0.8;
    let points = Batch::from_points(2, &[[k, 0.3]]);
    let found = model.quantities(&points).unwrap().point(0);
    let expected = [60.0 / k, 90.0 / k, 60.0 / k + 500.0, 90.0 / k + 500.0, 8.0, 8.0];
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-4 * expected, "{found} for {expected}");
    }
    // x' = wt (1 + t/2) − k x from wt/k + 500.
    let at = |wt: f64, t: f64| {
        let moves = |t: f64| wt * (1.0 + t / 2.0) / k - wt / (2.0 * k * k);
        moves(t) + (wt / k + 500.0 - moves(0.0)) * (-k * t).exp()
    };
    let expected = [60.0 / k, 90.0 / k, at(60.0, 2.0), at(90.0, 3.0)];
    let mut seen = Vec::new();
    model
        .predict(&points, None, 1, &mut |prediction| {
            seen.push(prediction.expected[0]);
            true
        })
        .unwrap();
    for (found, expected) in seen.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-4 * expected, "{found} for {expected}");
    }
    // Simulated data scatters around the same curves.
    let made = model.replicate(5).unwrap();
    let (k, sigma) = (made.truth[0], made.truth[1]);
    let data = made.model.data().unwrap();
    let y = data.names.iter().position(|name| name == "y").unwrap();
    assert!((data.rows[0][y] - 60.0 / k).abs() < 6.0 * sigma, "{:?}", data.rows);
}

/// An event whose time is a parameter does not happen while the system settles.
#[test]
fn late_events_wait_for_the_start() {
    let model = parse(
        "[data]\nt = [0, 1, 2]\ny = [1, 1, 3]\n[parameters]\nonset = \"normal(0, 3)\"\nk = \"lognormal(0, 0.2)\"\n\
         [ode]\nsettle = 40\nrtol = 1e-10\natol = 1e-12\n\
         [ode.states]\nx = { start = 0, rate = \"1 - k * x\" }\n\
         [[ode.events]]\nat = \"onset\"\nadd = { x = 2 }\n[likelihood]\ny = \"normal(x, 1)\"\n",
    );
    assert_terms_within(1e-7, &model, |p| {
        let (onset, k) = (p[0], p[1]);
        let x = |t: f64| {
            let happened = (0.0..t).contains(&onset);
            1.0 / k + if happened { 2.0 * (-k * (t - onset)).exp() } else { 0.0 }
        };
        [(0.0, 1.0), (1.0, 1.0), (2.0, 3.0)].map(|(t, y)| normal(y, x(t), 1.0)).to_vec()
    });
}

/// A system that needs a hundred times as long is distinguished from one in its steady state.
#[test]
fn a_system_that_still_moves_is_noticed() {
    let with = |settle: &str| {
        let model = parse(&SUBJECTS.replace("settle = 50", settle));
        model.unsettled(&Batch::from_points(2, &[[0.8, 0.3]])).unwrap()
    };
    assert_eq!(with("settle = 50"), None);
    assert_eq!(with("settle = \"10 + 1e4\""), None);
    let moves = with("settle = 0.5").unwrap();
    assert_eq!((&moves.state[..], moves.subject), ("x", Some(9.0)));
    let at = |t: f64| 90.0 / 0.8 * -(-0.8 * t).exp_m1();
    assert!(
        (moves.value - at(0.5)).abs() < 1e-3 && (moves.later - at(1.0)).abs() < 1e-3,
        "{moves:?}"
    );
    assert_eq!(with(""), None);
}

#[test]
fn settling_is_written_down() {
    let lines = parse(SUBJECTS).mathematics(Notation::Plain);
    assert!(lines.iter().any(|line| line == "x(−50) = 0"), "{lines:?}");
    let said = "from t = −50 to 0 the system settles: its clock stands at 0";
    assert!(lines.iter().any(|line| line == said), "{lines:?}");
}
