//! Values that are names, with a one-line help text for each.

use super::table::{Form, Names, Value, Written};
use crate::{
    Error,
    fit::{Divergence, Gradient},
    flow::{
        Activation, Covariance, FlowSpec, Ordering, Precision, ScaleMap, Start, UnitActivation,
    },
    optim::Optimizer,
    path::PathKind,
    schedule::Schedule,
};
use serde::de::{DeserializeOwned, IntoDeserializer, value::Error as Unreadable};

const ACTIVATIONS: Names = &[
    ("tanh", "the paper's choice"),
    ("algebraic", "x/sqrt(1 + x^2): heavier tails, no exponential"),
];

const UNIT_ACTIVATIONS: Names = &[
    ("relu", "max(x, 0): the paper's choice, and the quickest"),
    ("tanh", "smooth and bounded"),
    ("silu", "x/(1 + exp(-x)): smooth, and the most accurate on smooth densities"),
];

const SCALE_MAPS: Names = &[
    ("tanh-output", "tanh of the network's output: a layer stretches by at most e"),
    ("tanh-hidden", "tanh in the last hidden layer, then a linear map"),
];

const PRECISIONS: Names =
    &[("f64", "double precision"), ("f32", "single precision: twice the numbers in a register")];

const STARTS: Names = &[
    ("normal", "at the given mean and standard deviation"),
    ("laplace", "at the Laplace approximation of the mode that an ascent from the mean finds"),
];

const GRADIENTS: Names = &[
    ("total", "the derivative of an update's own objective"),
    ("path", "without the score, whose mean is 0: no noise where the flow fits"),
];

const DIVERGENCES: Names = &[
    ("forward-kl", "KL(p, q)"),
    ("alpha2", "log of the mean of (p/q)^2 over q: stricter in the tails"),
];

const COVARIANCES: Names = &[("diagonal", "independent coordinates"), ("full", "all entries")];

const ORDERINGS: Names = &[
    ("alternating", "sequential and reversed in turn"),
    ("sequential", "in the order of the coordinates"),
    ("reversed", "from the last coordinate on"),
    ("random", "shuffled for each layer"),
];

/// The text of a name.
pub(super) fn word(written: Written<'_>) -> Option<&str> {
    match written {
        Written::Word(word) | Written::Text(word) => Some(word),
        _ => None,
    }
}

/// `must be a, b or c`
pub(super) fn one_of(all: Names) -> String {
    let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
    match &names[..] {
        [first @ .., last] if !first.is_empty() => {
            format!("must be {} or {last}", first.join(", "))
        }
        names => format!("must be {}", names.concat()),
    }
}

/// Reads a name. The error suggests the nearest name, or else lists all names.
pub(crate) fn named<T>(
    written: Written<'_>,
    all: Names,
    read: fn(&str) -> crate::Result<T>,
) -> Result<T, String> {
    let name = word(written).ok_or_else(|| one_of(all))?;
    read(name).map_err(|error| match error {
        Error::UnknownName { nearest: Some(_), .. } => error.to_string(),
        Error::UnknownName { .. } => one_of(all),
        other => other.to_string(),
    })
}

/// The variant with this name in a settings file.
fn variant<T: DeserializeOwned>(name: &str) -> crate::Result<T> {
    let found: Result<T, Unreadable> = T::deserialize(name.into_deserializer());
    found.map_err(|_| Error::UnknownName { kind: "value", name: name.to_owned(), nearest: None })
}

fn ordering(name: &str) -> crate::Result<Ordering> {
    match name {
        "random" => Ok(Ordering::Random { seed: 1 }),
        name => variant(name),
    }
}

macro_rules! named {
    ($($type:ty: $form:ident($all:expr) $read:expr;)+) => {
        $(impl Value for $type {
            const FORM: Form = Form::$form($all);

            fn read(written: Written<'_>) -> Result<Self, String> {
                named(written, $all, $read)
            }
        })+
    };
}

named! {
    FlowSpec: Joined(FlowSpec::ALL) FlowSpec::named;
    Schedule: Name(Schedule::ALL) Schedule::named;
    PathKind: Name(PathKind::ALL) PathKind::named;
    Optimizer: Name(Optimizer::ALL) Optimizer::named;
    Activation: Name(ACTIVATIONS) variant;
    UnitActivation: Name(UNIT_ACTIVATIONS) variant;
    ScaleMap: Name(SCALE_MAPS) variant;
    Precision: Name(PRECISIONS) variant;
    Start: Name(STARTS) variant;
    Covariance: Name(COVARIANCES) variant;
    Gradient: Name(GRADIENTS) variant;
    Divergence: Name(DIVERGENCES) variant;
    Ordering: Name(ORDERINGS) ordering;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a table has exactly the names that serde accepts.
    fn assert_complete<T: Value + DeserializeOwned>() {
        let Form::Name(all) = T::FORM else { panic!("{:?} is no form of names", T::FORM) };
        let found: Result<T, Unreadable> = T::deserialize("?".into_deserializer());
        let said = found.err().expect("no variant has this name").to_string();
        // unknown variant `?`, expected `tanh` or `algebraic`
        let mut known: Vec<_> = said.split('`').skip(3).step_by(2).collect();
        let mut names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        known.sort();
        names.sort();
        assert_eq!(names, known, "{said}");
        assert!(names.iter().all(|name| T::read(Written::Word(name)).is_ok()));
    }

    #[test]
    fn every_variant_has_its_name_and_line() {
        assert_complete::<Activation>();
        assert_complete::<UnitActivation>();
        assert_complete::<ScaleMap>();
        assert_complete::<Precision>();
        assert_complete::<Start>();
        assert_complete::<Covariance>();
        assert_complete::<Gradient>();
        assert_complete::<Divergence>();
        assert_complete::<Ordering>();
    }

    #[test]
    fn errors_have_the_nearest_name_or_all() {
        let say = |name: &str| FlowSpec::read(Written::Text(name)).unwrap_err();
        assert_eq!(say("planer"), "there is no flow called 'planer'; did you mean 'planar'?");
        assert!(say("transformer").starts_with("must be planar, radial, "));
        let said = Activation::read(Written::Word("Tanh")).unwrap_err();
        assert_eq!(said, "must be tanh or algebraic");
        assert_eq!(Activation::read(Written::Whole(1)).unwrap_err(), said);
    }
}
