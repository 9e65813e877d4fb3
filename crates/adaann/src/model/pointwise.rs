//! The log likelihood row by row, for what is made of it: leave-one-out cross-validation, say.

use super::Model;
use super::expression::Kind;
use super::names::each_part;
use super::outline::Outline;
use super::scope::Scope;
use crate::posterior::Dynamics;
use crate::{Batch, Result};

/// What one row adds to the log likelihood by one of the terms of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct RowTerm<'t> {
    /// The number of the row, from 0, in the order of the data.
    pub row: usize,
    /// Which term, among [`Model::row_terms`].
    pub term: usize,
    /// For each point, what it adds; NaN where it cannot be said.
    pub log_likelihood: &'t [f64],
}

/// The name of the term that a formula of rows is, and of the one of the last row of a series.
const LOG_LIKELIHOOD: &str = "log_likelihood";
const FINAL: &str = "final";

/// What says in which rows only a side of a measurement is known.
const SIDES: [&str; 3] = ["left", "right", "until"];

impl Model {
    /// The names of the terms that rows of the data add to the log likelihood: the measured columns,
    /// `log_likelihood` if a formula says it, `final` for what the last row of a series adds.
    pub fn row_terms(&self) -> Vec<&str> {
        self.outline.row_terms()
    }

    /// The log likelihood row by row, at points of the target's coordinates; `see` gets the terms one by
    /// one, and says whether to go on. A model without data has none.
    ///
    /// # Errors
    /// If the points have another dimension, or its system cannot be solved.
    #[doc(alias = "pointwise log likelihood")]
    #[doc(alias = "log_lik")]
    pub fn each_row_term(
        &self,
        points: &Batch,
        see: &mut dyn FnMut(RowTerm<'_>) -> bool,
    ) -> Result<()> {
        self.outline.each_row_term(self.target.dynamics.as_ref(), points, see)
    }

    /// Does a line of the likelihood predict what the data has? It does not where `censored` says by row
    /// that only a side of a measurement is known.
    pub fn predicts_data(&self, line: usize) -> bool {
        self.outline.predicts_data(line)
    }
}

impl Outline {
    /// The names of what rows add to the log likelihood.
    pub(super) fn row_terms(&self) -> Vec<&str> {
        let lines = self.file.likelihood.iter().map(|(name, _)| &name.text[..]);
        let formula = self.file.log_likelihood.iter().map(|_| LOG_LIKELIHOOD);
        let last = self.file.series.iter().filter_map(|series| series.last.as_ref());
        lines.chain(formula).chain(last.map(|_| FINAL)).collect()
    }

    /// Calls `see` with what each row of the data adds, term by term, where something was measured; `see`
    /// says whether to go on.
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
                    // What is not counted may be beyond what the distribution can be.
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

    /// Does a line of the likelihood predict what is measured? Not where only a side of it is known in rows
    /// that the data says: the data has times of leaving, predictions are of what would have come.
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
