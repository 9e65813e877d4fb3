//! What a step is made of, whichever solver asks for it.

/// A method whose steps are recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Method {
    /// Kutta's classical one, with steps that are known beforehand.
    Fixed,
    /// A pair of solutions whose difference tells how long a step may be.
    Adaptive(Pair, Tolerances),
}

/// Methods that estimate their error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    /// Explicit.
    DormandPrince,
    /// With one system of linear equations a stage: for stiff systems.
    Rodas,
}

/// What the steps of a pair are held to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tolerances {
    /// Error tolerated in a step, as a share of the state.
    pub(super) relative: f64,
    /// Error tolerated in a step whatever the state.
    pub(super) absolute: f64,
    /// Steps that a sample may try.
    pub(super) most_steps: usize,
}
