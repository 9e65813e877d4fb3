//! A write that fails at any moment leaves the old state or the new one, intact.

use super::{
    memory::{Fault, Memory},
    *,
};
use crate::checkpoint::Store;

fn state(number: u64) -> (u64, Vec<f64>) {
    (number, (0..300).map(|i| f64::from(i) * number as f64).collect())
}

fn open(disk: &Memory) -> Store {
    Store::on(Box::new(disk.clone()), "state".into()).unwrap()
}

/// A disk with checkpoints 1 and 2.
fn disk_of_two() -> Memory {
    let disk = Memory::default();
    let mut store = open(&disk);
    for number in [1, 2] {
        assert_eq!(store.write(&header(), &state(number)).unwrap().sequence, number);
    }
    disk
}

/// The checkpoint that another process reads; it must be intact, and the newest.
fn found(disk: &Memory, what: &str) -> u64 {
    let read = open(disk).read::<(u64, Vec<f64>)>();
    let (header, found, fallen) = read.unwrap_or_else(|error| panic!("{what}: {error}")).unwrap();
    assert!(fallen.is_empty(), "{what}: {fallen}");
    assert_eq!(found, state(header.sequence), "{what}");
    header.sequence
}

/// The operations of one write without a fault.
fn operations() -> usize {
    let disk = disk_of_two();
    disk.break_at(usize::MAX, Fault::Fails);
    open(&disk).write(&header(), &state(3)).unwrap();
    assert_eq!(disk.names(), ["2.safetensors", "3.safetensors"]);
    disk.mend()
}

#[test]
fn every_moment_leaves_the_old_or_the_new_state() {
    let operations = operations();
    assert!(operations > 10, "create, pieces, sync, rename, sync, remove: {operations}");
    let mut seen = [0; 2];
    for fault in [Fault::Fails, Fault::Full, Fault::Killed, Fault::KilledHalfway] {
        for number in 0..=operations {
            let what = format!("{fault:?} at operation {number}");
            let disk = disk_of_two();
            disk.break_at(number, fault);
            let outcome = open(&disk).write(&header(), &state(3));
            disk.mend();
            let left = found(&disk, &what);
            assert!(left == 3 || left == 2 && outcome.is_err(), "{what}: {left} is left");
            seen[left as usize - 2] += 1;
            for disk in disk.after_power_loss() {
                let left = found(&disk, &format!("{what}, then no power"));
                // A checkpoint that was reported as written exists.
                assert!(left == 3 || left == 2 && outcome.is_err(), "{what}: {left} is left");
            }
            // The next process continues, and leftovers are removed.
            open(&disk).write(&header(), &state(left + 1)).unwrap();
            assert_eq!(found(&disk, &what), left + 1);
            let kept = [format!("{left}.safetensors"), format!("{}.safetensors", left + 1)];
            assert_eq!(disk.names(), kept, "{what}");
        }
    }
    assert!(seen.iter().all(|n| *n > 5), "{seen:?}");
}

/// The store that met the fault continues, too.
#[test]
fn a_failure_is_an_error_and_the_next_write_works() {
    for number in 0..operations() {
        let disk = disk_of_two();
        let mut store = open(&disk);
        disk.break_at(number, Fault::Fails);
        let outcome = store.write(&header(), &state(3));
        disk.mend();
        let left = found(&disk, "after a failure");
        let next = left + 1;
        assert!(outcome.is_ok() || !disk.names().iter().any(|name| name.ends_with(".tmp")));
        assert_eq!(store.write(&header(), &state(next)).unwrap().sequence, next);
        assert_eq!(found(&disk, "after another write"), next);
        assert_eq!(disk.names().len(), 2, "{:?}", disk.names());
    }
}

/// The first write of a run leaves nothing or the state.
#[test]
fn the_first_write_leaves_nothing_or_the_state() {
    for number in 0..20 {
        let disk = Memory::default();
        disk.break_at(number, Fault::KilledHalfway);
        let _ = open(&disk).write(&header(), &state(1));
        disk.mend();
        for disk in disk.after_power_loss().iter().chain([&disk]) {
            if let Some((_, found, _)) = open(disk).read::<(u64, Vec<f64>)>().unwrap() {
                assert_eq!(found, state(1));
            }
        }
    }
}
