//! Default settings for a target, and the settings of a model file applied to them.

use super::diagnostic::{Report, Source};
use super::expression::Span;
use super::file::Fit;
use super::given::Given;
use crate::answer::{Method, Plan};
use crate::flow::FlowSpec;
use crate::optim::RateRule;
use crate::path::PathKind;
use crate::schedule::{Guarded, Work};
use crate::target::Target;
use crate::{Error, fit::Settings, flow::BaseSpec};

/// The upper quartile of the standard normal distribution.
const NORMAL_QUARTILE: f64 = 0.674_489_750_196_081_7;

/// Up to this dimension planar layers are the better choice for a density without a prior: they split into
/// modes readily, but each bends the density along one direction only.
const MOST_PLANAR: usize = 3;

/// Default settings of Algorithm 1 for a target, which a model file may override.
pub fn suiting(target: &dyn Target) -> Settings {
    if target.has_prior() && target.has_proper_prior() {
        return posterior();
    }
    if target.dim() <= MOST_PLANAR {
        return Settings::default();
    }
    powers()
}

/// Settings for a path of powers: a density with many coordinates, or a posterior with a flat prior.
fn powers() -> Settings {
    let schedule = Guarded { tau: 0.05, ..Guarded::default() }.into();
    let base = BaseSpec::default();
    Settings { base, path: PathKind::Power, schedule, ..posterior() }
}

/// Settings for a path from the prior to the posterior. Masked autoregressive layers performed best, or
/// close to it, on every model of the gallery. The linear layer behind them handles the change of scale,
/// which may be a factor of a thousand, so that they work around 0 with unit spread.
fn posterior() -> Settings {
    let settings = Settings {
        // In the prior's units, the prior has about this width.
        base: BaseSpec { sd: vec![1.0], ..BaseSpec::default() },
        // Start near the identity: a prior has no preferred modes.
        initial_scale: 0.01,
        path: PathKind::Likelihood,
        schedule: Guarded { t0: 0.0, tau: 0.1, ..Guarded::default() }.into(),
        work: Work { warmup: 200, anneal: 20, refine: 3_000 },
        samples: 128,
        refine_samples: 256,
        variance_samples: 512,
        // Densities of systems of equations can drop off sharply.
        point_clip: Some(100.0),
        refine_lr_rule: RateRule::Cosine { over: 3_000, floor: 0.01 },
        ..Settings::default()
    };
    settings.with_flow(FlowSpec::named("maf+linear").expect("a known flow"))
}

/// Settings that decide which others apply. If one of them cannot be read, conflicts are not reported.
const CHOOSERS: [&str; 9] = [
    "method",
    "auto",
    "flow",
    "base",
    "schedule",
    "step-ess",
    "optimizer",
    "stage-ess",
    "forward-kl",
];

/// The method if a file names none.
pub(super) const METHOD: Method = Method::Ladder;

/// Applies the file's settings of Algorithm 1 to the defaults for the target and reports all mistakes in
/// them; also returns the run that the file requests.
pub(super) fn with_those_of_the_file(
    fit: &Fit,
    target: &dyn Target,
    has_program: bool,
    source: &Source,
    report: &mut Report,
) -> (Settings, Plan) {
    let own = suiting(target);
    let (settings, mut faults) = fit.settings.fit.examine(own.clone(), Some(target));
    faults.extend(fit.settings.faults(METHOD));
    faults.extend(fit.settings.output.faults(settings.seed));
    faults.extend(fit.settings.output.faults_of_program(has_program));
    report_faults(fit, faults, source, report);
    let plan = Given::default().plan(&fit.settings, METHOD, &own, target);
    // If there is no plan, the mistakes have been reported.
    let plan = plan.unwrap_or_else(|_| Plan::Adaann(Box::new(settings.clone())));
    (settings, plan)
}

/// Reports mistakes in the file's settings that do not depend on the rest of the file.
pub(super) fn check_those_of_the_file(fit: &Fit, source: &Source, report: &mut Report) {
    let (settings, mut faults) = fit.settings.fit.examine(posterior(), None);
    for base in [Settings::default(), powers()] {
        let (_, others) = fit.settings.fit.examine(base, None);
        let others: Vec<String> = others.iter().map(Error::to_string).collect();
        faults.retain(|fault| others.contains(&fault.to_string()));
    }
    faults.extend(fit.settings.faults(METHOD));
    faults.extend(fit.settings.output.faults(settings.seed));
    report_faults(fit, faults, source, report);
}

fn report_faults(fit: &Fit, faults: Vec<Error>, source: &Source, report: &mut Report) {
    let unsure = fit.unread.iter().any(|key| CHOOSERS.contains(&&key.text[..]));
    for fault in faults {
        if !(unsure && matches!(fault, Error::Conflict { .. })) {
            let place = place(fit, &fault).unwrap_or_else(|| fit.span.clone());
            report.error(source, place, fault.to_string(), None);
        }
    }
}

/// The place in the file of the setting that an error is about: its value if the value is wrong, its key if
/// the setting does not apply.
pub(super) fn place(fit: &Fit, fault: &Error) -> Option<Span> {
    let name = fault.setting()?;
    let (key, value) = fit.given.iter().find(|(key, _)| key.text == name)?;
    let is_conflict = matches!(fault, Error::Conflict { .. });
    Some(if is_conflict { key.span.clone() } else { value.clone() })
}

/// The median, and a standard deviation computed from the quartiles as for a normal distribution: heavy
/// tails do not affect it.
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
