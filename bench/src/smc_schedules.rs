//! Compares schedules for sequential Monte Carlo at equal numbers of evaluations.

use crate::trials::{self, Options, mean, rms, rms_error};
use adaann::{
    Result,
    registry::{self, Problem, mode_weights, split_shares},
    schedule::{AdaAnn, EssBisection, Exponential, Guarded, Linear, List, Schedule},
    smc::{Move, Population, Settings, smc},
};
use std::io;

/// The targets, with their parameters.
const TARGETS: [(&str, Option<f64>); 7] = [
    ("bimodal", None),
    ("two-moons", None),
    ("eight-gaussians", None),
    ("shells", Some(5.0)),
    ("hiv", None),
    ("gaussian", Some(10.0)),
    ("many-well", Some(8.0)),
];

/// The number of temperatures after the first, the same for every rule.
const TEMPERATURES: usize = 16;

/// The number of sweeps at each temperature.
const SWEEPS: usize = 3;

const PARTICLES: usize = 1_000;

/// The number of seeds for tuning tolerances. Results use other seeds.
const PILOTS: std::ops::Range<u64> = 1_001..1_005;

/// A rule for choosing temperatures.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    AdaAnn,
    Robust,
    Ess,
    Linear,
    Exponential,
}

impl Rule {
    const ALL: [Self; 5] = [Self::AdaAnn, Self::Robust, Self::Ess, Self::Linear, Self::Exponential];

    fn label(self) -> &'static str {
        match self {
            Self::AdaAnn => "AdaAnn",
            Self::Robust => "AdaAnn, robust",
            Self::Ess => "ESS bisection",
            Self::Linear => "linear",
            Self::Exponential => "exponential",
        }
    }

    /// The rule with a tolerance. For ESS this is the share that a step of AdaAnn keeps if b is normal.
    fn adaptive(self, t0: f64, tau: f64) -> Schedule {
        match self {
            Self::Ess => Schedule::EssBisection(EssBisection { t0, ess: (-tau * tau).exp() }),
            Self::Robust => Guarded { t0, tau, max_ratio: 1e6, ..Guarded::default() }.into(),
            _ => Schedule::AdaAnn(AdaAnn { t0, tau }),
        }
    }
}

/// A target with a set of moves.
struct Subject {
    label: String,
    problem: Problem,
    jumps: bool,
}

impl Subject {
    fn new((name, dim): (&str, Option<f64>), jumps: bool) -> Result<Self> {
        let parameters: Vec<_> = dim.into_iter().map(|dim| ("dim".to_owned(), dim)).collect();
        let label = dim.map_or(name.to_owned(), |dim| format!("{name}, d = {dim}"));
        Ok(Self { label, problem: registry::find(name)?.build(&parameters)?, jumps })
    }

    fn first(&self) -> f64 {
        use adaann::schedule::Rule;
        self.problem.settings.particles().schedule.first()
    }

    /// Random walks, which cost one evaluation each, with the same number of sweeps for all rules.
    fn run(&self, schedule: &Schedule, seed: u64) -> Result<Population> {
        let settings = Settings {
            schedule: schedule.clone(),
            particles: PARTICLES,
            moves: Move::Rwm,
            jumps: self.jumps,
            freshness: 0.999,
            most_sweeps: SWEEPS,
            kept_sweeps: 1,
            seed,
            ..self.problem.settings.particles()
        };
        smc(&*self.problem.target, &settings, &mut ()).and_then(Population::whole)
    }

    /// The tolerance at which a rule takes the common number of temperatures.
    ///
    /// This number is nearly proportional to 1/τ, so each round corrects τ by the ratio.
    fn tune(&self, rule: Rule) -> Result<Schedule> {
        let (mut tau, mut best) = (0.5, (f64::INFINITY, 0.5));
        for _ in 0..12 {
            let schedule = rule.adaptive(self.first(), tau);
            let counts = PILOTS.map(|seed| Ok(temperatures(&self.run(&schedule, seed)?) as f64));
            let counts: Vec<f64> = counts.collect::<Result<_>>()?;
            let ratio = mean(counts.iter().copied()) / TEMPERATURES as f64;
            let off = ratio.ln().abs();
            if off < best.0 {
                best = (off, tau);
            }
            if off < 0.02 {
                break;
            }
            tau *= ratio;
        }
        Ok(rule.adaptive(self.first(), best.1))
    }

    /// A rule, tuned to the common number of temperatures.
    fn schedule(&self, rule: Rule) -> Result<Schedule> {
        let t0 = self.first();
        Ok(match rule {
            Rule::AdaAnn | Rule::Robust | Rule::Ess => self.tune(rule)?,
            Rule::Linear => {
                Schedule::Linear(Linear { t0, epsilon: (1.0 - t0) / TEMPERATURES as f64 })
            }
            Rule::Exponential if t0 > 0.0 => {
                Schedule::Exponential(Exponential { t0, steps: TEMPERATURES })
            }
            Rule::Exponential => geometric(self.first_step(&self.tune(Rule::Robust)?)?),
        })
    }

