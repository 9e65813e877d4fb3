//! The specification of a flow: a family with its settings.

use super::{
    Autoregressive, Glow, Precision, RealNvp, SplineSpec, Stack,
    affine::Affine,
    compose::Compose,
    layer::PerPoint,
    linear::{Linear, Shape},
    marginals::Marginals,
    permutation::{Order, Permutation},
    planar::{Activation, Planar},
    quadratic::Quadratic,
    radial::Radial,
};
use crate::{Result, error, suggest};
use serde::{Deserialize, Serialize};

/// Upper limit on parameters. A run stores about ten numbers per parameter: four gigabytes at this limit.
const MOST_PARAMETERS: usize = 50_000_000;

/// Upper limit on the components of a marginal distribution: catches typing errors.
const MOST_COMPONENTS: usize = 1_000;

/// A family of flows with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowSpec {
    /// Planar layers.
    Planar {
        /// Number of layers.
        layers: usize,
        /// Activation.
        #[serde(default)]
        activation: Activation,
        /// Precision that the layers compute in.
        #[serde(default)]
        precision: Precision,
    },
    /// Radial layers.
    Radial {
        /// Number of layers.
        layers: usize,
    },
    /// Affine couplings.
    #[serde(rename = "realnvp")]
    RealNvp(RealNvp),
    /// Autoregressive layers that draw in one pass.
    Iaf(Autoregressive),
    /// Autoregressive layers that give densities in one pass.
    Maf(Autoregressive),
    /// Scales and shifts, linear maps and affine couplings.
    Glow(Glow),
    /// Couplings with monotone splines.
    Spline(SplineSpec),
    /// Autoregressive layers with monotone splines that draw in one pass.
    SplineAutoregressive(SplineSpec),
    /// A shift and a scale for each coordinate.
    Affine,
    /// A shift and a lower triangular matrix: maps a standard normal to any normal.
    Linear,
    /// The product of a lower and an upper triangular matrix.
    Lu,
    /// Each coordinate normal given the previous ones: quadratic mean, linear log scale. The ladder fits it
    /// by regression. It has no command-line name, since nested squares mislead training.
    Quadratic,
    /// Each coordinate mapped separately to a mixture of normals. The ladder fits it; it has no command-line
    /// name.
    Marginals {
        /// Components per coordinate.
        components: usize,
    },
    /// A permutation of the coordinates.
    Permutation(Order),
    /// One flow after another; the first is nearest to the base.
    Compose(Vec<FlowSpec>),
}

impl FlowSpec {
    /// The families' names with one-line descriptions.
    pub const ALL: &[(&str, &str)] = &[
        (
            "planar",
            "moves points along one direction per layer; the paper's choice, cheap and reliable",
        ),
        ("radial", "pulls points towards a centre or pushes them away"),
        ("realnvp", "scales and shifts some coordinates by networks of the others"),
        (
            "iaf",
            "scales and shifts each coordinate by a network of the previous ones; draws in one pass",
        ),
        ("maf", "the inverse direction of iaf; evaluates densities in one pass"),
        ("glow", "realnvp with a linear map of all coordinates between couplings"),
        ("spline", "bends some coordinates along splines set by a network of the others"),
        ("spline-autoregressive", "bends each coordinate by a network of the previous ones"),
        ("affine", "shifts and scales each coordinate"),
        ("linear", "a shift and a triangular matrix: maps a standard normal to any normal"),
        ("lu", "a linear map without pivoting, for use between the layers of other flows"),
        (
            "permutation",
            "reverses the order of the coordinates, for use between the layers of other flows",
        ),
    ];

    /// Planar layers with the defaults: tanh, double precision.
    pub fn planar(layers: usize) -> Self {
        Self::Planar { layers, activation: Activation::Tanh, precision: Precision::Double }
    }

    /// The family with this name and default settings, or several joined by `+`, the first nearest to the
    /// base.
    ///
    /// ```
    /// use adaann::flow::FlowSpec;
    ///
    /// assert_eq!(FlowSpec::named("linear+spline")?.label(), "linear+spline");
    /// # Ok::<(), adaann::Error>(())
    /// ```
    ///
    /// # Errors
    /// If no family has this name. The message suggests the nearest name.
    pub fn named(name: &str) -> Result<Self> {
        if name.contains('+') {
            return Ok(Self::Compose(name.split('+').map(Self::named).collect::<Result<_>>()?));
        }
        match name {
            "planar" => Ok(Self::planar(50)),
            "radial" => Ok(Self::Radial { layers: 50 }),
            "realnvp" => Ok(Self::RealNvp(RealNvp::default())),
            "iaf" => Ok(Self::Iaf(Autoregressive::default())),
            "maf" => Ok(Self::Maf(Autoregressive::default())),
            "glow" => Ok(Self::Glow(Glow::default())),
            "spline" => Ok(Self::Spline(SplineSpec::default())),
            "spline-autoregressive" => Ok(Self::SplineAutoregressive(SplineSpec::default())),
            "affine" => Ok(Self::Affine),
            "linear" => Ok(Self::Linear),
            "lu" => Ok(Self::Lu),
            "permutation" => Ok(Self::Permutation(Order::Reversed)),
            _ => Err(suggest::unknown("flow", name, Self::ALL.iter().map(|(known, _)| *known))),
        }
    }

