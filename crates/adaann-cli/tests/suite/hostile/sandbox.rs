//! A sandbox with its own devices, in which only a new folder in memory is writable.
//!
//! The test program starts itself again in its own namespaces, with a root in memory that has the system's programs
//! read-only, copies of the binary and the models, `/dev` with three devices, and `/work`. It has no capabilities
//! there, so that file permissions apply to it.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

/// This variable is set inside the sandbox.
pub(crate) const INSIDE: &str = "ADAANN_HOSTILE_INSIDE";

const SETUP: &str = r#"
set -e
root=$1 suite=$2 binary=$3 models=$4
mount --make-rprivate /
mount -t tmpfs -o size=64m,mode=755 tmpfs "$root"
for name in bin sbin lib lib32 lib64 usr etc; do
    if [ -L "/$name" ]; then
        cp -P "/$name" "$root/$name"
    elif [ -d "/$name" ]; then
        mkdir "$root/$name"
        mount --bind "/$name" "$root/$name"
        mount -o remount,bind,ro,nosuid,nodev "$root/$name"
    fi
done
mkdir "$root/dev" "$root/proc" "$root/work" "$root/sandbox" "$root/tmp"
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root/dev"
for name in null zero full; do
    [ -c "/dev/$name" ]
    : > "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
    # They can be written to all the same; their owner and mode cannot.
    mount -o remount,bind,ro,nosuid "$root/dev/$name"
done
mount -t proc proc "$root/proc"
mount -t tmpfs -o size=3g,mode=755 tmpfs "$root/work"
mkdir "$root/work/sandbox"
mount --bind "$root/work/sandbox" "$root/sandbox"
cp "$suite" "$root/sandbox/suite"
cp "$binary" "$root/sandbox/adaann"
cp -r "$models" "$root/sandbox/models"
mount -o remount,bind,ro "$root/sandbox"
mount -o remount,ro "$root"
"#;

/// The setup script, which runs in the sandbox.
const START: &str = r#"
chroot "$root" setpriv --bounding-set=-all --inh-caps=-all --no-new-privs \
    /sandbox/suite --exact hostile::nothing_breaks_it --nocapture --test-threads 1
"#;

fn command(root: &Path, suite: &Path, script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "--pid", "--ipc", "--net", "--fork"]);
    command.args(["--kill-child", "sh", "-c", script, "sh"]).arg(root).arg(suite);
    command.arg(env!("CARGO_BIN_EXE_adaann")).arg(models());
    command
}

/// The folder of models outside of the sandbox.
pub(crate) fn models() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../models")
}

/// Runs the test again inside the sandbox, and returns whether it passed; `None` if a sandbox is not possible.
pub(crate) fn pass() -> Option<bool> {
    let root = tempfile::tempdir().expect("a temporary folder");
    let suite = env::current_exe().expect("this program");
    // An empty attempt distinguishes a missing sandbox from a failed test.
    let tried = command(
        root.path(),
        &suite,
        &format!("{SETUP}\nchroot \"$root\" setpriv --bounding-set=-all true"),
    )
    .stdin(Stdio::null())
    .output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let mut inside = command(root.path(), &suite, &format!("{SETUP}\n{START}"));
    inside.env(INSIDE, "1").env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").env("TMPDIR", "/work");
    Some(inside.status().expect("it started before").success())
}

/// Is it certain that this process cannot destroy the files of root?
pub(crate) fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    // If unknown, assume the worst.
    ids.is_none_or(|ids| ids.split_whitespace().any(|id| id == "0"))
}
