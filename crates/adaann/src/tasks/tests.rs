//! Crews, journals and locks under failures.

use super::*;
use std::{
    cell::Cell,
    fs,
    path::PathBuf,
    sync::{Barrier, Mutex},
};

/// A folder for one test, removed at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("adaann-tasks-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Keeps everything.
fn all<T>(_: usize, outcome: Result<T>) -> Result<Option<Result<T>>> {
    Ok(Some(outcome))
}

/// The first task ends last, and its result is still the first.
#[test]
fn results_are_in_the_order_of_their_tasks() {
    let (meet, ends) = (Barrier::new(2), Mutex::new(Vec::new()));
    let task = |i: usize| {
        if i == 0 || i == 4 {
            // Task 0 waits until the other worker reaches task 4.
            meet.wait();
        }
        i * i
    };
    let kept = Workers::sharing(2, 5).run(5, task, |i, outcome| {
        ends.lock().unwrap().push(i);
        outcome.map(Some)
    });
    assert_eq!(kept.unwrap(), [(0, 0), (1, 1), (2, 4), (3, 9), (4, 16)]);
    let ends = ends.into_inner().unwrap();
    assert!(ends != [0, 1, 2, 3, 4], "0 ended after 3: {ends:?}");
}

#[test]
fn threads_are_shared_out() {
    for (threads, tasks, workers, each) in [(8, 3, 3, 2), (2, 5, 2, 1), (4, 1, 1, 4), (3, 0, 1, 3)]
    {
        let pool = Workers::sharing(threads, tasks);
        assert_eq!((pool.workers, pool.threads), (workers, each), "{threads} for {tasks}");
        let seen = pool.run(tasks, |_| rayon::current_num_threads(), all).unwrap();
        assert_eq!(seen.len(), tasks);
        assert!(seen.into_iter().all(|(_, threads)| threads.unwrap() == each));
        let single = Workers::of_single_threads(threads, tasks);
        assert_eq!((single.workers, single.threads), (workers, 1));
    }
}

/// Squares, computed by three workers elsewhere that run at once; the first task fails.
struct Others<'a> {
    meeting: &'a Barrier,
    done: Mutex<Vec<usize>>,
}

impl Elsewhere<usize> for Others<'_> {
    fn seats(&self) -> usize {
        3
    }

    fn run(&self, task: usize) -> Result<usize> {
        meet(self.meeting, task);
        let mut done = self.done.lock().unwrap();
        done.push(task);
        if done.len() == 1 { Err(Error::Target("rank 2 is gone".into())) } else { Ok(task * task) }
    }
}

/// The first four tasks wait for each other, so each needs its own seat.
fn meet(meeting: &Barrier, task: usize) {
    if task < 4 {
        meeting.wait();
    }
}

#[test]
fn others_take_tasks_too() {
    let meeting = &Barrier::new(4);
    let others = Others { meeting, done: Mutex::default() };
    let task = |i: usize| {
        meet(meeting, i);
        i * i
    };
    let kept = Workers::sharing(1, 30).run_with(30, task, Some(&others), all).unwrap();
    assert_eq!(kept.len(), 30);
    let done = others.done.into_inner().unwrap();
    assert_eq!(done.iter().filter(|task| **task < 4).count(), 3, "{done:?}");
    for (i, outcome) in kept {
        match outcome {
            Ok(square) => assert_eq!(square, i * i),
            Err(error) => assert!(i == done[0] && error.to_string().contains("rank 2"), "{error}"),
        }
    }
}

#[test]
fn a_panic_costs_its_task_alone() {
    for workers in [1, 3] {
        let kept = Workers::sharing(workers, 6)
            .run(6, |i| if i == 2 { panic!("task {i} is odd") } else { i }, all)
            .unwrap();
        assert_eq!(kept.len(), 6);
        for (i, outcome) in kept {
            match outcome {
                Err(Error::Panicked(message)) => {
                    assert_eq!((i, message.as_str()), (2, "task 2 is odd"));
                }
                outcome => assert_eq!(outcome.unwrap(), i),
            }
        }
    }
}

#[test]
fn what_is_not_kept_is_left_out_and_an_error_ends_the_work() {
    let pool = Workers::sharing(1, 9);
    let even = |i: usize, outcome: Result<usize>| outcome.map(|_| i.is_multiple_of(2).then_some(i));
    assert_eq!(pool.run(5, |i| i, even).unwrap(), [(0, 0), (2, 2), (4, 4)]);
    // With this many tasks, only the error can end them.
    let failure = pool.run(
        usize::MAX,
        |_| (),
        |i, _| match i {
            2 => Err(Error::Data("no room".into())),
            _ => Ok(Some(())),
        },
    );
    assert_eq!(failure.unwrap_err().to_string(), "no room");
}

