//! Runs with a budget: they end with their best answer and its check, and report that the budget is
//! spent.

use adaann::{
    answer::{Event, Settings, approximate},
    registry,
};
use std::ops::ControlFlow;

fn codes(settings: &Settings, target: &str) -> (usize, Vec<&'static str>) {
    let problem = registry::find(target).unwrap().build(&[]).unwrap();
    let settings = Settings { base: problem.settings.base.clone(), ..settings.clone() };
    let answer = approximate(&*problem.target, &settings, &mut ()).unwrap();
    let found = answer.examination.expect("a share of the budget is the check's");
    let codes = found.verdict.reasons.iter().map(|reason| reason.finding.code()).collect();
    assert!(answer.sample.len() > 100 && answer.log_z.is_some());
    (answer.evaluations + found.evaluations, codes)
}

/// A batch in progress is finished, and some draws are taken in any case. The excess is at most a
/// thousand evaluations, of ascents and of draws of one round.
#[test]
fn evaluations_are_those_that_were_given_but_for_the_last_batches() {
    for (target, most) in [("hiv", 6_000), ("many-well", 30_000), ("two-moons", 8_000)] {
        let given = Settings { max_evaluations: Some(most), ..Settings::default() };
        let (used, codes) = codes(&given, target);
        assert!(codes.contains(&"budget-spent"), "{target}: {codes:?}");
        assert!(used < most + 1_000, "{target}: {used} of {most}");
    }
}

#[test]
fn what_is_not_spent_is_not_spoken_of() {
    let (used, codes) =
        codes(&Settings { max_evaluations: Some(10_000_000), ..Settings::default() }, "hiv");
    let (whole, others) = self::codes(&Settings::default(), "hiv");
    assert_eq!((used, codes), (whole, others));
}

#[test]
fn time_runs_out_and_there_is_an_answer() {
    let problem = registry::find("many-well").unwrap().build(&[]).unwrap();
    let given = Settings { max_time: Some(0.001), ..Settings::default() };
    let answer = approximate(&*problem.target, &given, &mut ()).unwrap();
    // There may be no time left for a check; then the answer must not be called reliable.
    assert!(answer.spent && answer.sample.len() > 4 && answer.log_z.is_some());
    for (evaluations, time) in [(Some(0), None), (None, Some(0.0)), (None, Some(f64::NAN))] {
        let given =
            Settings { max_evaluations: evaluations, max_time: time, ..Settings::default() };
        assert!(given.check().is_err(), "{evaluations:?} {time:?}");
    }
}

/// Cases where the predicted answer is a mixture.
#[test]
fn forecasts_are_right_to_a_factor_of_three() {
    for name in ["gaussian", "hiv", "lorenz", "rosenbrock", "two-moons"] {
        let problem = registry::find(name).unwrap().build(&[]).unwrap();
        let settings = Settings { base: problem.settings.base.clone(), ..Settings::default() };
        let mut foreseen = Vec::new();
        let mut watch = |event: &Event| {
            if let Event::Begins { evaluations, to_come: (own, then), .. } = event {
                foreseen.push(evaluations + own + then);
            }
            ControlFlow::Continue(())
        };
        let answer = approximate(&*problem.target, &settings, &mut watch).unwrap();
        let took = (answer.evaluations + answer.examination.unwrap().evaluations) as f64;
        // One per part: ascents, mixture, check.
        assert!(foreseen.len() >= 3, "{name}: {foreseen:?}");
        for foreseen in foreseen {
            let ratio = foreseen as f64 / took;
            assert!((1.0 / 3.0..3.0).contains(&ratio), "{name}: {foreseen} foreseen, {took} taken");
        }
    }
}
