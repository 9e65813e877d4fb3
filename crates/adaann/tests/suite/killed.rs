//! Runs that are killed at any moment, and taken up again: they end in the same bits.

use adaann::{
    Batch, Result,
    answer::{Answer, Method, Settings, approximate, approximate_with},
    checkpoint::{Fingerprint, Header, Keeper, Ledger, Store},
    flow::BaseSpec,
    registry,
    target::{Evaluation, Support, Target, Weights},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

/// A target that ends the process, as far as a run can see, when it has been asked so often.
struct Mortal<'a> {
    target: &'a dyn Target,
    left: AtomicUsize,
}

impl Target for Mortal<'_> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn evaluate(&self, x: &Batch, of: Option<Weights>, out: &mut Evaluation) -> Result<()> {
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        assert!(left.is_ok(), "killed");
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

/// All that a run says, to the bit.
fn bits(answer: &Answer) -> (Vec<u64>, Vec<u64>, String) {
    let of = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect();
    let found =
        answer.examination.as_ref().map(|found| (&found.verdict, found.evaluations, found.log_z));
    let words = format!("{:?} {:?} {found:?} {:?}", answer.rungs, answer.log_z, answer.evaluations);
    (of(answer.sample.log_weights()), of(answer.flow.parameters()), words)
}

/// Kills a run again and again, each time a little later than the last, until it ends.
fn assert_survives(name: &str, method: Method, kills: usize, interval: Duration) {
    let problem = registry::find(name).unwrap().build(&[]).unwrap();
    let target = &*problem.target;
    let base = BaseSpec::clone(&problem.settings.base);
    let settings = Settings { method, base, seed: 3, ..Settings::default() };
    let counted = Mortal { target, left: AtomicUsize::new(usize::MAX) };
    let whole = bits(&approximate(&counted, &settings, &mut ()).unwrap());
    let calls = usize::MAX - counted.left.load(Ordering::Relaxed);
    let folder = folder(name);
    let mut found = None;
    let mut deaths = 0;
    while found.is_none() {
        // Uneven, so that they fall everywhere.
        let left = calls * (deaths % 7 + 1) / (kills * 3) + deaths;
        let mortal = Mortal { target, left: AtomicUsize::new(left) };
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
