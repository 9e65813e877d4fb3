//! The judged runs: targets, flows, with annealing and without, seeds.

use crate::trials::Options;
use adaann::{
    Settings,
    flow::FlowSpec,
    optim::RateRule,
    registry::{self, Problem},
    schedule::{AdaAnn, Guarded, Schedule, Work},
};

/// A target and its flows.
struct Subject {
    name: &'static str,
    parameters: &'static [(&'static str, f64)],
    flows: &'static [&'static str],
    /// Updates at t = 1, with annealing and without. Networks get a third of them.
    refine: usize,
    /// The minimal τ, for presets with many steps.
    least_tau: f64,
}

/// Couplings need two coordinates.
const ON_A_LINE: &[&str] = &["planar", "affine", "affine+spline-autoregressive"];
const IN_SPACE: &[&str] = &["planar", MIXTURE, "linear+maf", "realnvp", "spline"];
const FEW: &[&str] = &["planar", "linear+maf", "spline"];
const WITH_MIXTURE: &[&str] = &["planar", MIXTURE, "linear+maf"];

/// The preset's planar layers over a trained mixture of this many Gaussians.
const MIXTURE: &str = "planar on a mixture";
const COMPONENTS: usize = 64;

const fn subject(name: &'static str, flows: &'static [&'static str], refine: usize) -> Subject {
    Subject { name, parameters: &[], flows, refine, least_tau: 0.0 }
}

const SUBJECTS: [Subject; 18] = [
    subject("bimodal", ON_A_LINE, 6_000),
    subject("mixture1d", ON_A_LINE, 6_000),
    Subject { parameters: &[("mu", 8.0)], ..subject("mixture1d", ON_A_LINE, 6_000) },
    subject("mixture1d-asymmetric", ON_A_LINE, 6_000),
    subject("mixture2d", IN_SPACE, 6_000),
    subject("two-moons", IN_SPACE, 6_000),
    Subject { least_tau: 0.03, ..subject("eight-gaussians", IN_SPACE, 6_000) },
    Subject { least_tau: 0.03, ..subject("mixture40", WITH_MIXTURE, 3_000) },
    Subject { least_tau: 0.03, ..subject("rings", FEW, 3_000) },
    Subject { least_tau: 0.03, ..subject("eggbox", WITH_MIXTURE, 3_000) },
    Subject { parameters: &[("dim", 8.0)], ..subject("many-well", FEW, 3_000) },
    subject("many-well", &["planar", "linear+maf"], 1_500),
    Subject { least_tau: 0.03, ..subject("shells", FEW, 3_000) },
    Subject { parameters: &[("dim", 5.0)], ..subject("gaussian", IN_SPACE, 4_000) },
    subject("rosenbrock", IN_SPACE, 6_000),
    subject("funnel", FEW, 3_000),
    Subject { least_tau: 0.2, ..subject("hiv", &["planar"], 3_000) },
    subject("lorenz", &["planar", "linear"], 3_000),
];

/// The maximal number of points of an update at t = 1.
const MOST_POINTS: usize = 400;

/// The minimal τ for flows built on networks, whose updates cost more.
const NETWORK_TAU: f64 = 0.05;

/// A run to judge.
pub(super) struct Case {
    pub(super) target: String,
    pub(super) flow: &'static str,
    pub(super) annealed: bool,
    pub(super) seed: u64,
    subject: &'static Subject,
}

impl Case {
    /// All selected runs, seed by seed.
    pub(super) fn all(options: &Options) -> Vec<Self> {
        let mut cases = Vec::new();
        for seed in options.seeds() {
            for subject in SUBJECTS.iter().filter(|subject| options.asks_for(subject.name)) {
                let value = |(name, value): &(&str, f64)| format!(" {name}={value}");
                let values: String = subject.parameters.iter().map(value).collect();
                let target = format!("{}{values}", subject.name);
                for &flow in subject.flows {
                    cases.extend([true, false].map(|annealed| {
                        let target = target.clone();
                        Self { target, flow, annealed, seed, subject }
                    }));
                }
            }
        }
        cases
    }

    /// The density, with the settings of this run.
    pub(super) fn problem(&self) -> adaann::Result<Problem> {
        let Subject { name, parameters, refine, least_tau, .. } = *self.subject;
        let parameters: Vec<_> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut problem = registry::find(name)?.build(&parameters)?;
        let preset = problem.settings.clone();
        let flow = FlowSpec::named(if self.flow == MIXTURE { "planar" } else { self.flow })?;
        let mut schedule = preset.schedule.clone();
        if let Schedule::AdaAnn(AdaAnn { tau, .. }) | Schedule::Guarded(Guarded { tau, .. }) =
            &mut schedule
        {
            *tau = tau.max(least_tau).max(if flow.has_networks() { NETWORK_TAU } else { 0.0 });
        }
        if !self.annealed {
            schedule = Schedule::None;
        }
        let refine = if flow.has_networks() { refine / 3 } else { refine };
        let mut settings = Settings {
            work: Work { refine, ..preset.work },
            refine_samples: preset.refine_samples.min(MOST_POINTS),
            refine_lr_rule: RateRule::Cosine { over: refine, floor: 1e-3 },
            seed: self.seed,
            schedule,
            ..preset
        };
        if self.flow == MIXTURE {
            settings.base.components = COMPONENTS;
            settings.base.trained = true;
        }
        problem.settings = match flow {
            FlowSpec::Planar { .. } => settings,
            flow => settings.with_flow(flow),
        };
        Ok(problem)
    }
}
