//! Flags that take a name: the help shows all of them, an error the nearest one.

use adaann::{Error, Result};
use clap::{
    Arg, Command,
    builder::{PossibleValue, TypedValueParser},
};
use serde::de::{DeserializeOwned, IntoDeserializer, value::Error as Unreadable};
use std::ffi::OsStr;

/// Names with a line on each.
type Names = &'static [(&'static str, &'static str)];

/// Activations of planar layers.
pub(crate) const ACTIVATIONS: Names = &[
    ("tanh", "the paper's choice"),
    ("algebraic", "x/sqrt(1 + x^2): heavier tails, no exponential"),
];

/// Activations of hidden units.
pub(crate) const UNIT_ACTIVATIONS: Names = &[
    ("relu", "max(x, 0): the paper's choice, and the quickest"),
    ("tanh", "smooth and bounded"),
    ("silu", "x/(1 + exp(-x)): smooth, and the most accurate on smooth densities"),
];

/// How networks bound scales.
pub(crate) const SCALE_MAPS: Names = &[
    ("tanh-output", "tanh of the network's output: a layer stretches by at most e"),
    ("tanh-hidden", "tanh in the last hidden layer, then a linear map"),
];

/// Precisions of planar layers.
pub(crate) const PRECISIONS: Names =
    &[("f64", "double precision"), ("f32", "single precision: twice the numbers in a register")];

/// Where a base may start.
pub(crate) const STARTS: Names = &[
    ("normal", "at the given mean and standard deviation"),
    ("laplace", "at the Laplace approximation of the mode that an ascent from the mean finds"),
];

/// Estimates of the gradient.
pub(crate) const GRADIENTS: Names = &[
    ("total", "the derivative of an update's own objective"),
    ("path", "without the score, whose mean is 0: no noise where the flow fits"),
];

/// What the mass-covering stage lowers.
pub(crate) const DIVERGENCES: Names = &[
    ("forward-kl", "KL(p, q)"),
    ("alpha2", "log of the mean of (p/q)^2 over q: stricter in the tails"),
];

/// Shapes of a base's covariance.
pub(crate) const COVARIANCES: Names =
    &[("diagonal", "independent coordinates"), ("full", "all entries")];

/// Reads a name with the library's own function, and shows the table in the help.
#[derive(Debug, Clone)]
pub(crate) struct Named<T>(pub(crate) Names, pub(crate) fn(&str) -> Result<T>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let Self(all, read) = self.clone();
        let read = move |name: &str| read(name).map_err(|error| expected(&error, all));
        read.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        Some(Box::new(self.0.iter().map(|(name, line)| PossibleValue::new(*name).help(*line))))
    }
}

/// What was meant if that can be guessed, otherwise all that there is.
fn expected(error: &Error, all: Names) -> String {
    if let Error::UnknownName { nearest: Some(_), .. } = error {
        return error.to_string();
    }
    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    match &names[..] {
        [first @ .., last] if !first.is_empty() => {
            format!("must be {} or {last}", first.join(", "))
        }
        names => format!("must be {}", names.concat()),
    }
}

/// The variant that has this name in a settings file.
pub(crate) fn variant<T: DeserializeOwned>(name: &str) -> Result<T> {
    let found: Result<T, Unreadable> = T::deserialize(name.into_deserializer());
    found.map_err(|_| Error::UnknownName { kind: "value", name: name.to_owned(), nearest: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::{
        fit::{Divergence, Gradient},
        flow::{Activation, Covariance, FlowSpec, Precision, ScaleMap, Start, UnitActivation},
    };

    /// A table has the names that serde knows, no more and no fewer.
    fn assert_complete<T: DeserializeOwned>(all: Names) {
        let found: Result<T, Unreadable> = T::deserialize("?".into_deserializer());
        let said = found.err().expect("no variant has this name").to_string();
        // unknown variant `?`, expected `tanh` or `algebraic`
        let mut known: Vec<_> = said.split('`').skip(3).step_by(2).collect();
        let mut names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        known.sort();
        names.sort();
        assert_eq!(names, known, "{said}");
        assert!(names.iter().all(|name| variant::<T>(name).is_ok()));
    }

    #[test]
    fn the_help_shows_every_variant() {
        assert_complete::<Activation>(ACTIVATIONS);
        assert_complete::<UnitActivation>(UNIT_ACTIVATIONS);
        assert_complete::<ScaleMap>(SCALE_MAPS);
        assert_complete::<Precision>(PRECISIONS);
        assert_complete::<Start>(STARTS);
        assert_complete::<Covariance>(COVARIANCES);
        assert_complete::<Gradient>(GRADIENTS);
        assert_complete::<Divergence>(DIVERGENCES);
    }

    #[test]
    fn errors_have_the_nearest_name_or_all() {
        let say = |name: &str| expected(&FlowSpec::named(name).unwrap_err(), FlowSpec::ALL);
        assert_eq!(say("planer"), "there is no flow called 'planer'; did you mean 'planar'?");
        assert!(say("transformer").starts_with("must be planar, radial, "));
        let error = variant::<Activation>("Tanh").unwrap_err();
        assert_eq!(expected(&error, ACTIVATIONS), "must be tanh or algebraic");
    }
}
