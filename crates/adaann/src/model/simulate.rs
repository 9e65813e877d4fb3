//! Draws from the prior.

use super::drawing_order::Step;
use super::evaluate::Evaluator;
use super::outline::Outline;
use super::parameter::Shape;
use super::scope::{Place, Scope};
use super::value::Law;
use super::value::Value;
use crate::Batch;
use crate::distribution::draw_lkj;
use crate::program::Expr;
use crate::rng::{Purpose, Stream};
use crate::target::Edge;

/// Maximum number of rejected draws from a prior restricted by bounds.
const MOST_TRIES: usize = 10_000;

impl Outline {
    /// Points from the prior; None if one of them cannot be drawn. `bounds` are the bounds of each parameter's
    /// elements.
    pub(super) fn draw_prior(
        &self,
        bounds: &[[Edge; 2]],
        count: usize,
        seed: u64,
    ) -> Option<Batch> {
        let order = self.drawing_order()?;
        let stream = Stream::new(seed, Purpose::Prior);
        let mut number = 0;
        let mut uniform = || {
            number += 1;
            stream.uniform_at(number - 1)
        };
        let draw = |_| self.draw_parameters(&order, bounds, &mut uniform).ok();
        let points: Option<Vec<Vec<f64>>> = (0..count).map(draw).collect();
        Some(Batch::from_points(self.dim, &points?))
    }

    /// All coordinates, with the parameters drawn from their priors in this order; an error if a prior is flat
    /// or cannot be sampled. `bounds` are the bounds of each parameter's elements.
    fn draw_parameters(
        &self,
        order: &[Step],
        bounds: &[[Edge; 2]],
        uniform: &mut impl FnMut() -> f64,
    ) -> Result<Vec<f64>, NoDraw> {
        let mut scope = self.scope(&[]);
        scope.parameters = vec![Value::Unknown; self.parameters.len()];
        let mut coordinates = vec![f64::NAN; self.dim];
        for &step in order {
            let i = match step {
                Step::Quantity(q) => {
                    self.evaluate_quantity(&mut scope, &mut Vec::new(), q);
                    continue;
                }
                Step::Parameter(i) => i,
            };
            let numbers = self.draw(i, &bounds[i], &coordinates, &mut scope, uniform)?;
            let parameter = &self.parameters[i];
            let own = parameter.coordinates_of(&numbers);
            coordinates[parameter.first..][..own.len()].copy_from_slice(&own);
            let own: Vec<Expr<'static>> = own.into_iter().map(Expr::from).collect();
            scope.parameters[i] = parameter.value_of(&own);
        }
        Ok(coordinates)
    }

    /// The elements of a parameter, or the factor of a correlation matrix; everything that its prior and bounds
    /// name has been drawn.
    fn draw(
        &self,
        i: usize,
        [low, high]: &[Edge; 2],
        coordinates: &[f64],
        scope: &mut Scope<'static>,
        uniform: &mut impl FnMut() -> f64,
    ) -> Result<Vec<f64>, NoDraw> {
        let parameter = &self.parameters[i];
        let width = parameter.dims.width();
        let low = low.at(coordinates, f64::NEG_INFINITY);
        let high = high.at(coordinates, f64::INFINITY);
        if low.is_nan() || high.is_nan() {
            return Err(NoDraw::Unknown(i));
        }
        let Some(formula) = &self.file.parameters[i].prior else {
            return match parameter.shape {
                Shape::Simplex => {
                    let mut numbers = Vec::with_capacity(parameter.len());
                    for _ in 0..parameter.dims.rows() {
                        let parts: Vec<f64> = (0..width).map(|_| -uniform().ln()).collect();
                        let sum: f64 = parts.iter().sum();
                        numbers.extend(parts.iter().map(|part| part / sum));
                    }
                    Ok(numbers)
                }
                Shape::Correlation | Shape::CorrelationFactor => Ok(draw_lkj(width, 1.0, uniform)),
                Shape::Free if low.is_finite() && high.is_finite() => {
                    let numbers = (0..parameter.len()).map(|_| low + (high - low) * uniform());
                    Ok(numbers.collect())
                }
                _ => Err(NoDraw::Flat(i)),
            };
        };
        let (names, place, mut faults) = (&self.names, Place::Shared, Vec::new());
        let mut evaluator = Evaluator { names, scope, place, faults: &mut faults, gather: None };
        let law = evaluator.law(&formula.ast).ok_or(NoDraw::Unknown(i))?;
        if let Law::Lkj { .. } = law {
            return law.draw(width, uniform).ok_or(NoDraw::Unknown(i));
        }
        let mut numbers = Vec::with_capacity(parameter.len());
        for _ in 0..parameter.dims.rows() {
            let is_ordered = parameter.shape == Shape::Ordered;
            match draw_row(&law, width, is_ordered, (low, high), uniform) {
                Ok(Some(row)) if row.iter().any(|x| x.is_nan()) => return Err(NoDraw::Flat(i)),
                Ok(Some(row)) => numbers.extend(row),
                Ok(None) => return Err(NoDraw::Unknown(i)),
                Err(()) => return Err(NoDraw::Rare(i)),
            }
        }
        Ok(numbers)
    }
}

