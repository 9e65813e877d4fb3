//! Settings for a model that nothing else is known about.

use crate::flow::FlowSpec;
use crate::optim::RateRule;
use crate::path::PathKind;
use crate::schedule::{Guarded, Work};
use crate::target::Target;
use crate::{fit::Settings, flow::BaseSpec};

/// Half the distance between the quartiles of a standard normal number.
const NORMAL_QUARTILE: f64 = 0.674_489_750_196_081_7;

/// Dimensions up to which planar layers are the better choice for a density without a prior: they
/// split into modes readily, but each bends the density along one direction only.
const MOST_PLANAR: usize = 3;

/// Settings for a target.
pub(super) fn suiting(target: &dyn Target) -> Settings {
    if target.has_prior() && target.has_proper_prior() {
        return posterior();
    }
    if target.dim() <= MOST_PLANAR {
        return Settings::default();
    }
    let schedule = Guarded { tau: 0.05, ..Guarded::default() }.into();
    let base = BaseSpec::default();
    Settings { base, path: PathKind::Power, schedule, ..posterior() }
}

/// From the prior to the posterior. Masked autoregressive layers came out best, or close to it, on
/// every model of the gallery; the linear layer behind them carries the change of scale, which may be
/// a factor of a thousand, so that they work around 0 with a spread of 1.
fn posterior() -> Settings {
    let settings = Settings {
        // In its units a prior is about as wide as this.
        base: BaseSpec { sd: vec![1.0], ..BaseSpec::default() },
        // Nearly the identity: a prior has no modes to prefer.
        initial_scale: 0.01,
        path: PathKind::Likelihood,
        schedule: Guarded { t0: 0.0, tau: 0.1, ..Guarded::default() }.into(),
        work: Work { warmup: 200, anneal: 20, refine: 3_000 },
        samples: 128,
        refine_samples: 256,
        variance_samples: 512,
        // Systems of equations fall off cliffs.
        point_clip: Some(100.0),
        refine_lr_rule: RateRule::Cosine { over: 3_000, floor: 0.01 },
        ..Settings::default()
    };
    settings.with_flow(FlowSpec::named("maf+linear").expect("a known flow"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_standard_deviations_of_normal_numbers_and_know_no_tails() {
        let uniform: Vec<f64> = (0..=1000).map(|i| f64::from(i) / 1000.0).collect();
        let (middle, spread) = middle_and_spread(&uniform);
        assert_eq!(middle, 0.5);
        assert!((spread - 0.25 / NORMAL_QUARTILE).abs() < 1e-12);
        let mut tailed = uniform.clone();
        tailed.extend([1e9, -1e9, f64::INFINITY, f64::NEG_INFINITY]);
        assert!((middle_and_spread(&tailed).1 - spread).abs() < 0.01);
        assert_eq!(middle_and_spread(&[3.0; 5]), (3.0, 1.0));
    }
}
