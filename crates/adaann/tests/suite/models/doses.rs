//! Systems with events, compared with closed forms of linear compartments.

use crate::models::likelihoods::{assert_terms_within, normal, parse};
use adaann::Batch;
use adaann::model::Notation;

const SOLVERS: [(&str, f64); 4] = [
    ("rtol = 1e-11\natol = 1e-12", 1e-7),
    ("solver = \"dopri5\"\nrtol = 1e-11\natol = 1e-12", 1e-7),
    ("solver = \"stiff\"\nrtol = 1e-10\natol = 1e-12", 1e-6),
    ("solver = \"rk4\"\nstep = 0.015625", 1e-6),
];

/// The amount in the central compartment at a time after one unit was given: by mouth, as a bolus, or by
/// infusion.
fn oral(ka: f64, ke: f64, s: f64) -> f64 {
    if s < 0.0 { 0.0 } else { ka / (ka - ke) * ((-ke * s).exp() - (-ka * s).exp()) }
}
fn bolus(ke: f64, s: f64) -> f64 {
    if s < 0.0 { 0.0 } else { (-ke * s).exp() }
}
/// At rate 1.
fn infusion(ke: f64, lasts: f64, s: f64) -> f64 {
    let part = |s: f64| if s < 0.0 { 0.0 } else { -(-ke * s).exp_m1() / ke };
    part(s) - part(s - lasts)
}

const PARAMETERS: &str = "[parameters]\nka = { prior = \"lognormal(0.5, 0.2)\", size = 2 }\n\
                          ke = \"lognormal(-1, 0.2)\"\nv = \"lognormal(1, 0.1)\"\n";
const STATES: &str = "[ode.states]\ngut = { start = 0, rate = \"-ka[id] * gut\" }\n\
                      blood = { start = \"v\", rate = \"ka[id] * gut - ke * blood\" }\n\
                      [likelihood]\ndv = \"normal(blood / v, 0.3)\"\n";

/// Oral doses with repetitions, boluses and infusions; a measurement before and after a dose at the same time;
/// rows that are neither; and at the end a reset with a dose.
const ROWS: &str = "id,TIME,AMT,RATE,EVID,CMT,II,ADDL,MDV,dv
1,0,10,0,1,1,3,2,1,.
2,0.5,.,.,0,.,.,.,0,0.9
1,1,.,.,0,.,.,.,0,2.5
1,1,6,0,1,2,.,.,1,.
1,1,.,.,0,.,.,.,0,4.5
2,0.5,8,4,1,2,.,.,1,.
2,1.5,3,2,1,2,.,.,1,.
2,2,.,.,0,.,.,.,0,2.6
1,3,.,.,0,.,.,.,0,3.0
1,3.5,.,.,0,.,.,.,1,7
1,4,.,.,2,.,.,.,1,.
1,8,.,.,0,.,.,.,0,1.9
2,5,.,.,0,.,.,.,0,0.7
1,8.5,2,.,4,1,.,.,1,.
1,9.5,.,.,0,.,.,.,0,1.2
2,6,4,.,1,1,.,.,1,.
";

fn terms(p: &[f64]) -> Vec<f64> {
    let (ke, v) = (p[2], p[3]);
    let first = |t: f64, with_bolus: bool| {
        let doses = [0.0, 3.0, 6.0].map(|at| 10.0 * oral(p[0], ke, t - at));
        let at_once = if with_bolus { 6.0 * bolus(ke, t - 1.0) } else { 0.0 };
        v * bolus(ke, t) + doses.iter().sum::<f64>() + at_once
    };
    let second = |t: f64| {
        v * bolus(ke, t) + 4.0 * infusion(ke, 2.0, t - 0.5) + 2.0 * infusion(ke, 1.5, t - 1.5)
    };
    let reset = v * bolus(ke, 1.0) + 2.0 * oral(p[0], ke, 1.0);
    vec![
        normal(0.9, second(0.5) / v, 0.3),
        normal(2.5, first(1.0, false) / v, 0.3),
        normal(4.5, first(1.0, true) / v, 0.3),
        normal(2.6, second(2.0) / v, 0.3),
        normal(3.0, first(3.0, true) / v, 0.3),
        normal(1.9, first(8.0, true) / v, 0.3),
        normal(0.7, second(5.0) / v, 0.3),
        normal(1.2, reset / v, 0.3),
    ]
}

