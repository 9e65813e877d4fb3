//! Paths from an easy density to the target, all linear in t: log p_t = a + t b.
//!
//! A path assigns weights to the parts of the target (log prior, log likelihood, log|J| of the
//! transform to unconstrained coordinates, log density of the reference) in a and in b. The annealed
//! density, its gradient and the b of the schedules all derive from this table:
//!
//! | path | a | b |
//! | --- | --- | --- |
//! | power | log\|J\| | log prior + log likelihood |
//! | likelihood | log prior + log\|J\| | log likelihood |
//! | bridge | log q_0 | log prior + log likelihood + log\|J\| − log q_0 |
//!
//! log|J| is never tempered: the annealed density is the one in the user's coordinates. On the
//! bridge the table looks different, because q_0 is a density in unconstrained coordinates and
//! contains its own Jacobian. With q_0 = q_x |J|, where q_x is the reference's density in the user's
//! coordinates, (1 − t) log q_0 + t (log p + log|J|) = (1 − t) log q_x + t log p + log|J|.

pub(crate) mod integral;
mod tempered;

#[cfg(test)]
pub(crate) use tempered::lopsided;
pub(crate) use tempered::{Tempered, Tile};

use crate::{Result, suggest, target};
use serde::{Deserialize, Serialize};

/// The parts of log p_t at one point or at each point of a row, or their weights.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Parts<T = f64> {
    /// log prior
    pub prior: T,
    /// log likelihood; the whole log density of a target without a prior.
    pub likelihood: T,
    /// log|J| of the transform to unconstrained coordinates; 0 without a transform.
    pub jacobian: T,
    /// log q_0, the reference's density in unconstrained coordinates; used only by the bridge.
    pub reference: T,
}

impl<T> Parts<T> {
    /// Applies `f` to each part.
    pub(crate) fn map<U>(self, f: impl Fn(T) -> U) -> Parts<U> {
        Parts {
            prior: f(self.prior),
            likelihood: f(self.likelihood),
            jacobian: f(self.jacobian),
            reference: f(self.reference),
        }
    }
}

impl Parts<Vec<f64>> {
    /// Borrows the parts.
    pub(crate) fn as_slices(&self) -> Parts<&[f64]> {
        let Self { prior, likelihood, jacobian, reference } = self;
        Parts { prior, likelihood, jacobian, reference }
    }

    /// Sets the parts at one point.
    pub(crate) fn set(&mut self, i: usize, parts: Parts) {
        self.prior[i] = parts.prior;
        self.likelihood[i] = parts.likelihood;
        self.jacobian[i] = parts.jacobian;
        self.reference[i] = parts.reference;
    }
}

impl Parts<&[f64]> {
    /// The parts at one point.
    pub(crate) fn at(&self, i: usize) -> Parts {
        self.map(|part| part[i])
    }

    /// [`Parts::dot`] at every point.
    fn dot_rows(&self, weights: Parts, out: &mut [f64]) {
        let terms = [
            (weights.prior, self.prior),
            (weights.likelihood, self.likelihood),
            (weights.jacobian, self.jacobian),
            (weights.reference, self.reference),
        ];
        out.fill(0.0);
        for (weight, row) in terms {
            if weight != 0.0 {
                for (out, part) in out.iter_mut().zip(row) {
                    *out += weight * part;
                }
            }
        }
    }
}

impl Parts {
    /// Σ weight · part. A weight of 0 ignores its part, even if that is −∞.
    pub(crate) fn dot(self, weights: Self) -> f64 {
        let term = |weight: f64, part: f64| if weight == 0.0 { 0.0 } else { weight * part };
        term(weights.prior, self.prior)
            + term(weights.likelihood, self.likelihood)
            + term(weights.jacobian, self.jacobian)
            + term(weights.reference, self.reference)
    }

