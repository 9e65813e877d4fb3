//! The settings of a run, checked before the first update.

use super::{ForwardKl, Gradient, Stage};
use crate::{
    Error, Result, error,
    flow::{BaseSpec, FlowSpec},
    optim::{Optimizer, RateRule, check_max_norm},
    path::PathKind,
    schedule::{Rule, Schedule, Work},
    target::Target,
};
use serde::{Deserialize, Serialize};

/// The settings of a run. [`Settings::default`] has those of the paper's first example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The flow.
    pub flow: FlowSpec,
    /// Its base density.
    pub base: BaseSpec,
    /// Initial standard deviation of the layers' parameters. 0.1 as in the paper's runs; it changes
    /// the number of steps by up to a factor of two either way.
    pub initial_scale: f64,
    /// The path of annealed densities.
    pub path: PathKind,
    /// The rule for the inverse temperatures.
    pub schedule: Schedule,
    /// T_0, T and T_1: updates at t_0, at each t between, and at t = 1.
    pub work: Work,
    /// N: points per update below t = 1.
    pub samples: usize,
    /// N_1: points per update at t = 1.
    pub refine_samples: usize,
    /// M: draws for the schedule at each step.
    pub variance_samples: usize,
    /// The optimizer.
    pub optimizer: Optimizer,
    /// The learning rate.
    pub lr: f64,
    /// The learning rate at t = 1; none for `lr`.
    pub refine_lr: Option<f64>,
    /// How the learning rate falls before t = 1, counted from the first update.
    pub lr_rule: RateRule,
    /// How the learning rate falls at t = 1, counted from the first update there.
    pub refine_lr_rule: RateRule,
    /// The norm to which longer gradients are shortened before t = 1.
    pub clip: Option<f64>,
    /// The norm to which longer gradients are shortened at t = 1. A flow with two modes learns their
    /// weights from rare draws between them, whose gradients are the longest: shortening them loses
    /// a mode.
    pub refine_clip: Option<f64>,
    /// Before t = 1, gradients of log p_t at single points that are longer than this many times
    /// their median are shortened to it. This is for densities with cliffs, such as those of
    /// unstable systems. 10 does not affect a density with one mode; draws between two modes need
    /// 100.
    pub point_clip: Option<f64>,
    /// The gradient estimate that updates follow.
    pub gradient: Gradient,
    /// Finds t_0 before the first update, instead of using the schedule's own: on the power path
    /// where p_t is nearest to the initial flow, elsewhere 0.
    pub auto_t0: bool,
    /// Trains at each t below 1 until the flow fits; none for T_0 and T updates.
    pub stage: Option<Stage>,
    /// A last stage that covers the target's mass, if any.
    pub forward_kl: Option<ForwardKl>,
    /// The seed of every random number of the run.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            flow: FlowSpec::planar(50),
            base: BaseSpec::default(),
            initial_scale: 0.1,
            path: PathKind::Power,
            schedule: Schedule::default(),
            work: Work { warmup: 500, anneal: 2, refine: 8_000 },
            samples: 100,
            refine_samples: 1_000,
            variance_samples: 1_000,
            optimizer: Optimizer::default(),
            lr: 0.005,
            refine_lr: None,
            lr_rule: RateRule::Constant,
            refine_lr_rule: RateRule::Step { every: 1_000, factor: 0.5 },
            clip: None,
            refine_clip: None,
            point_clip: None,
            gradient: Gradient::Total,
            auto_t0: false,
            stage: None,
            forward_kl: None,
            seed: 1,
        }
    }
}

/// The most points of one update, draws of one step and updates at one t; a larger value is surely a
/// mistake, and would need more memory than there is.
const MOST_POINTS: usize = 100_000_000;

/// The largest default learning rate for flows built on networks. At 0.005, which suits planar
/// layers, the weights of modes drift and modes are lost.
const NETWORK_LR: f64 = 0.002;

impl Settings {
    /// The same settings for another flow. For a flow built on networks the learning rate is at most
    /// 0.002, and falls at t = 1 as half a cosine to a thousandth: networks keep fluctuating at a
    /// rate that hardly affects a planar flow.
    #[must_use]
    pub fn with_flow(self, flow: FlowSpec) -> Self {
        if !flow.has_networks() {
            return Self { flow, ..self };
        }
        let over = self.work.refine.max(1);
        Self {
            lr: self.lr.min(NETWORK_LR),
            refine_lr: self.refine_lr.map(|lr| lr.min(NETWORK_LR)),
            refine_lr_rule: RateRule::Cosine { over, floor: 1e-3 },
            flow,
            ..self
        }
    }