/// The rows as columns of a model file, with these names.
fn columns(rows: &str) -> String {
    let mut lines = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, cells) = (lines.next().unwrap(), lines.collect::<Vec<_>>());
    let column = |(c, name): (usize, &&str)| {
        let cells: Vec<&str> =
            cells.iter().map(|row| if row[c] == "." { "nan" } else { row[c] }).collect();
        format!("{name} = [{}]\n", cells.join(", "))
    };
    format!("[data]\n{}", names.iter().enumerate().map(column).collect::<String>())
}

fn dosed(solver: &str) -> String {
    let ode = format!("[ode]\ntime = \"TIME\"\ngroup = \"id\"\nevents = \"nonmem\"\n{solver}\n");
    format!("{}{PARAMETERS}{ode}{STATES}", columns(ROWS))
}

#[test]
fn doses_of_the_data_are_given() {
    for (solver, tolerance) in SOLVERS {
        assert_terms_within(tolerance, &parse(&dosed(solver)), terms);
    }
    // Without EVID, a row with an amount is a dose; columns may be in upper or lower case.
    let rows: String = ROWS
        .lines()
        .filter(|line| !["1,4,", "1,8.5", "1,9.5"].iter().any(|start| line.starts_with(start)))
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{}\n", cells[..4].join(","), cells[5..].join(","))
        })
        .collect();
    let rows = rows.replacen("AMT,RATE,CMT,II,ADDL,MDV", "amt,Rate,cmt,Ii,addl,mdv", 1);
    let text = dosed("rtol = 1e-11\natol = 1e-12").replace(&columns(ROWS), &columns(&rows));
    assert_terms_within(1e-7, &parse(&text), |p| terms(p)[..7].to_vec());
}

#[test]
fn doses_are_predicted_and_made_data_with() {
    let model = parse(&dosed("rtol = 1e-9"));
    let point = model.prior_draws(1, 3).unwrap().point(0);
    let points = Batch::from_points(4, &[&point[..]]);
    let (ke, v) = (point[2], point[3]);
    // Another regimen for the first subject: one bolus at time 2.
    let names = ["TIME", "id", "AMT", "CMT", "EVID"].map(str::to_owned).to_vec();
    let rows = vec![vec![2.0, 1.0, 12.0, 2.0, 1.0], vec![4.0, 1.0, 0.0, 1.0, 0.0]];
    let inputs = adaann::registry::Table { names, rows };
    let mut found = Vec::new();
    let see = &mut |prediction: adaann::model::Prediction<'_>| {
        found.push(prediction.expected[0]);
        true
    };
    model.predict(&points, Some(&inputs), 1, see).unwrap();
    let level = |t: f64| bolus(ke, t) + 12.0 / v * bolus(ke, t - 2.0);
    assert!((found[0] - level(2.0)).abs() < 1e-6 && (found[1] - level(4.0)).abs() < 1e-6);
    let made = model.replicate(5).unwrap();
    assert_eq!(made.model.data().unwrap().rows.len(), ROWS.lines().count() - 1);
    let shown = model.mathematics(Notation::Plain).join("\n");
    assert!(shown.contains("for 8 rows of the data"), "{shown}");
}

const LISTED: &str = "[data]\nt = [0.5, 2, 2, 5]\nid = [1, 1, 2, 2]\nwhen = [1.5, 1.5, 1, 1]\n\
     y = [0.8, 1.2, 0.4, 2]\n[constants]\ntimes = [1, 4]\n\
     [parameters]\nk = \"lognormal(-1, 0.2)\"\nd = { prior = \"lognormal(0, 0.2)\", size = 2 }\n\
     [likelihood]\ny = \"normal(x, 0.5)\"\n[ode.states]\nx = { start = 1, rate = \"-k * x\" }\n";

