//! Sequential Monte Carlo along a path: weight, resample, move.

use crate::smc::{
    Population, Settings,
    ancestry::Ancestry,
    gaussians::Gaussians,
    landscape::{Cells, Landscape},
    moves::{DRAWS, Local, Moved, Sweep},
};
use crate::{
    Batch, Error, Result,
    effective::effective_size,
    flow::Noise,
    importance::log_sum_exp,
    path::Parts,
    rng::{Purpose, Stream},
    schedule::{Draws, EssBisection, Position, Rule},
    target::{Target, Unconstrained},
};
use std::ops::ControlFlow;

/// What happened at one temperature.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Stage {
    /// t, or 0 on the way from the base to the first t.
    pub t: f64,
    /// On the way from the base to the first t: how far it is along, from 0 to 1.
    pub start: Option<f64>,
    /// Standard deviation of what t multiplies, over the particles, if the rule looked at it.
    pub std_b: Option<f64>,
    /// Effective sample size of the weights on arrival, as a share of the particles.
    pub ess: f64,
    /// Were particles resampled?
    pub resampled: bool,
    /// Sweeps of moves.
    pub sweeps: usize,
    /// Share of local moves accepted.
    pub acceptance: f64,
    /// Share of jumps accepted, if there were any.
    pub jump_acceptance: Option<f64>,
    /// Length of a step, in units of the local covariance.
    pub scale: f64,
    /// Components of the mixture that describes the particles.
    pub components: usize,
    /// How far particles went from where they were: 1 is as far as independent ones.
    pub moved: f64,
    /// Points evaluated so far.
    pub evaluations: usize,
    /// log Z of the density at this temperature.
    pub log_z: f64,
}

/// Told of every stage; may stop the run.
pub trait Observer: Send {
    /// A stage is done.
    fn observe(&mut self, stage: &Stage) -> ControlFlow<()> {
        let _ = stage;
        ControlFlow::Continue(())
    }
}

impl Observer for () {}

impl<F: FnMut(&Stage) -> ControlFlow<()> + Send> Observer for F {
    fn observe(&mut self, stage: &Stage) -> ControlFlow<()> {
        self(stage)
    }
}

/// Sequential Monte Carlo from the base to the target.
///
/// First along q_0^(1 − s) p_{t_0}^s to the density at the schedule's first t, then along the path.
/// Runs on the threads of the rayon pool it is called in; their number never changes the result.
///
/// # Errors
/// If a setting is out of range, the target fails, or too few particles have a density at all.
pub fn smc(
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Population> {
    settings.check(target)?;
    rayon::scope(|_| Run::start(target, settings)?.finish(observer))
}

/// A run under way.
struct Run<'a> {
    settings: &'a Settings,
    landscape: Landscape<'a>,
    cells: Cells,
    /// log of the particles' weights, up to a constant; they sum to 1 as exponentials.
    log_weights: Vec<f64>,
    ancestry: Ancestry,
    shape: Gaussians,
    stream: Stream,
    /// Random draws used.
    draws: u64,
    /// Lengths of the steps of each kind of local move.
    scales: [f64; Local::ALL.len()],
    /// Is the gradient at the particles that of this density?
    has_gradients: bool,
    log_z: f64,
    evaluations: usize,
    stages: Vec<Stage>,
}

/// The share of weight that a step from the base towards p_{t_0} keeps.
const START_ESS: f64 = 0.85;

/// Sweeps after each of these steps, unless there is only one.
const START_SWEEPS: usize = 3;

/// Steps on that way before it is given up: far densities take some tens.
const MOST_START_STEPS: usize = 200;

/// Below this share of acceptance, jumps are given up for the rest of the temperature.
const POOR_JUMPS: f64 = 0.02;

/// Above it, jumps alone renew the particles, and local moves need not go far.
const GOOD_JUMPS: f64 = 0.4;

