//! Extensions of finished runs: their results, and refusals.

use crate::support::common;
use common::{Place, TINY, assert_same, names, stderr, stdout, table};
use std::fs;

/// Runs a command, which must succeed.
fn ok(place: &Place, words: &str) -> String {
    let output = place.adaann(words, &[]);
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    stderr(&output)
}

/// The message of a refused command.
fn refused(place: &Place, words: &str) -> String {
    let output = place.adaann(words, &[]);
    assert_eq!(output.status.code(), Some(2), "{words}: {}{}", stdout(&output), stderr(&output));
    stderr(&output)
}

/// A run of an annealed flow that takes milliseconds; later flags override its own.
fn tiny(more: &str) -> String {
    let tiny: Vec<&str> = TINY
        .chunks(2)
        .filter(|pair| !more.contains(&format!("{} ", pair[0])))
        .flatten()
        .copied()
        .collect();
    format!("run bimodal --quiet {} {more}", tiny.join(" "))
}

#[test]
fn more_updates_give_the_bytes_of_a_run_with_as_many() {
    for more in ["", "--forward-kl 2 --forward-kl-draws 500 --forward-kl-updates 5", "--seeds 2"] {
        let place = Place::new();
        ok(&place, &tiny(&format!("--out r --refine 30 {more}")));
        ok(&place, &tiny(&format!("--out whole --refine 55 {more}")));
        let said = ok(&place, "resume r --more-updates 10");
        assert!(said.contains("extending r: 10 more updates\n"), "{said}");
        assert_eq!(
            place.summary("r")["updates"],
            place.summary("whole")["updates"].as_u64().unwrap() - 15
        );
        ok(&place, "verify r");
        // An extended run can be extended again.
        ok(&place, "resume r --more-updates 15 --quiet --checkpoint off");
        let output = place.adaann("verify r", &[]);
        assert!(output.status.success(), "{}", stdout(&output));
        assert_same(&place, more, "whole", "r");
        assert_eq!(place.entries(), ["r", "whole"], "nothing is left beside it");
    }
}

#[test]
fn more_draws_of_an_annealed_flow_give_the_bytes_of_a_run_with_as_many() {
    for more in ["", "--seeds 2", "--forward-kl 2 --forward-kl-draws 500 --forward-kl-updates 5"] {
        let place = Place::new();
        ok(&place, &tiny(&format!("--out r --draws 500 {more}")));
        ok(&place, &tiny(&format!("--out whole --draws 1200 {more}")));
        let said = ok(&place, "resume r --more-draws 700");
        assert!(said.contains("extending r: 700 more draws\n"), "{said}");
        assert_same(&place, more, "whole", "r");
    }
    // Both at once.
    let place = Place::new();
    ok(&place, &tiny("--out r --draws 500 --refine 30"));
    ok(&place, &tiny("--out whole --draws 600 --refine 40"));
    ok(&place, "resume r --more-draws 100 --more-updates 10");
    assert_same(&place, "both", "whole", "r");
}

#[test]
fn a_rate_that_falls_to_a_floor_stays_there_and_it_is_said() {
    let place = Place::new();
    ok(&place, &tiny("--out r --flow realnvp --refine 30 --layers 2"));
    let said = ok(&place, "resume r --more-updates 5");
    assert!(
        said.contains("5 more updates, from update 31 on at the learning rate's floor"),
        "{said}"
    );
    assert!(place.read("r/run.toml").contains("over = 30"), "the rule is the same");
}

