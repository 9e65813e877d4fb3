//! The programs that run now, each with all that it has started, and how they are ended.
//!
//! A program has a process group of its own, and what it starts belongs to that. The group's number is
//! the program's as long as nobody has waited for it: signals come first, waiting last.

use crate::external::pipes::wait_until;
use std::{
    io,
    process::{Child, Command, ExitStatus},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How long those who are asked to end have for it.
const MOMENT: Duration = Duration::from_millis(500);

/// All that runs.
struct Running {
    groups: Vec<system::Group>,
    /// Nothing is started any more.
    is_over: bool,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { groups: Vec::new(), is_over: false });

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program in a group of its own. Ctrl-C is for adaann, which then ends the program in order.
pub(super) fn spawn(call: &mut Command) -> io::Result<Child> {
    let mut running = running();
    if running.is_over {
        return Err(io::Error::other("all programs are being ended"));
    }
    let child = system::spawn(call)?;
    running.groups.push(system::Group::of(&child));
    Ok(child)
}

/// Has the program ended? Its number stays its own.
pub(super) fn has_ended(child: &mut Child) -> bool {
    system::has_ended(child)
}

/// Ends a program with all that it has started, and waits for it: first they are asked, and after a moment
/// they have no choice. Gives how it ended, or had ended before.
pub(super) fn end(child: &mut Child) -> Option<ExitStatus> {
    let (group, deadline) = (system::Group::of(child), Instant::now() + MOMENT);
    group.ask();
    if !wait_until(MOMENT, || has_ended(child)) {
        group.kill();
        // It fails only for one that has ended already.
        let _ = child.kill();
    }
    running().groups.retain(|other| *other != group);
    let status = child.wait().ok();
    // As long as one of the others is there, the number is theirs.
    let left = deadline.saturating_duration_since(Instant::now());
    if !wait_until(left, || group.is_empty()) {
        group.kill();
    }
    status
}

/// Ends every program that runs, with all that it has started, and lets none start from now on. For a
/// process that is about to exit without dropping what it has, such as one that is interrupted.
pub fn end_all() {
    // Whoever sees its program die waits here, and reports nothing before the exit.
    let mut running = running();
    running.is_over = true;
    running.groups.iter().for_each(system::Group::ask);
    wait_until(MOMENT, || running.groups.iter().all(system::Group::has_leader_ended));
    running.groups.iter().for_each(system::Group::kill);
}

#[cfg(unix)]
mod system {
    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
    };
    use std::{
        io,
        os::unix::process::CommandExt,
        process::{Child, Command},
    };

    /// A group of processes, by the number of the one that it began with.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) struct Group(Pid);

    impl Group {
        pub(super) fn of(child: &Child) -> Self {
            Self(Pid::from_child(child))
        }

        /// Signals fail only where nobody is left.
        pub(super) fn ask(&self) {
            let _ = kill_process_group(self.0, Signal::TERM);
        }

        pub(super) fn kill(&self) {
            let _ = kill_process_group(self.0, Signal::KILL);
        }

        pub(super) fn is_empty(&self) -> bool {
            test_kill_process_group(self.0).is_err()
        }

        pub(super) fn has_leader_ended(&self) -> bool {
            // Looks, and leaves the number as it is.
            let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            !matches!(waitid(WaitId::Pid(self.0), look), Ok(None))
        }
    }

    pub(super) fn spawn(call: &mut Command) -> io::Result<Child> {
        call.process_group(0).spawn()
    }

    pub(super) fn has_ended(child: &mut Child) -> bool {
        Group::of(child).has_leader_ended()
    }
}

/// Where there are no groups, the program alone is ended.
#[cfg(not(unix))]
mod system {
    use std::{
        io,
        process::{Child, Command},
    };

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) struct Group(u32);

    impl Group {
        pub(super) fn of(child: &Child) -> Self {
            Self(child.id())
        }

        pub(super) fn ask(&self) {}

        pub(super) fn kill(&self) {}

        pub(super) fn is_empty(&self) -> bool {
            true
        }

        pub(super) fn has_leader_ended(&self) -> bool {
            true
        }
    }

    pub(super) fn spawn(call: &mut Command) -> io::Result<Child> {
        call.spawn()
    }

    pub(super) fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }
}
