//! Answers to random mixtures that lack one mode and describe all others well.

use super::{mixtures, recipe::Recipe};
use crate::{
    dice::Dice,
    ladder::{
        hidden::{Hidden, Hiding},
        models,
        subject::Truth,
    },
};
use adaann::{
    Batch, Error, Result,
    answer::{self, Answer, Settings},
    approximation::Approximation,
    flow::{Base, Flow, FlowSpec},
    importance::Estimate,
    model::Model,
    target::{Target, Unconstrained},
};
use std::sync::Arc;

/// The number of draws for the mean and covariance of a component on the whole line.
const DRAWS: usize = 4_000;

/// The factor by which components of q are wider than those of the posterior, which bounds the weights.
const WIDENING: f64 = 1.05;

/// A target with an answer that lacks a mode.
pub(crate) struct Lost {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) truth: Truth,
    pub(crate) answer: Answer,
    /// The settings of the run, without a check.
    pub(crate) settings: Settings,
}

/// The mixture with this seed, and an answer whose q is the exact posterior without one component.
///
/// # Errors
/// If the initial answer or the draws fail.
pub(crate) fn mode(seed: u64) -> Result<Lost> {
    let recipe = mixtures::recipe(seed);
    let model = Model::parse("generated.toml", &recipe.text())
        .map_err(|faults| Error::Data(faults.to_string()))?;
    let built = models::built(model, |_| recipe.truth());
    let settings = Settings { seed, base: built.base, check: 0.0, ..Settings::default() };
    let answer = answer::approximate(&*built.target, &settings, &mut ())?;
    let lost = Dice::new("lost mode", seed).uniform(0.0, recipe.parts.len() as f64) as usize;
    let base = base(&*built.target, &recipe, lost, seed)?;
    let flow = Flow::new(&FlowSpec::Affine, base)?;
    let sample =
        Approximation::new(&*built.target, flow.clone())?.sample(answer.sample.len(), seed)?;
    let sums = sample.weight_sums()?;
    let log_z = Some(Estimate { value: sums.log_z(), error: sums.log_z_error() });
    let answer = Answer { flow, sample, log_z, stream: Some(seed), ..answer };
    // Hide the formula, so that the check must find the mode by its search.
    let target = Arc::new(Hidden { target: built.target, hiding: Hiding::Formulas });
    Ok(Lost { target, truth: built.truth, answer, settings })
}

/// The posterior without a component, on the whole line.
fn base(target: &dyn Target, recipe: &Recipe, lost: usize, seed: u64) -> Result<Base> {
    let posterior = recipe.posterior();
    let unconstrained = Unconstrained::new(target)?;
    let mut dice = Dice::new("answer without a mode", seed);
    let (mut weights, mut means, mut covariances) = (Vec::new(), Vec::new(), Vec::new());
    for (at, part) in posterior.parts.iter().enumerate().filter(|(at, _)| *at != lost) {
        let draws: Vec<Vec<f64>> =
            (0..DRAWS).map(|_| recipe.draw(at, &posterior, &mut dice)).collect();
        let z = unconstrained.unconstrain(&Batch::from_points(recipe.dim(), &draws))?;
        let (mean, covariance) = moments(&z);
        weights.push(part.weight);
        means.extend(mean);
        covariances.extend(covariance.iter().map(|c| WIDENING * WIDENING * c));
    }
    Base::full_mixture(&weights, &means, &covariances)
}

/// Mean and covariance, row by row.
fn moments(points: &Batch) -> (Vec<f64>, Vec<f64>) {
    let (dim, count) = (points.dim(), points.len() as f64);
    let row = |d: usize| &points.row(d)[..points.len()];
    let mean: Vec<f64> = (0..dim).map(|d| row(d).iter().sum::<f64>() / count).collect();
    let product = |i: usize, j: usize| -> f64 {
        let pairs = row(i).iter().zip(row(j));
        pairs.map(|(x, y)| (x - mean[i]) * (y - mean[j])).sum::<f64>() / count
    };
    let covariance = (0..dim * dim).map(|at| product(at / dim, at % dim)).collect();
    (mean, covariance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::right::Deviation;

    /// Everything except one mode is right: the others keep their proportions, and log Z is that of the rest.
    #[test]
    fn one_mode_is_lost_and_the_rest_is_described() {
        for seed in [3, 5, 6] {
            let Lost { truth, answer, .. } = mode(seed).unwrap();
            let off = Deviation::of(&answer, &truth).unwrap();
            let (found, all) = off.modes_found();
            assert_eq!(found + 1, all, "{seed}: {off:?}");
            assert!(answer.sample.weight_sums().unwrap().ess_share() > 0.3, "{seed}");
        }
    }
}
