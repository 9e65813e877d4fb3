//! Optimizers that update parameters from a gradient, as defined by `torch.optim`.
//!
//! The settings are a plain value; [`State`] holds the optimizer's memory between updates. An
//! update does not allocate and uses the machine's widest registers.

mod adam;
mod clip;
mod lanes;
mod rate;
mod rmsprop;
mod sgd;

pub use adam::Adam;
pub use clip::{Norm, check_max_norm, clip_by_norm};
pub use rate::RateRule;
pub use rmsprop::RmsProp;
pub use sgd::Sgd;

use crate::simd::Buffer;
use crate::{Result, suggest};
use serde::{Deserialize, Serialize};

/// An optimizer with its settings. Settings missing from a file have PyTorch's defaults.
///
/// ```
/// use adaann::optim::{Adam, Optimizer};
/// let optimizer: Optimizer = serde_json::from_str(r#"{"adam": {"beta1": 0.8}}"#)?;
/// assert_eq!(optimizer, Optimizer::Adam(Adam { beta1: 0.8, ..Adam::default() }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// Gradient descent, with or without momentum.
    Sgd(Sgd),
    /// Gradients divided by their root mean square.
    RmsProp(RmsProp),
    /// Momentum divided by the root mean square, both corrected for their start at 0.
    Adam(Adam),
}

impl Default for Optimizer {
    /// Adam with PyTorch's defaults.
    fn default() -> Self {
        Self::Adam(Adam::default())
    }
}

impl Optimizer {
    /// Every optimizer's name with a one-line description.
    pub const ALL: &[(&str, &str)] = &[
        ("sgd", "gradient descent, optionally with momentum"),
        ("rmsprop", "gradients divided by their running root mean square"),
        ("adam", "running mean of gradients divided by their root mean square"),
    ];

    /// The optimizer of this name with PyTorch's defaults.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "sgd" => Ok(Self::Sgd(Sgd::default())),
            "rmsprop" => Ok(Self::RmsProp(RmsProp::default())),
            "adam" => Ok(Self::Adam(Adam::default())),
            _ => {
                Err(suggest::unknown("optimizer", name, Self::ALL.iter().map(|(known, _)| *known)))
            }
        }
    }

    /// The optimizer's name, as in [`Optimizer::ALL`].
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sgd(_) => "sgd",
            Self::RmsProp(_) => "rmsprop",
            Self::Adam(_) => "adam",
        }
    }

    /// Refuses settings outside their range.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Sgd(sgd) => sgd.check(),
            Self::RmsProp(rmsprop) => rmsprop.check(),
            Self::Adam(adam) => adam.check(),
        }
    }

    /// Number of moments stored per parameter.
    fn moments(&self) -> usize {
        match self {
            Self::Sgd(_) | Self::RmsProp(_) => 1,
            Self::Adam(_) => 2,
        }
    }
}

/// An optimizer's memory between updates; a file restores it bit by bit.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct State {
    optimizer: Optimizer,
    updates: u64,
    /// Running means, each as long as the parameters; the second is empty except for Adam.
    moments: [Buffer; 2],
}

/// A state as stored in a file.
#[derive(Deserialize)]
struct Unchecked {
    optimizer: Optimizer,
    updates: u64,
    moments: [Buffer; 2],
}

impl TryFrom<Unchecked> for State {
    type Error = String;

    fn try_from(file: Unchecked) -> Result<Self, String> {
        let Unchecked { optimizer, updates, moments } = file;
        optimizer.check().map_err(|error| error.to_string())?;
        let expected = Self::new(optimizer, moments[0].len());
        if moments[1].len() != expected.moments[1].len() {
            let (name, found) = (optimizer.name(), moments.map(|moments| moments.len()));
            return Err(format!("the moments have lengths {found:?}, which do not fit {name}"));
        }
        Ok(Self { moments, updates, ..expected })
    }
}

impl State {
    /// The state before the first update of `len` parameters.
    pub fn new(optimizer: Optimizer, len: usize) -> Self {
        let second = if optimizer.moments() == 2 { len } else { 0 };
        Self { optimizer, updates: 0, moments: [Buffer::zeros(len), Buffer::zeros(second)] }
    }

    /// Updates made.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.moments[0].len()
    }

    /// Whether it has no parameters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves the parameters down the gradient with learning rate `rate`.
    ///
    /// The gradient must be finite ([`clip_by_norm`] checks this): a non-finite entry would stay in
    /// the running means forever.
    ///
    /// # Panics
    /// If the length of the parameters or the gradient differs from that of the state.
    pub fn update(&mut self, params: &mut [f64], gradient: &[f64], rate: f64) {
        assert_eq!(params.len(), self.len(), "wrong number of parameters");
        assert_eq!(gradient.len(), self.len(), "wrong length of the gradient");
        self.updates += 1;
        let [first, second] = &mut self.moments;
        match self.optimizer {
            Optimizer::Sgd(sgd) => sgd.update(params, gradient, first, rate),
            Optimizer::RmsProp(rmsprop) => rmsprop.update(params, gradient, first, rate),
            Optimizer::Adam(adam) => {
                adam.update(params, gradient, first, second, rate, self.updates)
            }
        }
    }
}

/// Refuses a decay outside [0, 1).
fn check_decay(name: &'static str, value: f64) -> Result<()> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    Err(crate::error::setting(name, value, "at least 0 and below 1"))
}

/// Refuses an ε that is not positive and finite.
fn check_epsilon(value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(crate::error::setting("optimizer-epsilon", value, "a positive finite number"))
}

#[cfg(test)]
mod tests;
