//! The settings of particles that match a fit: its path, its base, and its seed.

use super::Settings;
use crate::{
    path::PathKind,
    schedule::{Rule, Schedule},
    smc,
};

impl Settings {
    /// The settings of sequential Monte Carlo on the path of this fit, from the same base and with
    /// the same seed.
    ///
    /// ```
    /// use adaann::{Settings, path::PathKind};
    ///
    /// let fit = Settings { path: PathKind::Bridge, seed: 7, ..Settings::default() };
    /// let particles = fit.particles();
    /// assert_eq!((particles.path, particles.seed), (PathKind::Bridge, 7));
    /// ```
    pub fn particles(&self) -> smc::Settings {
        let t0 = match self.path {
            PathKind::Power => match self.schedule {
                Schedule::None => 0.01,
                ref schedule => schedule.first().clamp(1e-6, 0.1),
            },
            PathKind::Likelihood | PathKind::Bridge => 0.0,
        };
        smc::Settings {
            path: self.path,
            base: self.base.clone(),
            seed: self.seed,
            ..smc::Settings::starting_at(t0)
        }
    }
}