    /// Applies `f` to corresponding parts.
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            prior: f(self.prior, other.prior),
            likelihood: f(self.likelihood, other.likelihood),
            jacobian: f(self.jacobian, other.jacobian),
            reference: f(self.reference, other.reference),
        }
    }

    /// (1 − s) · self + s · other: the weights on the straight path between two densities.
    pub(crate) fn towards(self, other: Self, s: f64) -> Self {
        self.zip(other, |from, to| (1.0 - s) * from + s * to)
    }

    /// self − other: the weights of the log ratio of two densities.
    pub(crate) fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    /// The weights that a target needs for its gradient.
    pub fn of_target(self) -> target::Weights {
        target::Weights { prior: self.prior, likelihood: self.likelihood }
    }
}

/// log p_t = a + t b at one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// The part that does not depend on t.
    pub a: f64,
    /// The factor of t; its variance determines AdaAnn's steps.
    pub b: f64,
}

impl Line {
    /// log p_t; at t = 0 it is a, even if b is −∞.
    pub fn at(self, t: f64) -> f64 {
        if t == 0.0 { self.a } else { self.a + t * self.b }
    }
}

/// The path to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathKind {
    /// p^t, the paper's annealing.
    #[default]
    Power,
    /// prior · likelihood^t
    Likelihood,
    /// q_0^(1−t) · p^t
    Bridge,
}

impl PathKind {
    /// Every path's name with a one-line description.
    pub const ALL: &[(&str, &str)] = &[
        ("power", "p^t: the whole density is flattened (the paper's annealing)"),
        ("likelihood", "prior * likelihood^t: from the prior to the posterior"),
        ("bridge", "q_0^(1-t) * p^t: from the flow's base to the target"),
    ];

