//! Failing programs: the messages, and that nothing waits forever.

use crate::support::programs;
use adaann::{
    Batch,
    external::{Command, GradientBy, Simulator},
};
use programs::*;
use std::{fs, path::PathBuf, time::Duration};

/// The message when two points are evaluated.
fn said(command: &Command, gradient: bool) -> String {
    let simulator = start(command, 2);
    let points = Batch::from_points(2, &[[0.5, -1.0], [2.25, 7.0]]);
    let first = ask(&simulator, &points, gradient).unwrap_err().to_string();
    let again = ask(&simulator, &points, gradient).unwrap_err().to_string();
    assert_eq!(first, again, "it is ended, and said so again");
    first
}

fn refused(command: &Command) -> String {
    Simulator::start(command, &names(2)).expect_err("no program").to_string()
}

#[track_caller]
fn has(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "no '{part}' in: {said}");
    }
}

#[test]
fn a_crash_is_told_with_its_point_and_its_last_words() {
    programs::needs_python!();
    let body = "print(1/(x[0] - 2.25), flush=True)";
    let text = said(&python(WITHOUT, body), false);
    has(&text, &["exit status: 1", "after 1 of 2 answers, at a = 2.25, b = 7.0"]);
    has(&text, &["Last lines of its stderr:", "ZeroDivisionError"]);
}

#[cfg(unix)]
#[test]
fn a_signal_is_named() {
    programs::needs_python!();
    let text = said(&python(WITHOUT, "os.kill(os.getpid(), 11)"), false);
    has(&text, &["signal: 11", "after 0 of 2 answers, at a = 0.5"]);
}

#[test]
fn the_end_of_a_flood_is_quoted() {
    programs::needs_python!();
    let body = "sys.stderr.write('x'*10000000 + '\\n')\n\
                for i in range(20): print('word', i, file=sys.stderr)\n\
                sys.exit(4)";
    let text = said(&python(WITHOUT, body), false);
    has(&text, &["exit status: 4", "word 12\n", "word 19"]);
    assert!(!text.contains("word 11") && text.len() < 1000, "{} bytes", text.len());
}

#[test]
fn a_program_that_ends_early_is_noticed() {
    let text = said(&shell("read x; echo '{}'; read x; exit 0"), false);
    has(&text, &["it has stopped (exit status: 0) after 0 of 2 answers"]);
    let text = said(&shell("read x; echo '{}'; exec >&-; read x; sleep 100"), false);
    has(&text, &["it has closed its output after 0 of 2 answers"]);
}

#[test]
fn bad_lines_are_quoted() {
    programs::needs_python!();
    let line = |line: &str, gradient| {
        said(
            &python(
                WITH,
                &format!("print('''{line}''' if k == 1 else '1 2 3'[:5 if gradient else 1])"),
            ),
            gradient,
        )
    };
    let text = line("x = 3", false);
    has(
        &text,
        &["answer 2 of 2 has 'x' where a number is expected", "the line is 'x = 3'", "a = 2.25"],
    );
    has(&line("1.5 2", true), &["has 2 numbers, but must have 3", "the line is '1.5 2'"]);
    has(&line("1 2 3 4", true), &["has 4 numbers, but must have 3"]);
    has(&line("1 2", false), &["has 2 numbers, but must have one"]);
    has(&line("1 2 3 4", false), &["has 4 numbers, but must have one"]);
    has(&line("", false), &["is empty"]);
}

#[test]
fn a_line_without_an_end_takes_no_memory() {
    let text =
        said(&shell("read x; echo '{}'; read x; while :; do printf 0123456789; done"), false);
    has(&text, &["a line that does not end", "begins with '0123456789"]);
    assert!(text.len() < 1000, "{} bytes", text.len());
}

/// Debug output on stdout, and too many values.
#[test]
fn what_was_not_asked_for_is_refused() {
    programs::needs_python!();
    has(&said(&python(WITHOUT, "print('trying', x)\nprint(1)"), false), &["has 'trying' where"]);
    let text =
        said(&python(WITHOUT, "sys.stdout.write('1\\n2\\n' if k == n - 1 else '1\\n')"), false);
    has(&text, &["it wrote '2' without a request", "stderr"]);
    // The program prints between two batches.
    let late =
        python(WITHOUT, "print(1)\nif k == n - 1: sys.stdout.flush(); time.sleep(1); print(5)");
    let simulator = start(&late, 1);
    let one = Batch::zeros(1, 1);
    assert_eq!(ask(&simulator, &one, false).unwrap().0, [1.0]);
    std::thread::sleep(Duration::from_secs(4));
    has(&ask(&simulator, &one, false).unwrap_err().to_string(), &["it wrote '5'"]);
}

