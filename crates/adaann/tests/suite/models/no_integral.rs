//! Paths through densities without an integral: reported in one sentence, and before the first step
//! if the run cannot succeed.

use crate::models::likelihoods::parse;
use adaann::{
    fit::{self, fit},
    model::Model,
    path::PathKind,
    registry::{Choices, find},
    schedule::Guarded,
    smc::{self, smc},
};

/// With flat priors on all three, p^t has an integral from t = 1/2 on: sigma has the power 1 − 6t.
fn line() -> Model {
    parse(
        "[data]\nx = [1, 2, 3, 4, 5, 6]\ny = [2.1, 3.9, 6.2, 7.8, 10.3, 11.9]\n\
         [parameters]\na = \"flat()\"\nb = \"flat()\"\nsigma = { lower = 0 }\n\
         [likelihood]\ny = \"normal(a + b * x, sigma)\"\n",
    )
}

/// Particles that must not take a step.
fn refused(path: PathKind, t0: f64) -> String {
    let settings = smc::Settings { path, ..smc::Settings::starting_at(t0) };
    let mut steps = 0;
    let mut count = |_: &smc::Stage| {
        steps += 1;
        std::ops::ControlFlow::Continue(())
    };
    let error = smc(&*line().target(), &settings, &mut count).unwrap_err();
    assert_eq!((steps, error.setting()), (0, Some("path")), "{error}");
    error.to_string()
}

#[test]
fn particles_are_refused_before_the_first_step() {
    assert_eq!(
        refused(PathKind::Power, 0.01),
        "sigma has a flat prior, so that p^t has no integral at t = 0.0100; give a prior, like sigma = \
         \"half_normal(10)\", or take another path, `path` bridge"
    );
    let said = refused(PathKind::Likelihood, 0.0);
    assert!(said.starts_with("a, b and sigma have flat priors, so that prior * like"), "{said}");
}

#[test]
fn what_has_an_integral_is_sampled() {
    let settings = [(PathKind::Power, 0.6), (PathKind::Bridge, 0.0)];
    for (path, t0) in settings {
        let settings = smc::Settings { path, particles: 500, ..smc::Settings::starting_at(t0) };
        let found = smc(&*line().target(), &settings, &mut ());
        assert!(found.is_ok(), "{path:?}: {:?}", found.err());
    }
}

/// A flow that starts at t = 0 starts from the priors. One that starts later may never meet a density
/// without an integral.
#[test]
fn a_flow_is_refused_where_flat_priors_are_all_that_there_is() {
    let (model, t0) = (line(), 0.0);
    let schedule = Guarded { t0, ..Guarded::default() }.into();
    let settings = fit::Settings { path: PathKind::Likelihood, schedule, ..model.settings() };
    let error = fit(&*model.target(), &settings, &mut ()).unwrap_err().to_string();
    assert!(error.starts_with("a, b and sigma have flat priors"), "{error}");
}

/// The paper's examples have flat priors, and work from their t_0 on.
#[test]
fn the_papers_posteriors_are_not_refused() {
    for name in ["lorenz", "hiv"] {
        let choices = Choices { preset: Some("paper".into()), ..Choices::default() };
        let problem = find(name).unwrap().choose(&choices).unwrap();
        assert!(!problem.target.has_proper_prior(), "{name}");
        let settings = smc::Settings { particles: 300, ..problem.settings.particles() };
        assert_eq!(settings.path, PathKind::Power, "{name}");
        let found = smc(&*problem.target, &settings, &mut ());
        assert!(found.is_ok(), "{name}: {:?}", found.err());
    }
}
