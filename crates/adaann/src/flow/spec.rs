//! Which flow to build: a family with its settings, as data.

use super::{
    Autoregressive, Precision, RealNvp, SplineSpec, Stack,
    compose::Compose,
    planar::{Activation, Planar},
    radial::Radial,
};
use crate::{Result, error, names};
use serde::{Deserialize, Serialize};

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
    /// Couplings with monotone splines.
    Spline(SplineSpec),
    /// Autoregressive layers with monotone splines, that draw in one pass.
    SplineAutoregressive(SplineSpec),
    /// One flow after another; the first is nearest to the base.
    Compose(Vec<FlowSpec>),
}

impl FlowSpec {
    /// Names of the families, with one line on each.
    pub const ALL: &[(&str, &str)] = &[
        ("planar", "moves points along one direction a layer; the paper's choice, cheap and sure"),
        ("radial", "pulls points towards a centre or pushes them away"),
        ("realnvp", "scales and shifts some coordinates by networks of the others"),
        (
            "iaf",
            "scales and shifts each coordinate by a network of those before; draws in one pass",
        ),
        ("maf", "the same the other way round; densities in one pass"),
        ("spline", "bends some coordinates along splines set by a network of the others"),
        ("spline-autoregressive", "bends each coordinate by a network of those before"),
    ];

    /// Planar layers with the defaults: tanh, double precision.
    pub fn planar(layers: usize) -> Self {
        Self::Planar { layers, activation: Activation::Tanh, precision: Precision::Double }
    }

    /// The family of this name, with fifty layers.
    ///
    /// # Errors
    /// If there is none; the message has the name nearest to it.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "planar" => Ok(Self::planar(50)),
            "radial" => Ok(Self::Radial { layers: 50 }),
            "realnvp" => Ok(Self::RealNvp(RealNvp::default())),
            "iaf" => Ok(Self::Iaf(Autoregressive::default())),
            "maf" => Ok(Self::Maf(Autoregressive::default())),
            "spline" => Ok(Self::Spline(SplineSpec::default())),
            "spline-autoregressive" => Ok(Self::SplineAutoregressive(SplineSpec::default())),
            _ => Err(names::unknown("flow", name, Self::ALL.iter().map(|(known, _)| *known))),
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
            Self::Spline(_) => "spline",
            Self::SplineAutoregressive(_) => "spline-autoregressive",
            Self::Compose(_) => "compose",
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
    /// If there are no layers or no dimensions.
    pub fn build(&self, dim: usize) -> Result<Box<dyn Stack>> {
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
            Self::Spline(ref settings) => Box::new(settings.build(dim, false)?),
            Self::SplineAutoregressive(ref settings) => Box::new(settings.build(dim, true)?),
        })
    }
}
