//! Runs that are killed at any moment, or asked to stop, and resumed: they end with the same bits.

use adaann::{
    Batch, Result,
    answer::{Answer, Event, Method, Settings, approximate, approximate_with},
    checkpoint::{Fingerprint, Header, Keeper, Ledger, Store},
    flow::BaseSpec,
    registry,
    target::{Evaluation, Support, Target, Weights},
};
use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

/// A target that panics after a given number of calls, which the run sees as the end of the process; or that
/// sets a flag then.
struct Mortal<'a> {
    target: &'a dyn Target,
    left: AtomicUsize,
    flag: Option<&'static AtomicBool>,
}

impl Target for Mortal<'_> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn evaluate(&self, x: &Batch, of: Option<Weights>, out: &mut Evaluation) -> Result<()> {
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        match self.flag {
            Some(flag) if left.is_err() => flag.store(true, Ordering::Relaxed),
            _ => assert!(left.is_ok(), "killed"),
        }
        self.target.evaluate(x, of, out)
    }

    fn has_prior(&self) -> bool {
        self.target.has_prior()
    }

    fn has_proper_prior(&self) -> bool {
        self.target.has_proper_prior()
    }

    fn support(&self, d: usize) -> Support {
        self.target.support(d)
    }

    fn standardisation(&self, d: usize) -> (f64, f64) {
        self.target.standardisation(d)
    }

    fn names(&self) -> Vec<String> {
        self.target.names()
    }
}

fn ledger(folder: &Path, interval: Duration) -> Ledger {
    let keeper = Keeper::new(Store::open(folder).unwrap(), interval);
    Ledger::new(keeper, Header::new("any", Fingerprint::new())).resumed().unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("adaann-killed-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// All results of a run, as bits.
fn bits(answer: &Answer) -> (Vec<u64>, Vec<u64>, String) {
    let of = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect();
    let found =
        answer.examination.as_ref().map(|found| (&found.verdict, found.evaluations, found.log_z));
    let words = format!("{:?} {:?} {found:?} {:?}", answer.rungs, answer.log_z, answer.evaluations);
    (of(answer.sample.log_weights()), of(answer.flow.parameters()), words)
}

/// Kills a run repeatedly, each time a little later than before, until it finishes.
fn assert_survives(name: &str, method: Method, kills: usize, interval: Duration) {
    let problem = registry::find(name).unwrap().build(&[]).unwrap();
    let target = &*problem.target;
    let base = BaseSpec::clone(&problem.settings.base);
    let settings = Settings { method, base, seed: 3, ..Settings::default() };
    let counted = Mortal { target, left: AtomicUsize::new(usize::MAX), flag: None };
    let whole = bits(&approximate(&counted, &settings, &mut ()).unwrap());
    let calls = usize::MAX - counted.left.load(Ordering::Relaxed);
    let folder = folder(name);
    let mut found = None;
    let mut deaths = 0;
    while found.is_none() {
        // Uneven, so that the kills are spread over the whole run.
        let left = calls * (deaths % 7 + 1) / (kills * 3) + deaths;
        let mortal = Mortal { target, left: AtomicUsize::new(left), flag: None };
        let run = AssertUnwindSafe(|| {
            approximate_with(&mortal, &settings, &mut (), &mut ledger(&folder, interval)).unwrap()
        });
        match catch_unwind(run) {
            Ok(answer) => found = Some(bits(&answer)),
            Err(_) => deaths += 1,
        }
        assert!(deaths < 40 * kills, "{name} does not come to its end");
    }
    assert!(deaths > 1, "{name} was killed {deaths} times");
    assert!(found.unwrap() == whole, "{name}, {method:?}, killed {deaths} times");
    let _ = std::fs::remove_dir_all(&folder);
}

/// The factor for the number of stops, set by `ADAANN_KILLS=150`.
fn more() -> usize {
    let asked = std::env::var("ADAANN_KILLS").ok().and_then(|text| text.parse::<usize>().ok());
    asked.map_or(1, |kills| kills.div_ceil(24))
}

/// Stops runs after various numbers of target calls, and resumes each.
fn assert_goes_on(name: &str, parameters: &[(&str, f64)], method: Method, stops: usize) {
    let parameters: Vec<_> = parameters.iter().map(|&(key, value)| (key.into(), value)).collect();
    let problem = registry::find(name).unwrap().build(&parameters).unwrap();
    let target = &*problem.target;
    let base = BaseSpec::clone(&problem.settings.base);
    let settings = Settings { method, base, seed: 3, target_ess: 1_000.0, ..Settings::default() };
    let counted = Mortal { target, left: AtomicUsize::new(usize::MAX), flag: None };
    let whole = bits(&approximate(&counted, &settings, &mut ()).unwrap());
    let calls = usize::MAX - counted.left.load(Ordering::Relaxed);
    let stops = stops * more();
    for stop in 0..stops {
        let folder = folder(&format!("{name}-{stop}"));
        let flag: &'static AtomicBool = Box::leak(Box::default());
        let mut observer = |_: &Event| match flag.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let left = AtomicUsize::new(calls * stop / stops + stop % 3);
        let stopped = Mortal { target, left, flag: Some(flag) };
        let mut first = ledger(&folder, Duration::from_millis(1)).urgent_when(flag);
        // Its result is not final; it may have none.
        let _ = approximate_with(&stopped, &settings, &mut observer, &mut first);
        drop(first);
        let mut second = ledger(&folder, Duration::from_millis(1));
        let found = approximate_with(&counted, &settings, &mut (), &mut second);
        assert!(
            bits(&found.unwrap()) == whole,
            "{name}, {method:?}, asked to end at {stop} of {stops}"
        );
        let _ = std::fs::remove_dir_all(&folder);
    }
}

#[test]
fn runs_that_were_asked_to_end_go_on_to_the_same_bits() {
    assert_goes_on("mixture2d", &[], Method::Ladder, 8);
    assert_goes_on("funnel", &[("dim", 2.0)], Method::Ladder, 2);
    assert_goes_on("many-well", &[("dim", 4.0)], Method::Ladder, 3);
    assert_goes_on("two-moons", &[], Method::Ladder, 3);
    assert_goes_on("shells", &[], Method::Smc, 3);
    assert_goes_on("mixture2d", &[], Method::Chains, 4);
    assert_goes_on("two-moons", &[], Method::Flow, 1);
}

#[test]
fn ascents_and_mixture() {
    assert_survives("mixture2d", Method::Ladder, 5, Duration::ZERO);
    assert_survives("hiv", Method::Ladder, 5, Duration::ZERO);
}

#[test]
fn particles() {
    assert_survives("shells", Method::Smc, 6, Duration::ZERO);
}

#[test]
fn chains() {
    assert_survives("mixture2d", Method::Chains, 6, Duration::from_millis(20));
}

#[test]
fn flow() {
    assert_survives("two-moons", Method::Flow, 3, Duration::from_millis(30));
}
