//! A start from particles: they go ahead along the path, and what describes them may be enough.
//!
//! Annealing a flow can lose a mode, and no loss tells. Particles of sequential Monte Carlo keep
//! their modes and know how much each weighs. A mixture of Gaussians is fitted to them; in a few
//! dimensions it often is an approximation that weights can make exact, for a fraction of the work.
//! If too few of its draws count as draws of the target, the flow is annealed as ever, from the base
//! of the settings, and the better of the two is kept: the one that is likelier to have made the
//! particles, since E_p[log q] is largest where KL(p‖q) is smallest, and falls with every mode lost.

mod explore;
mod found;
mod settings;

pub(super) use explore::explore;
pub(super) use found::Found;
pub use settings::Pilot;
