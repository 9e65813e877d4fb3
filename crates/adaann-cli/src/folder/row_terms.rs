//! The log likelihood of each row of the data at a run's draws.

use crate::folder::{finished::Finished, predicted::check_size};
use anyhow::{Context, Result};

/// The terms of all rows.
pub(crate) struct RowTerms {
    pub(crate) draws: usize,
    /// Number of rows of the data.
    pub(crate) data_rows: usize,
    pub(crate) terms: Vec<Term>,
}

/// The terms of one line of a likelihood.
pub(crate) struct Term {
    pub(crate) name: String,
    /// The rows with a term, in the order of the data, each with its values at the draws.
    pub(crate) rows: Vec<(usize, Vec<f64>)>,
}

/// The terms at some of a run's draws; `None` if its model has no rows.
pub(crate) fn row_terms(finished: &Finished, draws: usize, seed: u64) -> Result<Option<RowTerms>> {
    let Some(model) = finished.subject.model.as_ref() else { return Ok(None) };
    let names = model.row_terms();
    let data_rows = model.rows();
    if names.is_empty() || data_rows == 0 {
        return Ok(None);
    }
    let Finished { drawn, whose, .. } = finished;
    let draws = draws.min(drawn.x.len()).max(2);
    check_size(draws, data_rows, names.len())?;
    let term = |name: &&str| Term { name: (*name).to_owned(), rows: Vec::new() };
    let mut terms: Vec<Term> = names.iter().map(term).collect();
    model
        .each_row_term(&drawn.chosen(*whose, draws, seed).x, &mut |found| {
            terms[found.term].rows.push((found.row, found.log_likelihood.to_vec()));
            true
        })
        .context("cannot compute the log likelihood row by row")?;
    for term in &mut terms {
        term.rows.sort_by_key(|(row, _)| *row);
    }
    terms.retain(|term| !term.rows.is_empty());
    Ok((!terms.is_empty()).then_some(RowTerms { draws, data_rows, terms }))
}
