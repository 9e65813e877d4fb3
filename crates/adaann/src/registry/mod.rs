//! Densities by name: each with its exact gradient, what is known about it, and settings that work.
//!
//! ```
//! use adaann::{fit, registry, schedule::Work};
//!
//! let mut problem = registry::find("two-moons")?.build(&[])?;
//! problem.settings.work = Work { warmup: 100, anneal: 2, refine: 100 }; // a quick look
//! let outcome = fit(&*problem.target, &problem.settings, &mut ())?;
//! let sample = outcome.approximation(&*problem.target)?.sample(1_000, 7)?;
//! let weights = registry::mode_weights(&problem.known, sample.x());
//! assert_eq!(weights.len(), 2); // exact values: problem.known.modes[i].weight
//! # Ok::<(), adaann::Error>(())
//! ```

mod data;
mod dynamics;
mod gaussian;
mod gaussians;
mod known;
mod labelled;
mod paper;
mod planes;
mod quadrature;
mod solutions;
mod spaces;

pub use crate::table::Table;
pub use data::Data;
pub use gaussian::Gaussian;
pub use known::{Distance, Known, Mode, Split, mode_weights, split_shares};
pub use solutions::Dynamics;

use crate::{Result, error, fit::Settings, names, target::Target};

/// A density ready to be fitted.
pub struct Problem {
    /// The density.
    pub target: Box<dyn Target>,
    /// What is known about it.
    pub known: Known,
    /// Settings that work for it.
    pub settings: Settings,
    /// The data behind it, if it is a posterior.
    pub data: Option<Table>,
    /// The dynamical system behind it, if it is the posterior of one.
    pub dynamics: Option<Dynamics>,
}

/// A registered density.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// What can be chosen about it.
    pub parameters: &'static [Parameter],
    /// Names of its sets of settings; the first one is used if none is asked for.
    pub presets: &'static [&'static str],
    build: Build,
}

/// How an entry makes its problem from the values of its parameters.
enum Build {
    Density(fn(&[f64]) -> Result<Problem>),
    /// With a preset and data.
    Posterior(fn(&[f64], &str, &Data) -> Result<Problem>),
}

/// What is chosen about a registered density.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Parameters by their names; defaults for the others.
    pub parameters: Vec<(String, f64)>,
    /// The set of settings; the entry's first one if none.
    pub preset: Option<String>,
    /// Where the data comes from; seed 1 if nothing is said.
    pub data: Option<Data>,
}

/// Something that can be chosen about a density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value if none is given.
    pub default: f64,
    /// One line on what it means.
    pub description: &'static str,
}

impl Entry {
    /// The density with the given parameters, defaults for the others.
    ///
    /// ```
    /// let given = [("mu".to_string(), 1.5)];
    /// let problem = adaann::registry::find("mixture2d")?.build(&given)?;
    /// assert_eq!(problem.known.mean, Some(vec![0.0, 1.5]));
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such parameter or its value is out of range.
    pub fn build(&self, given: &[(String, f64)]) -> Result<Problem> {
        self.choose(&Choices { parameters: given.to_vec(), ..Choices::default() })
    }

    /// Is it a posterior, with data behind it?
    pub fn takes_data(&self) -> bool {
        matches!(self.build, Build::Posterior(_))
    }

    /// The density with all that can be chosen about it.
    ///
    /// ```
    /// use adaann::registry::{Choices, Data, find};
    ///
    /// let choices = Choices {
    ///     preset: Some("paper".into()),
    ///     data: Some(Data::Seed(7)),
    ///     ..Choices::default()
    /// };
    /// let problem = find("hiv")?.choose(&choices)?;
    /// assert_eq!(problem.target.names(), ["p1", "p2", "x2_0"]);
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such parameter or preset, a value is out of range, or the data does not fit.
    pub fn choose(&self, choices: &Choices) -> Result<Problem> {
        let mut values: Vec<f64> = self.parameters.iter().map(|p| p.default).collect();
        for (name, value) in &choices.parameters {
            let names = || self.parameters.iter().map(|p| p.name);
            let Some(index) = names().position(|known| known == name) else {
                return Err(names::unknown("parameter", name, names()));
            };
            if !value.is_finite() {
                return Err(error::setting(self.parameters[index].name, value, "finite"));
            }
            values[index] = *value;
        }
        let preset = choices.preset.as_deref().unwrap_or(self.presets[0]);
        if !self.presets.contains(&preset) {
            return Err(error::setting("preset", preset, self.presets.join(" or ")));
        }
        match (&self.build, &choices.data) {
            (Build::Density(build), None) => build(&values),
            (Build::Density(_), Some(_)) => {
                Err(error::setting("data", "given", format!("left out: {} has none", self.name)))
            }
            (Build::Posterior(build), data) => {
                build(&values, preset, data.as_ref().unwrap_or(&Data::Seed(Data::DEFAULT_SEED)))
            }
        }
    }
}

/// The entry of this name.
///
/// # Errors
/// If there is none; the message has the name nearest to it.
pub fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| names::unknown("target", name, ALL.iter().map(|entry| entry.name)))
}

