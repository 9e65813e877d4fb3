//! Jobs with killed, stopped and failing ranks.

use crate::place::{LONG, Place, ended, stderr};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

/// The descendants of a process, with their command lines.
fn family(ancestor: u32) -> Vec<(u32, String)> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        let command = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        parents.extend(parent.map(|parent: u32| (process, parent, command.replace('\0', " "))));
    }
    let (mut found, mut at) = (vec![(ancestor, String::new())], 0);
    while at < found.len() {
        let of = found[at].0;
        let children = parents.iter().filter(|(_, parent, _)| *parent == of);
        found.extend(children.map(|(process, _, command)| (*process, command.clone())));
        at += 1;
    }
    found.remove(0);
    found
}

fn is_alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// The processes of the ranks, rank 0 first.
fn ranks(job: u32, count: usize) -> Vec<u32> {
    let rank = |process: u32| -> Option<usize> {
        let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
        let mut variables =
            environment.split(|byte| *byte == 0).filter_map(|text| std::str::from_utf8(text).ok());
        variables
            .find_map(|text| {
                text.strip_prefix("PMI_RANK=").or(text.strip_prefix("OMPI_COMM_WORLD_RANK="))
            })?
            .parse()
            .ok()
    };
    let started = Instant::now();
    loop {
        let of_program = family(job).into_iter().filter(|(_, command)| {
            command.split(' ').next().is_some_and(|first| {
                Path::new(first).file_name().is_some_and(|name| name == "adaann-mpi")
            })
        });
        let mut found: Vec<(usize, u32)> =
            of_program.filter_map(|(process, _)| Some((rank(process)?, process))).collect();
        found.sort_unstable();
        if found.len() == count {
            return found.into_iter().map(|(_, process)| process).collect();
        }
        assert!(started.elapsed() < LONG, "{found:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn signal(name: &str, process: u32) {
    let status = Command::new("kill").args([format!("-{name}"), process.to_string()]).status();
    assert!(status.unwrap().success(), "kill -{name} {process}");
}

/// Waits until a run has a checkpoint.
fn wait_for_checkpoint(place: &Place, out: &str) {
    let state: PathBuf = place.path(out).join("state");
    let started = Instant::now();
    let has_one = || {
        fs::read_dir(&state).is_ok_and(|mut entries| {
            entries.any(|entry| {
                entry.is_ok_and(|e| e.path().extension().is_some_and(|x| x == "safetensors"))
            })
        })
    };
    while !has_one() {
        assert!(started.elapsed() < LONG, "no checkpoint in {}", state.display());
        thread::sleep(Duration::from_millis(10));
    }
}

/// All processes of a job exit. External programs may take a moment to notice that the job is gone.
fn assert_gone(family: &[(u32, String)]) {
    let started = Instant::now();
    while family.iter().any(|(process, _)| is_alive(*process)) {
        let left: Vec<_> = family.iter().filter(|(process, _)| is_alive(*process)).collect();
        assert!(started.elapsed() < Duration::from_secs(20), "left behind: {left:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

const FIT: &str = "fit slow.toml --threads 1 --checkpoint 0.05s";

/// Starts a slow fit on four ranks and waits for its first checkpoint. Writes the same fit without MPI to the folder
/// `whole`. Returns the job, its ranks and all of its processes.
fn slow(place: &Place, words: &str) -> (Child, Vec<u32>, Vec<(u32, String)>) {
    place.write_slow(0.0, 1e9);
    place.must(None, "fit slow.toml --threads 1 --quiet --out whole");
    // The model file must stay the same, so change the time per point in the program.
    let program = fs::read_to_string(place.path("program.py")).unwrap();
    fs::write(place.path("program.py"), program.replace("float(sys.argv[1])", "0.002")).unwrap();
    let job = place.job(Some(4), words).spawn().expect("it starts");
    let ranks = ranks(job.id(), 4);
    wait_for_checkpoint(place, "out");
    let all = family(job.id());
    (job, ranks, all)
}

fn assert_goes_on(place: &Place, ranks: Option<usize>) {
    assert!(!place.path("out").join("summary.json").exists(), "the run had already finished");
    let program = fs::read_to_string(place.path("program.py")).unwrap();
    fs::write(place.path("program.py"), program.replace("0.002", "0")).unwrap();
    place.must(ranks, "resume out --threads 1 --allow-command --quiet");
    place.assert_same("whole", "out");
}

#[test]
fn a_rank_that_is_killed_ends_the_job() {
    let place = Place::new();
    let (job, ranks, all) = slow(&place, &format!("{FIT} --rank-timeout 5s --out out"));
    signal("KILL", ranks[2]);
    let started = Instant::now();
    let output = ended(job, Duration::from_secs(20));
    assert!(!output.status.success());
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_gone(&all);
    assert_goes_on(&place, Some(3));
}

#[test]
fn rank_0_that_is_killed_ends_the_job() {
    let place = Place::new();
    let (job, ranks, all) = slow(&place, &format!("{FIT} --rank-timeout 5s --out out"));
    signal("KILL", ranks[0]);
    assert!(!ended(job, Duration::from_secs(20)).status.success());
    assert_gone(&all);
    assert_goes_on(&place, None);
}

#[test]
fn a_rank_that_is_stopped_is_named() {
    let place = Place::new();
    let (job, ranks, all) = slow(&place, &format!("{FIT} --rank-timeout 2s --out out"));
    signal("STOP", ranks[3]);
    let output = ended(job, Duration::from_secs(30));
    let said = stderr(&output);
    assert!(!output.status.success());
    let named = format!("process {}) has not answered for 2 s", ranks[3]);
    assert!(
        said.contains("rank 3 (") && said.contains(&named) && said.contains("adaann resume out"),
        "{said}"
    );
    assert_gone(&all);
    assert_goes_on(&place, Some(2));
}

/// Schedulers send SIGTERM to every process of the job, which then has half a minute to exit.
#[test]
fn a_job_that_is_asked_to_end_leaves_a_checkpoint() {
    let place = Place::new();
    let (job, ranks, all) = slow(&place, &format!("{FIT} --out out"));
    ranks.iter().for_each(|process| signal("TERM", *process));
    let output = ended(job, Duration::from_secs(30));
    assert!(!output.status.success());
    assert_gone(&all);
    if place.path("out").join("summary.json").exists() {
        // The run wrote a result that its verdict does not trust. Delete it to resume from the checkpoint.
        fs::remove_file(place.path("out").join("summary.json")).unwrap();
    }
    assert_goes_on(&place, Some(3));
}

/// Rank 0 also writes checkpoints of seeds that run on other ranks.
#[test]
fn seeds_elsewhere_go_on_where_they_were() {
    let place = Place::new();
    let words = "run bimodal --seeds 3 --tau 0.05 --draws 500 --check-particles 300 --threads 1 --checkpoint 0.05s --quiet";
    place.must(None, &format!("{words} --out whole"));
    let job = place.job(Some(3), &format!("{words} --out out")).spawn().unwrap();
    let ranks = ranks(job.id(), 3);
    let state = place.path("out").join("state");
    let started = Instant::now();
    while !["seed-1", "seed-2", "seed-3"].iter().all(|seed| state.join(seed).is_dir()) {
        assert!(started.elapsed() < LONG, "no checkpoints of all seeds");
        thread::sleep(Duration::from_millis(5));
    }
    signal("KILL", ranks[1]);
    assert!(!ended(job, Duration::from_secs(20)).status.success());
    assert!(!place.path("out").join("summary.json").exists(), "the run had already finished");
    place.must(Some(2), "resume out --threads 1 --quiet");
    place.assert_same("whole", "out");
}

#[test]
fn a_target_that_fails_is_told_with_rank_and_point() {
    let place = Place::new();
    place.write_slow(0.0, 2.5);
    let output = place.run(Some(3), "fit slow.toml --threads 1 --retries 0 --quiet --out out");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let place_of_it = said.find("at a = ").expect(&said);
    let b: f64 = said[place_of_it..]
        .split("b = ")
        .nth(1)
        .unwrap()
        .split([';', ' ', '\n'])
        .next()
        .unwrap()
        .trim_end_matches([',', '.'])
        .parse()
        .expect(&said);
    assert!(b > 2.5, "{said}");
    assert!(said.contains("rank ") && said.contains("beyond 2.5"), "{said}");
}

#[test]
fn another_program_is_refused() {
    let place = Place::new();
    let own = Path::new(env!("CARGO_BIN_EXE_adaann-mpi"));
    let mut bytes = fs::read(own).unwrap();
    bytes.push(0);
    let other = place.path("adaann-mpi");
    fs::write(&other, bytes).unwrap();
    fs::set_permissions(&other, fs::metadata(own).unwrap().permissions()).unwrap();
    let words = format!("list : -n 1 {} list", other.display());
    let output = ended(place.job(Some(1), &words).spawn().unwrap(), LONG);
    let said = stderr(&output);
    assert!(!output.status.success());
    assert!(said.contains("rank 1 (") && said.contains("runs another program"), "{said}");
    assert!(output.stdout.is_empty(), "{output:?}");
}
