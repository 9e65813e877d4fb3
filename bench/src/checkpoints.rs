//! The cost of checkpoints: the time of each, and the slowdown of a fit that can write them.

use adaann::{
    Result, Settings, answer,
    checkpoint::{Cost, Fingerprint, Header, Keeper, Ledger, Store},
    fit::Fit,
    flow::{FlowSpec, SplineSpec},
    registry,
    schedule::Work,
    smc::{self, Smc},
};
use std::time::{Duration, Instant};

/// Often enough for several checkpoints, with pauses between them.
const OFTEN: Duration = Duration::from_millis(300);

/// The default interval of checkpoints.
const DEFAULT: Duration = Duration::from_secs(30);

/// The number of timings with and without checkpoints.
const REPEATS: usize = 11;

/// Prints the costs.
pub(crate) fn run() {
    println!("| run | checkpoints | one takes | has | share of 30 s |\n|---|---|---|---|---|");
    row("spline flow, 32 dimensions", |ledger| fit(32, 400, ledger));
    row("the same with rounds of draws", |ledger| rounds(32, ledger));
    row("100,000 particles, 10 dimensions", particles);
    println!("\nTime of a run that is ready for checkpoints, over one that is not:\n");
    println!("| run | median of {REPEATS} | all |\n|---|---|---|");
    ratio("a spline flow, 8 dimensions", |ledger| fit(8, 600, ledger));
    ratio("the ladder on HIV, ten times", |ledger| (0..10).try_for_each(|_| climb("hiv", ledger)));
    ratio("the ladder on 40 Gaussians", |ledger| climb("mixture40", ledger));
}

fn ratio(name: &str, work: impl Fn(&mut Ledger) -> Result<()>) {
    let with = |ledger: fn() -> Ledger| {
        let started = Instant::now();
        work(&mut ledger()).expect("it runs");
        started.elapsed().as_secs_f64()
    };
    // Alternate, so that other load on the machine affects both.
    let all: Vec<f64> = (0..REPEATS).map(|_| with(ready) / with(Ledger::off)).collect();
    let mut sorted = all.clone();
    sorted.sort_by(f64::total_cmp);
    println!("| {name} | {:.3} | {all:.3?} |", sorted[REPEATS / 2]);
}

fn climb(name: &str, ledger: &mut Ledger) -> Result<()> {
    let problem = registry::find(name)?.build(&[])?;
    let settings = answer::Settings { base: problem.settings.base, ..answer::Settings::default() };
    answer::approximate_with(&*problem.target, &settings, &mut (), ledger).map(|_| ())
}

fn row(name: &str, work: impl FnOnce(&mut Ledger) -> Result<()>) {
    let mut ledger = ledger(OFTEN);
    work(&mut ledger).expect("it runs");
    let Cost { written, bytes, time, .. } = ledger.cost();
    let each = time.as_secs_f64() / written.max(1) as f64;
    println!(
        "| {name} | {written} | {:.1} ms | {:.2} MB | {:.3} % |",
        1e3 * each,
        bytes as f64 / 1e6 / written.max(1) as f64,
        100.0 * each / DEFAULT.as_secs_f64()
    );
    let _ = std::fs::remove_dir_all(place());
}

fn place() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("adaann-bench-checkpoints-{}", std::process::id()))
}

fn ledger(interval: Duration) -> Ledger {
    let store = Store::open(place()).expect("a folder");
    Ledger::new(Keeper::new(store, interval), Header::new("any", Fingerprint::new()))
}

fn ready() -> Ledger {
    ledger(DEFAULT)
}

fn settings(refine: usize) -> Settings {
    Settings {
        flow: FlowSpec::SplineAutoregressive(SplineSpec::default()),
        work: Work { warmup: 50, anneal: 1, refine },
        ..Settings::default()
    }
}

fn fit(dim: usize, refine: usize, ledger: &mut Ledger) -> Result<()> {
    let many_well = registry::find("many-well")?.build(&[("dim".into(), dim as f64)])?;
    Fit::new(&*many_well.target, &settings(refine)).run_with(&mut (), ledger).map(|_| ())
}

fn rounds(dim: usize, ledger: &mut Ledger) -> Result<()> {
    let many_well = registry::find("many-well")?.build(&[("dim".into(), dim as f64)])?;
    let forward_kl = Some(adaann::fit::ForwardKl { rounds: 2, ..Default::default() });
    let settings = Settings { forward_kl, ..settings(50) };
    Fit::new(&*many_well.target, &settings).run_with(&mut (), ledger).map(|_| ())
}

fn particles(ledger: &mut Ledger) -> Result<()> {
    let shells = registry::find("shells")?.build(&[("dim".into(), 10.0)])?;
    let settings = smc::Settings { particles: 100_000, ..shells.settings.particles() };
    Smc::new(&*shells.target, &settings).run_with(&mut (), ledger).map(|_| ())
}