impl<'a> Run<'a> {
    fn start(target: &'a dyn Target, settings: &'a Settings) -> Result<Self> {
        let target = Unconstrained::new(target)?;
        let reference = settings.base.resolve(&target, settings.seed)?;
        let (dim, count) = (target.dim(), settings.particles);
        let stream = Stream::new(settings.seed, Purpose::MonteCarlo);
        let landscape = Landscape { target, reference };
        let mut cells = Cells::zeros(dim, count);
        let chunks = landscape.each_chunk(count, |range| {
            let mut noise = Noise::zeros(dim, range.len());
            let mut z = Batch::zeros(dim, range.len());
            let mut log_q = vec![0.0; z.padded_len()];
            landscape.reference.draw(&stream, 0, range.start as u64, &mut noise);
            landscape.reference.forward(&noise, &mut z, &mut log_q);
            landscape.survey(z, None)
        })?;
        let mut at = 0;
        for chunk in &chunks {
            cells.put(at, chunk);
            at += chunk.len();
        }
        let equal = 1.0 / count as f64;
        Ok(Self {
            shape: Gaussians::fit(&cells.z, &vec![equal; count], None),
            log_weights: vec![equal.ln(); count],
            ancestry: Ancestry::new(count),
            scales: Local::ALL.map(|local| local.first_scale(dim)),
            has_gradients: false,
            settings,
            landscape,
            cells,
            stream,
            draws: 1,
            log_z: 0.0,
            evaluations: count,
            stages: Vec::new(),
        })
    }

    fn finish(mut self, observer: &mut dyn Observer) -> Result<Population> {
        let stopped = self.travel(observer)?.is_break();
        if !stopped {
            self.keep_moving()?;
        }
        let (points, _) = self.landscape.target.constrain(&self.cells.z);
        let Parts { prior, likelihood, .. } = &self.cells.parts;
        let log_p = prior.iter().zip(likelihood).map(|(a, b)| a + b).collect();
        let weights: Vec<f64> = self.log_weights.iter().map(|w| w.exp()).collect();
        // As many particles as there were on the way are enough to see the shape.
        let kept = self.cells.len() / self.settings.particles;
        let thinned = self.cells.gather((0..self.settings.particles).map(|i| i * kept));
        let equal = vec![1.0 / thinned.len() as f64; thinned.len()];
        let shape = match stopped {
            true => self.shape.clone(),
            false => {
                self.population_monte_carlo(Gaussians::fit(&thinned.z, &equal, Some(&self.shape)))?
            }
        };
        Ok(Population {
            shape,
            points,
            z: self.cells.z,
            log_p,
            log_z: self.log_z,
            log_z_error: self.ancestry.log_z_error(&weights),
            weights,
            stages: self.stages,
            evaluations: self.evaluations,
            stopped,
            ancestry: self.ancestry,
        })
    }

