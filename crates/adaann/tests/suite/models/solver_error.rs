//! The check finds a solver that is too coarse for its data, and accepts one that is not.

use crate::models::likelihoods::parse;
use adaann::{
    answer::{Settings, approximate},
    diagnostics::{Examination, Finding, Remedy, Trust},
    registry::find,
    target::Target,
};

/// cos 2t at ten times, with fixed errors of 0.05.
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

/// The paper's steps are too long for data this precise, but its posterior is defined by its steps.
#[test]
fn the_papers_steps_are_part_of_its_posteriors() {
    let parameters = vec![("noise-variance".to_owned(), 0.001)];
    let made = find("lorenz").unwrap().build(&parameters).unwrap();
    let settings = Settings { base: made.settings.base.clone(), ..Settings::default() };
    let answer = approximate(&*made.target, &settings, &mut ()).unwrap();
    let verdict = answer.examination.unwrap().verdict;
    assert_eq!(verdict.trust, Trust::Reliable, "{verdict:?}");
}
