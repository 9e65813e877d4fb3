//! A solver that is too coarse for its data is found by the check, and one that is not is not.

use crate::models::likelihoods::parse;
use adaann::{
    answer::{Settings, approximate},
    diagnostics::{Examination, Finding, Remedy, Trust},
    registry::{Choices, Data, find},
    target::Target,
};

/// cos 2t at ten times, with errors of 0.05 that are fixed here.
const ERRORS: [f64; 10] = [0.31, -1.2, 0.77, 0.05, -0.6, 1.4, -0.2, 0.9, -1.1, 0.4];

/// A pendulum without friction, measured with an error of 0.05.
fn pendulum(solver: &str) -> String {
    let at = |i: usize| (2.0 * (i + 1) as f64).cos() + 0.05 * ERRORS[i];
    let measured: Vec<String> = (0..10).map(|i| at(i).to_string()).collect();
    format!(
        "[data]\nt = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\ny = [{}]\n\
         [parameters]\nw = \"lognormal(log(2), 0.05)\"\n\
         [ode]\ntime = \"t\"\n{solver}\n[ode.states]\n\
         x = {{ start = 1, rate = \"v\" }}\nv = {{ start = 0, rate = \"-w^2 * x\" }}\n\
         [likelihood]\ny = \"normal(x, 0.05)\"\n",
        measured.join(", ")
    )
}

fn examined(target: &dyn Target) -> Examination {
    approximate(target, &Settings::default(), &mut ()).unwrap().examination.unwrap()
}

#[test]
fn a_coarse_solver_is_found() {
    for solver in ["solver = \"rk4\"\nstep = 0.5", "rtol = 0.02\natol = 0.02"] {
        let found = examined(&*parse(&pendulum(solver)).target());
        let reasons = &found.verdict.reasons;
        let own = reasons.iter().find(|reason| reason.finding.code() == "solver-error");
        let Some(own) = own else { panic!("{solver}: {:?}", found.verdict) };
        assert_eq!((own.trust, own.remedy), (Trust::Distrust, Remedy::SolveTighter), "{own:?}");
        let Finding::SolverError { at_modes, over_draws, at } = &own.finding else { panic!() };
        assert!(at_modes.max(*over_draws) >= 1.0 && at.names == ["w"], "{own:?}");
    }
}

#[test]
fn a_fine_solver_is_not() {
    for solver in ["", "solver = \"rk4\"\nstep = 0.05"] {
        let found = examined(&*parse(&pendulum(solver)).target());
        assert_eq!(found.verdict.trust, Trust::Reliable, "{solver}: {:?}", found.verdict);
    }
}

/// The paper's steps are too long for data as good as this, unless the data was made by them.
#[test]
fn data_that_the_solver_has_made_has_its_error() {
    let entry = find("lorenz").unwrap();
    let parameters = vec![("noise-variance".to_owned(), 0.001)];
    let made = entry.build(&parameters).unwrap();
    let data = made.data.clone().map(Data::Table);
    let given = entry.choose(&Choices { parameters, data, ..Choices::default() }).unwrap();
    let codes = |target: &dyn Target| -> Vec<_> {
        let settings = Settings { base: made.settings.base.clone(), ..Settings::default() };
        let answer = approximate(target, &settings, &mut ()).unwrap();
        let reasons = answer.examination.unwrap().verdict.reasons;
        reasons.iter().map(|reason| reason.finding.code()).collect()
    };
    assert!(!codes(&*made.target).contains(&"solver-error"));
    assert!(codes(&*given.target).contains(&"solver-error"));
}
