//! Model files compared with built-in targets and JAX: time of log density and gradient per point.

use crate::peers;
use crate::regressions::{self, Regression};
use adaann::{
    Batch, Instructions,
    model::Model,
    registry::{self, Choices, Data},
    target::{Evaluation, Target, Weights},
};
use allocation_counter::measure;
use std::{hint::black_box, path::Path, sync::Arc, time::Instant};

/// The length of a timed run, short enough that most are not interrupted by other load on the machine.
const RUN_SECONDS: f64 = 0.002;

/// Compared codes run alternately, for at least this time and this number of runs.
const LEAST_SECONDS: f64 = 2.0;
const LEAST_ROUNDS: usize = 15;

/// Prints the tables, with the ratios to JAX on request.
pub(crate) fn run(with_peers: bool) {
    println!(
        "log density and gradient; {}; best of all runs in {LEAST_SECONDS} s",
        Instructions::current()
    );
    beside_built_in();
    let ours = beside_peers();
    many_rows(100_000);
    if !with_peers {
        return;
    }
    println!(
        "\npeer                    problem                 N   us a point   ratio to x1   to x2   variant"
    );
    for line in peers::lines("jax_models.py", None) {
        let same = |row: &&Row| (row.name, row.points) == (line.problem.as_str(), line.points);
        let Some(row) = ours.iter().find(same) else { continue };
        println!(
            "{:<23} {:<20} {:>4} {:>12.3} {:>13.1} {:>7.1}   {}",
            line.framework,
            line.problem,
            line.points,
            line.microseconds,
            line.microseconds / row.microseconds[0],
            line.microseconds / row.microseconds[1],
            line.variant
        );
    }
}

/// A file of `models/`, and the same density in the registry.
struct Pair {
    file: &'static str,
    name: &'static str,
    parameters: &'static [(&'static str, f64)],
    /// The middle of the points, and their spread in each coordinate.
    middle: &'static [f64],
    spread: &'static [f64],
}

const PAIRS: [Pair; 4] = [
    Pair {
        file: "example1.toml",
        name: "bimodal",
        parameters: &[],
        middle: &[-2.0],
        spread: &[2.5],
    },
    Pair {
        file: "example3.toml",
        name: "mixture2d",
        parameters: &[("mu", 0.5)],
        middle: &[0.0, 0.5],
        spread: &[2.0, 0.5],
    },
    Pair {
        file: "example5.toml",
        name: "hiv",
        parameters: &[],
        middle: &[1.2, 0.8, 1.5],
        spread: &[0.3, 0.2, 0.4],
    },
    Pair {
        file: "example4.toml",
        name: "lorenz",
        parameters: &[],
        middle: &[10.0, 8.0 / 3.0, 28.0],
        spread: &[1.0, 0.3, 2.0],
    },
];

impl Pair {
    fn targets(&self) -> (Arc<dyn Target>, Box<dyn Target>) {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
        let model = Model::read(&models.join(self.file)).unwrap_or_else(|found| panic!("{found}"));
        let parameters = self.parameters.iter().map(|&(name, value)| (name.to_owned(), value));
        let choices = Choices {
            parameters: parameters.collect(),
            data: model.data().map(Data::Table),
            ..Choices::default()
        };
        let problem = registry::find(self.name).and_then(|entry| entry.choose(&choices));
        (model.target(), problem.expect("registered").target)
    }

    fn points(&self, count: usize) -> Batch {
        let at = |n: usize, d: usize| self.middle[d] + self.spread[d] * ((n + 2 * d) as f64).cos();
        let point = |n: usize| (0..self.middle.len()).map(|d| at(n, d)).collect();
        Batch::from_points(self.middle.len(), &(0..count).map(point).collect::<Vec<Vec<f64>>>())
    }
}

