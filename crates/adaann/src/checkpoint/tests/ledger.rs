//! Finished parts are not done again, and stopped parts resume.

use crate::{
    Error, Result,
    checkpoint::{Done, Fingerprint, Header, Keeper, Ledger, Store},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

fn ledger(folder: &std::path::Path) -> Ledger {
    let keeper = Keeper::new(Store::open(folder).unwrap(), Duration::ZERO);
    Ledger::new(keeper, Header::new("baseline", Fingerprint::new()))
}

/// Parts within parts, and a long one that offers its state after each step. Every call of `alive` is
/// a moment at which the run may be killed.
fn work(ledger: &mut Ledger, alive: &mut dyn FnMut() -> Result<()>) -> Result<Vec<f64>> {
    let first = ledger.part("first", |_| {
        alive()?;
        Ok(Done::Whole(vec![f64::NEG_INFINITY; 12]))
    })?;
    let mut all = first;
    for _ in 0..2 {
        all.push(ledger.part("outer", |ledger| {
            let mut sum = 0.0;
            for i in 0..3 {
                sum += ledger.part("inner", |_| {
                    alive()?;
                    Ok(Done::Whole(f64::from(i)))
                })?;
            }
            Ok(Done::Whole(sum))
        })?);
    }
    all.push(ledger.part("long", |ledger| {
        let (mut at, mut sum) = ledger.take_up()?.unwrap_or((0, 0.1));
        while at < 5 {
            alive()?;
            at += 1;
            sum = 1.1 * sum + f64::from(at);
            ledger.offer(&(at, sum));
        }
        Ok(Done::Whole(sum))
    })?);
    Ok(all)
}

#[test]
fn killed_anywhere_it_ends_in_the_same_bits_and_does_nothing_twice() {
    let folder = std::env::temp_dir().join(format!("adaann-ledger-{}", std::process::id()));
    let mut moments = 0;
    let whole = work(&mut Ledger::off(), &mut || {
        moments += 1;
        Ok(())
    });
    let whole: Vec<u64> = whole.unwrap().iter().map(|x| x.to_bits()).collect();
    assert_eq!(moments, 12);
    for kill in 0..moments {
        let _ = std::fs::remove_dir_all(&folder);
        let mut done = 0;
        let mut alive = || {
            done += 1;
            if done > kill { Err(Error::Target("killed".into())) } else { Ok(()) }
        };
        assert!(work(&mut ledger(&folder), &mut alive).is_err());
        let mut again = 0;
        let found = work(&mut ledger(&folder).resumed().unwrap(), &mut || {
            again += 1;
            Ok(())
        });
        let found: Vec<u64> = found.unwrap().iter().map(|x| x.to_bits()).collect();
        assert_eq!(found, whole, "killed after {kill}");
        assert_eq!(kill + again, moments, "nothing is done twice");
    }
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn a_look_takes_what_there_is_and_leaves_it_as_it_is() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let folder = std::env::temp_dir().join(format!("adaann-looking-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let look = || Ledger::looking(Store::open(&folder).unwrap(), &ASKED).unwrap();
    assert!(look().parts().next().is_none() && !folder.exists(), "nothing was written");
    // Killed in its last part, after three of five steps.
    let mut left = 10;
    let mut alive = || {
        left -= 1;
        if left < 0 { Err(Error::Target("killed".into())) } else { Ok(()) }
    };
    assert!(work(&mut ledger(&folder), &mut alive).is_err());
    let files = || -> Vec<(String, Vec<u8>)> {
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let read =
            |path: std::path::PathBuf| (path.display().to_string(), std::fs::read(&path).unwrap());
        let mut all: Vec<_> = entries.map(read).collect();
        all.sort();
        all
    };
    let before = files();
    ASKED.store(false, Ordering::Relaxed);
    let mut looking = look();
    assert_eq!(looking.parts().collect::<Vec<_>>(), ["first", "outer", "outer", "long#"]);
    assert!(!ASKED.load(Ordering::Relaxed), "there is something to be taken");
    // A run that checks the flag ends where the list ends.
    let mut done = 0;
    let mut asked = || {
        done += 1;
        match ASKED.load(Ordering::Relaxed) {
            true => Err(Error::Target("asked to end".into())),
            false => Ok(()),
        }
    };
    let ended = work(&mut looking, &mut asked).unwrap_err().to_string();
    assert!(ended.contains("asked to end"), "{ended}");
    assert_eq!(done, 1, "nothing but the part under way is looked into");
    looking.write();
    looking.keep(&1.0);
    assert_eq!(files(), before);
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn what_cannot_be_written_is_told_once_and_the_run_goes_on() {
    let folder = std::env::temp_dir().join(format!("adaann-unwritable-{}", std::process::id()));
    let told = Arc::new(AtomicUsize::new(0));
    let count = told.clone();
    let mut ledger = ledger(&folder).warning(move |_| _ = count.fetch_add(1, Ordering::Relaxed));
    // A file blocks the path of the folder.
    std::fs::write(&folder, "").unwrap();
    let found = work(&mut ledger, &mut || Ok(()));
    assert_eq!(found.unwrap().len(), 15);
    assert_eq!(told.load(Ordering::Relaxed), 1);
    std::fs::remove_file(&folder).unwrap();
}

#[test]
fn a_list_of_something_else_is_refused() {
    let folder = std::env::temp_dir().join(format!("adaann-strange-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut first = ledger(&folder);
    first.part("a", |_| Ok(Done::Whole(1.0))).unwrap();
    let mut other = ledger(&folder).resumed().unwrap();
    let error = other.part("b", |_| Ok(Done::Whole(1.0))).unwrap_err().to_string();
    assert!(error.contains("at `b`: it has `a` there"), "{error}");
    let mut other = ledger(&folder).resumed().unwrap();
    assert!(other.part("a", |_| Ok(Done::Whole(String::new()))).is_err());
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn a_longer_run_begins_with_what_is_known_unless_it_has_parts_of_its_own() {
    let folder = std::env::temp_dir().join(format!("adaann-longer-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let sum = |ledger: &mut Ledger| {
        ledger.part("sum", |ledger| Ok(Done::Whole(ledger.take_up()?.unwrap_or(0) + 1)))
    };
    let begun = || ledger(&folder).resumed().unwrap();
    assert_eq!(sum(&mut begun().knowing("sum", &7).unwrap()).unwrap(), 7);
    assert_eq!(sum(&mut begun().taking_up("sum", &7).unwrap()).unwrap(), 8);
    // The part has recorded its result.
    assert_eq!(sum(&mut begun().taking_up("sum", &20).unwrap()).unwrap(), 8);
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn what_was_stopped_is_gone_on_with() {
    let folder = std::env::temp_dir().join(format!("adaann-stopped-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut first = ledger(&folder);
    let stopped = first.part("a", |ledger| {
        ledger.offer(&7_u64);
        Ok(Done::Stopped(0_u64))
    });
    assert_eq!(stopped.unwrap(), 0);
    // Later work depends on the partial result, and is done again.
    assert_eq!(first.part("b", |_| Ok(Done::Whole(1_u64))).unwrap(), 1);
    first.write();
    // Resumed, and stopped again before there is a later state: the old state is kept.
    let mut again = ledger(&folder).resumed().unwrap();
    let stopped = again.part("a", |ledger| Ok(Done::Stopped(ledger.take_up::<u64>()?.unwrap())));
    assert_eq!(stopped.unwrap(), 7);
    again.write();
    let mut again = ledger(&folder).resumed().unwrap();
    let whole = again.part("a", |ledger| Ok(Done::Whole(ledger.take_up::<u64>()?.unwrap())));
    assert_eq!(whole.unwrap(), 7);
    let _ = std::fs::remove_dir_all(&folder);
}