/// At `when` the state is halved; at 1 and 4 something is added; and at 1.2, 2.2 and 3.2 overlapping infusions
/// begin.
#[test]
fn listed_events_happen() {
    let events = "[[ode.events]]\nat = \"when\"\nset = { x = \"x / 2\" }\n\
                  [[ode.events]]\nat = \"times\"\nadd = { x = \"d[id] * k\" }\n\
                  [[ode.events]]\nat = 1.2\nevery = 1\ncount = 3\ninfuse = { x = \"d[id]\" }\nfor = \"3 / 2\"\n";
    for (solver, tolerance) in SOLVERS {
        let ode = format!("[ode]\ngroup = \"id\"\n{solver}\n{events}");
        let model = parse(&LISTED.replace("[ode.states]", &format!("{ode}[ode.states]")));
        assert_terms_within(tolerance, &model, |p| {
            let k = p[0];
            let x = |t: f64, d: f64, when: f64| {
                // What is there at `when` is halved: each part of it, from then on. At 1 the second subject is
                // halved first.
                let halved = |at: f64| {
                    let was_there = at < when;
                    if was_there && t >= when { 0.5 } else { 1.0 }
                };
                let mut x = halved(0.0) * bolus(k, t);
                for at in [1.0, 4.0] {
                    x += halved(at) * d * k * bolus(k, t - at);
                }
                for at in [1.2, 2.2, 3.2] {
                    // The part infused before `when`, and the rest.
                    let before = (when - at).clamp(0.0, 1.5);
                    let early = if before > 0.0 { infusion(k, before, t - at) } else { 0.0 };
                    let late = infusion(k, 1.5 - before, t - at - before);
                    x += d * (halved(at) * early + late);
                }
                x
            };
            vec![
                normal(0.8, x(0.5, p[1], 1.5), 0.5),
                normal(1.2, x(2.0, p[1], 1.5), 0.5),
                normal(0.4, x(2.0, p[2], 1.0), 0.5),
                normal(2.0, x(5.0, p[2], 1.0), 0.5),
            ]
        });
        let shown = model.mathematics(Notation::Plain).join("\n");
        assert!(shown.contains("x → x/2"), "{shown}");
        assert!(model.mathematics(Notation::Latex).join("\n").contains("\\to"));
    }
}

/// x' = b·input, so x is an integral: of a step, of a line, and of a natural spline through 0, 1, 0.
#[test]
fn inputs_are_integrated() {
    // Step, line and spline are 1.5 t − t³/2 and its mirror image between 0 and 2, and 0 outside.
    let spline = |t: f64| {
        let rise = |s: f64| 0.75 * s * s - 0.125 * s.powi(4);
        let t = t.clamp(0.0, 2.0);
        if t < 1.0 { rise(t) } else { 1.25 - rise(2.0 - t) }
    };
    let line = |t: f64| {
        let rise = |s: f64| 0.5 * s * s;
        let t = t.clamp(0.0, 2.0);
        if t < 1.0 { rise(t) } else { 1.0 - rise(2.0 - t) }
    };
    let step = |t: f64| (t - 1.0).clamp(0.0, 1.0);
    let integrals: [(&str, &dyn Fn(f64) -> f64); 3] =
        [("step", &step), ("linear", &line), ("cubic", &spline)];
    for (shape, integral) in integrals {
        for (solver, tolerance) in SOLVERS {
            let text = format!(
                "[data]\nt = [-0.5, 0.25, 1, 1.75, 3]\ny = [0, 1, 2, 1, 2]\n[parameters]\n\
                 b = \"lognormal(0, 0.3)\"\n[ode]\nstart = -1\n{solver}\n\
                 [ode.inputs]\nf = {{ times = [0, 1, 2], values = [0, 1, 0], shape = \"{shape}\" }}\n\
                 [ode.states]\nx = {{ start = 0, rate = \"b * f\" }}\n\
                 [likelihood]\ny = \"normal(x + f, 0.5)\"\n"
            );
            let curve = |t: f64| {
                let s = if t < 1.0 { t } else { 2.0 - t };
                match shape {
                    _ if !(0.0..2.0).contains(&t) => 0.0,
                    "step" => f64::from(u8::from(t >= 1.0)),
                    "linear" => s,
                    _ => 1.5 * s - 0.5 * s.powi(3),
                }
            };
            let rows = [(-0.5, 0.0), (0.25, 1.0), (1.0, 2.0), (1.75, 1.0), (3.0, 2.0)];
            assert_terms_within(tolerance, &parse(&text), |p| {
                rows.map(|(t, y)| normal(y, p[0] * integral(t) + curve(t), 0.5)).to_vec()
            });
        }
    }
}

