//! A temporary folder for a test, the jobs in it, and the files that they write.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Longer than any job of these tests takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A likelihood in Python with two modes of unequal weight. The first argument is the time per point in seconds. The
/// program fails if b exceeds the second argument.
const PROGRAM: &str = r#"
import json, math, sys, time
sys.stdin.readline()
print(json.dumps({"gradient": True}), flush=True)
for line in sys.stdin:
    for _ in range(int(line.split()[1])):
        a, b = map(float, sys.stdin.readline().split())
        time.sleep(float(sys.argv[1]))
        if b > float(sys.argv[2]):
            sys.exit("beyond " + sys.argv[2])
        p, q = -2 * ((a - 2) ** 2 + b * b), math.log(0.4) - 2 * ((a + 2) ** 2 + (b - 1) ** 2)
        m = max(p, q)
        u, v = math.exp(p - m), math.exp(q - m)
        s = u + v
        print(m + math.log(s), -4 * (u * (a - 2) + v * (a + 2)) / s, -4 * (u * b + v * (b - 1)) / s)
    sys.stdout.flush()
"#;

/// A temporary folder.
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the test"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a model whose likelihood is a program that takes `seconds` per point, and fails if b exceeds
    /// `fails_beyond`.
    pub(crate) fn write_slow(&self, seconds: f64, fails_beyond: f64) {
        fs::write(self.path("program.py"), PROGRAM).unwrap();
        let text = format!(
            "[parameters]\na = \"normal(0, 3)\"\nb = \"normal(0, 3)\"\n\
             [command]\nrun = [\"python3\", \"program.py\", \"{seconds}\", \"{fails_beyond}\"]\n"
        );
        fs::write(self.path("slow.toml"), text).unwrap();
    }

    /// A command line with these arguments on some ranks, or `None` for the program without MPI.
    pub(crate) fn job(&self, ranks: Option<usize>, words: &str) -> Command {
        self.job_of(ranks, Path::new(env!("CARGO_BIN_EXE_adaann-mpi")), words)
    }

    pub(crate) fn job_of(&self, ranks: Option<usize>, program: &Path, words: &str) -> Command {
        let variable =
            |name: &str| std::env::var_os(name).unwrap_or_else(|| panic!("{name}: see mpi/test"));
        let mut command = match ranks {
            None => Command::new(variable("ADAANN")),
            Some(ranks) => {
                let mut command = Command::new(variable("MPIEXEC"));
                command.arg("-n").arg(ranks.to_string()).arg(program);
                command
            }
        };
        // Ignore a scheduler that the tests themselves run under.
        command.env_remove("SLURM_CPUS_PER_TASK").env_remove("OMP_NUM_THREADS");
        command.args(words.split(' ')).current_dir(self.0.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command line and waits for it.
    pub(crate) fn run(&self, ranks: Option<usize>, words: &str) -> Output {
        ended(self.job(ranks, words).spawn().expect("it starts"), LONG)
    }

    /// Runs a command line that must succeed.
    pub(crate) fn must(&self, ranks: Option<usize>, words: &str) -> Output {
        let output = self.run(ranks, words);
        assert!(output.status.success(), "{ranks:?} {words}: {output:?}");
        output
    }

    /// The files of a run folder, without times and without files derived from the others.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(self.path(folder)).unwrap_or_else(|e| panic!("{folder}: {e}")) {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // The report shows times, and the index has its checksum.
            let is_of_others =
                ["report.html", "index.html", "index.json", ".lock"].contains(&&name[..]);
            if path.is_dir() || is_of_others || name.starts_with("index") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let bytes = if name.ends_with(".json") { without_times(&bytes) } else { bytes };
            found.insert(name, bytes);
        }
        assert!(found.len() >= 2, "{folder}: {:?}", found.keys());
        found
    }

    /// Two folders have the same files.
    pub(crate) fn assert_same(&self, one: &str, other: &str) {
        let (first, second) = (self.files(one), self.files(other));
        assert_eq!(
            first.keys().collect::<Vec<_>>(),
            second.keys().collect::<Vec<_>>(),
            "{one}, {other}"
        );
        for (name, bytes) in &first {
            let texts =
                [bytes, &second[name]].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            let differ = texts[0].lines().zip(texts[1].lines()).find(|(a, b)| a != b);
            assert!(bytes == &second[name], "{one}, {other}: {name} differs: {differ:?}");
        }
    }
}

/// JSON without measured times.
fn without_times(bytes: &[u8]) -> Vec<u8> {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                map.retain(|name, _| !name.contains("seconds"));
                map.values_mut().for_each(strip);
            }
            serde_json::Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_slice(bytes).expect("JSON");
    strip(&mut value);
    serde_json::to_vec_pretty(&value).unwrap()
}

/// Waits for a job, for at most the given time.
pub(crate) fn ended(mut child: Child, most: Duration) -> Output {
    let started = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if started.elapsed() > most {
            let _ = child.kill();
            panic!("not ended after {most:?}: {:?}", child.wait_with_output());
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("it has ended")
}

/// The standard error of a job.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
