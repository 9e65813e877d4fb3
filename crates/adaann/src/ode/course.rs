//! The course of one subject through time: the times on which a solver lands, and the actions
//! there.

/// From a start through stops, whose times do not decrease.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    pub(crate) start: f64,
    /// For each parameter of the system, the index of the sample's value.
    pub(crate) arguments: Vec<usize>,
    /// At least one.
    pub(crate) stops: Vec<Stop>,
    pub(crate) moving: Vec<Moving>,
}

/// A jump at a sample-dependent time: a delay after a parameter of the system, unless that is
/// before `opens`.
#[derive(Debug, Clone)]
pub(crate) struct Moving {
    pub(crate) at: usize,
    pub(crate) after: f64,
    pub(crate) opens: f64,
    pub(crate) jump: usize,
    pub(crate) numbers: Vec<f64>,
}

/// A time on which every solver lands.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    pub(crate) time: f64,
    /// Numbers that the rates use on the stretch before it.
    pub(crate) stretch: Vec<f64>,
    pub(crate) does: Does,
}

/// The action at a stop: the index of its function, and the numbers it uses.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    /// The states are read.
    Nothing,
    /// The states are compared with measurements: a log density.
    Observe(usize, Vec<f64>),
    /// The states jump.
    Jump(usize, Vec<f64>),
}

impl Does {
    pub(super) fn observation(&self) -> Option<(usize, &[f64])> {
        match self {
            Self::Observe(pattern, numbers) => Some((*pattern, numbers)),
            _ => None,
        }
    }

    pub(super) fn jump(&self) -> Option<(usize, &[f64])> {
        match self {
            Self::Jump(pattern, numbers) => Some((*pattern, numbers)),
            _ => None,
        }
    }
}

impl Course {
    /// A course through times at which the states are read.
    pub(super) fn through(times: &[f64], start: f64, parameters: usize) -> Self {
        let stop = |&time: &f64| Stop { time, stretch: Vec::new(), does: Does::Nothing };
        Self {
            start,
            arguments: (0..parameters).collect(),
            stops: times.iter().map(stop).collect(),
            moving: Vec::new(),
        }
    }
}
