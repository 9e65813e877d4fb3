//! The shape of a proposal: a mixture, or one that a map bends.

use super::proposal::{MOST_DEFENDED, defended};
use crate::{
    Batch, Result,
    flow::{Flow, FlowSpec},
    mixture::{Component, Mixture},
    warp::Warp,
    weight::ess,
};

/// A mixture, and the map that bends it.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Shape {
    pub(crate) mixture: Mixture,
    pub(crate) warp: Option<Warp>,
}

impl From<Mixture> for Shape {
    fn from(mixture: Mixture) -> Self {
        Self { mixture, warp: None }
    }
}

/// What a map asks of weights: to be worth so much, and so much for each coordinate.
const FEWEST: f64 = 50.0;
const FEWEST_EACH: f64 = 4.0;

/// Weight of all components that join a mixture.
const LITTLE: f64 = 0.02;

/// Points around each peak that tell of the law of the coordinates.
const PER_PEAK: usize = 32;

impl Shape {
    /// A shape for peaks that are too many to be listed, by a sample of them: coordinates that have several
    /// humps each make a product of modes. None if they have one.
    pub(crate) fn of_sampled_peaks(components: &[Component], seed: u64) -> Option<Self> {
        let equal = |component: &Component| Component { weight: 1.0, ..component.clone() };
        let mixture = Mixture::of(&components.iter().map(equal).collect::<Vec<_>>())?;
        let count = PER_PEAK * components.len();
        let flow = Flow::new(&FlowSpec::Affine, mixture.to_base().ok()?).ok()?;
        let points = flow.sample(count, seed).points;
        // Points around one peak are no independent ones: they tell of the coordinates' laws, and not of more.
        let weights = vec![1.0 / count as f64; count];
        let warp = Warp::of_laws(&points, &weights)?;
        let mixture = Mixture::fit(&warp.straighten(&points).0, &weights, None);
        Some(Self { mixture, warp: Some(warp) })
    }

    /// The flow that draws from it, defended.
    pub(super) fn flow(&self) -> Result<Flow> {
        let defended = defended(&self.mixture);
        let base = defended.as_ref().unwrap_or(&self.mixture).to_base()?;
        match &self.warp {
            Some(warp) => warp.flow(base),
            None => Flow::new(&FlowSpec::Affine, base),
        }
    }

    /// The same with further components in its own coordinates, which have little weight until they are
    /// fitted; as many as can all be defended.
    pub(super) fn joined(&self, others: &[Component]) -> Self {
        let mut components = self.mixture.to_components();
        let room = MOST_DEFENDED.saturating_sub(components.len()).min(others.len());
        let weight = LITTLE / others.len().max(1) as f64;
        // The last are the furthest out.
        let further = others[others.len() - room..].iter();
        components.extend(further.map(|other| Component { weight, ..other.clone() }));
        let mixture = Mixture::of(&components).unwrap_or_else(|| self.mixture.clone());
        Self { mixture, warp: self.warp.clone() }
    }

    /// What weights should be worth to be fitted. A mixture is shrunk towards what it was, which is all it needs;
    /// laws and regressions are not.
    pub(super) fn wanted(&self) -> f64 {
        match &self.warp {
            Some(_) => FEWEST + FEWEST_EACH * self.mixture.dim() as f64,
            None => 0.0,
        }
    }

    /// The mixture follows weighted points; the map stays.
    pub(super) fn adapt(&self, z: &Batch, weights: &[f64]) -> Self {
        let mixture = match &self.warp {
            Some(warp) => self.mixture.adapt(&warp.straighten(z).0, weights),
            None => self.mixture.adapt(z, weights),
        };
        Self { mixture, warp: self.warp.clone() }
    }

    /// A map for weighted points, and a mixture for what is left; none if a Gaussian needs none.
    pub(super) fn bent(z: &Batch, weights: &[f64]) -> Option<Self> {
        Some(Self::through(Warp::fit(z, weights)?, z, weights))
    }

    /// The same map fitted to other points, if it has one, and a mixture for what is left.
    pub(super) fn refitted(&self, z: &Batch, weights: &[f64]) -> Option<Self> {
        Some(Self::through(self.warp.as_ref()?.refit(z, weights)?, z, weights))
    }

    fn through(warp: Warp, z: &Batch, weights: &[f64]) -> Self {
        let straight = warp.straighten(z).0;
        let mixture = Mixture::fit(&straight, weights, None).adapt(&straight, weights);
        Self { mixture, warp: Some(warp) }
    }

    /// How well it describes weighted points: the mean log density, less what its numbers cost.
    pub(super) fn score(&self, z: &Batch, weights: &[f64]) -> f64 {
        match &self.warp {
            Some(warp) => {
                let (straight, log_det) = warp.straighten(z);
                let way: f64 = weights.iter().zip(&log_det).map(|(w, l)| w * l).sum();
                self.mixture.score(&straight, weights) - way - warp.cost(ess(weights))
            }
            None => self.mixture.score(z, weights),
        }
    }
}

/// The flow that draws from a mixture, defended: layers that leave points as they are.
pub(crate) fn flow_of(mixture: &Mixture) -> Result<Flow> {
    Shape::from(mixture.clone()).flow()
}
