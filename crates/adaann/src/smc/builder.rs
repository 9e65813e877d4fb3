//! A run from the settings' own base or from a given one.

use super::{Observer, Population, Settings, further, send::send};
use crate::{Result, budget::Budget, checkpoint::Ledger, flow::Base, target::Target};

/// Sequential Monte Carlo from the base to the target.
///
/// First along q_0^(1 − s) p_{t_0}^s to the density at the schedule's first t, then along the path.
/// Runs on the threads of the rayon pool it is called in; their number never changes the result.
///
/// # Errors
/// If a setting is out of range, the target fails, or too few particles have a density at all.
#[doc(alias("sequential Monte Carlo", "annealed importance sampling"))]
pub fn smc(
    target: &dyn Target,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Population> {
    Smc::new(target, settings).run(observer)
}

/// A run that may start from a base which settings do not name.
///
/// ```
/// use adaann::{Program, flow::Base, path::PathKind, smc::{Settings, Smc}};
///
/// // Two modes, at -2 ± √3, and a mixture that knows roughly where they are.
/// let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
/// let base = Base::mixture(&[1.0, 1.0], &[-3.5, 0.0], &[0.4, 0.4])?;
/// let settings = Settings { path: PathKind::Bridge, ..Settings::starting_at(0.0) };
/// let population = Smc::new(&target, &settings).base(base).run(&mut ())?;
/// assert!((population.log_z - 0.04712).abs() < 4.0 * population.log_z_error);
/// // The bridge is short.
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
    /// A run by its settings alone.
    pub fn new(target: &'a dyn Target, settings: &'a Settings) -> Self {
        Self { target, settings, base: None, earlier: None, budget: Budget::default() }
    }

    /// Starts from this density, on the coordinates that flows work in; the settings' `base` is not
    /// looked at. With the path [bridge](crate::path::PathKind::Bridge) from t₀ = 0 on particles go
    /// from it straight to the target, and the way is as short as the base is near. What the base
    /// leaves out they may never find.
    pub fn base(self, base: Base) -> Self {
        Self { base: Some(base), ..self }
    }

    /// Sends only the last population of the settings' `further`, and [joins](Population::join) it with
    /// these, which are those before it: a run that is lengthened. Without `further` nothing is sent.
    pub fn after(self, earlier: Population) -> Self {
        Self { earlier: Some(earlier), ..self }
    }

    /// Stops where this is spent: particles stay at the temperature that they have reached, and those that have arrived
    /// move no further.
    pub fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Runs it: see [`smc`].
    ///
    /// # Errors
    /// As [`smc`], and if the base has another dimension than the target.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Population> {
        self.run_with(observer, &mut Ledger::off())
    }

    /// The same with a list of what was finished before: it goes on where that ends, and keeps it.
    ///
    /// # Errors
    /// As [`Smc::run`], and if the list is that of another run.
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
