//! One call, with limits of time and memory, and how it ended.

use std::{
    ffi::OsString,
    fs,
    io::Read,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// A longer call counts as hanging; a stopped one has this time from then on.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// A long run is stopped after this time.
const PATIENCE: Duration = Duration::from_secs(2);

/// In kB of address space.
const MEMORY: usize = 4_000_000;

/// Maximum number of bytes kept of a stream.
const KEPT: usize = 100_000;

pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) hung: bool,
    /// It was stopped (SIGTERM).
    pub(crate) was_asked: bool,
    pub(crate) stderr: String,
    /// It printed nothing.
    pub(crate) is_silent: bool,
    /// Processes of its group that outlived it.
    pub(crate) orphans: usize,
}

/// Runs the binary in a folder, and stops long runs.
pub(crate) fn call(binary: &str, here: &Path, words: &[OsString], may_be_long: bool) -> Ended {
    let script = format!("ulimit -v {MEMORY}; ulimit -c 0; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, binary]).args(words).current_dir(here).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a shell");
    let stdout = read(child.stdout.take().expect("a pipe"));
    let stderr = read(child.stderr.take().expect("a pipe"));
    let (status, was_asked) = wait(&mut child, may_be_long);
    let orphans = if status.is_some() { orphans(child.id()) } else { 0 };
    // Kill the remaining processes, so that they do not disturb later calls.
    signal("KILL", &format!("-{}", child.id()));
    let _ = child.wait();
    let stderr = stderr.recv_timeout(LIMIT).unwrap_or_default();
    let stdout = stdout.recv_timeout(LIMIT).unwrap_or_default();
    Ended {
        code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        hung: status.is_none(),
        was_asked,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        is_silent: stdout.is_empty() && stderr.is_empty(),
        orphans,
    }
}

/// The exit status, unless it hangs, and whether it was stopped.
fn wait(child: &mut Child, may_be_long: bool) -> (Option<ExitStatus>, bool) {
    let (mut start, mut was_asked) = (Instant::now(), false);
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return (Some(status), was_asked);
        }
        if may_be_long && !was_asked && start.elapsed() > PATIENCE {
            signal("TERM", &child.id().to_string());
            (start, was_asked) = (Instant::now(), true);
        }
        if start.elapsed() > LIMIT {
            // On a busy machine a computing process has used less time than that.
            let had = computed(child.id());
            let is_slowed = had > Duration::from_secs(1) && had < LIMIT;
            if !is_slowed || start.elapsed() > 3 * LIMIT {
                return (None, was_asked);
            }
        }
        thread::sleep(Duration::from_millis(3));
    }
}

/// The CPU time of a process, over all its threads.
fn computed(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Fields 14 and 15 of the line, in hundredths of a second; field 2 is a name in brackets.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    Duration::from_millis(10 * fields.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>())
}

fn signal(name: &str, process: &str) {
    let script = format!("kill -{name} {process}");
    let _ = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status();
}

/// The start of a stream, after it has ended; the rest is read and discarded.
fn read(mut stream: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), vec![0; 65_536]);
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let room = KEPT.saturating_sub(kept.len()).min(count);
            kept.extend_from_slice(&buffer[..room]);
        }
        let _ = sender.send(kept);
    });
    receiver
}

/// The processes of a group that are still alive after a short wait.
fn orphans(group: u32) -> usize {
    let living = || {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
        // After the name: state, parent, group.
        let is_living = |stat: &String| {
            let rest = stat.rsplit(") ").next().unwrap_or_default();
            let mut fields = rest.split(' ');
            fields.next() != Some("Z") && fields.nth(1) == Some(&group.to_string())
        };
        stats.filter(is_living).count()
    };
    (0..20)
        .find(|_| {
            let is_clear = living() == 0;
            if !is_clear {
                thread::sleep(Duration::from_millis(25));
            }
            is_clear
        })
        .map_or_else(living, |_| 0)
}
