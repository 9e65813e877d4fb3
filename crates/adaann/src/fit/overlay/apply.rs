//! Applies the given settings to those of a run.
//!
//! A setting that the chosen flow, schedule or optimizer does not use is refused, because its author
//! expects it to have an effect.

use super::{First, Overlay};
use crate::{
    Error, Result, error,
    fit::{ForwardKl, Settings, Stage},
    flow::{BaseSpec, Covariance, Start},
    optim::Optimizer,
    schedule::Work,
    target::{Target, Unconstrained},
};

impl Overlay {
    /// The settings of a run: the given settings over `base`, checked for `target`.
    ///
    /// # Errors
    /// The first setting that is out of range, does not belong to the choices made, or contradicts
    /// another.
    pub fn apply(&self, base: Settings, target: &dyn Target) -> Result<Settings> {
        let (settings, faults) = self.examine(base, Some(target));
        faults.into_iter().next().map_or(Ok(settings), Err)
    }

    /// The same with all errors; without a target, only those that hold for any target.
    pub(crate) fn examine(
        &self,
        base: Settings,
        target: Option<&dyn Target>,
    ) -> (Settings, Vec<Error>) {
        let mut faults = Vec::new();
        let path = self.path.unwrap_or(base.path);
        let base = Settings { path, ..base };
        let flow = self.flow_over(&base.flow, &mut faults);
        let base = Settings { work: self.work_over(base.work), ..base };
        let is_another = flow.label() != base.flow.label();
        let base = if is_another { base.with_flow(flow) } else { Settings { flow, ..base } };
        let mut settings = Settings {
            base: self.base_over(&base.base, &mut faults),
            schedule: self.schedule_over(&base.schedule, path, &mut faults),
            optimizer: self.optimizer_over(base.optimizer, &mut faults),
            stage: self.stage_over(base.stage, &mut faults),
            forward_kl: self.forward_kl_over(base.forward_kl, &mut faults),
            ..base
        };
        set(&mut settings.auto_t0, self.t0.map(|first| first == First::Auto));
        set(&mut settings.gradient, self.gradient);
        set(&mut settings.initial_scale, self.initial_scale);
        set(&mut settings.samples, self.samples);
        set(&mut settings.refine_samples, self.refine_samples);
        set(&mut settings.variance_samples, self.variance_samples);
        set(&mut settings.lr, self.lr);
        set(&mut settings.refine_lr, self.refine_lr.map(Some));
        set(&mut settings.lr_rule, self.lr_rule);
        set(&mut settings.refine_lr_rule, self.refine_lr_rule);
        set(&mut settings.clip, self.clip.map(|limit| limit.0));
        set(&mut settings.refine_clip, self.refine_clip.map(|limit| limit.0));
        set(&mut settings.point_clip, self.point_clip.map(|limit| limit.0));
        set(&mut settings.seed, self.seed);
        let mut of_values = settings.faults(target);
        let is_whole = of_values.is_empty();
        // One refusal of a setting is enough.
        of_values.retain(|fault| faults.iter().all(|other| other.setting() != fault.setting()));
        faults.extend(of_values);
        // The fit itself checks a Laplace start, because finding a mode takes time.
        if let (Some(target), true, Start::Normal) = (target, is_whole, settings.base.start) {
            let resolved = Unconstrained::new(target)
                .and_then(|target| settings.base.resolve(&target, settings.seed).map(drop));
            faults.extend(resolved.err());
        }
        (settings, faults)
    }

    fn base_over(&self, preset: &BaseSpec, faults: &mut Vec<Error>) -> BaseSpec {
        let mut base = preset.clone();
        set(&mut base.start, self.base);
        set(&mut base.mean, self.base_mean.clone());
        set(&mut base.sd, self.base_sd.clone());
        set(&mut base.covariance, self.base_covariance);
        set(&mut base.components, self.base_components);
        set(&mut base.means, self.base_means.clone());
        base.trained |= self.train_base == Some(true);
        if self.base_sd.is_some() {
            base.matrix.clear();
        }
        set(&mut base.matrix, self.base_matrix.clone());
        if self.base_sd.is_some() && self.base_matrix.is_some() {
            let message = "`base-matrix` and `base-sd` both say how wide the base is; give one";
            faults.push(error::conflict("base-matrix", message));
        }
        let is_diagonal = self.base_covariance == Some(Covariance::Diagonal);
        match base.start {
            Start::Normal if base.matrix.is_empty() => {}
            Start::Normal => {
                if is_diagonal {
                    let message =
                        "`base-covariance` is diagonal, but must be full for `base-matrix`";
                    faults.push(error::conflict("base-covariance", message));
                }
                base.covariance = Covariance::Full;
            }
            Start::Laplace => {
                let normal = &["normal"][..];
                let sd = ("base-sd", self.base_sd.is_some(), normal);
                let matrix = ("base-matrix", self.base_matrix.is_some(), normal);
                refuse_strangers("base", "laplace", &[sd, matrix], faults);
                if is_diagonal {
                    let message = "`base-covariance` is diagonal, but must be full for the \
                                   laplace base, which takes the curvature at the mode";
                    faults.push(error::conflict("base-covariance", message));
                }
                // The Laplace start implies this; it is set so that the record states it.
                base.covariance = Covariance::Full;
            }
        }
        base
    }