#[test]
fn the_timeout_ends_a_program_that_hangs() {
    programs::needs_python!();
    let brief = |mut command: Command| {
        command.timeout = Duration::from_secs(3);
        command
    };
    let hangs = brief(shell("read x; echo '{}'; read x; read x; echo 1; sleep 1000"));
    let text = said(&hangs, false);
    has(&text, &["no answer within 3 s, after 1 of 2 answers, at a = 2.25", "flush"]);
    has(&refused(&brief(shell("sleep 1000"))), &["no answer within 3 s, before its first line"]);
    // A slow program is not a failure.
    let slow = python(WITHOUT, "time.sleep(0.3)\nprint(-k, flush=True)");
    let points = Batch::zeros(1, 4);
    assert_eq!(ask(&start(&slow, 1), &points, false).unwrap().0, [-0.0, -1.0, -2.0, -3.0]);
}

#[test]
fn one_of_several_that_fails_ends_the_call() {
    programs::needs_python!();
    let mut command = python("{\"batch\": 1}", "print(1/(x[0] - 17), flush=True)");
    command.processes = 3;
    let simulator = start(&command, 1);
    let points: Vec<[f64; 1]> = (0..40).map(|i| [f64::from(i)]).collect();
    let error = ask(&simulator, &Batch::from_points(1, &points), false).unwrap_err();
    has(&error.to_string(), &["at a = 17.0", "ZeroDivisionError"]);
}

#[test]
fn the_first_line_must_be_what_it_must_be() {
    has(&refused(&shell("echo hello")), &["its first line is 'hello', but must be {\"gradient\""]);
    has(
        &refused(&shell("echo no data >&2; exit 7")),
        &["exit status: 7", "before its first line", "no data"],
    );
    has(&refused(&shell("echo '{\"batch\": 0}'")), &["must be at least 1"]);
    let mut command = shell("read x; echo '{\"gradient\": false}'; cat > /dev/null");
    command.gradient = GradientBy::Program;
    has(&refused(&command), &["says that it gives no gradient"]);
}

/// A new folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[cfg(unix)]
#[test]
fn a_program_that_does_not_start_is_explained() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("outside-start");
    let file = |name: &str, text: &str, mode| {
        fs::write(folder.join(name), text).expect("a file");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).expect("a mode");
    };
    file("plain", "#!/bin/sh\n", 0o644);
    file("nothing", "read x\n", 0o755);
    file("wrong", "#!/no/such/interpreter\n", 0o755);
    file("works", "#!/bin/sh\nread x; echo '{}'; read x; read x; wc -c < table.csv\n", 0o755);
    file("table.csv", "1234567", 0o644);
    let call =
        |program: &str| Command { folder: folder.clone(), processes: 1, ..Command::new([program]) };
    let says = |program: &str, parts: &[&str]| has(&refused(&call(program)), parts);
    says("./plain", &["cannot start ./plain", "chmod +x"]);
    says("./nothing", &["begins with a line such as #!"]);
    says("./wrong", &["interpreter that its first line names"]);
    says("works", &["write ./works"]);
    says("./absent", &["there is no file", "absent"]);
    says("surely-no-such-program", &["installed"]);
    says("", &["command is empty"]);
    let nowhere = Command { folder: folder.join("nowhere"), ..call("./works") };
    has(&refused(&nowhere), &["which is not a folder"]);
    // The program runs in its own folder, wherever the test runs.
    let simulator = start(&call("./works"), 1);
    assert_eq!(ask(&simulator, &Batch::zeros(1, 1), false).unwrap().0, [7.0]);
}

/// A function that returns true the first time it is called with a name, across all processes of a
/// folder.
const FIRST: &str = "\
def first(name):
    try: os.close(os.open(name, os.O_CREAT | os.O_EXCL))
    except FileExistsError: return False
    return True
";

/// A restartable program in its own folder, with `first(name)` in its code.
fn again(name: &str, body: &str) -> Command {
    let mut command = python(WITHOUT, body);
    let words = command.program[2].replacen('\n', &format!("\n{FIRST}"), 1);
    command.program[2] = words;
    Command { folder: folder(name), retries: 2, ..command }
}

const WAVES: &str = "\nprint(math.sin(7*x[0]), flush=True)";

fn line_of(count: u32) -> Batch {
    let points: Vec<[f64; 1]> = (0..count).map(|i| [f64::from(i) / 3.0]).collect();
    Batch::from_points(1, &points)
}

/// The bits from a program without failures.
fn undisturbed(points: &Batch) -> Vec<f64> {
    ask(&start(&python(WITHOUT, WAVES), 1), points, false).unwrap().0
}

