//! Checkpoints are written when they are due, and failures are reported once.

use super::{
    memory::{Fault, Memory},
    *,
};
use crate::checkpoint::{Keeper, Store};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

fn keeper(disk: &Memory) -> Keeper {
    Keeper::new(Store::on(Box::new(disk.clone()), "state".into()).unwrap(), MINUTE)
}

#[test]
fn one_is_due_after_an_interval_of_work_or_on_request() {
    let mut keeper = keeper(&Memory::default());
    let start = Instant::now();
    assert!(!keeper.is_due() && !keeper.is_due_at(start));
    let later = start + MINUTE;
    assert!(keeper.is_due_at(later));
    assert!(keeper.write_at(later, &header(), &1.5).is_none());
    // The interval begins when the checkpoint is done, whenever that is.
    assert!(!keeper.is_due_at(later) && !keeper.is_due_at(start));
    assert!(!keeper.is_due_at(later + MINUTE / 2));
    assert!(keeper.is_due_at(later + MINUTE + keeper.cost().time));
    assert!(!keeper.is_due_at(later + MINUTE - Duration::from_nanos(1)));
    keeper.request();
    assert!(keeper.is_due() && keeper.is_due_at(start));
    assert!(keeper.write_at(later, &header(), &2.5).is_none());
    assert!(!keeper.is_due_at(later), "a request is fulfilled once");
    let (header, state, _) = keeper.store().unwrap().read::<f64>().unwrap().unwrap();
    assert_eq!((header.sequence, state), (2, 2.5));
    let cost = keeper.cost();
    assert!(cost.written == 2 && cost.failed == 0 && cost.bytes > 500, "{cost:?}");
}

#[test]
fn a_failure_is_told_of_once_and_the_run_goes_on() {
    let disk = Memory::default();
    let mut keeper = keeper(&disk);
    let mut now = Instant::now();
    assert!(keeper.write(&header(), &1.5).is_none());
    disk.break_at(0, Fault::Full);
    let warning = keeper.write_at(now, &header(), &2.5).unwrap().to_string();
    assert!(warning.contains("2.safetensors"), "{warning}");
    assert!(!keeper.is_due_at(now), "it is not retried at once");
    now += 2 * MINUTE;
    assert!(keeper.is_due_at(now));
    assert!(keeper.write_at(now, &header(), &3.5).is_none(), "it was reported before");
    assert_eq!((keeper.cost().written, keeper.cost().failed), (1, 2));
    assert_eq!(keeper.store().unwrap().read::<f64>().unwrap().unwrap().1, 1.5);
    disk.mend();
    assert!(keeper.write(&header(), &4.5).is_none());
    assert_eq!(keeper.cost().written, 2);
    assert_eq!(keeper.store().unwrap().read::<f64>().unwrap().unwrap().1, 4.5);
}

#[test]
fn one_that_is_off_never_writes() {
    let mut keeper = Keeper::off();
    keeper.request();
    assert!(keeper.is_off() && !keeper.is_due());
    assert!(!keeper.is_due_at(Instant::now() + 1000 * MINUTE));
    assert!(keeper.write(&header(), &1.5).is_none() && keeper.store().is_none());
    assert_eq!(keeper.cost().written, 0);
}
