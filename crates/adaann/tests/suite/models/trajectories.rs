//! Quantities of whole trajectories, compared with closed forms.

use crate::models::likelihoods::parse;
use adaann::Batch;
use adaann::model::{Model, Notation};
use adaann::registry::Table;

/// Quantities at a point, by their names.
fn quantities(model: &Model, point: &[f64]) -> Vec<(String, f64)> {
    let found = model.quantities(&Batch::from_points(point.len(), &[point])).unwrap();
    model.quantity_names().iter().cloned().zip(found.point(0)).collect()
}

/// Checks that all quantities are as expected, within a relative tolerance.
fn assert_close(model: &Model, point: &[f64], expected: &[(&str, f64)], tolerance: f64) {
    let found = quantities(model, point);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (name, expected) in expected {
        let (_, found) = found.iter().find(|(known, _)| known == name).unwrap();
        let error = (found - expected).abs();
        assert!(error <= tolerance * expected.abs(), "{name}: {found} for {expected} at {point:?}");
    }
}

/// C = dose ka (e^(−ke t) − e^(−ka t)) / (V (ka − ke)), for one oral dose at time 0.
fn concentration([ka, ke, v, dose]: [f64; 4], t: f64) -> f64 {
    dose * ka * ((-ke * t).exp() - (-ka * t).exp()) / (v * (ka - ke))
}

fn area([ka, ke, v, dose]: [f64; 4], from: f64, to: f64) -> f64 {
    let part = |k: f64| ((-k * from).exp() - (-k * to).exp()) / k;
    dose * ka * (part(ke) - part(ka)) / (v * (ka - ke))
}

fn peak([ka, ke, ..]: [f64; 4]) -> f64 {
    (ka / ke).ln() / (ka - ke)
}

const ORAL: &str = "[data]\nt = [1, 5]\ny = [1, 1]\n[constants]\nday = 24\n\
     [parameters]\nka = \"lognormal(0, 0.5)\"\nke = \"lognormal(-2, 0.5)\"\nV = \"lognormal(3, 0.3)\"\n\
     [quantities]\nC = \"blood / V\"\n\
     early = \"at(C, 0.3)\"\nauc = \"integral(blood / V, 0, day)\"\nlate = \"integral(C, day - 3, day)\"\n\
     c_max = \"maximum(C, 0, day)\"\nt_max = \"time_of_maximum(C, 0, 12 * 2)\"\n\
     end = \"minimum(C, 8, day)\"\nt_end = \"time_of_minimum(C, 8, day)\"\n\
     falling = \"maximum(C, 20, day)\"\nt_falling = \"time_of_maximum(C, 20, day)\"\n\
     share = \"at(C, day) / c_max\"\nmoment = \"maximum(C, 4, 4) + time_of_maximum(C, 4, 4)\"\n\
     [ode.states]\ngut = { start = 100, rate = \"-ka * gut\" }\n\
     blood = { start = 0, rate = \"ka * gut - ke * blood\" }\n[likelihood]\ny = \"normal(C, 1)\"\n";

#[test]
fn a_dose_by_mouth_has_an_area_and_a_peak() {
    for (solver, tolerance) in [
        ("", 1e-5),
        ("rtol = 1e-10\natol = 1e-12", 1e-8),
        ("solver = \"dopri5\"", 1e-5),
        ("solver = \"stiff\"", 1e-5),
        ("solver = \"stiff\"\nrtol = 1e-9\natol = 1e-12", 1e-7),
        ("solver = \"rk4\"\nstep = 0.02", 1e-6),
    ] {
        let model = parse(&format!("{ORAL}[ode]\n{solver}\n"));
        for point in [[1.1, 0.13, 20.0], [0.4, 0.9, 31.0], [2.5, 0.05, 12.0]] {
            let all = [point[0], point[1], point[2], 100.0];
            let c = |t: f64| concentration(all, t);
            let top = peak(all);
            assert!(top < 8.0);
            let expected = [
                ("early", c(0.3)),
                ("auc", area(all, 0.0, 24.0)),
                ("late", area(all, 21.0, 24.0)),
                ("c_max", c(top)),
                ("t_max", top),
                ("end", c(24.0)),
                ("t_end", 24.0),
                ("falling", c(20.0)),
                ("t_falling", 20.0),
                ("share", c(24.0) / c(top)),
                ("moment", c(4.0) + 4.0),
            ];
            // Long after its peak, a concentration is only as accurate as its absolute tolerance.
            let slack = if c(24.0) < 1e-6 { 100.0 } else { 1.0 };
            assert_close(&model, &point, &expected, slack * tolerance);
        }
    }
}