#[test]
fn a_program_with_one_bad_moment_gives_the_same_bits() {
    programs::needs_python!();
    let points = line_of(200);
    let expected = undisturbed(&points);
    for (name, accident) in [
        ("dies", "os.kill(os.getpid(), 9)"),
        ("half", "sys.stdout.write('-0.'); sys.stdout.flush(); os._exit(0)"),
        ("word", "print('what?', flush=True)"),
        ("more", "print('1\\n2', flush=True)"),
        ("hangs", "time.sleep(1000)"),
    ] {
        for processes in [1, 3] {
            let place = format!("outside-again-{name}-{processes}");
            let body = format!("if k == 3 and x[0] > 40 and first('mark'): {accident}{WAVES}");
            let mut command = Command { processes, ..again(&place, &body) };
            if name == "hangs" {
                command.timeout = Duration::from_secs(5);
            }
            let simulator = start(&command, 1);
            assert_eq!(ask(&simulator, &points, false).unwrap().0, expected, "{place}");
            assert_eq!(simulator.restarts(), 1, "{place}");
            // The failure has no effect on the next batch.
            assert_eq!(ask(&simulator, &points, false).unwrap().0, expected, "{place}");
            assert_eq!(simulator.restarts(), 1, "{place}");
        }
    }
}

/// The retries are counted per batch, not per run.
#[test]
fn every_batch_has_its_tries() {
    programs::needs_python!();
    let body = format!("if first(f'a{{x[0]}}') or first(f'b{{x[0]}}'): sys.exit(5){WAVES}");
    let simulator = start(&again("outside-again-tries", &body), 1);
    for i in 0..4 {
        let one = Batch::from_points(1, &[[f64::from(i)]]);
        assert_eq!(ask(&simulator, &one, false).unwrap().0, undisturbed(&one));
    }
    assert_eq!(simulator.restarts(), 8);
}

#[test]
fn one_that_always_dies_is_told_with_its_tries() {
    programs::needs_python!();
    let body = "open('starts', 'a').write('x')\nprint('no licence', file=sys.stderr)\nsys.exit(5)";
    let command = again("outside-again-never", body);
    let starts = || fs::read_to_string(command.folder.join("starts")).unwrap().len();
    let text = said(&command, false);
    has(&text, &["it has stopped (exit status: 5) after 0 of 2 answers, at a = 0.5"]);
    has(&text, &["; tried 3 times\nLast lines of its stderr:\n  no licence"]);
    assert_eq!(starts(), 3, "for good, though it was asked again");
    let text = said(&Command { retries: 0, ..command.clone() }, false);
    assert!(!text.contains("tried"), "{text}");
    assert_eq!(starts(), 4);
}

#[test]
fn one_that_becomes_another_is_refused() {
    let script = "read x; if test -e mark; then echo '{\"gradient\": true}'; else echo '{}'; fi
                  touch mark; read x; exit 1";
    let folder = folder("outside-again-other");
    let text = said(&Command { folder, retries: 1, ..shell(script) }, false);
    has(&text, &["its first line differs from the earlier one; tried 2 times"]);
}

/// Whether a process is running, and not a zombie.
#[cfg(target_os = "linux")]
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Helpers of a program end with it, even if they ignore signals and input: when it dies, and when it
/// ends normally.
#[cfg(target_os = "linux")]
#[test]
fn what_a_program_has_started_ends_with_it() {
    for (name, end) in [("dies", "exit 3"), ("ends", "echo 1; read x")] {
        for (how, trap) in [("meek", ""), ("deaf", "trap '' TERM;")] {
            let folder = folder(&format!("outside-child-{name}-{how}"));
            let helper = format!("{trap} echo $$ > child; while :; do sleep 1; done");
            let script = format!(
                "read x; sh -c \"$0\" & until test -s child; do sleep 0.1; done
                 echo '{{}}'; read x; read x; {end}"
            );
            let mut command = Command { folder: folder.clone(), ..shell(&script) };
            command.program.push(helper);
            let simulator = start(&command, 1);
            let child = fs::read_to_string(folder.join("child")).unwrap();
            assert!(runs(&child), "{name} {how}");
            let found = ask(&simulator, &Batch::zeros(1, 1), false);
            match found {
                Ok(_) => assert_eq!(name, "ends"),
                // Although the helper keeps the output open.
                Err(error) => has(&error.to_string(), &["it has stopped (exit status: 3)"]),
            }
            drop(simulator);
            // A killed process disappears soon, but not at once.
            for _ in 0..100 {
                if runs(&child) {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            assert!(!runs(&child), "{name} {how}");
        }
    }
}