#[test]
fn a_raised_flag_ends_the_work() {
    let stop = AtomicBool::new(false);
    let task = |i: usize| {
        stop.fetch_or(i == 1, Ordering::Relaxed);
        i
    };
    let kept = Workers::sharing(1, 9).until(&stop).run(9, task, |_, outcome| outcome.map(Some));
    assert_eq!(kept.unwrap(), [(0, 0), (1, 1)]);
}

/// Numbers under a fingerprint.
struct Numbers {
    fingerprint: &'static str,
    header: Option<&'static str>,
}

impl Format for Numbers {
    type Entry = u32;

    fn header(&self) -> Option<String> {
        self.header.map(str::to_owned)
    }

    fn line(&self, entry: &u32) -> String {
        format!("{entry},{}", self.fingerprint)
    }

    fn entry(&self, line: &str) -> Option<u32> {
        let (number, fingerprint) = line.split_once(',')?;
        number.parse().ok().filter(|_| fingerprint == self.fingerprint)
    }
}

#[test]
fn a_journal_goes_on_after_a_torn_line() {
    let place = Place::new("torn");
    for header in [None, Some("number,fingerprint")] {
        let path = place.path(if header.is_some() { "headed" } else { "plain" });
        let open = || Journal::open(&path, Numbers { fingerprint: "f", header }).unwrap();
        let mut journal = open();
        assert!(journal.entries().is_empty() && !path.exists(), "looking writes nothing");
        for entry in [7, 3] {
            journal.append(entry).unwrap();
        }
        let whole = fs::read_to_string(&path).unwrap();
        assert_eq!(whole.lines().next(), Some(header.unwrap_or("7,f")));
        // Every position at which a kill can cut off the last line, from its end to its beginning.
        for kept in (whole.len() - "3,f\n".len()..whole.len()).rev() {
            fs::write(&path, &whole[..kept]).unwrap();
            let mut journal = open();
            assert_eq!((journal.entries(), journal.strange()), (&[7][..], 0));
            journal.append(3).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), whole);
        }
        let mut journal = open();
        journal.sort_by_key(|entry| *entry).unwrap();
        assert_eq!(open().entries(), [3, 7]);
    }
}

#[test]
fn lines_of_other_settings_are_told_apart() {
    let place = Place::new("settings");
    let path = place.path("journal");
    let open = |fingerprint| Journal::open(&path, Numbers { fingerprint, header: None }).unwrap();
    let mut journal = open("f");
    journal.append(1).unwrap();
    // Bytes that a power cut may leave.
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend(b"\xff\xff\xff\n2,f\n");
    fs::write(&path, bytes).unwrap();
    let mut journal = open("f");
    assert_eq!((journal.entries(), journal.strange()), (&[1, 2][..], 1));
    assert_eq!((open("g").entries(), open("g").strange()), (&[][..], 3));
    journal.retain(|entry| *entry == 2);
    journal.settle().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "2,f\n");
}

/// An interpreter must know all threads that call it, including those of a pool.
#[test]
fn tasks_run_in_threads_that_live_within_a_function() {
    thread_local!(static IS_WITHIN: Cell<bool> = const { Cell::new(false) });
    live_within(|life| {
        IS_WITHIN.set(true);
        life();
    });
    let seen =
        Workers::sharing(4, 3).run(3, |_| IS_WITHIN.get(), |_, seen| seen.map(Some)).unwrap();
    assert_eq!(seen, [(0, true), (1, true), (2, true)]);
    assert!(pool(1).unwrap().install(|| IS_WITHIN.get()));
    assert!(!IS_WITHIN.get(), "this thread is the test's own");
}

#[test]
fn a_lock_is_held_by_one_and_names_its_holder() {
    let place = Place::new("lock");
    let path = place.path("lock");
    let first = Lock::take(&path).unwrap();
    assert_eq!(first.left_by(), None);
    let refused = thread::scope(|scope| scope.spawn(|| Lock::take(&path)).join().unwrap());
    let Err(Error::Locked { folder, process }) = refused else { panic!("{refused:?}") };
    assert_eq!(folder, place.0.display().to_string());
    assert_eq!(process, Some(std::process::id()).filter(|_| cfg!(unix)));
    drop(first);
    // The state after a kill: a number in a file that nobody holds.
    assert_eq!(Lock::take(&path).unwrap().left_by(), None, "the first ended in peace");
    fs::write(&path, "4000000\n").unwrap();
    let taken = Lock::take(&path).unwrap();
    assert_eq!(taken.left_by(), Some(4_000_000));
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.split_whitespace().next(), Some(&std::process::id().to_string()[..]));
}