    fn work_over(&self, preset: Work) -> Work {
        Work {
            warmup: self.warmup.unwrap_or(preset.warmup),
            anneal: self.updates.unwrap_or(preset.anneal),
            refine: self.refine.unwrap_or(preset.refine),
        }
    }

    fn stage_over(&self, preset: Option<Stage>, faults: &mut Vec<Error>) -> Option<Stage> {
        let mut stage = match self.stage_ess {
            None => preset,
            Some(share) => share.0.map(|ess| Stage { ess, ..preset.unwrap_or_default() }),
        };
        match &mut stage {
            None => {
                let parts = [("stage-most", self.stage_most.is_some())];
                refuse_parts(&parts, "`stage-ess`, which is not given", faults);
            }
            Some(stage) => set(&mut stage.most_updates, self.stage_most),
        }
        stage
    }

    fn forward_kl_over(
        &self,
        preset: Option<ForwardKl>,
        faults: &mut Vec<Error>,
    ) -> Option<ForwardKl> {
        let mut forward_kl = match self.forward_kl {
            None => preset,
            Some(0) => None,
            Some(rounds) => Some(ForwardKl { rounds, ..preset.unwrap_or_default() }),
        };
        let Some(forward_kl) = &mut forward_kl else {
            let parts = [
                ("forward-kl-draws", self.forward_kl_draws.is_some()),
                ("forward-kl-updates", self.forward_kl_updates.is_some()),
                ("forward-kl-batch", self.forward_kl_batch.is_some()),
                ("forward-kl-divergence", self.forward_kl_divergence.is_some()),
                ("forward-kl-lr", self.forward_kl_lr.is_some()),
            ];
            refuse_parts(&parts, "`forward-kl`, whose rounds are not given", faults);
            return None;
        };
        set(&mut forward_kl.draws, self.forward_kl_draws);
        set(&mut forward_kl.updates, self.forward_kl_updates);
        set(&mut forward_kl.batch, self.forward_kl_batch);
        set(&mut forward_kl.divergence, self.forward_kl_divergence);
        set(&mut forward_kl.lr, self.forward_kl_lr);
        Some(*forward_kl)
    }

    fn optimizer_over(&self, preset: Optimizer, faults: &mut Vec<Error>) -> Optimizer {
        let mut optimizer = match self.optimizer {
            Some(asked) if asked.name() != preset.name() => asked,
            _ => preset,
        };
        let settings = [
            ("momentum", self.momentum.is_some(), &["sgd"][..]),
            ("beta1", self.beta1.is_some(), &["adam"]),
            ("beta2", self.beta2.is_some(), &["adam"]),
            ("decay", self.decay.is_some(), &["rmsprop"]),
            ("optimizer-epsilon", self.optimizer_epsilon.is_some(), &["adam", "rmsprop"]),
        ];
        refuse_strangers("optimizer", optimizer.name(), &settings, faults);
        match &mut optimizer {
            Optimizer::Sgd(sgd) => set(&mut sgd.momentum, self.momentum),
            Optimizer::RmsProp(rmsprop) => {
                set(&mut rmsprop.decay, self.decay);
                set(&mut rmsprop.epsilon, self.optimizer_epsilon);
            }
            Optimizer::Adam(adam) => {
                set(&mut adam.beta1, self.beta1);
                set(&mut adam.beta2, self.beta2);
                set(&mut adam.epsilon, self.optimizer_epsilon);
            }
        }
        optimizer
    }
}

pub(super) fn set<T>(setting: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *setting = value;
    }
}

/// Refuses settings that do not belong to `chosen`. Each has its name, whether it was given, and the
/// names of its owners.
pub(super) fn refuse_strangers(
    kind: &str,
    chosen: &str,
    settings: &[(&'static str, bool, &[&str])],
    faults: &mut Vec<Error>,
) {
    let strangers =
        settings.iter().filter(|(_, given, owners)| *given && !owners.contains(&chosen));
    faults.extend(strangers.map(|(name, _, owners)| {
        let owners = owners.join(", ");
        let message =
            format!("`{name}` does not apply to the {chosen} {kind}; it belongs to {owners}");
        error::conflict(name, message)
    }));
}

/// Refuses parts of something that was not requested.
fn refuse_parts(parts: &[(&'static str, bool)], whole: &str, faults: &mut Vec<Error>) {
    let given = parts.iter().filter(|(_, given)| *given);
    faults.extend(
        given.map(|(name, _)| error::conflict(name, format!("`{name}` belongs to {whole}"))),
    );
}
