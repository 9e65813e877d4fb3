//! The subject of a measurement: a target, the start of its search, and its known answers.

use super::hidden::{Hidden, Hiding};
use adaann::{Result, flow::BaseSpec, model::Model, registry::Known, target::Target};
use std::sync::Arc;

/// A named target, built only when it runs.
pub(crate) struct Subject {
    pub(crate) name: String,
    /// The group.
    pub(crate) group: &'static str,
    /// Builds the target. For random targets the seed determines location and scale.
    pub(crate) build: Box<dyn Fn(u64) -> Result<Built> + Sync>,
}

/// A built target.
pub(crate) struct Built {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) base: BaseSpec,
    pub(crate) truth: Truth,
}

/// The truth to compare an answer with.
pub(crate) enum Truth {
    /// Closed forms and quadrature.
    Known(Known),
    /// The same, with modes whose locations and nearest points are defined in other coordinates.
    Whitened(Known, Whitening),
    /// Means and standard deviations from long runs of other samplers, by the names of parameters and quantities. Empty
    /// without such runs.
    Reference { model: Box<Model>, values: Option<Vec<Reference>> },
}

/// The mean and standard deviation of a quantity.
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    /// Is the standard deviation accurate enough for comparisons? Otherwise it only serves as the unit of the mean.
    pub(crate) is_sd_known: bool,
}

/// The linear map, row by row, that turns modes into spheres and defines distances from them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Whitening(pub(crate) Vec<f64>);

impl Whitening {
    pub(crate) fn of(&self, point: &[f64]) -> Vec<f64> {
        let rows = self.0.chunks_exact(point.len());
        rows.map(|row| row.iter().zip(point).map(|(w, x)| w * x).sum()).collect()
    }
}

impl Truth {
    /// The exact answers, or `None` if only references are known.
    pub(crate) fn known(&self) -> Option<&Known> {
        match self {
            Self::Known(known) | Self::Whitened(known, _) => Some(known),
            Self::Reference { .. } => None,
        }
    }

    /// The mode of a point.
    pub(crate) fn mode_of(&self, point: &[f64]) -> Option<usize> {
        match self {
            Self::Known(known) => known.mode_of(point),
            Self::Whitened(known, whitening) => known.mode_of(&whitening.of(point)),
            Self::Reference { .. } => None,
        }
    }
}

impl Subject {
    pub(crate) fn new(
        name: impl Into<String>,
        group: &'static str,
        build: impl Fn(u64) -> Result<Built> + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), group, build: Box::new(build) }
    }

    /// The same subject, with something hidden from the search.
    pub(crate) fn hidden(self, hiding: Hiding) -> Self {
        let Self { name, group, build } = self;
        let hidden = move |seed: u64| {
            let built = build(seed)?;
            Ok(Built { target: Arc::new(Hidden { target: built.target, hiding }), ..built })
        };
        Self::new(name, group, hidden)
    }

    /// Is its name or group in this comma-separated list?
    pub(crate) fn is_among(&self, names: &str) -> bool {
        names.split(',').any(|name| name == self.name || name == self.group)
    }
}

/// The subjects that match a word: by name or group, or else by a part of the name.
pub(crate) fn meant(word: &str, subjects: &[Subject]) -> Vec<usize> {
    let word = word.strip_suffix(".toml").unwrap_or(word);
    let which = |is_so: &dyn Fn(&Subject) -> bool| -> Vec<usize> {
        (0..subjects.len()).filter(|&at| is_so(&subjects[at])).collect()
    };
    let exactly = which(&|subject| subject.is_among(word));
    if exactly.is_empty() && !word.is_empty() {
        which(&|subject| subject.name.contains(word))
    } else {
        exactly
    }
}

impl Built {
    pub(crate) fn known(target: impl Target + 'static, base: BaseSpec, known: Known) -> Self {
        Self { target: Arc::new(target), base, truth: Truth::Known(known) }
    }
}

/// N(0, sd²) in all coordinates.
pub(crate) fn normal(sd: f64) -> BaseSpec {
    BaseSpec { sd: vec![sd], ..BaseSpec::default() }
}

#[cfg(test)]
mod tests {
    use super::{super::targets, *};

    #[test]
    fn a_whole_name_is_not_taken_for_a_part_of_others() {
        let all = targets::all();
        let names = |word| -> Vec<&str> {
            meant(word, &all).into_iter().map(|at| &*all[at].name).collect()
        };
        assert_eq!(names("gaussian-10"), ["gaussian-10"]);
        assert_eq!(names("gaussian"), ["gaussian-10", "gaussian-100", "gaussian-300"]);
        let mixtures =
            ["mixture-2", "mixture-5", "mixture-10", "mixture-20", "mixture-50", "mixture-100"];
        assert_eq!(names("mixture"), mixtures);
        assert_eq!(names("mixture-"), mixtures);
        assert!(names("").is_empty());
    }
}