/// Examples of the paper as model files, compared with the registered targets, which are hand-written kernels for the
/// first two and recorded systems for the others.
fn beside_built_in() {
    println!("\n                                  |     ns a point, x1       |");
    println!("file             built in      N  |   file built in   ratio  | largest difference");
    for pair in &PAIRS {
        let (model, built_in) = pair.targets();
        for count in [100, 1000] {
            let points = pair.points(count);
            let [mut ours, mut theirs] = [1; 2].map(|_| Shards::new(&points, 1));
            let of_model = &mut || ours.microseconds(&*model);
            let of_built_in = &mut || theirs.microseconds(&*built_in);
            let [of_model, of_built_in] = fastest([of_model, of_built_in]);
            println!(
                "{:<16} {:<9} {:>5}  |{:>7.1} {:>8.1} {:>7.2}  | {:.0e}",
                pair.file,
                pair.name,
                count,
                1e3 * of_model,
                1e3 * of_built_in,
                of_model / of_built_in,
                ours.largest_differences(&theirs).into_iter().fold(0.0, f64::max)
            );
        }
    }
}

/// The times of a regression.
struct Row {
    name: &'static str,
    points: usize,
    /// A point, on one thread and on two.
    microseconds: [f64; 2],
}

/// Two regressions with a thousand rows, the same as in the peer.
fn beside_peers() -> Vec<Row> {
    println!("\n                                         |   us a point    |");
    println!(
        "1,000 rows             d   columns     N |     x1      x2  | log density of the first"
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let mut rows = Vec::new();
    for regression in [Regression::Linear, Regression::Logistic] {
        let name = regression.name();
        let target = regression.inline(1000).target();
        for points in [100, 256, 1000] {
            let batch = regressions::points(points);
            let (mut whole, mut halves) = (Shards::new(&batch, 1), Shards::new(&batch, 2));
            let on_one = &mut || whole.microseconds(&*target);
            let on_two = &mut || pool.install(|| halves.microseconds(&*target));
            let microseconds = fastest([on_one, on_two]);
            println!(
                "{name:<20} {:>3} {:>9} {points:>5} |{:>7.3} {:>7.3}  | {:.10}",
                regressions::DIM,
                regression.columns(),
                microseconds[0],
                microseconds[1],
                whole.log_density(0)
            );
            rows.push(Row { name, points, microseconds });
        }
    }
    rows
}

/// The logistic regression with many rows, from a file.
fn many_rows(rows: usize) {
    let start = Instant::now();
    let mut read = None;
    let building = measure(|| read = Some(Regression::Logistic.with_file(rows)));
    let seconds = start.elapsed().as_secs_f64();
    let model = match read {
        Some(Ok(model)) => model,
        Some(Err(error)) => return eprintln!("no model with {rows} rows: {error}"),
        None => unreachable!("it was read"),
    };
    let target = model.target();
    let leaving = measure(|| drop(model));
    let mut shards = Shards::new(&regressions::points(100), 1);
    let [microseconds] = fastest([&mut || shards.microseconds(&*target)]);
    println!(
        "\n{}, {rows} rows, 100 points: {microseconds:.1} us a point x1, {:.2} ns a point and row",
        Regression::Logistic.name(),
        1e3 * microseconds / rows as f64
    );
    let of_row = |bytes: f64| bytes / rows as f64;
    println!(
        "bytes a row: {:.0} the target, {:.0} with its model, {:.0} at most on the way; \
         {seconds:.1} s to write, read and compile",
        of_row((building.bytes_current + leaving.bytes_current) as f64),
        of_row(building.bytes_current as f64),
        of_row(building.bytes_max as f64),
    );
}

/// The least that each has told.
pub(crate) fn fastest<const K: usize>(mut runs: [&mut dyn FnMut() -> f64; K]) -> [f64; K] {
    let mut least = [f64::INFINITY; K];
    let (start, mut rounds) = (Instant::now(), 0);
    while rounds < LEAST_ROUNDS || start.elapsed().as_secs_f64() < LEAST_SECONDS {
        rounds += 1;
        for (least, run) in least.iter_mut().zip(&mut runs) {
            *least = least.min(run());
        }
    }
    least
}

/// A batch, split into one piece for each thread, with buffers for the results.
pub(crate) struct Shards {
    points: usize,
    shards: Vec<(Batch, Evaluation)>,
}

impl Shards {
    /// Pieces begin with a block of 32 points.
    pub(crate) fn new(points: &Batch, count: usize) -> Self {
        const BLOCK: usize = 32;
        let len = points.len().div_ceil(BLOCK * count) * BLOCK;
        let shard = |first: usize| {
            let end = points.len().min(first + len);
            let mut own = Batch::zeros(points.dim(), end - first);
            for d in 0..points.dim() {
                own.row_mut(d).copy_from_slice(&points.row(d)[first..end]);
            }
            let room = Evaluation::zeros(own.dim(), own.len());
            (own, room)
        };
        let shards = (0..points.len()).step_by(len).map(shard).collect();
        Self { points: points.len(), shards }
    }

    /// Time of a point in one run, on the threads that this one belongs to.
    pub(crate) fn microseconds(&mut self, target: &dyn Target) -> f64 {
        let start = Instant::now();
        let (mut calls, mut next, mut seconds) = (0, 1, 0.0);
        while seconds < RUN_SECONDS {
            // Read the clock less and less often, because it takes as long as several points.
            for _ in 0..next {
                self.evaluate(target);
            }
            calls += next;
            next *= 2;
            seconds = start.elapsed().as_secs_f64();
        }
        1e6 * seconds / (calls * self.points) as f64
    }

    fn evaluate(&mut self, target: &dyn Target) {
        let one = |(points, out): &mut (Batch, Evaluation)| {
            let weights = Weights { prior: 1.0, likelihood: 1.0 };
            target.evaluate(black_box(points), Some(weights), black_box(out)).expect("same shape");
        };
        match &mut self.shards[..] {
            [first, second] => drop(rayon::join(|| one(first), || one(second))),
            shards => shards.iter_mut().for_each(one),
        }
    }

    /// Of the first shard.
    pub(crate) fn log_density(&self, n: usize) -> f64 {
        let (_, found) = &self.shards[0];
        found.log_prior[n] + found.log_likelihood[n]
    }

    /// The sum of the gradient's entries at a point of the first shard.
    pub(crate) fn sum_of_gradient(&self, n: usize) -> f64 {
        let (_, found) = &self.shards[0];
        found.gradient.point(n).iter().sum()
    }

    /// The largest relative differences of log densities and of slopes between two targets at the same points. Infinite
    /// where one is NaN, or only one is infinite.
    pub(crate) fn largest_differences(&self, other: &Self) -> [f64; 2] {
        let ([(points, ours)], [(_, theirs)]) = (&self.shards[..], &other.shards[..]) else {
            unreachable!("one thread has one shard")
        };
        let [mut densities, mut gradients] = [0.0_f64; 2];
        for n in 0..points.len() {
            densities = densities.max(relative(self.log_density(n), other.log_density(n)));
            for d in 0..points.dim() {
                let (a, b) = (ours.gradient.row(d)[n], theirs.gradient.row(d)[n]);
                gradients = gradients.max(relative(a, b));
            }
        }
        [densities, gradients]
    }
}

/// The relative difference of two numbers.
fn relative(a: f64, b: f64) -> f64 {
    if a == b {
        return 0.0;
    }
    let difference = (a - b).abs() / (1.0 + b.abs());
    if difference.is_nan() { f64::INFINITY } else { difference }
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn what_is_no_number_is_no_agreement() {
        assert_eq!(relative(f64::NEG_INFINITY, f64::NEG_INFINITY), 0.0);
        assert_eq!(relative(1.5, 4.0), 0.5);
        for (a, b) in [(f64::NEG_INFINITY, 1.0), (1.0, f64::INFINITY), (f64::NAN, f64::NAN)] {
            assert_eq!(relative(a, b), f64::INFINITY);
        }
    }
}
