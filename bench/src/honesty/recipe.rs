//! A mixture of normal or Student components with common axes, as a model text.

use adaann::support::simd::Special;
use std::{
    f64::consts::{PI, TAU},
    fmt::Write,
};

/// A component whose covariance, or squared Student scale, is width² times that of the axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) weight: f64,
    pub(crate) centre: Vec<f64>,
    pub(crate) width: f64,
}

/// Principal axes, common to all components.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axes {
    /// A row for each axis, orthonormal.
    pub(crate) rows: Vec<f64>,
    /// The factor of the width along each of them.
    pub(crate) lengths: Vec<f64>,
}

/// The tails of a component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tails {
    Normal,
    /// Student tails with these degrees of freedom.
    Student(f64),
}

/// The prior of every coordinate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Prior {
    Flat,
    Box { low: f64, high: f64 },
    Normal { mean: Vec<f64>, sd: f64 },
}

/// The likelihood Σ weight · component, and a prior.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recipe {
    pub(crate) parts: Vec<Part>,
    /// `None` if all components are spheres.
    pub(crate) axes: Option<Axes>,
    pub(crate) tails: Tails,
    pub(crate) prior: Prior,
}

impl Axes {
    /// The coordinates of `x` along the axes.
    pub(crate) fn along(&self, x: &[f64]) -> Vec<f64> {
        self.rows.chunks_exact(x.len()).map(|row| dot(row, x)).collect()
    }

    /// The point with these coordinates along the axes.
    pub(crate) fn point(&self, along: &[f64]) -> Vec<f64> {
        let dim = along.len();
        (0..dim).map(|d| (0..dim).map(|k| self.rows[k * dim + d] * along[k]).sum()).collect()
    }

    /// The matrix that makes components of width 1 spheres of width 1, row by row.
    pub(crate) fn whitening(&self) -> Vec<Vec<f64>> {
        let rows = self.rows.chunks_exact(self.lengths.len());
        rows.zip(&self.lengths).map(|(row, s)| row.iter().map(|x| x / s).collect()).collect()
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Recipe {
    pub(crate) fn dim(&self) -> usize {
        self.parts[0].centre.len()
    }

    /// log₁₀ of (narrowest/widest)^d.
    pub(crate) fn log10_ratio(&self) -> f64 {
        let widths = || self.parts.iter().map(|part| part.width);
        let (least, most) = (widths().fold(f64::INFINITY, f64::min), widths().fold(0.0, f64::max));
        self.dim() as f64 * (least / most).log10()
    }

    /// The factor of the width along each axis.
    pub(crate) fn lengths(&self) -> Vec<f64> {
        self.axes.as_ref().map_or(vec![1.0; self.dim()], |axes| axes.lengths.clone())
    }

    /// The largest standard deviation of any component in any direction, for normal tails.
    pub(crate) fn largest_sd(&self) -> f64 {
        let widest = self.parts.iter().map(|part| part.width).fold(0.0, f64::max);
        widest * self.lengths().into_iter().fold(0.0, f64::max)
    }

    /// The covariance of a normal component of this width, row by row.
    pub(crate) fn covariance(&self, width: f64) -> Vec<f64> {
        let (dim, lengths) = (self.dim(), self.lengths());
        let entry = |i: usize, j: usize| match &self.axes {
            None if i == j => 1.0,
            None => 0.0,
            Some(axes) => {
                let term =
                    |k: usize| axes.rows[k * dim + i] * axes.rows[k * dim + j] * lengths[k].powi(2);
                (0..dim).map(term).sum()
            }
        };
        (0..dim * dim).map(|at| width * width * entry(at / dim, at % dim)).collect()
    }

    /// The model file.
    pub(crate) fn text(&self) -> String {
        let (dim, origin) = (self.dim(), &self.parts[0].centre);
        let mut constants = String::from("[constants]\n");
        let mut add = |name: &str, value: String| {
            writeln!(constants, "{name} = {value}").expect("memory takes all");
        };
        let (point, quantities) = match &self.axes {
            None => ("x", ""),
            Some(axes) => {
                add("whitening", format!("{:?}", axes.whitening()));
                add("origin", format!("{origin:?}"));
                let formula =
                    "[quantities]\ny = { formula = \"whitening @ (x - origin)\", hidden = true }\n";
                ("y", formula)
            }
        };
        let mut terms = Vec::new();
        for (i, part) in self.parts.iter().enumerate() {
            add(&format!("c{i}"), format!("{:?}", self.whitened(&part.centre)));
            let square = format!("sum(({point} - c{i})^2)");
            terms.push(self.term(part, &square));
        }
        let prior = match &self.prior {
            Prior::Flat => String::new(),
            Prior::Box { low, high } => format!("prior = \"uniform({low:?}, {high:?})\", "),
            Prior::Normal { mean, sd } => {
                add("m0", format!("{mean:?}"));
                format!("prior = \"normal(m0, {sd:?})\", ")
            }
        };
        let density = terms.join(", ");
        format!(
            "density = \"logsumexp([{density}])\"\n{constants}[parameters]\nx = {{ {prior}size = {dim} }}\n\
             {quantities}"
        )
    }

    /// A centre in the coordinates in which components are spheres.
    fn whitened(&self, centre: &[f64]) -> Vec<f64> {
        let Some(axes) = &self.axes else { return centre.to_vec() };
        let origin = &self.parts[0].centre;
        let from_origin: Vec<f64> = centre.iter().zip(origin).map(|(c, o)| c - o).collect();
        axes.along(&from_origin).iter().zip(&axes.lengths).map(|(x, s)| x / s).collect()
    }

    /// log of weight times density, as a formula of the squared distance in units of the axes.
    fn term(&self, part: &Part, square: &str) -> String {
        let half = 0.5 * self.dim() as f64;
        let log_volume: f64 = self.lengths().iter().map(|length| (length * part.width).ln()).sum();
        let variance = part.width * part.width;
        match self.tails {
            Tails::Normal => {
                let peak = part.weight.ln() - log_volume - half * TAU.ln();
                format!("{peak:?} - {:?}*{square}", 0.5 / variance)
            }
            Tails::Student(nu) => {
                let ln_gamma = |x: f64| Special::LnGamma.at(x);
                let power = 0.5 * nu + half;
                let peak = part.weight.ln() - log_volume + ln_gamma(power)
                    - ln_gamma(0.5 * nu)
                    - half * (nu * PI).ln();
                format!("{peak:?} - {power:?}*log1p({:?}*{square})", 1.0 / (nu * variance))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_of_volumes() {
        let part = |width| Part { weight: 0.5, centre: vec![0.0; 3], width };
        let (tails, prior) = (Tails::Normal, Prior::Flat);
        let recipe = Recipe { parts: vec![part(0.1), part(1.0)], axes: None, tails, prior };
        assert!((recipe.log10_ratio() + 3.0).abs() < 1e-12);
    }
}