/// Draws a vector, or a row of a matrix; None if the distribution has unknown arguments, an error if order and
/// bounds leave too little of it.
fn draw_row(
    law: &Law<'_>,
    len: usize,
    is_ordered: bool,
    bounds: (f64, f64),
    uniform: &mut impl FnMut() -> f64,
) -> Result<Option<Vec<f64>>, ()> {
    for _ in 0..MOST_TRIES {
        let drawn = if law.is_joint() {
            law.draw(len, uniform)
        } else {
            one_by_one(law, len, bounds, uniform)?
        };
        let Some(mut row) = drawn else { return Ok(None) };
        if is_ordered && law.size().is_none() {
            // All orders of identically distributed numbers are equally likely.
            row.sort_by(f64::total_cmp);
        }
        if !is_ordered || row.is_sorted() || row.iter().any(|x| x.is_nan()) {
            return Ok(Some(row));
        }
    }
    Err(())
}

/// Draws each element of a distribution between bounds; None if it has unknown arguments, an error if the bounds
/// leave too little of it.
fn one_by_one(
    law: &Law<'_>,
    len: usize,
    (low, high): (f64, f64),
    uniform: &mut impl FnMut() -> f64,
) -> Result<Option<Vec<f64>>, ()> {
    let mut numbers = Vec::with_capacity(len);
    for element in 0..len {
        let own = law.at(element);
        let mut tries = 0;
        loop {
            let Some(drawn) = own.draw(1, uniform) else { return Ok(None) };
            if drawn[0].is_nan() || low < drawn[0] && drawn[0] < high {
                numbers.extend(drawn);
                break;
            }
            tries += 1;
            if tries == MOST_TRIES {
                return Err(());
            }
        }
    }
    Ok(Some(numbers))
}

/// Why a prior cannot be drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoDraw {
    /// This parameter's prior is flat, or a draw is not a number.
    Flat(usize),
    /// The bounds of this parameter leave too little of its prior.
    Rare(usize),
    /// The prior or the bounds of this parameter depend on unknown values.
    Unknown(usize),
}

#[cfg(test)]
mod tests {
    use crate::model::Model;

    #[test]
    fn ordered_numbers_that_are_not_alike_are_drawn_until_they_are_in_order() {
        let text = "density = \"0\"\n[parameters]\n\
                    a = { prior = \"normal([0, 0.5], 1)\", support = \"ordered\", size = 2 }\n";
        let model = Model::parse("m.toml", text).unwrap_or_else(|faults| panic!("{faults}"));
        const DRAWS: usize = 4_000;
        let draws = model.prior_draws(DRAWS, 1).expect("a proper prior");
        let apart = |i: usize| draws.row(1)[i] - draws.row(0)[i];
        let mean = (0..DRAWS).map(apart).sum::<f64>() / DRAWS as f64;
        assert!((0..DRAWS).all(|i| apart(i) > 0.0));
        // Of a normal number with mean 0.5 and variance 2, given that it is positive: 0.5 + √2 φ/Φ at
        // 0.5/√2, with a standard deviation below 1. Draws put in order would have 1.198.
        assert!((mean - 1.3305).abs() < 4.0 / (DRAWS as f64).sqrt(), "{mean}");
    }
}
