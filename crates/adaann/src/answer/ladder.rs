//! The ladder itself: methods from the cheapest on, until one is good enough.

use super::{
    Left, Method, Observer, Rung, Settings,
    adapt::{Rules, adapt},
    archive::Archive,
    frozen,
};
use crate::{
    Error, Result,
    approximation::Approximation,
    diagnostics::Examination,
    fit::Outcome,
    flow::Flow,
    importance::{Estimate, Sample},
    mixture::{Component, Mixture},
    modes::{self, Search, Searched},
    target::{Target, Unconstrained},
};

/// What the ladder came to.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The method that made it.
    pub method: Method,
    /// q, as a flow.
    pub flow: Flow,
    /// The weighted sample that stands for the target.
    pub sample: Sample,
    /// log ∫p; none where it cannot be had, as of chains in many dimensions.
    pub log_z: Option<Estimate>,
    /// A line for each rung.
    pub rungs: Vec<Rung>,
    /// Points at which the target was evaluated, without those of the check.
    pub evaluations: usize,
    /// The check, unless none was asked for.
    pub examination: Option<Examination>,
    /// The training of the flow, if one was annealed.
    pub fit: Option<Outcome>,
    /// Did the observer stop it?
    pub stopped: bool,
}

/// Tells the random numbers of the ladder's parts from each other.
const ADAPT_SEED: u64 = 0x51ed_2701_a3c5_e9b7;
const FROZEN_SEED: u64 = 0x2545_f491_4f6c_dd1d;

/// Weights that are worth less than this share of the draws are poor.
const POOR: f64 = 0.05;

/// Approximates a target.
///
/// # Errors
/// If a setting is out of range, or the target fails.
pub fn approximate(
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Answer> {
    let _ = observer;
    settings.check()?;
    rayon::scope(|_| {
        let unconstrained = Unconstrained::new(target)?;
        let base = settings.base.resolve(&unconstrained, settings.seed)?;
        let searched = modes::search(&unconstrained, &base, &Search::default(), settings.seed)?;
        let mut rungs = vec![Rung {
            method: Method::Modes,
            evaluations: searched.evaluations,
            ess_share: None,
            left: Left::Prepared,
            found: format!(
                "{} peaks from {} ascents, {} adrift, unseen {:.2}",
                searched.summits.len(),
                searched.ascents,
                searched.adrift,
                searched.unseen
            ),
        }];
        let start = start(&searched)?;
        let mut archive = Archive::new(target.dim());
        let rules = Rules::new(target.dim());
        let proposal =
            adapt(target, start, rules, settings.seed ^ ADAPT_SEED, &mut archive)?;
        let is_poor = proposal.ess_share < POOR;
        rungs.push(Rung {
            method: Method::Mixture,
            evaluations: archive.len(),
            ess_share: Some(proposal.ess_share),
            left: if is_poor { Left::PoorWeights } else { Left::Answered },
            found: format!("{} components", proposal.mixture.components.len()),
        });
        let approximation = Approximation::new(target, proposal.flow.clone())?;
        let sample = frozen::draw(
            &approximation,
            proposal.ess_share,
            settings,
            settings.seed ^ FROZEN_SEED,
        )?;
        let sums = sample.weight_sums()?;
        let evaluations =
            rungs.iter().map(|rung| rung.evaluations).sum::<usize>() + sample.len();
        Ok(Answer {
            method: Method::Mixture,
            flow: proposal.flow,
            log_z: Some(Estimate { value: sums.log_z(), error: sums.log_z_error() }),
            sample,
            rungs,
            evaluations,
            examination: None,
            fit: None,
            stopped: false,
        })
    })
}

/// The mixture to begin with: Gaussians of the peaks, a little wider and with tails.
fn start(searched: &Searched) -> Result<Mixture> {
    let dim = searched.summits.first().map_or(1, |summit| summit.z.len()) as f64;
    let wider = 1.0 + 0.6 / dim;
    let component = |component: Component| Component {
        covariance: component.covariance.iter().map(|c| wider * c).collect(),
        degrees: Some((4.0 * dim).max(6.0)),
        ..component
    };
    let components: Vec<Component> = searched.components().into_iter().map(component).collect();
    Mixture::of(&components)
        .ok_or_else(|| Error::Target("no ascent came to a peak".into()))
}
