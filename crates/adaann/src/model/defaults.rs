//! Settings that suit a target, and those of a file over them.

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

/// Half the distance between the quartiles of a standard normal number.
const NORMAL_QUARTILE: f64 = 0.674_489_750_196_081_7;

/// Dimensions up to which planar layers are the better choice for a density without a prior: they
/// split into modes readily, but each bends the density along one direction only.
const MOST_PLANAR: usize = 3;

/// Settings of Algorithm 1 that suit a target nothing else is known of: those of a model that says nothing.
pub fn suiting(target: &dyn Target) -> Settings {
    if target.has_prior() && target.has_proper_prior() {
        return posterior();
    }
    if target.dim() <= MOST_PLANAR {
        return Settings::default();
    }
    powers()
}

/// Powers of a density with many coordinates, or of a posterior whose prior is flat.
fn powers() -> Settings {
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

/// Settings that choose what others belong to: where one cannot be read, nobody knows whether they do.
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

/// The method of a file that chooses none.
pub(super) const METHOD: Method = Method::Ladder;

/// The file's settings of Algorithm 1 over those that suit the target, what the file asks for, and
/// reports of all that is wrong with them.
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
    // Where there is none, what is wrong has been reported.
    let plan = plan.unwrap_or_else(|_| Plan::Adaann(Box::new(settings.clone())));
    (settings, plan)
}

/// Reports what is wrong with the file's settings whatever the rest of the file turns out to be.
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

/// Where the setting that an error is about stands in the file: its value if that is wrong, its key
/// if it should not be there.
pub(super) fn place(fit: &Fit, fault: &Error) -> Option<Span> {
    let name = fault.setting()?;
    let (key, value) = fit.given.iter().find(|(key, _)| key.text == name)?;
    let is_conflict = matches!(fault, Error::Conflict { .. });
    Some(if is_conflict { key.span.clone() } else { value.clone() })
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