/// Many points at once give the same values as single points: each sample has its own steps and roots.
#[test]
fn companions_do_not_matter() {
    let model = parse(ORAL);
    let points: Vec<[f64; 3]> = (0..700)
        .map(|i| {
            let u = f64::from(i) / 700.0;
            [0.3 + 3.0 * u, 0.05 + 0.2 * (7.0 * u).sin().abs(), 10.0 + 20.0 * u * u]
        })
        .collect();
    let all = model.quantities(&Batch::from_points(3, &points)).unwrap();
    for i in [0, 31, 32, 500, 699] {
        let alone = quantities(&model, &points[i]);
        for (d, (name, alone)) in alone.iter().enumerate() {
            assert_eq!(all.row(d)[i].to_bits(), alone.to_bits(), "{name} of point {i}");
        }
    }
}

/// Half is gone in a few microseconds, and the rest takes hours; explicit steps would number millions.
#[test]
fn a_stiff_system_has_them_too() {
    let text = ORAL.replace("ka * gut", "1e5 * ka * gut");
    let point = [0.8, 0.13, 20.0];
    let all = [0.8e5, 0.13, 20.0, 100.0];
    let top = peak(all);
    let c = |t: f64| concentration(all, t);
    for solver in ["", "solver = \"stiff\""] {
        let model = parse(&format!("{text}[ode]\n{solver}\nrtol = 1e-8\natol = 1e-11\n"));
        let expected = [
            ("early", c(0.3)),
            ("auc", area(all, 0.0, 24.0)),
            ("late", area(all, 21.0, 24.0)),
            ("c_max", c(top)),
            ("t_max", top),
            ("end", c(24.0)),
            ("t_end", 24.0),
            ("falling", c(20.0)),
            ("t_falling", 20.0),
            ("share", c(24.0) / c(top)),
            ("moment", c(4.0) + 4.0),
        ];
        assert_close(&model, &point, &expected, 1e-5);
    }
}

/// Doses into the blood are jumps: the largest value is directly after a dose, the smallest directly before
/// one.
#[test]
fn events_are_where_extremes_are() {
    let model = parse(
        "[parameters]\nk = \"lognormal(-2, 0.3)\"\n\
         [quantities]\ntop = \"maximum(x, 0, 36)\"\nwhen = \"time_of_maximum(x, 0, 36)\"\n\
         first = \"maximum(x, 0, 12)\"\nsecond = \"maximum(x, 12, 24)\"\nlow = \"minimum(x, 0, 30)\"\n\
         t_low = \"time_of_minimum(x, 0, 30)\"\nbefore_dose = \"at(x, 12)\"\nat_start = \"at(x, 0)\"\n\
         auc = \"integral(x, 6, 30)\"\n\
         [ode.states]\nx = { start = 0, rate = \"-k * x\" }\n\
         [[ode.events]]\nat = 0\nevery = 12\ncount = 3\nadd = { x = 100 }\n",
    );
    let k = 0.11;
    let e = |t: f64| (-k * t).exp();
    // Directly after doses 1, 2 and 3.
    let peaks = [100.0, 100.0 * (1.0 + e(12.0)), 100.0 * (1.0 + e(12.0) + e(24.0))];
    let auc =
        (peaks[0] * (e(6.0) - e(12.0)) + peaks[1] * (1.0 - e(12.0)) + peaks[2] * (1.0 - e(6.0)))
            / k;
    let found = quantities(&model, &[k]);
    let at_start = found.iter().find(|(name, _)| name == "at_start").unwrap().1;
    assert_eq!(at_start, 0.0);
    let expected = [
        ("top", peaks[2]),
        ("when", 24.0),
        ("first", peaks[0]),
        ("second", peaks[1]),
        ("low", 100.0 * e(12.0)),
        ("t_low", 12.0),
        ("before_dose", 100.0 * e(12.0)),
        ("at_start", 0.0),
        ("auc", auc),
    ];
    assert_close(&model, &[k], &expected, 1e-5);
}

