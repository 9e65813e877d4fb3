//! The way of one subject through time: where a solver lands, and what is done there.

/// From a start through stops, whose times do not fall.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    pub(crate) start: f64,
    /// Which of the values that a sample has each parameter of the system is.
    pub(crate) arguments: Vec<usize>,
    /// At least one.
    pub(crate) stops: Vec<Stop>,
    pub(crate) moving: Vec<Moving>,
}

/// A jump at a time that differs between samples: so much after a parameter of the system, unless that is before
/// `opens`.
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
    /// Numbers that the rates know on the way to it.
    pub(crate) stretch: Vec<f64>,
    pub(crate) does: Does,
}

/// What is done at a stop: something with a number of its own, and numbers that it knows.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    /// The states are looked at.
    Nothing,
    /// They are compared with what was measured: a log density.
    Observe(usize, Vec<f64>),
    /// They jump.
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
    /// A way through times, at which the states are looked at.
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