    /// Draws from the mixture with Student tails, weights them by p, and fits the mixture to them: a
    /// step of population Monte Carlo (Cappé and others 2008), which makes KL(p‖mixture) smaller.
    /// Weights are cut at the mean times √S (Ionides 2008).
    fn population_monte_carlo(&mut self, mut shape: Gaussians) -> Result<Gaussians> {
        let weights = self.settings.path.weights(1.0);
        let count = self.settings.pmc_draws;
        for _ in 0..self.settings.pmc_rounds {
            let sweep = Sweep {
                landscape: &self.landscape,
                weights,
                shape: &shape,
                stream: &self.stream,
                draw: self.draws,
            };
            let dim = self.landscape.target.dim();
            let chunks = self.landscape.each_chunk(count, |range| {
                let z = sweep.fresh(range.clone(), dim);
                let log_q = shape.log_student(&z);
                Ok((self.landscape.survey(z, None)?, log_q))
            })?;
            self.draws += DRAWS;
            self.evaluations += count;
            let mut z = Batch::zeros(dim, count);
            let mut log_ratios = Vec::with_capacity(count);
            for (cells, log_q) in &chunks {
                z.copy_points(log_ratios.len(), &cells.z, 0, cells.len());
                log_ratios
                    .extend((0..cells.len()).map(|i| cells.log_density(weights, i) - log_q[i]));
            }
            let total = log_sum_exp(log_ratios.iter().copied());
            if !total.is_finite() {
                break;
            }
            let most = 1.0 / (count as f64).sqrt();
            let mut shares: Vec<f64> =
                log_ratios.iter().map(|ratio| (ratio - total).exp().min(most)).collect();
            let total: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= total);
            shape = Gaussians::fit(&z, &shares, Some(&shape));
        }
        Ok(shape)
    }

    /// More sweeps at t = 1, each of whose particles are kept.
    fn keep_moving(&mut self) -> Result<()> {
        let weights = self.settings.path.weights(1.0);
        let count = self.cells.len();
        let origin = self.cells.z.clone();
        let kept = self.settings.kept_sweeps;
        let mut all = Cells::zeros(origin.dim(), kept * count);
        for sweep in 0..kept {
            if sweep > 0 {
                self.sweep(weights, &origin, &mut Tally::default())?;
            }
            all.put(sweep * count, &self.cells);
        }
        self.cells = all;
        self.log_weights = vec![-((kept * count) as f64).ln(); kept * count];
        self.ancestry.repeat(kept);
        Ok(())
    }

    /// From the base to the first t, and from there to t = 1. `Break` says that the observer stopped.
    fn travel(&mut self, observer: &mut dyn Observer) -> Result<ControlFlow<()>> {
        let Settings { path, schedule, .. } = self.settings;
        let first = path.weights(schedule.first());
        let base = Parts { reference: 1.0, ..Parts::default() };
        let along = |s: f64| mix(base, first, s);
        // On the bridge the first density may be the base itself.
        if first != base {
            let rule = EssBisection { t0: 0.0, ess: START_ESS };
            let mut at = Position::start(&rule);
            while at.t < 1.0 {
                if at.index == MOST_START_STEPS {
                    return Err(Error::Target(format!(
                        "the way from the base to the density at t = {} does not end: it may have \
                         no integral there, or lie far from the base; raise t0, use the path bridge \
                         or likelihood, or move the base (base-mean, base-sd)",
                        schedule.first()
                    )));
                }
                let b = self.differences(base, first);
                let step = self.ask(&rule, at, &b)?;
                at = at.after(&step);
                self.log_z += self.reweight(&b, step.epsilon)?;
                let last = at.t == 1.0 && schedule.first() == 1.0;
                let stage = self.settle(along(at.t), step.epsilon < 1.0, last)?;
                let stage = Stage { start: Some(at.t), std_b: step.std_b, ..stage };
                if self.tell(stage, observer).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        let mut at = Position::start(schedule);
        let (zero, one) = (path.weights(0.0), path.weights(1.0));
        while at.t < 1.0 {
            let b = self.differences(zero, one);
            let step = self.ask(schedule, at, &b)?;
            at = at.after(&step);
            self.log_z += self.reweight(&b, step.epsilon)?;
            let stage = self.settle(path.weights(at.t), false, at.t == 1.0)?;
            let stage = Stage { t: at.t, std_b: step.std_b, ..stage };
            if self.tell(stage, observer).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn tell(&mut self, stage: Stage, observer: &mut dyn Observer) -> ControlFlow<()> {
        let told = observer.observe(&stage);
        let ended = stage.t == 1.0;
        self.stages.push(stage);
        if ended { ControlFlow::Continue(()) } else { told }
    }

    /// log of the ratio of two densities at every particle: b, if they are the ends of a path.
    fn differences(&self, from: Parts, to: Parts) -> Vec<f64> {
        let difference = mix(Parts::default(), to, 1.0);
        let weights = Parts {
            prior: difference.prior - from.prior,
            likelihood: difference.likelihood - from.likelihood,
            jacobian: difference.jacobian - from.jacobian,
            reference: difference.reference - from.reference,
        };
        (0..self.cells.len())
            .map(|i| match self.cells.log_density(from, i) {
                here if here == f64::NEG_INFINITY => here,
                _ => self.cells.log_density(weights, i),
            })
            .collect()
    }

    fn ask(&self, rule: &dyn Rule, at: Position, b: &[f64]) -> Result<crate::schedule::Step> {
        let weights: Vec<f64> = self.log_weights.iter().map(|w| w.exp()).collect();
        Ok(rule.next(at, &Draws { b, weights: Some(&weights) })?)
    }

    /// Multiplies the weights by exp(ε b); returns the log of their sum, which is what log Z gains.
    fn reweight(&mut self, b: &[f64], epsilon: f64) -> Result<f64> {
        for (weight, b) in self.log_weights.iter_mut().zip(b) {
            *weight += epsilon * b;
            if weight.is_nan() {
                *weight = f64::NEG_INFINITY;
            }
        }
        let gained = log_sum_exp(self.log_weights.iter().copied());
        if !gained.is_finite() {
            return Err(Error::Target(
                "no particle has a finite log density; start from a base (base-mean, base-sd) that \
                 lies inside the support"
                    .into(),
            ));
        }
        self.log_weights.iter_mut().for_each(|weight| *weight -= gained);
        Ok(gained)
    }

    fn ess_share(&self) -> f64 {
        let squares: f64 = self.log_weights.iter().map(|w| (2.0 * w).exp()).sum();
        effective_size(1.0, squares) / self.cells.len() as f64
    }

    /// Resamples if need be, and moves particles until they are far from where they were.
    fn settle(&mut self, weights: Parts, is_start: bool, last: bool) -> Result<Stage> {
        let ess = self.ess_share();
        let share: Vec<f64> = self.log_weights.iter().map(|w| w.exp()).collect();
        self.shape = Gaussians::fit(&self.cells.z, &share, Some(&self.shape));
        // At the end particles are to be draws with equal weights.
        let resampled = ess < self.settings.resample_below || last;
        if resampled {
            self.resample(&share);
        }
        self.has_gradients = false;
        let origin = self.cells.z.clone();
        let mut tally = Tally::default();
        let Settings { most_sweeps, freshness, .. } = *self.settings;
        // On the way from the base to a flat density particles have to spread, which takes a while.
        let fewest = if is_start { START_SWEEPS } else { 1 };
        while tally.sweeps < fewest || tally.sweeps < most_sweeps && tally.moved < freshness {
            self.sweep(weights, &origin, &mut tally)?;
        }
        let Tally { sweeps, moved, local, .. } = tally;
        Ok(Stage {
            t: 0.0,
            start: None,
            std_b: None,
            ess,
            resampled,
            sweeps,
            acceptance: tally.acceptance,
            jump_acceptance: tally.jump_acceptance,
            scale: local.map_or(0.0, |local| self.scales[local as usize]),
            components: self.shape.components.len(),
            moved,
            evaluations: self.evaluations,
            log_z: self.log_z,
        })
    }

    /// A jump, unless jumps are in vain here, and a local move of every particle.
    fn sweep(&mut self, weights: Parts, origin: &Batch, tally: &mut Tally) -> Result<()> {
        let moves = self.settings.moves;
        if self.settings.jumps && tally.jump_acceptance.is_none_or(|share| share > POOR_JUMPS) {
            let share = self.propose(weights, Kind::Jump)?;
            tally.jump_acceptance = Some(share);
        }
        let local = moves.choose(tally.jump_acceptance.is_some_and(|share| share > GOOD_JUMPS));
        if local.needs_gradients() && !self.has_gradients {
            self.landscape.refresh(&mut self.cells, weights)?;
            self.evaluations += self.cells.len();
            self.has_gradients = true;
        }
        tally.acceptance = self.propose(weights, Kind::Local(local))?;
        tally.local = Some(local);
        // Robbins and Monro with a gain that does not fall: densities change with t.
        let scale = &mut self.scales[local as usize];
        *scale *= (tally.acceptance - local.best_acceptance()).exp();
        *scale = scale.clamp(1e-6, 2.0 * local.first_scale(1));
        tally.moved = self.distance(origin);
        tally.sweeps += 1;
        Ok(())
    }

    /// Systematic resampling: each particle is kept ⌊N W⌋ or ⌈N W⌉ times.
    fn resample(&mut self, weights: &[f64]) {
        let count = self.cells.len();
        let uniform = self.stream.point_uniform_at(self.draws, 0);
        self.draws += 1;
        let parents = systematic(weights, uniform);
        self.cells = self.cells.gather(parents.iter().copied());
        self.ancestry.resample(&parents);
        self.log_weights.fill(-(count as f64).ln());
    }

    /// Proposes a move to every particle; returns the share of those that accept.
    fn propose(&mut self, weights: Parts, kind: Kind) -> Result<f64> {
        let sweep = Sweep {
            landscape: &self.landscape,
            weights,
            shape: &self.shape,
            stream: &self.stream,
            draw: self.draws,
        };
        let cells = &self.cells;
        let (scale, leaps) = match kind {
            Kind::Jump => (1.0, 1),
            Kind::Local(local) => {
                let scale = self.scales[local as usize];
                (scale, local.leaps(scale))
            }
        };
        let chunks = self.landscape.each_chunk(cells.len(), |range| {
            let chunk = cells.gather(range.clone());
            match kind {
                Kind::Jump => sweep.jump(chunk, range.start, self.has_gradients),
                Kind::Local(Local::Walk) => sweep.walk(chunk, range.start, scale),
                Kind::Local(_) => sweep.glide(chunk, range.start, scale, leaps),
            }
        })?;
        self.evaluations += leaps * cells.len();
        self.draws += DRAWS;
        let (mut at, mut accepted) = (0, 0.0);
        for Moved { cells, accepted: share } in &chunks {
            self.cells.put(at, cells);
            at += cells.len();
            accepted += share;
        }
        // A walk leaves no gradients behind.
        self.has_gradients &= kind != Kind::Local(Local::Walk);
        Ok(accepted / self.cells.len() as f64)
    }

    /// Mean squared distance from `origin` in units of the local covariance, over its value for
    /// independent particles; no particle counts for more than twice that, however far it jumped.
    fn distance(&self, origin: &Batch) -> f64 {
        let shares = self.shape.log_shares(origin);
        let squares: Vec<_> = (self.shape.components.iter())
            .map(|component| component.squares(&self.cells.z, Some(origin)))
            .collect();
        let independent = 2.0 * origin.dim() as f64;
        let moved = |i: usize| {
            let near = (0..shares.len()).max_by(|&a, &b| shares[a][i].total_cmp(&shares[b][i]));
            (squares[near.unwrap_or(0)][i] / independent).min(2.0)
        };
        (0..origin.len()).map(moved).sum::<f64>() / origin.len() as f64
    }
}

/// A kind of proposal.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Jump,
    Local(Local),
}

/// What moves at one temperature came to.
#[derive(Default)]
struct Tally {
    sweeps: usize,
    moved: f64,
    acceptance: f64,
    jump_acceptance: Option<f64>,
    local: Option<Local>,
}

/// (1 − s) · from + s · to
fn mix(from: Parts, to: Parts, s: f64) -> Parts {
    let mix = |from: f64, to: f64| (1.0 - s) * from + s * to;
    Parts {
        prior: mix(from.prior, to.prior),
        likelihood: mix(from.likelihood, to.likelihood),
        jacobian: mix(from.jacobian, to.jacobian),
        reference: mix(from.reference, to.reference),
    }
}

/// Parents of as many particles as there are weights, by one uniform number.
fn systematic(weights: &[f64], uniform: f64) -> Vec<usize> {
    let count = weights.len();
    let total: f64 = weights.iter().sum();
    let (mut parents, mut sum) = (Vec::with_capacity(count), 0.0);
    for (i, weight) in weights.iter().enumerate() {
        sum += weight / total * count as f64;
        while parents.len() < count && parents.len() as f64 + uniform < sum {
            parents.push(i);
        }
    }
    // Rounding may leave the last place empty.
    let last = weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0);
    parents.resize(count, last);
    parents
}