/// The time that a value is above a level. A step cannot tell where in it a condition changes, so the error is
/// some tens of times the tolerance.
#[test]
fn conditions_have_integrals() {
    for (solver, tolerance) in [("", 2e-4), ("rtol = 1e-9\natol = 1e-11", 2e-7)] {
        let model = parse(&format!(
            "[parameters]\nk = \"lognormal(-2, 0.3)\"\n[quantities]\nabove = \"integral(x > 60, 0, 12)\"\n\
             [ode]\n{solver}\n[ode.states]\nx = {{ start = 100, rate = \"-k * x\" }}\n"
        ));
        for k in [0.07, 0.11, 0.3, 2.0] {
            let above = (100.0_f64 / 60.0).ln() / k;
            assert_close(&model, &[k], &[("above", above)], tolerance);
        }
    }
}

/// A dose with a lag that is a parameter; an input that peaks at its knot and is 0 outside.
#[test]
fn late_doses_and_inputs_apply() {
    let model = parse(
        "[data]\nt = [0, 2, 9]\namt = [100, 0, 0]\ny = [0, 1, 1]\n\
         [parameters]\nka = \"lognormal(0, 0.5)\"\nke = \"lognormal(-2, 0.5)\"\nlag = \"lognormal(0, 0.1)\"\n\
         [quantities]\nt_max = \"time_of_maximum(blood, 0, 20)\"\nc_max = \"maximum(blood, 0, 20)\"\n\
         light_all = \"integral(light, 0, 20)\"\nlight_top = \"maximum(light, 1, 20)\"\n\
         light_when = \"time_of_maximum(light, 1, 20)\"\nlight_then = \"at(light, 5)\"\n\
         [ode]\nevents = \"nonmem\"\n[ode.states]\n\
         gut = { start = 0, rate = \"-ka * gut\", lag = \"lag\" }\n\
         blood = { start = 0, rate = \"ka * gut - ke * blood\" }\n\
         [ode.inputs]\nlight = { times = [0, 6, 18], values = [0, 1, 0.5] }\n\
         [likelihood]\ny = \"normal(blood, 1)\"\n",
    );
    let all = [1.3, 0.2, 1.0, 100.0];
    let top = peak(all);
    let expected = [
        ("t_max", 0.7 + top),
        ("c_max", concentration(all, top)),
        ("light_all", 3.0 + 9.0 + 1.0),
        ("light_top", 1.0),
        ("light_when", 6.0),
        ("light_then", 5.0 / 6.0),
    ];
    assert_close(&model, &[1.3, 0.2, 0.7], &expected, 1e-5);
}

const SUBJECTS: &str = "[data]\nid = [7, 2, 7, 5, 2]\nwt = [70, 50, 70, 90, 50]\nn = [3, 1, 3, 2, 1]\n\
     t = [1, 1, 3, 2, 0.5]\ny = [1, 2, 3, 4, 5]\n[parameters]\nk = { prior = \"lognormal(0, 0.5)\", size = 3 }\n\
     [quantities]\nloss = \"k[n] * (wt / 70)^0.75\"\nauc = \"integral(x / wt, 0, 4)\"\n\
     later = \"at(x, 10)\"\nthird = \"auc[3]\"\nmiddle = \"mean(auc)\"\nrelative = \"auc * k\"\n\
     [ode]\ngroup = \"id\"\n[ode.states]\nx = { start = \"wt\", rate = \"-loss * x\" }\n\
     [likelihood]\ny = \"normal(x, 1)\"\n";

