//! The process groups of running programs, and how they are terminated.
//!
//! Each program has its own process group, which its children join. The group's number stays
//! reserved until someone waits for the program, so signals are sent first and waiting comes last.

use crate::external::pipes::wait_until;
use std::{
    io,
    process::{Child, Command, ExitStatus},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Time between the request to terminate and the kill.
const MOMENT: Duration = Duration::from_millis(500);

/// All running programs.
struct Running {
    groups: Vec<system::Group>,
    /// No further program may start.
    is_over: bool,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { groups: Vec::new(), is_over: false });

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program in its own process group. Ctrl-C then reaches only adaann, which terminates the
/// program in order.
pub(super) fn spawn(call: &mut Command) -> io::Result<Child> {
    let mut running = running();
    if running.is_over {
        return Err(io::Error::other("all programs are being stopped"));
    }
    let child = system::spawn(call)?;
    running.groups.push(system::Group::of(&child));
    Ok(child)
}

/// Whether the program has ended, without releasing its process number.
pub(super) fn has_ended(child: &mut Child) -> bool {
    system::has_ended(child)
}

/// Terminates a program with all its children and waits for it. First they receive a request to
/// terminate, and shortly afterwards they are killed. Returns the exit status, even if the program
/// had ended before.
pub(super) fn end(child: &mut Child) -> Option<ExitStatus> {
    let (group, deadline) = (system::Group::of(child), Instant::now() + MOMENT);
    group.ask();
    if !wait_until(MOMENT, || has_ended(child)) {
        group.kill();
        // Fails only if it has already ended.
        let _ = child.kill();
    }
    running().groups.retain(|other| *other != group);
    let status = child.wait().ok();
    // While one of the children lives, the group's number cannot be reused.
    let left = deadline.saturating_duration_since(Instant::now());
    if !wait_until(left, || group.is_empty()) {
        group.kill();
    }
    status
}

/// Terminates every running program with all its children, and lets none start from now on. For a
/// process that is about to exit without running destructors, such as an interrupted one.
pub fn end_all() {
    // A thread whose program dies waits here, and reports nothing before the exit.
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

    /// A process group, by the number of its first process.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) struct Group(Pid);

    impl Group {
        pub(super) fn of(child: &Child) -> Self {
            Self(Pid::from_child(child))
        }

        /// Signals fail only if the group is empty.
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
            // Checks without releasing the process number.
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

/// Without process groups, only the program itself is terminated.
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
