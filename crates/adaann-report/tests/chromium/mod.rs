//! Finds or installs a headless Chromium, and loads pages in it.

use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Loading the page takes a second or two, but much longer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A page after loading.
pub(crate) struct Loaded {
    /// The document after its scripts have run.
    pub(crate) dom: String,
    /// The lines on the console.
    pub(crate) console: Vec<String>,
}

/// A browser that is present or could be installed. Required in continuous integration.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(found) = on_path() {
        return Some(found);
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../adaann-report/tests/install-browser.sh");
    let installed = Command::new("sh").arg(script).status().is_ok_and(|status| status.success());
    let found = on_path().filter(|_| installed);
    if found.is_none() {
        assert!(env::var_os("CI").is_none(), "no browser, and {script} could not install one");
        eprintln!(
            "SKIPPED: no Chromium ($CHROME, chromium, chromium-browser, google-chrome), and {script} failed"
        );
    }
    found
}

fn on_path() -> Option<PathBuf> {
    if let Some(given) = env::var_os("CHROME") {
        return Some(given.into());
    }
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
}

/// Loads a page in a window of this width.
pub(crate) fn load(browser: &Path, html: &str, width: u32) -> Loaded {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("page.html");
    fs::write(&page, html).expect("the page is written");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-extensions", "--enable-logging=stderr", "--dump-dom"])
        // Dump the document after the page has had time to settle.
        .arg("--virtual-time-budget=3000")
        // Any network request fails and shows up on the console.
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--window-size={width},844"))
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the browser starts");
    let mut out = child.stdout.take().expect("piped");
    let mut err = child.stderr.take().expect("piped");
    let read_dom = thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let read_log = thread::spawn(move || {
        let mut bytes = Vec::new();
        err.read_to_end(&mut bytes).map(|_| String::from_utf8_lossy(&bytes).into_owned())
    });
    let started = Instant::now();
    while child.try_wait().expect("the browser can be asked").is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().expect("the browser can be stopped");
            panic!("the browser did not finish within {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(50));
    }
    let dom = read_dom.join().expect("no panic").expect("the document is text");
    let log = read_log.join().expect("no panic").expect("the log can be read");
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    Loaded { dom, console }
}
