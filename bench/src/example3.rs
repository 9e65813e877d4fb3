//! The paper's Example 3: how often flows keep both modes, with and without annealing.

use adaann::{
    Settings,
    fit::{Event, fit},
    flow::{Autoregressive, FlowSpec, Hidden, RealNvp, SplineSpec, UnitActivation},
    registry::{self, Problem},
    schedule::{Schedule, Work},
};
use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

/// Distances of the paper's figure.
const MU: [f64; 6] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5];

/// A mode is kept if this share of the draws lies within four standard deviations of it.
const KEPT: f64 = 0.05;

const DRAWS: usize = 10_000;

/// Ten times what planar flows take.
const MOST_UPDATES: usize = 40_000;

/// A flow and how it is trained.
struct Row {
    name: String,
    flow: FlowSpec,
    annealed: bool,
    cost: Cost,
}

/// How long a trial takes: a tenth of a second, seconds, a quarter of a minute.
#[derive(Clone, Copy, PartialEq)]
enum Cost {
    Planar,
    Networks,
    LargeNetworks,
}

fn rows() -> Vec<Row> {
    let row = |name: &str, flow, annealed| Row {
        name: name.into(),
        flow,
        annealed,
        cost: Cost::Networks,
    };
    let hidden = |units| Hidden { units, activation: UnitActivation::Relu, ..Hidden::default() };
    let realnvp = |layers, units| {
        FlowSpec::RealNvp(RealNvp { layers, hidden: hidden(units), ..RealNvp::default() })
    };
    let planar = |annealed| Row {
        name: "planar 75".into(),
        flow: FlowSpec::planar(75),
        annealed,
        cost: Cost::Planar,
    };
    let mut rows = vec![planar(true)];
    let others = [
        ("realnvp 6, H 10", realnvp(6, 10)),
        ("realnvp 12, H 25", realnvp(12, 25)),
        ("iaf 5, H 32", FlowSpec::Iaf(Autoregressive::default())),
        ("maf 5, H 32", FlowSpec::Maf(Autoregressive::default())),
        ("spline 4, H 32", FlowSpec::Spline(SplineSpec::default())),
    ];
    rows.extend(others.into_iter().map(|(name, flow)| row(name, flow, true)));
    rows.push(planar(false));
    for units in [10, 25, 100] {
        for layers in [6, 12] {
            rows.push(Row {
                name: format!("realnvp {layers}, H {units}"),
                flow: realnvp(layers, units),
                annealed: false,
                cost: if units == 100 { Cost::LargeNetworks } else { Cost::Networks },
            });
        }
    }
    rows
}

/// Prints how many trials of each flow keep both modes at each distance.
pub(crate) fn run([of_planar, of_networks, of_large]: [usize; 3]) {
    println!("trials that keep both modes: {:.0} per cent of {DRAWS} draws within", 100.0 * KEPT);
    println!("four standard deviations of each; learning rates and schedule of the paper");
    print!("flow              training     trials  mu");
    MU.iter().for_each(|mu| print!("{mu:>6}"));
    println!("   minutes");
    for row in rows() {
        let trials = match row.cost {
            Cost::Planar => of_planar,
            Cost::Networks => of_networks,
            Cost::LargeNetworks => of_large,
        };
        if trials == 0 {
            continue;
        }
        let start = Instant::now();
        let training = if row.annealed { "AdaAnn" } else { "5,000 at t=1" };
        print!("{:<17} {training:<12} {trials:>6}    ", row.name);
        for mu in MU {
            let problem =
                registry::find("mixture2d").and_then(|entry| entry.build(&[("mu".into(), mu)]));
            let problem = problem.expect("registered");
            let settings = settings(&row, &problem.settings);
            print!("{:>6}", count_kept(&problem, &settings, trials));
            use std::io::Write;
            std::io::stdout().flush().expect("the table can be printed");
        }
        println!("   {:>7.1}", start.elapsed().as_secs_f64() / 60.0);
    }
}

/// The paper's settings: AdaAnn as with planar flows, or 5,000 updates at t = 1.
fn settings(row: &Row, preset: &Settings) -> Settings {
    let settings = Settings { flow: row.flow.clone(), ..preset.clone() };
    if row.annealed {
        return settings;
    }
    Settings {
        schedule: Schedule::None,
        work: Work { warmup: 0, anneal: 1, refine: 5_000 },
        ..settings
    }
}

/// Runs the trials, each on a thread of its own.
fn count_kept(problem: &Problem, settings: &Settings, trials: usize) -> usize {
    let (next, kept) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let pool =
                    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
                loop {
                    let trial = next.fetch_add(1, Ordering::Relaxed);
                    if trial >= trials {
                        break;
                    }
                    let settings = Settings { seed: 1 + trial as u64, ..settings.clone() };
                    if pool.install(|| keeps_both(problem, &settings)) {
                        kept.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    kept.into_inner()
}

/// A run that fails has kept nothing, and so has one that does not arrive at t = 1: a flow with stray
/// points has a huge variance of log p, and steps that lead nowhere.
fn keeps_both(problem: &Problem, settings: &Settings) -> bool {
    let mut updates = 0;
    let mut give_up = |event: &Event| {
        updates += usize::from(matches!(event, Event::Update { .. }));
        if updates < MOST_UPDATES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let Ok(outcome) = fit(&*problem.target, settings, &mut give_up) else {
        return false;
    };
    if outcome.stopped {
        return false;
    }
    let draws = outcome.flow.sample(DRAWS, settings.seed).points;
    let reach = 4.0 / 32.0_f64.sqrt();
    problem.known.modes.iter().all(|mode| {
        let near = (0..DRAWS).filter(|i| {
            let offsets = draws.point(*i).into_iter().zip(&mode.location);
            offsets.map(|(z, centre)| (z - centre).powi(2)).sum::<f64>() <= reach * reach
        });
        near.count() as f64 >= KEPT * DRAWS as f64
    })
}