/// A dose with a lag, and an event at a time that is a parameter; with measurements on both sides of them over
/// the prior.
#[test]
fn times_of_events_may_be_parameters() {
    let text = "[data]\nid = [1, 1, 1, 1, 1, 2, 2, 2]\nt = [0, 1, 1.5, 2.5, 4, 0.5, 1.4, 3]\n\
         amt = [4, 0, 0, 0, 0, 2, 0, 0]\naddl = [1, 0, 0, 0, 0, 0, 0, 0]\nii = [1.25, 0, 0, 0, 0, 0, 0, 0]\n\
         y = [nan, 1, 2, 2, 1, nan, 1, 1]\n[parameters]\nlag = { prior = \"lognormal(-0.3, 0.4)\", size = 2 }\n\
         k = \"lognormal(-1, 0.2)\"\nF = \"beta(8, 2)\"\n[ode]\ngroup = \"id\"\nevents = \"nonmem\"\nSOLVER\n\
         [ode.states]\nx = { start = 0.5, rate = \"-k * x\", lag = \"lag[id]\", fraction = \"F\" }\n\
         [likelihood]\ny = \"normal(x, 0.5)\"\n";
    let rows =
        [(1, 1.0, 1.0), (1, 1.5, 2.0), (1, 2.5, 2.0), (1, 4.0, 1.0), (2, 1.4, 1.0), (2, 3.0, 1.0)];
    for (solver, tolerance) in &SOLVERS[..3] {
        let model = parse(&text.replace("SOLVER", solver));
        assert_terms_within(*tolerance, &model, |p| {
            let (k, f) = (p[2], p[3]);
            let term = |&(id, t, y): &(usize, f64, f64)| {
                let doses = if id == 1 { vec![(0.0, 4.0), (1.25, 4.0)] } else { vec![(0.5, 2.0)] };
                let given = doses.iter().map(|(at, dose)| f * dose * bolus(k, t - at - p[id - 1]));
                normal(y, 0.5 * bolus(k, t) + given.sum::<f64>(), 0.5)
            };
            rows.iter().map(term).collect()
        });
    }
    // Without subjects, from a list: the state is multiplied by a factor that depends on it, at a and at a +
    // 1.
    let text = "[data]\nt = [0.5, 1.2, 2, 3]\ny = [1, 1, 2, 1]\n[parameters]\na = \"lognormal(0, 0.3)\"\n\
         k = \"lognormal(-1, 0.2)\"\n[ode]\nSOLVER\n[[ode.events]]\nat = \"a\"\nevery = 1\ncount = 2\n\
         set = { x = \"x / (1 + k * x)\" }\n[ode.states]\nx = { start = 2, rate = \"-k * x + 0.3\" }\n\
         [likelihood]\ny = \"normal(x, 0.5)\"\n";
    for (solver, tolerance) in &SOLVERS[..3] {
        let model = parse(&text.replace("SOLVER", solver));
        assert_terms_within(*tolerance, &model, |p| {
            let (a, k) = (p[0], p[1]);
            let later = |x: f64, s: f64| 0.3 / k + (x - 0.3 / k) * (-k * s).exp();
            let x = |t: f64| {
                let (mut x, mut from) = (2.0, 0.0);
                for at in [a, a + 1.0].into_iter().filter(|at| *at < t) {
                    x = later(x, at - from);
                    (x, from) = (x / (1.0 + k * x), at);
                }
                later(x, t - from)
            };
            [(0.5, 1.0), (1.2, 1.0), (2.0, 2.0), (3.0, 1.0)]
                .map(|(t, y)| normal(y, x(t), 0.5))
                .to_vec()
        });
    }
    let refused = text.replace("SOLVER", "solver = \"rk4\"\nstep = 0.1");
    let said = adaann::model::Model::parse("m.toml", &refused).err().expect("rk4").to_string();
    assert!(said.contains("cannot stop at a time that depends on parameters"), "{said}");
}