#[test]
fn more_draws_of_the_ladder_go_on_with_the_same_stream() {
    let place = Place::new();
    place.write("prior.toml", "[parameters]\na = \"normal(1, 2)\"\n");
    for (name, words) in [
        ("mixture", "run mixture2d --method mixture"),
        ("funnel", "run funnel"),
        ("ladder", "run gaussian --param dim=2 --method ladder"),
        ("prior", "fit prior.toml"),
    ] {
        ok(&place, &format!("{words} --quiet --draws 2000 --out {name}"));
        ok(&place, &format!("{words} --quiet --draws 3500 --out {name}-whole"));
        let said = ok(&place, &format!("resume {name} --more-draws 1500"));
        assert!(said.contains(": 1,500 more draws\n"), "{said}");
        let whole = format!("{name}-whole");
        if name == "prior" {
            assert_same(&place, name, &whole, name);
            continue;
        }
        // Stated errors include the gap to draws of earlier proposals, which the files do not contain.
        for file in ["run.toml", "draws.csv", "flow.safetensors"] {
            assert!(place.read_bytes(&whole, file) == place.read_bytes(name, file), "{file}");
        }
        for key in ["log_z", "ess", "draws", "verdict", "check", "found_modes", "rungs"] {
            assert_eq!(place.summary(&whole)[key], place.summary(name)[key], "{name}: {key}");
        }
    }
    // Without `--draws` the run takes as many draws as it needs.
    ok(&place, "run two-moons --method mixture --quiet --out r");
    let (_, before) = table(&place.read("r/draws.csv"));
    ok(&place, "resume r --more-draws 100 --quiet");
    let (header, after) = table(&place.read("r/draws.csv"));
    assert_eq!(after.len(), before.len() + 100);
    let weight = header.split(',').position(|name| name == "weight").unwrap();
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before[..weight], after[..weight]);
    }
    assert!(place.read("r/run.toml").contains(&format!("draws = {}", after.len())));
    assert_eq!(place.summary("r")["draws"], after.len());
}

#[test]
fn more_draws_of_the_ladders_flow_keep_its_training() {
    let place = Place::new();
    let words = "run many-well --param dim=2 --method flow --quiet";
    ok(&place, &format!("{words} --draws 2000 --out r"));
    ok(&place, &format!("{words} --draws 2500 --out whole"));
    ok(&place, "resume r --more-draws 500 --quiet");
    // The preceding mixture, which has as many draws, is not sampled again.
    for file in ["run.toml", "draws.csv", "flow.safetensors", "trace.csv", "schedule.csv"] {
        assert!(place.read_bytes("whole", file) == place.read_bytes("r", file), "{file}");
    }
    for key in ["log_z", "updates", "draws", "verdict", "check", "found_modes"] {
        assert_eq!(place.summary("whole")[key], place.summary("r")[key], "{key}");
    }
    ok(&place, "resume r --more-draws 100 --quiet");
}

