//! Runs that may spend only so much: they end with their best answer, its check, and say so.

use adaann::{
    answer::{Settings, approximate},
    registry,
};

fn codes(settings: &Settings, target: &str) -> (usize, Vec<&'static str>) {
    let problem = registry::find(target).unwrap().build(&[]).unwrap();
    let settings = Settings { base: problem.settings.base.clone(), ..settings.clone() };
    let answer = approximate(&*problem.target, &settings, &mut ()).unwrap();
    let found = answer.examination.expect("a share of the budget is the check's");
    let codes = found.verdict.reasons.iter().map(|reason| reason.finding.code()).collect();
    assert!(answer.sample.len() > 100 && answer.log_z.is_some());
    (answer.evaluations + found.evaluations, codes)
}

/// A batch that is under way is finished, and some draws are taken whatever is left: what is passed is
/// less than a few thousand evaluations, of ascents and draws of a round.
#[test]
fn evaluations_are_those_that_were_given_but_for_the_last_batches() {
    for (target, most) in [("hiv", 6_000), ("many-well", 30_000), ("two-moons", 8_000)] {
        let given = Settings { max_evaluations: Some(most), ..Settings::default() };
        let (used, codes) = codes(&given, target);
        assert!(codes.contains(&"budget-spent"), "{target}: {codes:?}");
        assert!(used < most + most / 2 + 3_000, "{target}: {used} of {most}");
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
    let given = Settings { max_time: Some(0.001), ..Settings::default() };
    assert!(codes(&given, "many-well").1.contains(&"budget-spent"));
    for (evaluations, time) in [(Some(0), None), (None, Some(0.0)), (None, Some(f64::NAN))] {
        let given =
            Settings { max_evaluations: evaluations, max_time: time, ..Settings::default() };
        assert!(given.check().is_err(), "{evaluations:?} {time:?}");
    }
}
