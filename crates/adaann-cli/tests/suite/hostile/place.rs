//! The folder of a call, filled from a set of files that is created once.

use super::folders;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// Kinds of finished runs: the name and the command.
const RUNS: [(&str, &str); 5] = [
    ("ladder", "run two-moons --target-ess 100 --most-draws 300"),
    (
        "flow",
        "run bimodal --layers 4 --tau 0.3 --warmup 20 --updates 1 --refine 30 --samples 20 \
         --refine-samples 50 --variance-samples 50 --draws 100 --check-particles 50",
    ),
    ("smc", "smc bimodal --particles 50"),
    ("model", "fit model.toml --target-ess 100 --most-draws 300"),
    ("ode", "fit ode.toml --method mixture --target-ess 100 --most-draws 300"),
];

/// The finished kinds and the unfinished one.
pub(crate) const KINDS: [&str; 6] = ["ladder", "flow", "smc", "model", "ode", "unfinished"];

const MODEL: &str = "title = \"A line\"\n\n[data]\nfile = \"data.csv\"\n\n[parameters]\na = \"normal(0, 2)\"\n\
    b = { prior = \"normal(0, 1)\" }\nsigma = \"lognormal(0, 1)\"\n\n[likelihood]\ny = \"normal(a + b * x, sigma)\"\n";

const ODE: &str = "[data]\nfile = \"data.csv\"\n\n[parameters]\nk = { prior = \"normal(1, 0.5)\", lower = 0 }\n\n\
    [ode]\ntime = \"x\"\n\n[ode.states]\nu = { start = \"1\", rate = \"-k * u\" }\n\n[likelihood]\ny = \"normal(u, 1)\"\n";

const DATA: &str = "x,y\n0.5,1.1\n1,1.9\n2,4.2\n3,5.8\n";

/// The parameters of all runs; commands ignore columns that a run does not have.
const POINTS: &str = "a,b,sigma,k,x,y,z\n0.1,0.2,1,1,0,0,0\n1,2,0.5,2,1,-1,3\n";

pub(crate) fn fill_pantry(binary: &str, pantry: &Path) {
    fs::create_dir_all(pantry).expect("a pantry");
    for (name, text) in
        [("model.toml", MODEL), ("ode.toml", ODE), ("data.csv", DATA), ("points.csv", POINTS)]
    {
        fs::write(pantry.join(name), text).expect("a file");
    }
    let start = |words: &str, out: &str| {
        let mut command = Command::new(binary);
        command.args(words.split_whitespace()).args(["--quiet", "--out", out]).current_dir(pantry);
        command.stderr(Stdio::inherit()).spawn().expect("the binary starts")
    };
    let children = RUNS.map(|(name, words)| (name, start(words, name)));
    for (name, mut child) in children {
        assert!(child.wait().expect("a child").success(), "{name}");
    }
    let mut child = start("run bimodal --refine 10000000 --checkpoint 0.01s", "unfinished");
    while folders::files(&pantry.join("unfinished/state")).is_empty() {
        assert!(child.try_wait().expect("a child").is_none(), "a run that is stopped goes on");
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("a child");
}

/// Copies a file or folder without following links.
pub(crate) fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp");
    assert!(status.success(), "{} to {}", from.display(), to.display());
}

/// Everything that a call may read.
pub(crate) fn fill(here: &Path, pantry: &Path, kind: &str, has_devices: bool) {
    fs::create_dir_all(here).expect("a folder");
    for name in ["model.toml", "data.csv", "points.csv", "unfinished"] {
        copy(&pantry.join(name), &here.join(name));
    }
    copy(&pantry.join(kind), &here.join("run"));
    for folder in ["folder", "closed", "mine"] {
        fs::create_dir(here.join(folder)).expect("a folder");
    }
    fs::write(here.join("mine/thesis.txt"), "years of work").expect("a file");
    fs::write(here.join("empty"), "").expect("a file");
    fs::write(here.join("unreadable"), "x").expect("a file");
    fs::write(here.join("big.csv"), "a,b\n1,2\n".repeat(20_000)).expect("a file");
    fs::set_permissions(here.join("unreadable"), fs::Permissions::from_mode(0o000)).expect("mine");
    fs::set_permissions(here.join("closed"), fs::Permissions::from_mode(0o000)).expect("mine");
    Command::new("mkfifo").arg(here.join("fifo")).status().expect("mkfifo");
    let mut links = vec![("circle", "circle"), ("dangling", "nothing")];
    if has_devices {
        links.extend([("zero", "/dev/zero"), ("null", "/dev/null"), ("full", "/dev/full")]);
    }
    for (name, to) in links {
        symlink(to, here.join(name)).expect("a link");
    }
}

/// Removes a folder, even if folders in it are not readable.
pub(crate) fn clear(folder: &Path) {
    let _ = fs::set_permissions(folder.join("here/closed"), fs::Permissions::from_mode(0o700));
    let _ = Command::new("rm").arg("-rf").arg(folder).status();
}

/// The state of a file for the detection of changes: kind and mode, length, time, inode.
pub(crate) type Look = (u32, u64, i64, i64, u64);

/// Everything below a folder, hidden names included.
pub(crate) fn looks(folder: &Path) -> BTreeMap<PathBuf, Look> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let (path, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
            let is_folder = about.is_dir();
            let time = if is_folder {
                (0, 0, 0)
            } else {
                (about.len(), about.mtime(), about.mtime_nsec())
            };
            found.insert(path.clone(), (about.mode(), time.0, time.1, time.2, about.ino()));
            if is_folder {
                left.push(path);
            }
        }
    }
    found
}
