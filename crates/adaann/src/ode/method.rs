//! The methods that a step may use.

/// A method whose steps are recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Method {
    /// The classical Runge–Kutta method, with steps that are known in advance.
    Fixed,
    /// A pair of solutions whose difference controls the step length.
    Adaptive(Pair, Tolerances),
}

/// Methods that estimate their error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    /// Explicit.
    DormandPrince,
    /// With one system of linear equations per stage: for stiff systems.
    Rodas,
}

/// The tolerances of a pair's steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tolerances {
    /// Tolerated error of a step, as a share of the state.
    pub(super) relative: f64,
    /// Tolerated error of a step for any state.
    pub(super) absolute: f64,
    /// The most steps that a sample may try.
    pub(super) most_steps: usize,
}
