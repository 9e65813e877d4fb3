//! The methods of the ladder and their names.

use crate::{Result, suggest};
use serde::{Deserialize, Serialize};

/// The method that makes the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// All methods in order, from the cheapest, until one is good enough.
    #[default]
    Ladder,
    /// Draws of a prior without data: the exact answer.
    Prior,
    /// The Gaussians at the peaks, without adaptation.
    Modes,
    /// A mixture that starts from these Gaussians and is adapted by importance sampling.
    Mixture,
    /// Particles of sequential Monte Carlo, and a mixture fitted to them.
    Smc,
    /// Long Hamiltonian chains.
    Chains,
    /// A flow that starts from the results of the other methods.
    Flow,
    /// The paper's Algorithm 1 alone.
    Adaann,
}

impl Method {
    /// Every method's name, with a one-line description.
    pub const ALL: &[(&str, &str)] = &[
        ("ladder", "the methods below in order, until one is good enough"),
        ("prior", "draws of the prior itself, if there is no data"),
        ("modes", "ascents to the peaks, and the Gaussians there without adaptation"),
        ("mixture", "these Gaussians, adapted by importance sampling"),
        ("smc", "particles, and a mixture fitted to them"),
        ("chains", "long Hamiltonian chains"),
        ("flow", "a flow that starts from the results of the other methods"),
        ("adaann", "the paper's Algorithm 1: an annealed flow"),
    ];

    const KINDS: [Self; 8] = [
        Self::Ladder,
        Self::Prior,
        Self::Modes,
        Self::Mixture,
        Self::Smc,
        Self::Chains,
        Self::Flow,
        Self::Adaann,
    ];

    /// The method with this name.
    ///
    /// # Errors
    /// If there is no such method; the message suggests the nearest name.
    pub fn named(name: &str) -> Result<Self> {
        let known = || Self::ALL.iter().map(|(known, _)| *known);
        let at = known().position(|known| known == name);
        at.map(|at| Self::KINDS[at]).ok_or_else(|| suggest::unknown("method", name, known()))
    }

    /// Its name, as in [`Method::ALL`].
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_a_file() {
        assert_eq!(Method::ALL.len(), Method::KINDS.len());
        for (&(name, _), kind) in Method::ALL.iter().zip(Method::KINDS) {
            assert_eq!((kind.name(), Method::named(name).unwrap()), (name, kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{name}\""));
        }
        assert!(Method::named("mixtur").unwrap_err().to_string().contains("mixture"));
    }
}