/// Each quantity has one value for each subject, in the order of the subjects' numbers.
#[test]
fn subjects_have_their_own() {
    let model = parse(SUBJECTS);
    let k = [0.4, 0.7, 1.1];
    let loss = |s: usize| k[s] * ([50.0, 90.0, 70.0][s] / 70.0_f64).powf(0.75);
    let auc = [0, 1, 2].map(|s| -(-4.0 * loss(s)).exp_m1() / loss(s));
    let later = [0, 1, 2].map(|s| [50.0, 90.0, 70.0][s] * (-10.0 * loss(s)).exp());
    let expected = [
        ("auc[1]", auc[0]),
        ("auc[2]", auc[1]),
        ("auc[3]", auc[2]),
        ("later[1]", later[0]),
        ("later[2]", later[1]),
        ("later[3]", later[2]),
        ("third", auc[2]),
        ("middle", auc.iter().sum::<f64>() / 3.0),
        ("relative[1]", auc[0] * k[0]),
        ("relative[2]", auc[1] * k[1]),
        ("relative[3]", auc[2] * k[2]),
    ];
    assert_close(&model, &k, &expected, 2e-5);
    // New inputs have their own subjects, and do not affect these quantities.
    let names = ["id", "wt", "n", "t"].map(str::to_owned).to_vec();
    let rows = vec![vec![1.0, 60.0, 2.0, 1.0], vec![1.0, 60.0, 2.0, 2.0]];
    let mut expected = Vec::new();
    let points = Batch::from_points(3, &[k]);
    model
        .predict(&points, Some(&Table { names, rows }), 1, &mut |prediction| {
            expected.push(prediction.expected[0]);
            true
        })
        .unwrap();
    let rate = 0.7 * (60.0 / 70.0_f64).powf(0.75);
    assert!((expected[1] - 60.0 * (-2.0 * rate).exp()).abs() < 1e-3, "{expected:?}");
}

/// A quantity of trajectories changes neither the posterior nor simulated data.
#[test]
fn they_leave_the_rest_alone() {
    let without: String = SUBJECTS
        .lines()
        .filter(|line| !line.contains("auc") && !line.contains("later"))
        .fold(String::new(), |text, line| text + line + "\n");
    let (with, without) = (parse(SUBJECTS), parse(&without));
    let points = vec![vec![0.4, 0.7, 1.1], vec![1.4, 0.2, 0.6]];
    let evaluate = |model: &Model| {
        let whole = crate::support::common::WHOLE;
        let found = crate::support::common::evaluate(&*model.target(), &points, whole);
        (found.log_likelihood.to_vec(), found.log_prior.to_vec())
    };
    assert_eq!(evaluate(&with), evaluate(&without));
    let (a, b) = (with.replicate(3).unwrap(), without.replicate(3).unwrap());
    assert_eq!(a.truth, b.truth);
    let rows = |model: &Model| model.data().unwrap().rows;
    assert_eq!(rows(&a.model), rows(&b.model));
    assert_eq!(a.model.quantity_names(), with.quantity_names());
}

/// A state, a parameter or a column may have the name of a function; a trajectory that explodes gives no
/// values.
#[test]
fn names_and_explosions() {
    let model = parse(
        "[parameters]\nat = \"lognormal(0, 0.1)\"\n[quantities]\na = \"at(maximum, 1) * at\"\n\
         b = \"maximum(maximum, 0, 0.5)\"\n\
         [ode.states]\nmaximum = { start = 1, rate = \"at * maximum^2\" }\n",
    );
    let found = quantities(&model, &[0.5]);
    assert!((found[0].1 - 1.0).abs() < 1e-5 && (found[1].1 - 4.0 / 3.0).abs() < 1e-5, "{found:?}");
    let found = quantities(&model, &[2.0]);
    assert!(found.iter().all(|(_, x)| x.is_nan()), "{found:?}");
}

#[test]
fn they_are_printed_as_mathematics() {
    let model = parse(ORAL);
    let plain = model.mathematics(Notation::Plain);
    assert!(plain.iter().any(|line| line == "t_max = argmax[0, 12·2](C)"), "{plain:?}");
    let latex = model.mathematics(Notation::Latex).join("\n");
    assert!(
        latex.contains(r"\int_{0}^{\mathrm{day}}\left(\frac{\mathrm{blood}}{V}\right)dt"),
        "{latex}"
    );
}
