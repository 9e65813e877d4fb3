//! The shape of a proposal: a mixture, or a mixture bent by a map.

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

/// The least effective sample size for fitting a map, and its increase with each coordinate.
const FEWEST: f64 = 50.0;
const FEWEST_EACH: f64 = 4.0;

/// The total weight of all components that join a mixture.
const LITTLE: f64 = 0.02;

/// Points around each peak from which the coordinates' distributions are fitted.
const PER_PEAK: usize = 32;

impl Shape {
    /// A shape for too many peaks to list, from a sample of them: if several coordinates have several humps each,
    /// their product has all these modes. None if they have one hump.
    pub(crate) fn of_sampled_peaks(components: &[Component], seed: u64) -> Option<Self> {
        let equal = |component: &Component| Component { weight: 1.0, ..component.clone() };
        let mixture = Mixture::of(&components.iter().map(equal).collect::<Vec<_>>())?;
        let count = PER_PEAK * components.len();
        let flow = Flow::new(&FlowSpec::Affine, mixture.to_base().ok()?).ok()?;
        let points = flow.sample(count, seed).points;
        // Points around a single peak are not independent: they determine the coordinates' distributions, and
        // nothing else.
        let weights = vec![1.0 / count as f64; count];
        let warp = Warp::of_laws(&points, &weights)?;
        let mixture = Mixture::fit(&warp.straighten(&points).0, &weights, None);
        Some(Self { mixture, warp: Some(warp) })
    }

    /// The flow that draws from it, with heavy twins.
    pub(super) fn flow(&self) -> Result<Flow> {
        let defended = defended(&self.mixture);
        let base = defended.as_ref().unwrap_or(&self.mixture).to_base()?;
        match &self.warp {
            Some(warp) => warp.flow(base),
            None => Flow::new(&FlowSpec::Affine, base),
        }
    }

    /// This shape with further components in its own coordinates, at a small weight until they are fitted; at
    /// most as many as can have twins.
    pub(super) fn joined(&self, others: &[Component]) -> Self {
        let mut components = self.mixture.to_components();
        let room = MOST_DEFENDED.saturating_sub(components.len()).min(others.len());
        let weight = LITTLE / others.len().max(1) as f64;
        // The last components are the furthest out.
        let further = others[others.len() - room..].iter();
        components.extend(further.map(|other| Component { weight, ..other.clone() }));
        let mixture = Mixture::of(&components).unwrap_or_else(|| self.mixture.clone());
        Self { mixture, warp: self.warp.clone() }
    }

    /// The effective sample size required for a fit. A mixture is shrunk towards its previous state, so it needs
    /// little; distributions of coordinates and regressions need more.
    pub(super) fn wanted(&self) -> f64 {
        match &self.warp {
            Some(_) => FEWEST + FEWEST_EACH * self.mixture.dim() as f64,
            None => 0.0,
        }
    }

    /// Fits the mixture to weighted points; the map stays.
    pub(super) fn adapt(&self, z: &Batch, weights: &[f64]) -> Self {
        let mixture = match &self.warp {
            Some(warp) => self.mixture.adapt(&warp.straighten(z).0, weights),
            None => self.mixture.adapt(z, weights),
        };
        Self { mixture, warp: self.warp.clone() }
    }

    /// A map fitted to weighted points, and a mixture for the residuals; none if a Gaussian is enough.
    pub(super) fn bent(z: &Batch, weights: &[f64]) -> Option<Self> {
        Some(Self::through(Warp::fit(z, weights)?, z, weights))
    }

    /// The same map fitted to other points, if there is one, and a mixture for the residuals.
    pub(super) fn refitted(&self, z: &Batch, weights: &[f64]) -> Option<Self> {
        Some(Self::through(self.warp.as_ref()?.refit(z, weights)?, z, weights))
    }

    fn through(warp: Warp, z: &Batch, weights: &[f64]) -> Self {
        let straight = warp.straighten(z).0;
        let mixture = Mixture::fit(&straight, weights, None).adapt(&straight, weights);
        Self { mixture, warp: Some(warp) }
    }

    /// How well it describes weighted points: the mean log density minus a penalty for its parameters.
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

/// The flow that draws from a mixture with heavy twins: its layers are the identity.
pub(crate) fn flow_of(mixture: &Mixture) -> Result<Flow> {
    Shape::from(mixture.clone()).flow()
}
