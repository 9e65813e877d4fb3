//! The classes of random targets, and their instances by seed.

use super::{mixtures, narrow, pairs, period, recipe::Recipe, students};
use crate::ladder::{
    hidden::Hiding,
    models,
    subject::{Subject, Truth},
};
use adaann::{Error, Result, model::Model};

/// A class of targets.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    make: Make,
}

/// The kind of instances: mixtures, or models with data.
enum Make {
    Mixture(fn(u64) -> Recipe),
    Signal(usize),
}

/// A target of a class.
pub(crate) struct Instance {
    pub(crate) class: &'static str,
    pub(crate) seed: u64,
    pub(crate) dim: usize,
    /// log₁₀ of (narrowest/widest)^d, or `None` if modes have no widths.
    pub(crate) log10_ratio: Option<f64>,
    pub(crate) subject: Subject,
}

pub(crate) const CLASSES: [Class; 8] = [
    Class { name: "mixtures", make: Make::Mixture(mixtures::recipe) },
    Class { name: "pairs", make: Make::Mixture(pairs::recipe) },
    Class { name: "forty", make: Make::Mixture(pairs::forty) },
    Class { name: "narrow", make: Make::Mixture(narrow::recipe) },
    Class { name: "students", make: Make::Mixture(students::recipe) },
    Class { name: "light", make: Make::Mixture(students::light) },
    Class { name: "period", make: Make::Signal(1) },
    Class { name: "planets", make: Make::Signal(2) },
];

/// Chooses by seed such that all choices are equally frequent.
pub(crate) fn in_turn<T: Copy>(choices: &[T], seed: u64) -> T {
    choices[(seed % choices.len() as u64) as usize]
}

impl Class {
    /// The instance that this seed determines.
    pub(crate) fn instance(&self, seed: u64) -> Instance {
        match self.make {
            Make::Mixture(recipe) => of_recipe(self.name, seed, recipe(seed)),
            Make::Signal(signals) => {
                let data = period::Velocities::new(self.name, signals, seed);
                let name = format!("{}, {}", self.name, data.description());
                let dim = data.dim();
                let subject = Subject::new(name, self.name, move |_| {
                    let model = parsed(&data.text())?;
                    Ok(models::built(model, |model| Truth::Reference {
                        model: Box::new(model),
                        values: Some(data.references()),
                    }))
                });
                Instance { class: self.name, seed, dim, log10_ratio: None, subject }
            }
        }
    }
}

impl Instance {
    /// The same instance, with something hidden from the search.
    pub(crate) fn hidden(self, hiding: Hiding) -> Self {
        Self { subject: self.subject.hidden(hiding), ..self }
    }
}

/// An instance from a mixture.
pub(crate) fn of_recipe(class: &'static str, seed: u64, recipe: Recipe) -> Instance {
    let (dim, ratio) = (recipe.dim(), recipe.log10_ratio());
    let parts = recipe.parts.len();
    let name = format!("{class}, d = {dim}, {parts} modes, log10 volume ratio {ratio:.1}");
    let subject = Subject::new(name, class, move |_| {
        Ok(models::built(parsed(&recipe.text())?, |_| recipe.truth()))
    });
    Instance { class, seed, dim, log10_ratio: Some(ratio), subject }
}

fn parsed(text: &str) -> Result<Model> {
    Model::parse("generated.toml", text).map_err(|faults| Error::Data(faults.to_string()))
}