    /// The path with this name.
    ///
    /// # Errors
    /// If no path has this name. The message suggests the nearest name.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "power" => Ok(Self::Power),
            "likelihood" => Ok(Self::Likelihood),
            "bridge" => Ok(Self::Bridge),
            _ => Err(suggest::unknown("path", name, Self::ALL.iter().map(|(known, _)| *known))),
        }
    }

    /// The path's name, as in [`PathKind::ALL`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Power => "power",
            Self::Likelihood => "likelihood",
            Self::Bridge => "bridge",
        }
    }

    /// The table: the weights of each part in a and in b.
    #[inline]
    fn coefficients(self) -> (Parts, Parts) {
        let parts = |prior, likelihood, jacobian, reference| Parts {
            prior,
            likelihood,
            jacobian,
            reference,
        };
        match self {
            Self::Power => (parts(0.0, 0.0, 1.0, 0.0), parts(1.0, 1.0, 0.0, 0.0)),
            Self::Likelihood => (parts(1.0, 0.0, 1.0, 0.0), parts(0.0, 1.0, 0.0, 0.0)),
            Self::Bridge => (parts(0.0, 0.0, 0.0, 1.0), parts(1.0, 1.0, 1.0, -1.0)),
        }
    }

    /// a and b from the parts of log p at a point.
    #[inline]
    pub fn line(self, parts: Parts) -> Line {
        let (a, b) = self.coefficients();
        Line { a: parts.dot(a), b: parts.dot(b) }
    }

    /// a and b from the parts of log p at each point of a row.
    pub fn lines(self, parts: &Parts<&[f64]>, a: &mut [f64], b: &mut [f64]) {
        let (in_a, in_b) = self.coefficients();
        parts.dot_rows(in_a, a);
        parts.dot_rows(in_b, b);
    }

    /// The weight of each part, and of its gradient, in log p_t.
    #[inline]
    pub fn weights(self, t: f64) -> Parts {
        let (a, b) = self.coefficients();
        Parts {
            prior: a.prior + t * b.prior,
            likelihood: a.likelihood + t * b.likelihood,
            jacobian: a.jacobian + t * b.jacobian,
            reference: a.reference + t * b.reference,
        }
    }

    /// Whether t_0 may be 0. On the power path it may not, since p^0 is not a density.
    pub fn allows_zero(self) -> bool {
        self != Self::Power
    }

    /// Whether it starts from a reference density.
    pub fn needs_reference(self) -> bool {
        self == Self::Bridge
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: [PathKind; 3] = [PathKind::Power, PathKind::Likelihood, PathKind::Bridge];

    fn weights(kind: PathKind, t: f64) -> [f64; 4] {
        let Parts { prior, likelihood, jacobian, reference } = kind.weights(t);
        [prior, likelihood, jacobian, reference]
    }

    #[test]
    fn weights_are_those_of_the_definitions() {
        let t = 0.3;
        assert_eq!(weights(PathKind::Power, t), [t, t, 1.0, 0.0]);
        assert_eq!(weights(PathKind::Likelihood, t), [1.0, t, 1.0, 0.0]);
        assert_eq!(weights(PathKind::Bridge, t), [t, t, t, 1.0 - t]);
    }

    #[test]
    fn every_path_ends_at_the_target() {
        for kind in KINDS {
            assert_eq!(weights(kind, 1.0), [1.0, 1.0, 1.0, 0.0], "{kind:?}");
        }
    }

    #[test]
    fn a_point_outside_the_support_is_never_nan() {
        let outside = Parts { likelihood: f64::NEG_INFINITY, ..Parts::default() };
        for kind in KINDS {
            let line = kind.line(outside);
            assert_eq!((line.b, line.at(0.5)), (f64::NEG_INFINITY, f64::NEG_INFINITY));
            assert_eq!(line.at(0.0), 0.0);
        }
        let no_prior = Parts { prior: f64::NEG_INFINITY, ..Parts::default() };
        let line = PathKind::Likelihood.line(no_prior);
        assert_eq!((line.a, line.b, line.at(0.5)), (f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY));
    }

    #[test]
    fn names_survive_a_file() {
        assert_eq!(PathKind::ALL.len(), KINDS.len());
        for (kind, (name, _)) in KINDS.into_iter().zip(PathKind::ALL) {
            assert_eq!((kind.name(), PathKind::named(name).unwrap()), (*name, kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<PathKind>(&format!("\"{name}\"")).unwrap(), kind);
        }
    }

    proptest! {
        #[test]
        fn the_line_is_the_weighted_sum_of_the_parts(
            values in prop::array::uniform4(-50.0..50.0_f64), t in 0.0..=1.0_f64,
        ) {
            let [prior, likelihood, jacobian, reference] = values;
            let parts = Parts { prior, likelihood, jacobian, reference };
            for kind in KINDS {
                let sum: f64 = weights(kind, t).iter().zip(values).map(|(w, x)| w * x).sum();
                prop_assert!((kind.line(parts).at(t) - sum).abs() < 1e-12 * 200.0);
                // b is the derivative in t, which differences of a line give exactly.
                let slope = kind.line(parts).at(1.0) - kind.line(parts).at(0.0);
                prop_assert!((slope - kind.line(parts).b).abs() < 1e-12 * 200.0);
                let (mut a, mut b) = ([f64::NAN], [f64::NAN]);
                let rows = Parts {
                    prior: &[prior][..], likelihood: &[likelihood],
                    jacobian: &[jacobian], reference: &[reference],
                };
                kind.lines(&rows, &mut a, &mut b);
                prop_assert_eq!(Line { a: a[0], b: b[0] }, kind.line(parts));
            }
        }

        /// d log p_t/d part is the weight of that part, so gradients and values stay consistent.
        #[test]
        fn weights_are_the_derivatives_in_the_parts(
            values in prop::array::uniform4(-50.0..50.0_f64), t in 0.0..=1.0_f64,
        ) {
            for kind in KINDS {
                for i in 0..4 {
                    let at = |shift: f64| {
                        let mut moved = values;
                        moved[i] += shift;
                        let [prior, likelihood, jacobian, reference] = moved;
                        kind.line(Parts { prior, likelihood, jacobian, reference }).at(t)
                    };
                    prop_assert!(((at(0.5) - at(-0.5)) - weights(kind, t)[i]).abs() < 1e-11);
                }
            }
        }
    }
}
