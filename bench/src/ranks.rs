//! The speedup by more ranks: replays the batches of real runs in a model of ranks, messages and costs.
//!
//! A run evaluates one batch after another, and waits for the last point of each. The time with many ranks follows from
//! the lengths of the batches, the cost of a point and its variation, and the time of a message.

use adaann::{
    Batch, Result,
    answer::{self, approximate},
    fit::{self, fit},
    model::Model,
    path::PathKind,
    registry::{self, Choices},
    smc::{self, Smc},
    target::{Evaluation, Support, Target, Weights},
};
use adaann_report::{Axis, Color, Figure, Mark, Panel};
use std::{
    cmp::Reverse, collections::BinaryHeap, fs, path::Path, process::ExitCode, sync::Mutex,
    time::Instant,
};

/// The latency of a message and the time that rank 0 spends on it, in seconds. `bench/mpi` measures both.
const LATENCY: f64 = 2.5e-4;
const HANDLING: f64 = 2e-5;

/// A target that records the lengths of its batches.
struct Recorded<'a> {
    target: &'a dyn Target,
    seen: Mutex<Seen>,
}

/// The recorded batches of a run.
#[derive(Clone, Default)]
struct Seen {
    batches: Vec<usize>,
    /// Seconds spent in the target.
    inside: f64,
}

impl Target for Recorded<'_> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        let started = Instant::now();
        let found = self.target.evaluate(points, gradient, out);
        let mut seen = self.seen.lock().expect("nobody panics");
        seen.batches.push(points.len());
        seen.inside += started.elapsed().as_secs_f64();
        found
    }

    /// Requests whole batches, as for a simulator.
    fn wants_whole_batch(&self) -> bool {
        true
    }

    fn has_prior(&self) -> bool {
        self.target.has_prior()
    }

    fn has_proper_prior(&self) -> bool {
        self.target.has_proper_prior()
    }

    fn support(&self, d: usize) -> Support {
        self.target.support(d)
    }

    fn standardisation(&self, d: usize) -> (f64, f64) {
        self.target.standardisation(d)
    }

    fn operations(&self) -> Option<f64> {
        self.target.operations()
    }

    fn is_log_concave(&self) -> bool {
        self.target.is_log_concave()
    }

    fn names(&self) -> Vec<String> {
        self.target.names()
    }
}

/// The batches of a run, and the seconds that it spends outside its target.
struct Run {
    batches: Vec<usize>,
    engine: f64,
}

impl Run {
    fn of(target: &dyn Target, work: impl FnOnce(&dyn Target)) -> Self {
        let recorded = Recorded { target, seen: Mutex::default() };
        let started = Instant::now();
        work(&recorded);
        let all = started.elapsed().as_secs_f64();
        let Seen { batches, inside } = recorded.seen.into_inner().expect("nobody panics");
        Self { batches, engine: all - inside }
    }

    fn points(&self) -> usize {
        self.batches.iter().sum()
    }

    /// Seconds of the run with this number of ranks of one thread and this mean cost of a point. Unequal costs are
    /// exponentially distributed.
    fn seconds(&self, ranks: usize, cost: f64, is_unequal: bool) -> f64 {
        let mut dice = Dice(1);
        let batches = self.batches.iter().map(|points| {
            let costs =
                (0..*points).map(|_| if is_unequal { cost * dice.exponential() } else { cost });
            batch(ranks, costs)
        });
        self.engine + batches.sum::<f64>()
    }

    /// The share of the time of all ranks that is spent on points.
    fn efficiency(&self, ranks: usize, cost: f64, is_unequal: bool) -> f64 {
        self.points() as f64 * cost / (ranks as f64 * self.seconds(ranks, cost, is_unequal))
    }
}

/// Seconds of a batch. Each point goes to the first free rank. Rank 0 evaluates without messages; it sends requests one
/// after another, each of which takes some time.
fn batch(ranks: usize, costs: impl Iterator<Item = f64>) -> f64 {
    // In integer nanoseconds, which have a total order.
    let nanoseconds = |seconds: f64| (1e9 * seconds).round() as u64;
    let mut free: BinaryHeap<Reverse<(u64, usize)>> =
        (0..ranks).map(|rank| Reverse((0, rank))).collect();
    let (mut handed_out, mut end) = (0, 0);
    for cost in costs {
        let Some(Reverse((at, rank))) = free.pop() else { break };
        let done = if rank == 0 {
            at + nanoseconds(cost)
        } else {
            let asked = at.max(handed_out) + nanoseconds(HANDLING);
            handed_out = asked;
            asked + nanoseconds(cost + 2.0 * LATENCY)
        };
        end = end.max(done);
        free.push(Reverse((done, rank)));
    }
    end as f64 * 1e-9
}

/// Deterministic random numbers.
struct Dice(u64);

impl Dice {
    fn exponential(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        -((((self.0 >> 11) as f64) + 0.5) / (1_u64 << 53) as f64).ln()
    }
}

const RANKS: [usize; 6] = [4, 16, 64, 256, 1024, 4096];
const COSTS: [f64; 4] = [0.001, 0.01, 0.1, 1.0];

