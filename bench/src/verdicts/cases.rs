//! Which runs are judged: targets, flows, with annealing and without, seeds.

use crate::trials::Options;
use adaann::{
    Settings,
    flow::FlowSpec,
    registry::{self, Problem},
    schedule::{Schedule, Work},
};

/// A target with the flows that are tried on it.
struct Subject {
    name: &'static str,
    parameters: &'static [(&'static str, f64)],
    flows: &'static [&'static str],
    /// Updates at t = 1, with annealing and without.
    refine: usize,
    /// τ if it is not the preset's, whose steps are many.
    tau: Option<f64>,
}

/// Couplings need two coordinates.
const ON_A_LINE: &[&str] = &["planar", "spline-autoregressive", "affine"];
const IN_SPACE: &[&str] = &["planar", "linear+maf", "realnvp", "spline"];
const FEW: &[&str] = &["planar", "linear+maf", "spline"];

const fn subject(name: &'static str, flows: &'static [&'static str], refine: usize) -> Subject {
    Subject { name, parameters: &[], flows, refine, tau: None }
}

const SUBJECTS: [Subject; 18] = [
    subject("bimodal", ON_A_LINE, 2_000),
    subject("mixture1d", ON_A_LINE, 2_000),
    Subject { parameters: &[("mu", 8.0)], ..subject("mixture1d", ON_A_LINE, 2_000) },
    subject("mixture1d-asymmetric", ON_A_LINE, 2_000),
    subject("mixture2d", IN_SPACE, 2_000),
    subject("two-moons", IN_SPACE, 2_000),
    Subject { tau: Some(0.03), ..subject("eight-gaussians", IN_SPACE, 2_000) },
    Subject { tau: Some(0.03), ..subject("mixture40", FEW, 2_000) },
    Subject { tau: Some(0.03), ..subject("rings", FEW, 2_000) },
    Subject { tau: Some(0.03), ..subject("eggbox", FEW, 2_000) },
    Subject { parameters: &[("dim", 8.0)], ..subject("many-well", FEW, 2_000) },
    subject("many-well", FEW, 1_000),
    Subject { tau: Some(0.03), ..subject("shells", FEW, 2_000) },
    Subject { parameters: &[("dim", 5.0)], ..subject("gaussian", IN_SPACE, 1_500) },
    subject("rosenbrock", IN_SPACE, 2_000),
    subject("funnel", FEW, 1_500),
    Subject { tau: Some(0.2), ..subject("hiv", &["planar", "spline"], 1_500) },
    subject("lorenz", &["planar", "linear+spline"], 1_500),
];

/// Points of an update at t = 1, where a preset has more.
const MOST_POINTS: usize = 400;

/// A run to be judged.
pub(super) struct Case {
    pub(super) target: String,
    pub(super) flow: &'static str,
    pub(super) annealed: bool,
    pub(super) seed: u64,
    subject: &'static Subject,
}

impl Case {
    /// Every run that is asked for.
    pub(super) fn all(options: &Options) -> Vec<Self> {
        let mut cases = Vec::new();
        for subject in SUBJECTS.iter().filter(|subject| options.asks_for(subject.name)) {
            let values: String =
                subject.parameters.iter().map(|(name, value)| format!(" {name}={value}")).collect();
            for &flow in subject.flows {
                for annealed in [true, false] {
                    cases.extend((1..=options.seeds).map(|seed| Self {
                        target: format!("{}{values}", subject.name),
                        flow,
                        annealed,
                        seed,
                        subject,
                    }));
                }
            }
        }
        cases
    }

    /// The density, with the settings of this run.
    pub(super) fn problem(&self) -> adaann::Result<Problem> {
        let Subject { name, parameters, refine, tau, .. } = *self.subject;
        let parameters: Vec<_> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut problem = registry::find(name)?.build(&parameters)?;
        let preset = problem.settings.clone();
        let flow = FlowSpec::named(self.flow)?;
        let schedule = match (self.annealed, preset.schedule.clone()) {
            (false, _) => Schedule::None,
            (true, Schedule::AdaAnn { t0, tau: own }) => {
                Schedule::AdaAnn { t0, tau: tau.unwrap_or(own) }
            }
            (
                true,
                Schedule::Guarded { t0, tau: own, max_ratio, min_epsilon, max_epsilon, robust },
            ) => {
                let tau = tau.unwrap_or(own);
                Schedule::Guarded { t0, tau, max_ratio, min_epsilon, max_epsilon, robust }
            }
            (true, other) => other,
        };
        let settings = Settings {
            work: Work { refine, ..preset.work },
            refine_samples: preset.refine_samples.min(MOST_POINTS),
            seed: self.seed,
            schedule,
            ..preset
        };
        problem.settings = match flow {
            FlowSpec::Planar { .. } => settings,
            flow => settings.with_flow(flow),
        };
        Ok(problem)
    }
}
