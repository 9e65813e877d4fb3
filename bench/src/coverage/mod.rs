//! Coverage of stated errors: compares answers with exact results, in units of their stated errors.

mod bounded;
mod curved;
mod numbers;
mod table;
mod truth;

use crate::trials::{self, Options};
use adaann::{
    Result,
    answer::{self, Settings},
    diagnostics::Trust,
    importance::Estimate,
    model::Model,
};
use numbers::Numbers;
use std::{io, time::Instant};
use truth::Truth;

/// Separates the random numbers of different targets.
const TARGETS: u64 = 1_000_003;

/// A target and a seed, which determines the settings of the target and the draws of the answer.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) group: &'static str,
    pub(crate) seed: u64,
    make: Make,
    number: u64,
}

#[derive(Clone, Copy)]
enum Make {
    Pieces(bounded::Maker, usize),
    Curved(curved::Kind, usize),
}

/// Groups of targets.
pub(crate) const GROUPS: [&str; 2] = ["at bounds", "unbounded"];

impl Case {
    fn all(options: &Options) -> Vec<Self> {
        let pieces = |(name, make, count): &(&'static str, bounded::Maker, usize), group| {
            (*name, group, Make::Pieces(*make, *count))
        };
        let at_bounds = bounded::AT_BOUNDS.iter().map(|target| pieces(target, GROUPS[0]));
        let inside = bounded::INSIDE.iter().map(|target| pieces(target, GROUPS[1]));
        let curved = curved::ALL
            .iter()
            .map(|(name, kind, dim)| (*name, GROUPS[1], Make::Curved(*kind, *dim)));
        let targets: Vec<_> = at_bounds.chain(inside).chain(curved).collect();
        let asked = |name: &str, group: &str| {
            let only = options.only.as_deref();
            only.is_none_or(|only| {
                only.split(',').any(|word| word == group || name.starts_with(word))
            })
        };
        let mut cases = Vec::new();
        for seed in options.seeds() {
            for (number, (name, group, make)) in targets.iter().enumerate() {
                if asked(name, group) {
                    let number = number as u64;
                    cases.push(Self { name, group, seed, make: *make, number });
                }
            }
        }
        cases
    }

    fn build(&self) -> Result<(Model, Truth)> {
        let numbers = &mut Numbers::new(self.seed.wrapping_mul(TARGETS) + self.number);
        match self.make {
            Make::Pieces(make, count) => bounded::build(self.name, make, count, numbers),
            Make::Curved(kind, dim) => curved::build(self.name, kind, dim, numbers),
        }
    }
}

/// The kinds of estimates.
pub(crate) const KINDS: [&str; 5] = ["log Z", "mean", "sd", "5 %", "95 %"];

/// An estimate of an answer, with the exact value.
pub(crate) struct Held {
    /// The index in [`KINDS`].
    pub(crate) kind: usize,
    /// The coordinate, or `None` for log Z.
    pub(crate) coordinate: Option<usize>,
    pub(crate) estimate: Estimate,
    pub(crate) exact: f64,
}

impl Held {
    /// The error in units of the stated error.
    pub(crate) fn z_score(&self) -> f64 {
        let off = self.estimate.value - self.exact;
        // The relative accuracy of rounding and grids.
        let floor = 1e-5 * (1.0 + self.exact.abs());
        if off.abs() < floor { 0.0 } else { off / self.estimate.error }
    }
}

/// An answer, compared with the truth.
pub(crate) struct Run {
    pub(crate) held: Vec<Held>,
    pub(crate) trust: Option<Trust>,
    pub(crate) method: &'static str,
    pub(crate) ess: f64,
    pub(crate) evaluations: usize,
    pub(crate) check_evaluations: usize,
}

impl Run {
    fn new(case: &Case) -> Result<Self> {
        let (model, truth) = case.build()?;
        let settings =
            Settings { seed: case.seed, base: model.settings().base, ..Settings::default() };
        let answer = answer::approximate(&*model.target(), &settings, &mut ())?;
        let mut held = Vec::new();
        if let Some(estimate) = answer.log_z {
            held.push(Held { kind: 0, coordinate: None, estimate, exact: truth.log_z });
        }
        for (d, (found, exact)) in
            answer.sample.coordinates()?.iter().zip(&truth.marginals).enumerate()
        {
            let [low, .., high] = found.quantiles;
            let pairs = [
                (found.mean, exact.mean),
                (found.sd, exact.sd),
                (low, exact.quantiles[0]),
                (high, exact.quantiles[1]),
            ];
            held.extend(pairs.into_iter().enumerate().map(|(kind, (estimate, exact))| Held {
                kind: kind + 1,
                coordinate: Some(d),
                estimate,
                exact,
            }));
        }
        let check = answer.examination.as_ref();
        Ok(Self {
            held,
            trust: check.map(|check| check.verdict.trust),
            method: answer.method.name(),
            ess: answer.sample.weight_sums()?.ess(),
            evaluations: answer.evaluations,
            check_evaluations: check.map_or(0, |check| check.evaluations),
        })
    }
}

/// Runs all targets with all seeds, and prints the coverage of stated errors.
pub(crate) fn run(options: &Options) -> io::Result<()> {
    let cases = Case::all(options);
    let runs = trials::each(&cases, |case| {
        let start = Instant::now();
        let run = Run::new(case);
        eprintln!("{} ({:.1} s)", table::line(case, &run), start.elapsed().as_secs_f64());
        run
    });
    options.publish("coverage", &table::page(&cases, &runs))
}
