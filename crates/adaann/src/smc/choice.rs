//! The choice of the local kernel: by name, or by the success of jumps.

use super::kernel::{Local, hmc, mala, random_walk};
use crate::{Result, suggest};
use serde::{Deserialize, Serialize};

/// Makes [`Move`] of the kernels that it lists.
macro_rules! moves {
    ($($(#[$doc:meta])* $name:ident = $kernel:expr,)*) => {
        /// The kernel that moves particles within a mode.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Move {
            $($(#[$doc])* $name,)*
            /// Random walks where jumps alone renew the particles, otherwise Hamiltonian paths.
            #[default]
            Auto,
        }

        /// The kernels, in the order of [`Move`].
        pub(super) const LOCALS: &[Local] = &[$($kernel,)*];

        impl Move {
            const KINDS: &[Self] = &[$(Self::$name,)* Self::Auto];

            /// Every move's name with a one-line description.
            pub const ALL: &[(&str, &str)] = &[
                $(($kernel.name, $kernel.about),)*
                ("auto", "rwm where jumps renew the particles, hmc elsewhere"),
            ];
        }
    };
}

moves! {
    /// Random-walk Metropolis: needs no gradients.
    Rwm = random_walk::LOCAL,
    /// Langevin steps (MALA): one gradient per move.
    Mala = mala::LOCAL,
    /// Hamiltonian paths of a quarter of an oscillation, in as many steps as their length requires.
    Hmc = hmc::LOCAL,
}

impl Move {
    /// The move of this name.
    ///
    /// # Errors
    /// If no move has this name. The message suggests the nearest name.
    pub fn named(name: &str) -> Result<Self> {
        let known = || Self::ALL.iter().map(|(known, _)| *known);
        let at = known().position(|known| known == name);
        at.map(|at| Self::KINDS[at]).ok_or_else(|| suggest::unknown("move", name, known()))
    }

    /// The move's name, as in [`Move::ALL`].
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// The index into [`LOCALS`], given whether jumps renew the particles.
    pub(super) fn choose(self, are_renewed: bool) -> usize {
        match self {
            Self::Auto if are_renewed => Self::Rwm as usize,
            Self::Auto => Self::Hmc as usize,
            named => named as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_a_file_and_lead_to_their_kernels() {
        assert_eq!(Move::ALL.len(), LOCALS.len() + 1);
        for &(name, _) in Move::ALL {
            let kind = Move::named(name).unwrap();
            assert_eq!(kind.name(), name);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{name}\""));
            if kind != Move::Auto {
                assert_eq!(LOCALS[kind.choose(true)].name, name);
            }
        }
        assert_eq!(LOCALS[Move::Auto.choose(true)].name, "rwm");
        assert_eq!(LOCALS[Move::Auto.choose(false)].name, "hmc");
        assert!(Move::named("hcm").unwrap_err().to_string().contains("hmc"));
    }
}