    fn check_schedule(&self) -> Result<()> {
        let mut schedule = self.schedule.clone();
        if self.auto_t0 && !schedule.set_first(if self.path.allows_zero() { 0.0 } else { 1.0 }) {
            let range = format!("a number for the {} schedule, which has no t0", schedule.name());
            return Err(error::setting("t0", "auto", range));
        }
        schedule.check(self.path.allows_zero())
    }

    /// Refuses settings out of range; every run begins with this check.
    ///
    /// # Errors
    /// Names the setting, its value and the range.
    pub fn check(&self, target: &dyn Target) -> Result<()> {
        self.faults(Some(target)).into_iter().next().map_or(Ok(()), Err)
    }

    /// All settings out of range; without a target, only those that are so for any target.
    pub(crate) fn faults(&self, target: Option<&dyn Target>) -> Vec<Error> {
        let mut faults = Vec::new();
        let checks = [
            self.check_flow(target),
            self.check_schedule(),
            self.stage.map_or(Ok(()), |stage| stage.check()),
            self.forward_kl.map_or(Ok(()), |forward_kl| forward_kl.check()),
            self.optimizer.check(),
            self.lr_rule.check(),
            self.refine_lr_rule.check(),
        ];
        faults.extend(checks.into_iter().filter_map(Result::err));
        self.check_counts(&mut faults);
        self.check_rates(&mut faults);
        if self.path == PathKind::Likelihood && target.is_some_and(|target| !target.has_prior()) {
            let range = "power or bridge for a target that has no prior apart from its likelihood";
            faults.push(error::setting("path", self.path.name(), range));
        }
        let clips = [
            match self.point_clip.filter(|most| !(*most >= 1.0 && most.is_finite())) {
                Some(most) => Err(error::setting("point-clip", most, "at least 1 and finite")),
                None => Ok(()),
            },
            self.refine_clip.map_or(Ok(()), |norm| check_max_norm("refine-clip", norm)),
            self.clip.map_or(Ok(()), |norm| check_max_norm("clip", norm)),
        ];
        faults.extend(clips.into_iter().filter_map(Result::err));
        faults
    }

    fn check_flow(&self, target: Option<&dyn Target>) -> Result<()> {
        match target {
            Some(target) => self.flow.build(target.dim()).map(drop),
            // The sizes of layers and networks do not depend on the dimension.
            None => self.flow.build(2).map(drop).or_else(|fault| match fault.setting() {
                Some("mask" | "flow") => Ok(()),
                _ => Err(fault),
            }),
        }
    }

    fn check_counts(&self, faults: &mut Vec<Error>) {
        let counts = [
            ("samples", self.samples),
            ("refine-samples", self.refine_samples),
            ("variance-samples", self.variance_samples),
        ];
        let few = counts.iter().filter(|(_, count)| !(2..=MOST_POINTS).contains(count));
        faults.extend(
            few.map(|(name, count)| {
                error::setting(name, *count, format!("from 2 to {MOST_POINTS}"))
            }),
        );
        let components = self.base.components;
        match self.base.check_components() {
            Err(fault) => faults.push(fault),
            // The schedule's draws choose their components freely.
            Ok(()) => {
                let few = counts[..2].iter().filter(|(_, count)| (2..components).contains(count));
                faults.extend(few.map(|(name, count)| {
                    let range = format!(
                        "at least {components}, the number of base-components: each needs a point"
                    );
                    error::setting(name, *count, range)
                }));
            }
        }
        let updates = [
            ("warmup", self.work.warmup),
            ("updates", self.work.anneal),
            ("refine", self.work.refine),
        ];
        let many = updates.iter().filter(|(_, count)| *count > MOST_POINTS);
        faults.extend(
            many.map(|(name, count)| {
                error::setting(name, *count, format!("at most {MOST_POINTS}"))
            }),
        );
        if self.schedule != Schedule::None && self.work.anneal == 0 {
            let range = "at least 1, since the flow has to follow the density";
            faults.push(error::setting("updates", 0, range));
        }
    }

    fn check_rates(&self, faults: &mut Vec<Error>) {
        for (name, rate) in [("lr", Some(self.lr)), ("refine-lr", self.refine_lr)] {
            if let Some(rate) = rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
                faults.push(error::setting(name, rate, "positive and finite"));
            }
        }
        if !(self.initial_scale.is_finite() && self.initial_scale >= 0.0) {
            let range = "finite and not negative";
            faults.push(error::setting("initial-scale", self.initial_scale, range));
        }
        let planar = matches!(self.flow, FlowSpec::Planar { .. });
        if planar && self.initial_scale == 0.0 && !self.base.trained {
            let range = "above 0: planar layers that start at 0 have gradient 0 and never move";
            faults.push(error::setting("initial-scale", 0, range));
        }
    }
}
