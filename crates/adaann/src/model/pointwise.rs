//! The log likelihood row by row, for example for leave-one-out cross-validation.

use super::Model;
use super::expression::Kind;
use super::names::each_part;
use super::outline::Outline;
use super::scope::Scope;
use crate::posterior::Dynamics;
use crate::{Batch, Result};

/// The contribution of one row to the log likelihood by one term of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct RowTerm<'t> {
    /// The index of the row, from 0, in the order of the data.
    pub row: usize,
    /// The index of the term in [`Model::row_terms`].
    pub term: usize,
    /// The contribution at each point; NaN where it cannot be computed.
    pub log_likelihood: &'t [f64],
}

/// The names of the term given by a formula of rows, and of the final term of a series.
const LOG_LIKELIHOOD: &str = "log_likelihood";
const FINAL: &str = "final";

/// The arguments of `censored` by which the data tells that only a bound of a measurement is known.
const SIDES: [&str; 3] = ["left", "right", "until"];

impl Model {
    /// The names of the terms that rows of the data add to the log likelihood: the measured columns,
    /// `log_likelihood` for a formula, and `final` for the final term of a series.
    pub fn row_terms(&self) -> Vec<&str> {
        self.outline.row_terms()
    }

    /// The log likelihood row by row, at points in the target's coordinates. `see` is called with each
    /// term, and returns whether to continue. A model without data has no terms.
    ///
    /// # Errors
    /// If the points have another dimension, or the system cannot be solved.
    #[doc(alias = "pointwise log likelihood")]
    #[doc(alias = "log_lik")]
    pub fn each_row_term(
        &self,
        points: &Batch,
        see: &mut dyn FnMut(RowTerm<'_>) -> bool,
    ) -> Result<()> {
        self.outline.each_row_term(self.target.dynamics.as_ref(), points, see)
    }

    /// Does a line of the likelihood predict the values in the data? Not if `censored` marks rows of which
    /// only a bound is known.
    pub fn predicts_data(&self, line: usize) -> bool {
        self.outline.predicts_data(line)
    }
}

impl Outline {
    /// The names of the terms of rows.
    pub(super) fn row_terms(&self) -> Vec<&str> {
        let lines = self.file.likelihood.iter().map(|(name, _)| &name.text[..]);
        let formula = self.file.log_likelihood.iter().map(|_| LOG_LIKELIHOOD);
        let last = self.file.series.iter().filter_map(|series| series.last.as_ref());
        lines.chain(formula).chain(last.map(|_| FINAL)).collect()
    }

    /// Calls `see` with the contribution of each measured row, term by term; `see` returns whether to
    /// continue.
    pub(super) fn each_row_term(
        &self,
        dynamics: Option<&Dynamics>,
        points: &Batch,
        see: &mut dyn FnMut(RowTerm<'_>) -> bool,
    ) -> Result<()> {
        let file = &self.file;
        let columns: Vec<Option<usize>> =
            file.likelihood.iter().map(|(name, _)| self.data.find(&name.text)).collect();
        let last = file.series.as_ref().and_then(|series| series.last.as_ref());
        self.visit_rows(dynamics, points, None, &mut |visited, scopes| {
            let mut terms: Vec<Vec<f64>> = Vec::new();
            for (line, (_, formula)) in file.likelihood.iter().enumerate() {
                let measured = columns[line].map(|column| self.data.columns[column][visited.row]);
                let Some(y) = measured.filter(|y| !y.is_nan()) else {
                    terms.push(Vec::new());
                    continue;
                };
                let of = |scope: &mut Scope<'static>| {
                    let weight = file.weights[line].as_ref();
                    let weight = weight.map_or(1.0, |weight| self.number_of_row(scope, weight));
                    // Values with weight 0 may lie outside the support.
                    if weight == 0.0 {
                        return 0.0;
                    }
                    let law = self.law_of_row(scope, formula);
                    let log_density =
                        law.and_then(|law| law.log_density(&[y.into()]).as_constant());
                    weight * log_density.unwrap_or(f64::NAN)
                };
                terms.push(scopes.iter_mut().map(of).collect());
            }
            let of_last = last.filter(|_| visited.is_last);
            for (formula, is_there) in
                [(file.log_likelihood.as_ref(), true), (last, of_last.is_some())]
            {
                let Some(formula) = formula else { continue };
                let of = |scope| self.number_of_row(scope, formula);
                terms.push(if is_there { scopes.iter_mut().map(of).collect() } else { Vec::new() });
            }
            let row = visited.row;
            let mut there = terms.iter().enumerate().filter(|(_, values)| !values.is_empty());
            there.all(|(term, log_likelihood)| see(RowTerm { row, term, log_likelihood }))
        })
    }

    /// Does a line of the likelihood predict what was measured? Not if the data marks rows of which only a
    /// bound is known: a survival table has times of leaving the study, while predictions are times of
    /// events.
    pub(super) fn predicts_data(&self, line: usize) -> bool {
        let (_, formula) = &self.file.likelihood[line];
        let mut is_cut = false;
        self.each_formula(&formula.ast, &mut |ast| {
            each_part(ast, &mut |ast| {
                is_cut |=
                    matches!(&ast.kind, Kind::Named { name, .. } if SIDES.contains(&&name[..]));
            });
        });
        !is_cut
    }
}