#[test]
fn more_particles_are_another_population() {
    let place = Place::new();
    ok(&place, "smc bimodal --particles 500 --quiet --out r");
    let (first, before) = (place.summary("r"), place.read("r/draws.csv"));
    let said = ok(&place, "resume r --more-particles 1500");
    assert!(said.contains("extending r: 1,500 more particles\n"), "{said}");
    let both = place.summary("r");
    assert_eq!(both["particles"], 2000);
    assert_eq!(both["draws"], 4 * first["draws"].as_u64().unwrap());
    assert_eq!(both["island_log_z"].as_array().unwrap().len(), 2);
    assert_eq!(both["island_log_z"][0], first["log_z"]);
    let log_z = |summary: &serde_json::Value| summary["log_z"].as_f64().unwrap();
    let other = both["island_log_z"][1].as_f64().unwrap();
    let mean = (0.25 * log_z(&first).exp() + 0.75 * other.exp()).ln();
    assert!((log_z(&both) - mean).abs() < 1e-12, "{both}");
    assert!((log_z(&both) - 0.04712).abs() < 5.0 * both["log_z_error"].as_f64().unwrap(), "{both}");
    // The existing particles come first and are unchanged; all weights sum to 1.
    let (_, rows) = table(&place.read("r/draws.csv"));
    let (_, before) = table(&before);
    assert!(before.iter().zip(&rows).all(|(a, b)| a[..2] == b[..2]));
    let total: f64 = rows.iter().map(|row| row.last().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    ok(&place, "resume r --more-particles 500 --quiet");
    assert_eq!(place.summary("r")["particles"], 2500);
    assert!(
        place.read("r/run.toml").contains("further = [1500, 500]"),
        "{}",
        place.read("r/run.toml")
    );
    ok(&place, "verify r");
    let said = refused(&place, "resume r --more-particles 5");
    assert!(said.contains("at least 10"), "{said}");
    refused(&place, "resume r --more-particles 100000000000");
}

#[test]
fn what_has_no_such_thing_is_refused_with_what_to_do() {
    let place = Place::new();
    ok(&place, &tiny("--out flow"));
    ok(&place, "run gaussian --method mixture --draws 500 --quiet --out mixture");
    ok(&place, "run gaussian --method chains --quiet --out chains");
    ok(&place, "smc gaussian --particles 100 --quiet --out particles");
    for (words, said) in [
        ("flow", "--more-updates, --more-draws"),
        ("flow --more-updates 0", "--more-updates is 0, but must be at least 1"),
        ("flow --more-draws 0", "--more-draws is 0"),
        ("flow --more-updates 10 --more-draws 0", "--more-draws is 0"),
        ("flow --more-updates 100000000000", "refine"),
        ("flow --more-draws 100000000000", "--draws"),
        ("flow --more-updates -1", "must be a whole number"),
        ("flow --more-particles 100", "--more-draws"),
        (
            "flow --more-updates 10 --more-particles 100",
            "--more-particles applies to runs of `adaann smc`",
        ),
        ("mixture --more-updates 10", "--more-draws"),
        ("mixture --more-updates 10 --more-draws 10", "--more-updates applies to annealed flows"),
        ("chains --more-draws 10", "--target-ess"),
        ("particles --more-draws 10", "--more-particles"),
        ("particles --more-updates 10", "--more-particles"),
        ("particles --more-particles 100 --more-draws 10", "with --more-particles only"),
        ("particles --more-particles 0", "--more-particles is 0"),
        ("nothing --more-draws 10", "not a run folder"),
    ] {
        let found = refused(&place, &format!("resume {words}"));
        assert!(found.contains(said), "{words}: {found}");
    }
    for run in ["flow", "mixture", "chains", "particles"] {
        ok(&place, &format!("verify {run}"));
    }
}

#[test]
fn without_a_final_state_there_is_nothing_to_go_on_from() {
    let place = Place::new();
    ok(&place, &tiny("--out r --no-state"));
    ok(&place, "smc bimodal --particles 100 --quiet --no-state --out particles");
    for (run, more) in [("r", "updates"), ("r", "draws"), ("particles", "particles")] {
        assert!(!names(&place.path(run)).contains(&"final".to_owned()));
        let said = refused(&place, &format!("resume {run} --more-{more} 100"));
        assert!(said.contains("--no-state") && said.contains("run it again"), "{said}");
    }
    // More draws of a mixture need no final state.
    ok(&place, "run gaussian --method mixture --draws 500 --quiet --out mixture");
    assert!(!names(&place.path("mixture")).contains(&"final".to_owned()));
    let said = refused(&place, "run gaussian --method mixture --no-state");
    assert!(said.contains("--no-state does not apply to --method mixture"), "{said}");
}

#[test]
fn a_folder_that_was_altered_is_not_made_longer() {
    let place = Place::new();
    ok(&place, &tiny("--out r"));
    let record = place.read("r/run.toml");
    for (file, text) in
        [("run.toml", record.replace("seed = 1", "seed = 2")), ("draws.csv", "z\n".into())]
    {
        let before = place.read(&format!("r/{file}"));
        place.write(&format!("r/{file}"), &text);
        let said = refused(&place, "resume r --more-updates 10");
        assert!(said.contains(file), "{said}");
        place.write(&format!("r/{file}"), &before);
    }
    let state = place.path("r/final/1.safetensors");
    let bytes = fs::read(&state).unwrap();
    fs::write(&state, &bytes[..bytes.len() - 1]).unwrap();
    let output = place.adaann("verify r", &[]);
    assert!(stdout(&output).contains("changed  final/1.safetensors"), "{}", stdout(&output));
    let said = refused(&place, "resume r --more-updates 10");
    assert!(said.contains("final/1.safetensors"), "{said}");
    fs::write(&state, &bytes).unwrap();
    // Foreign files are not deleted.
    place.write("r/notes.txt", "mine");
    let said = refused(&place, "resume r --more-draws 10");
    assert!(said.contains("notes.txt") && said.contains("move them away"), "{said}");
    fs::remove_file(place.path("r/notes.txt")).unwrap();
    ok(&place, "resume r --more-draws 10 --quiet");
    // The state of another run, listed in the index.
    ok(&place, &tiny("--out other --seed 2"));
    fs::copy(place.path("other/final/1.safetensors"), &state).unwrap();
    let (own, other) = (place.read("r/index.json"), place.read("other/index.json"));
    let entry = |text: &str| -> serde_json::Value {
        let index: serde_json::Value = serde_json::from_str(text).unwrap();
        index["files"]["final/1.safetensors"].clone()
    };
    let mut index: serde_json::Value = serde_json::from_str(&own).unwrap();
    index["files"]["final/1.safetensors"] = entry(&other);
    place.write("r/index.json", &index.to_string());
    let said = refused(&place, "resume r --more-draws 10");
    assert!(said.contains("that of another run") && said.contains("seed 1, was 2"), "{said}");
}

#[cfg(unix)]
mod ended {
    use super::*;
    use std::{
        process::{Child, Stdio},
        time::Duration,
    };

    /// Starts to extend a run, and waits for a checkpoint.
    fn begun(place: &Place, words: &str) -> Child {
        let mut command = place.command();
        command.args(words.split(' ')).args(["--quiet", "--checkpoint", "0.01s"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("the binary starts");
        let has_checkpoint = || {
            let folders = fs::read_dir(place.path("r/state")).into_iter().flatten().flatten();
            let mut files =
                folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
            files.any(|file| file.unwrap().path().extension().is_some_and(|e| e == "safetensors"))
        };
        while !has_checkpoint() {
            assert!(child.try_wait().unwrap().is_none(), "it is ended before its end");
            std::thread::sleep(Duration::from_millis(1));
        }
        child
    }

    #[test]
    fn a_longer_run_that_is_killed_or_stopped_leaves_the_old_one_whole_and_goes_on() {
        let place = Place::new();
        ok(&place, &tiny("--out r --refine 30"));
        ok(&place, &tiny("--out before --refine 30"));
        ok(&place, &tiny("--out whole --refine 20030"));
        let longer = "resume r --more-updates 20000";
        for is_killed in [false, true] {
            let mut child = begun(&place, longer);
            if is_killed {
                child.kill().unwrap();
                child.wait().unwrap();
            } else {
                let id = child.id().to_string();
                let sent = std::process::Command::new("kill").args(["-INT", &id]).status();
                assert!(sent.unwrap().success());
                assert_eq!(child.wait().unwrap().code(), Some(130));
            }
            // The finished run is complete and readable.
            let output = place.adaann("verify r", &[]);
            assert!(output.status.success(), "{}", stdout(&output));
            assert_eq!(place.read("r/run.toml"), place.read("before/run.toml"));
            assert_eq!(place.read("r/draws.csv"), place.read("before/draws.csv"));
            ok(&place, "sample r -n 5");
            // Other commands are refused; the message names the one that continues.
            for other in ["resume r", "resume r --more-updates 7", "resume r --more-draws 7"] {
                let said = refused(&place, other);
                assert!(
                    said.contains(&format!("continue it with `adaann {longer}`")),
                    "{other}: {said}"
                );
            }
        }
        let said = ok(&place, longer);
        assert!(said.contains("resuming r"), "{said}");
        assert_same(&place, "killed", "whole", "r");
        assert_eq!(place.entries(), ["before", "r", "whole"]);
    }

    #[test]
    fn an_unfinished_run_is_finished_first() {
        let place = Place::new();
        let mut child = begun(&place, &tiny("--out r --refine 100000").replace(" --quiet", ""));
        child.kill().unwrap();
        child.wait().unwrap();
        let said = refused(&place, "resume r --more-updates 10");
        assert!(said.contains("is not finished; finish it with `adaann resume r`"), "{said}");
        // A stopped run without checkpoints is not finished either.
        ok(&place, &tiny("--out stopped --max-evaluations 100 --checkpoint off"));
        assert_eq!(place.summary("stopped")["stopped"], true);
        let said = refused(&place, "resume stopped --more-updates 10");
        assert!(said.contains("was stopped") && said.contains("--force"), "{said}");
    }
}

/// A program that must not be started without permission.
#[cfg(unix)]
#[test]
fn a_program_is_only_started_where_it_is_allowed() {
    let place = Place::new();
    place.write_program_model(
        "#!/bin/sh\necho started >> log\nread hello\necho '{\"gradient\": false}'\n\
         while read line; do case $line in batch*) ;; *) echo -1 ;; esac; done\n",
    );
    let words = "fit m.toml --method mixture --draws 200 --quiet --check 0 --out r";
    ok(&place, words);
    let log = place.read("log");
    let said = refused(&place, "resume r --more-draws 100 --quiet");
    assert!(said.contains("--allow-command"), "{said}");
    assert_eq!(place.read("log"), log);
    let said = ok(&place, "resume r --more-draws 100 --quiet --allow-command");
    assert!(said.contains("starting './program'"), "{said}");
    assert_eq!(place.summary("r")["draws"], 300);
}