    /// The first t above 0: the geometric mean over pilot runs.
    fn first_step(&self, schedule: &Schedule) -> Result<f64> {
        let first = |seed| {
            let population = self.run(schedule, seed)?;
            Ok(population.stages.iter().find(|stage| stage.t > 0.0).map_or(1.0, |stage| stage.t))
        };
        let firsts: Vec<f64> = PILOTS.map(first).collect::<Result<_>>()?;
        Ok(mean(firsts.iter().map(|t| t.ln())).exp())
    }

    fn measure(&self, schedule: &Schedule, seed: u64) -> Result<Measured> {
        let population = self.run(schedule, seed)?;
        let known = &self.problem.known;
        let modes = known.modes.iter().map(|mode| mode.weight);
        let splits = known.splits.iter().map(|split| split.above);
        let shares = mode_weights(known, &population.points).into_iter();
        let above = split_shares(known, &population.points);
        let errors = shares.zip(modes).chain(above.into_iter().zip(splits));
        let has_several = known.modes.len() > 1 || !known.splits.is_empty();
        Ok(Measured {
            temperatures: temperatures(&population) as f64,
            evaluations: population.evaluations as f64,
            log_z_error: population.log_z - known.log_z.expect("known for these targets"),
            weight_error: has_several
                .then(|| errors.map(|(share, weight)| (share - weight).abs()).fold(0.0, f64::max)),
        })
    }
}

/// Constant ratios from the first t above 0, for paths that begin at 0.
fn geometric(first: f64) -> Schedule {
    let last = TEMPERATURES - 1;
    let t = |k: usize| if k == last { 1.0 } else { first.powf(1.0 - k as f64 / last as f64) };
    Schedule::List(List(std::iter::once(0.0).chain((0..=last).map(t)).collect()))
}

fn temperatures(population: &Population) -> usize {
    population.stages.iter().filter(|stage| stage.start.is_none()).count()
}

/// The result of a run.
struct Measured {
    temperatures: f64,
    evaluations: f64,
    log_z_error: f64,
    /// The largest error of a mode weight, if there are several modes.
    weight_error: Option<f64>,
}

/// Prints errors of log Z and of mode weights for every rule, with jumps and without.
pub(crate) fn run(options: &Options) -> io::Result<()> {
    let targets = TARGETS.iter().filter(|(name, _)| options.asks_for(name));
    let subjects: Vec<Subject> = targets
        .flat_map(|&target| [false, true].map(|jumps| Subject::new(target, jumps)))
        .collect::<Result<_>>()
        .expect("registered");
    let plans: Vec<(&Subject, Rule)> =
        subjects.iter().flat_map(|subject| Rule::ALL.map(|rule| (subject, rule))).collect();
    let schedules = trials::each(&plans, |(subject, rule)| subject.schedule(*rule));
    let runs: Vec<_> = (plans.iter().zip(&schedules))
        .flat_map(|(plan, schedule)| options.seeds().map(move |seed| (plan.0, schedule, seed)))
        .collect();
    let measured = trials::each(&runs, |(subject, schedule, seed)| match schedule {
        Ok(schedule) => subject.measure(schedule, *seed).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    });
    let mut table = String::from(
        "| target | jumps | schedule | temperatures | evaluations | RMS error of log Z | largest error of a weight |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for ((subject, rule), runs) in plans.iter().zip(measured.chunks(options.seeds as usize)) {
        table.push_str(&row(subject, *rule, runs));
    }
    options.publish("smc-schedules", &table)
}

fn row(subject: &Subject, rule: Rule, measured: &[Result<Measured, String>]) -> String {
    let done: Vec<&Measured> = measured.iter().filter_map(|run| run.as_ref().ok()).collect();
    let jumps = if subject.jumps { "yes" } else { "no" };
    let head = format!("| {} | {jumps} | {} |", subject.label, rule.label());
    let failures = measured.len() - done.len();
    if let Some(error) = measured.iter().find_map(|run| run.as_ref().err()) {
        eprintln!("{head} {failures} of {} failed: {error}", measured.len());
    }
    let failed = if failures > 0 { format!(", {failures} failed") } else { String::new() };
    if done.is_empty() {
        return format!("{head} - | - | failed | - |\n");
    }
    let weights: Vec<f64> = done.iter().filter_map(|run| run.weight_error).collect();
    let errors: Vec<f64> = done.iter().map(|run| run.log_z_error).collect();
    let weights = match weights[..] {
        [] => "-".to_owned(),
        _ => format!("{:.3}", mean(weights.iter().copied())),
    };
    format!(
        "{head} {:.1} | {:.0} | {:.3} ± {:.3}{failed} | {weights} |\n",
        mean(done.iter().map(|run| run.temperatures)),
        mean(done.iter().map(|run| run.evaluations)),
        rms(errors.iter().copied()),
        rms_error(&errors),
    )
}
