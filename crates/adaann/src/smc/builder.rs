//! Starts a run from the settings' own base or from a given one.

use super::{Observer, Population, Settings, further, send::send};
use crate::{Result, budget::Budget, checkpoint::Ledger, flow::Base, target::Target};

/// Sequential Monte Carlo from the base to the target.
///
/// The particles first follow q_0^(1 − s) p_{t_0}^s to the density at the schedule's first t, then the path.
/// The run uses the current rayon pool; the number of threads never changes the result.
///
/// # Errors
/// If a setting is out of range, the target fails, or too few particles have a finite density.
#[doc(alias("sequential Monte Carlo", "annealed importance sampling"))]
pub fn smc(
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Population> {
    Smc::new(target, settings).run(observer)
}

/// Builds a run, optionally from a base that settings cannot express.
///
/// ```
/// use adaann::{Program, flow::Base, path::PathKind, smc::{Settings, Smc}};
///
/// // Two modes, at -2 ± √3, and a mixture that is roughly right about them.
/// let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
/// let base = Base::mixture(&[1.0, 1.0], &[-3.5, 0.0], &[0.4, 0.4])?;
/// let settings = Settings { path: PathKind::Bridge, ..Settings::starting_at(0.0) };
/// let population = Smc::new(&target, &settings).base(base).run(&mut ())?;
/// assert!((population.log_z - 0.04712).abs() < 4.0 * population.log_z_error);
/// // A good base makes the bridge short.
/// assert!(population.stages.len() < 5);
/// # Ok::<(), adaann::Error>(())
/// ```
#[must_use = "a run does nothing until it is run"]
pub struct Smc<'a> {
    target: &'a dyn Target,
    settings: &'a Settings,
    base: Option<Base>,
    earlier: Option<Population>,
    budget: Budget,
}

impl<'a> Smc<'a> {
    /// A run with these settings.
    pub fn new(target: &'a dyn Target, settings: &'a Settings) -> Self {
        Self { target, settings, base: None, earlier: None, budget: Budget::default() }
    }

    /// Starts from this density, in the coordinates of the flows, instead of the settings' `base`. With the
    /// path [bridge](crate::path::PathKind::Bridge) from t₀ = 0, particles move from the base straight to the
    /// target; the better the base, the shorter the path. They may never find modes that the base leaves out.
    pub fn base(self, base: Base) -> Self {
        Self { base: Some(base), ..self }
    }

    /// Runs only the last population of the settings' `further`, and [joins](Population::join) it with
    /// `earlier`, the populations before it. This lengthens a finished run. If `further` is empty, nothing
    /// runs.
    pub fn after(self, earlier: Population) -> Self {
        Self { earlier: Some(earlier), ..self }
    }

    /// Stops when this budget is spent. Particles that are on their way stay at the temperature they have
    /// reached; finished ones do not move any further.
    pub fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Runs it; see [`smc`].
    ///
    /// # Errors
    /// As [`smc`], and if the dimensions of the base and the target differ.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Population> {
        self.run_with(observer, &mut Ledger::off())
    }

    /// Runs with a ledger of finished parts: resumes after them, and records new ones.
    ///
    /// # Errors
    /// As [`Smc::run`], and if the ledger belongs to another run.
    pub fn run_with(self, observer: &mut dyn Observer, ledger: &mut Ledger) -> Result<Population> {
        let Self { target, settings, base, earlier, budget } = self;
        settings.check(target)?;
        let from = (base, budget);
        match settings.further.is_empty() && earlier.is_none() {
            true => send(target, settings, from, observer, ledger),
            false => further::run(target, settings, from, earlier, observer, ledger),
        }
    }
}