/// Prints the tables, and writes the figure to a file if given.
pub(crate) fn run(figure: Option<&str>) -> ExitCode {
    let runs = recorded();
    print(&runs);
    let Some(path) = figure else { return ExitCode::SUCCESS };
    match fs::write(path, draw(&runs).svg()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs of each method on the posterior of HIV dynamics.
fn recorded() -> [(&'static str, Run); 5] {
    let hiv = registry::find("hiv")
        .and_then(|entry| entry.choose(&Choices::default()))
        .expect("its data is made");
    let target = &*hiv.target;
    let ladder = |at_once: usize| {
        Run::of(target, |target| {
            let settings = answer::Settings { at_once, ..answer::Settings::default() };
            approximate(target, &settings, &mut ()).expect("it has an answer");
        })
    };
    let flow = Run::of(target, |target| {
        let settings =
            fit::Settings { flow: adaann::flow::FlowSpec::planar(25), ..hiv.settings.clone() };
        fit(target, &settings, &mut ()).expect("it is trained");
    });
    let particles = |particles: usize| {
        Run::of(target, |target| {
            let settings = smc::Settings {
                path: PathKind::Likelihood,
                base: hiv.settings.base.clone(),
                particles,
                ..smc::Settings::starting_at(0.0)
            };
            Smc::new(target, &settings).run(&mut ()).expect("they arrive");
        })
    };
    [
        ("mixture (the ladder)", ladder(1)),
        ("mixture, --at-once 1000", ladder(1000)),
        ("flow (Algorithm 1)", flow),
        ("2,000 particles", particles(2_000)),
        ("20,000 particles", particles(20_000)),
    ]
}

fn print(runs: &[(&str, Run)]) {
    println!(
        "HIV dynamics: batches of real runs, replayed; a message takes {:.0} us and {:.0} us of rank 0",
        1e6 * LATENCY,
        1e6 * HANDLING
    );
    println!(
        "\nrun                       batches    points  median  mean  seconds beside the target"
    );
    for (name, run) in runs {
        let mut sorted = run.batches.clone();
        sorted.sort_unstable();
        let (count, points) = (run.batches.len(), run.points());
        println!(
            "{name:<24} {count:>8} {points:>9} {:>7} {:>5} {:>6.2}",
            sorted[count / 2],
            points / count,
            run.engine
        );
    }
    for is_unequal in [false, true] {
        let kind = if is_unequal { "costs that are exponential numbers" } else { "equal costs" };
        println!("\nefficiency by ranks of one thread, {kind}");
        print!("run                       a point takes");
        RANKS.iter().for_each(|ranks| print!(" {ranks:>6}"));
        println!("   half at");
        for (name, run) in runs {
            for cost in COSTS {
                print!("{name:<24} {:>12} s ", cost);
                RANKS.iter().for_each(|ranks| {
                    print!(" {:>5.0}%", 100.0 * run.efficiency(*ranks, cost, is_unequal))
                });
                let half = (0..=12)
                    .map(|k| 1 << k)
                    .take_while(|ranks| run.efficiency(*ranks, cost, is_unequal) >= 0.5)
                    .last();
                println!("  {:>8}", half.map_or("none".into(), |ranks| ranks.to_string()));
            }
        }
    }
}

/// Efficiency by the number of ranks, with a panel for each cost of a point and unequal costs.
fn draw(runs: &[(&str, Run)]) -> Figure {
    let panels = COSTS.map(|cost| Panel {
        title: Some(format!("a point takes {cost} s in the mean")),
        x: Axis::new("ranks").log(),
        y: Axis::new("efficiency").between(0.0, 1.0),
        marks: runs
            .iter()
            .zip(Color::CYCLE)
            .map(|((name, run), color)| {
                let points = (0..=12)
                    .map(|k| 1 << k)
                    .map(|ranks| (ranks as f64, run.efficiency(ranks, cost, true)));
                Mark::line(points.collect::<Vec<_>>(), color).label(*name)
            })
            .collect(),
    });
    let caption = "Efficiency of ranks by their number, for points of unequal costs.";
    Figure::grid("ranks", caption, 2, panels.into())
}

/// Prints the time of a fit of a model file for some numbers of ranks and a given time per point. The program of the
/// model should be fast during this measurement.
pub(crate) fn forecast(path: &str, cost: f64, ranks: &[usize]) {
    let model = Model::read(Path::new(path)).unwrap_or_else(|found| panic!("{found}"));
    let run = Run::of(&*model.target(), |target| {
        // The settings of `adaann fit` without flags.
        let settings =
            answer::Settings { base: model.settings().base, ..answer::Settings::default() };
        approximate(target, &settings, &mut ()).expect("it has an answer");
    });
    println!("{} batches, {} points", run.batches.len(), run.points());
    for &count in ranks {
        println!("{count} {:.2}", run.seconds(count, cost, false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_a_batch() {
        let around = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-3, "{found} for {expected}")
        };
        around(batch(1, [1.0; 8].into_iter()), 8.0);
        around(batch(4, [1.0; 8].into_iter()), 2.0 + 4.0 * LATENCY);
        // The batch ends with the last long point. The first free rank takes the next point.
        around(batch(2, [1.0, 3.0, 1.0, 1.0].into_iter()), 3.0);
        // Only one rank has work.
        around(batch(1000, [1.0].into_iter()), 1.0);
    }

    #[test]
    fn one_rank_is_at_work_all_the_time() {
        let run = Run { batches: vec![10, 20], engine: 0.0 };
        assert!((run.efficiency(1, 0.1, false) - 1.0).abs() < 1e-9);
        assert!(run.efficiency(8, 0.1, true) < run.efficiency(2, 0.1, true));
    }
}
