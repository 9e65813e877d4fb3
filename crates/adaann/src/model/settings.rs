//! Settings for a model that nothing else is known about.

use crate::fit::{BaseSpec, Settings};
use crate::flow::FlowSpec;
use crate::optim::RateRule;
use crate::path::PathKind;
use crate::schedule::{Schedule, Work};
use crate::target::Target;

/// Half the distance between the quartiles of a standard normal number.
const NORMAL_QUARTILE: f64 = 0.674_489_750_196_081_7;

/// Settings for a target.
pub(super) fn suiting(target: &dyn Target) -> Settings {
    let is_posterior = target.has_prior() && target.has_proper_prior();
    let settings = Settings {
        // In its units a prior is about as wide as this.
        base: BaseSpec { sd: vec![if is_posterior { 1.0 } else { 2.0 }], ..BaseSpec::default() },
        initial_scale: 0.01,
        path: if is_posterior { PathKind::Likelihood } else { PathKind::Power },
        schedule: Schedule::Guarded {
            t0: if is_posterior { 0.0 } else { 0.01 },
            tau: 0.2,
            max_ratio: 2.0,
            min_epsilon: 0.0,
            max_epsilon: 1.0,
            robust: true,
        },
        work: Work { warmup: 200, anneal: 20, refine: 3_000 },
        samples: 128,
        refine_samples: 256,
        variance_samples: 512,
        point_clip: Some(100.0),
        refine_lr_rule: RateRule::Cosine { over: 3_000, floor: 0.01 },
        ..Settings::default()
    };
    settings.with_flow(FlowSpec::named("spline+linear").unwrap_or(FlowSpec::planar(50)))
}

/// The median, and the standard deviation that a normal number with the same quartiles has: heavy
/// tails do not move it.
pub(super) fn middle_and_spread(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let spread = (at(0.75) - at(0.25)) / (2.0 * NORMAL_QUARTILE);
    (at(0.5), if spread > 0.0 && spread.is_finite() { spread } else { 1.0 })
}