/// A parameter that counts something.
fn whole(name: &'static str, value: f64, least: usize, most: usize) -> Result<usize> {
    if value.fract() == 0.0 && (least as f64..=most as f64).contains(&value) {
        return Ok(value as usize);
    }
    Err(error::setting(name, value, format!("a whole number from {least} to {most}")))
}

/// Every registered density.
pub const ALL: &[Entry] = &[
    Entry {
        name: "bimodal",
        summary: "the paper's Example 1: two modes on a line, exp(-((z + 2)^2 - 3)^2)",
        parameters: &[],
        presets: &["paper"],
        build: Build::Density(paper::bimodal),
    },
    Entry {
        name: "mixture1d",
        summary: "the paper's Example 2, symmetric: two Gaussians of variance 1/16 on a line",
        parameters: &[Parameter {
            name: "mu",
            default: 4.0,
            description: "distance between the modes, at -mu/2 and mu/2",
        }],
        presets: &["paper"],
        build: Build::Density(paper::mixture1d),
    },
    Entry {
        name: "mixture1d-asymmetric",
        summary: "the paper's Example 2, asymmetric: one mode at the base's mean, one beside it",
        parameters: &[Parameter {
            name: "mu",
            default: 4.0,
            description: "distance between the modes, at -mu and 0",
        }],
        presets: &["paper"],
        build: Build::Density(paper::mixture1d_asymmetric),
    },
    Entry {
        name: "mixture2d",
        summary: "the paper's Example 3: two Gaussians of variance 1/32 in the plane",
        parameters: &[Parameter {
            name: "mu",
            default: 0.5,
            description: "moves the modes apart and up, at (-mu - 1, mu) and (mu + 1, mu)",
        }],
        presets: &["paper"],
        build: Build::Density(paper::mixture2d),
    },
    Entry {
        name: "lorenz",
        summary: "the paper's Example 4: three parameters of the Lorenz attractor, from data",
        parameters: &[Parameter {
            name: "noise-variance",
            default: 0.2,
            description: "variance of the measurements; 0.2 and 0.001 in the paper",
        }],
        presets: &["default", "paper"],
        build: Build::Posterior(dynamics::lorenz),
    },
    Entry {
        name: "hiv",
        summary: "the paper's Example 5: two mirrored modes of an HIV model, from its virus load",
        parameters: &[Parameter {
            name: "noise-variance",
            default: 0.000_5,
            description: "variance of the measurements",
        }],
        presets: &["default", "paper"],
        build: Build::Posterior(dynamics::hiv),
    },
    Entry {
        name: "gaussian",
        summary: "a Gaussian with neighbouring coordinates correlated by 0.8",
        parameters: &[Parameter { name: "dim", default: 2.0, description: "number of dimensions" }],
        presets: &["default"],
        build: Build::Density(gaussians::gaussian),
    },
    Entry {
        name: "eight-gaussians",
        summary: "eight equal Gaussians on a circle of radius 2",
        parameters: &[],
        presets: &["default"],
        build: Build::Density(gaussians::eight),
    },
    Entry {
        name: "mixture40",
        summary: "forty equal Gaussians scattered over a square with sides of 80",
        parameters: &[],
        presets: &["default"],
        build: Build::Density(gaussians::forty),
    },
    Entry {
        name: "two-moons",
        summary: "two crescents on a circle of radius 2",
        parameters: &[],
        presets: &["default"],
        build: Build::Density(planes::two_moons),
    },
    Entry {
        name: "rings",
        summary: "four rings around the origin, radii 1 to 4, the outer ones heavier",
        parameters: &[],
        presets: &["default"],
        build: Build::Density(planes::rings),
    },
    Entry {
        name: "rosenbrock",
        summary: "Rosenbrock's valley as a density: a thin parabola",
        parameters: &[],
        presets: &["default"],
        build: Build::Density(planes::rosenbrock),
    },
    Entry {
        name: "eggbox",
        summary: "eighteen sharp peaks in a square, ten of them cut by its edges",
        parameters: &[],
        presets: &["default"],
        build: Build::Density(planes::eggbox),
    },
    Entry {
        name: "funnel",
        summary: "Neal's funnel: the first coordinate sets the scale of the others",
        parameters: &[Parameter {
            name: "dim",
            default: 10.0,
            description: "number of dimensions",
        }],
        presets: &["default"],
        build: Build::Density(spaces::funnel),
    },
    Entry {
        name: "many-well",
        summary: "a product of uneven double wells: 2^(dim/2) modes",
        parameters: &[Parameter {
            name: "dim",
            default: 32.0,
            description: "number of dimensions, even",
        }],
        presets: &["default"],
        build: Build::Density(spaces::many_well),
    },
    Entry {
        name: "shells",
        summary: "two thin spherical shells in a box, in any dimension",
        parameters: &[Parameter { name: "dim", default: 2.0, description: "number of dimensions" }],
        presets: &["default"],
        build: Build::Density(spaces::shells),
    },
];