    /// The family's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Planar { .. } => "planar",
            Self::Radial { .. } => "radial",
            Self::RealNvp(_) => "realnvp",
            Self::Iaf(_) => "iaf",
            Self::Maf(_) => "maf",
            Self::Glow(_) => "glow",
            Self::Spline(_) => "spline",
            Self::SplineAutoregressive(_) => "spline-autoregressive",
            Self::Affine => "affine",
            Self::Linear => "linear",
            Self::Lu => "lu",
            Self::Quadratic => "quadratic",
            Self::Marginals { .. } => "marginals",
            Self::Permutation(_) => "permutation",
            Self::Compose(_) => "compose",
        }
    }

    /// The family's name, or those of a composition joined by `+`.
    pub fn label(&self) -> String {
        match self {
            Self::Compose(flows) => flows.iter().map(Self::label).collect::<Vec<_>>().join("+"),
            one => one.name().to_owned(),
        }
    }

    /// Number of layers, couplings or steps; for a composition, the total of its parts.
    pub fn layers(&self) -> usize {
        match self {
            Self::Planar { layers, .. } | Self::Radial { layers } => *layers,
            Self::RealNvp(RealNvp { layers, .. })
            | Self::Iaf(Autoregressive { layers, .. })
            | Self::Maf(Autoregressive { layers, .. })
            | Self::Glow(Glow { layers, .. })
            | Self::Spline(SplineSpec { layers, .. })
            | Self::SplineAutoregressive(SplineSpec { layers, .. }) => *layers,
            Self::Affine
            | Self::Linear
            | Self::Lu
            | Self::Quadratic
            | Self::Marginals { .. }
            | Self::Permutation(_) => 1,
            Self::Compose(flows) => flows.iter().map(Self::layers).sum(),
        }
    }

    /// Whether its layers contain networks.
    pub fn has_networks(&self) -> bool {
        match self {
            Self::RealNvp(_)
            | Self::Iaf(_)
            | Self::Maf(_)
            | Self::Glow(_)
            | Self::Spline(_)
            | Self::SplineAutoregressive(_) => true,
            Self::Compose(flows) => flows.iter().any(Self::has_networks),
            _ => false,
        }
    }

    /// The same flow with layers that compute in double precision.
    #[must_use]
    pub fn in_double(self) -> Self {
        match self {
            Self::Planar { layers, activation, .. } => {
                Self::Planar { layers, activation, precision: Precision::Double }
            }
            Self::Compose(flows) => Self::Compose(flows.into_iter().map(Self::in_double).collect()),
            other => other,
        }
    }

    /// Builds the stack in `dim` dimensions.
    ///
    /// # Errors
    /// If a setting is out of range, or the flow has more parameters than are likely to fit into memory.
    pub fn build(&self, dim: usize) -> Result<Box<dyn Stack>> {
        let stack = self.stack(dim)?;
        let parameters = stack.parameter_len();
        if parameters > MOST_PARAMETERS {
            let range =
                format!("one of at most {MOST_PARAMETERS}: take fewer layers or hidden units");
            return Err(error::setting("flow", format!("one of {parameters} parameters"), range));
        }
        Ok(stack)
    }

    fn stack(&self, dim: usize) -> Result<Box<dyn Stack>> {
        Ok(match *self {
            Self::Compose(ref flows) => {
                error::at_least_one("the flows of a composition", flows.len())?;
                let named = |(i, flow): (usize, &Self)| {
                    Ok((format!("{i}.{}", flow.name()), flow.build(dim)?))
                };
                let parts = flows.iter().enumerate().map(named).collect::<Result<_>>()?;
                Box::new(Compose::new(dim, parts))
            }
            Self::Planar { layers, activation, precision } => {
                Box::new(Planar::new(dim, layers, activation, precision)?)
            }
            Self::Radial { layers } => Box::new(Radial::new(dim, layers)?),
            Self::RealNvp(ref settings) => Box::new(settings.build(dim)?),
            Self::Iaf(ref settings) => Box::new(settings.build(dim, true)?),
            Self::Maf(ref settings) => Box::new(settings.build(dim, false)?),
            Self::Glow(ref settings) => Box::new(settings.build(dim)?),
            Self::Spline(ref settings) => Box::new(settings.build(dim, false)?),
            Self::SplineAutoregressive(ref settings) => Box::new(settings.build(dim, true)?),
            Self::Affine => Box::new(Affine::new(dim)?),
            Self::Linear => Box::new(Linear::new(dim, Shape::Lower)?),
            Self::Lu => Box::new(Linear::new(dim, Shape::Lu)?),
            Self::Quadratic => {
                error::at_least_one("dim", dim)?;
                Box::new(PerPoint(Quadratic::new(dim)))
            }
            Self::Marginals { components } => {
                error::at_least_one("dim", dim)?;
                if !(1..=MOST_COMPONENTS).contains(&components) {
                    let range = format!("from 1 to {MOST_COMPONENTS}");
                    return Err(error::setting("components", components, range));
                }
                Box::new(Marginals::new(dim, components))
            }
            Self::Permutation(ref order) => Box::new(Permutation::new(dim, order)?),
        })
    }
}
