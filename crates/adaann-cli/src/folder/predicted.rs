//! Predictions of a run's model, with the spread of the posterior.

use crate::{
    folder::{csv, drawn::Whose, finished::Finished},
    text::failure::usage,
};
use adaann::{model::Output, registry::Table};
use anyhow::{Context, Result};
use std::fmt::Write;

/// Maximum number of simulated values, 400 MB.
const MOST_NUMBERS: usize = 50_000_000;

/// Quantiles in the table.
const QUANTILES: [f64; 7] = [0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975];

/// Predictions of all lines of a likelihood at all rows.
pub(crate) struct Predicted {
    /// The measured column of each line.
    pub(crate) names: Vec<String>,
    /// For each line, the columns that it depends on.
    pub(crate) inputs: Vec<Vec<String>>,
    /// The name of the time, for a system of differential equations.
    pub(crate) time: Option<String>,
    /// The column that identifies subjects, if each has its own trajectory.
    pub(crate) group: Option<String>,
    pub(crate) rows: usize,
    /// The number of draws for the predictions, and whose draws they are.
    pub(crate) draws: usize,
    pub(crate) whose: Whose,
    /// Simulated measurements by line, row and draw.
    pub(crate) simulated: Vec<Vec<Vec<f64>>>,
    /// By line and row: the mean over the draws of the expected measurement.
    pub(crate) expected: Vec<Vec<f64>>,
    /// The rows: the data, or the new inputs.
    pub(crate) table: Table,
}

/// Refuses numbers of draws that do not allow predictions; with `least` = 0, 0 is allowed and means none.
pub(crate) fn check_draws(flag: &str, draws: usize, least: usize) -> Result<()> {
    if (draws == 0 && least == 0) || (2..=Output::MOST_DRAWS).contains(&draws) {
        return Ok(());
    }
    let zero = if least == 0 { "0, or " } else { "" };
    let range = format!("{zero}from 2 to {}", Output::MOST_DRAWS);
    Err(usage(format!("{flag} is {draws}, but must be {range}")))
}

/// Refuses too many simulated values.
pub(crate) fn check_size(draws: usize, rows: usize, lines: usize) -> Result<()> {
    if rows.saturating_mul(draws).saturating_mul(lines) > MOST_NUMBERS {
        return Err(usage(format!(
            "{draws} draws at {rows} rows give more than {MOST_NUMBERS} values; use fewer draws or rows"
        )));
    }
    Ok(())
}

/// Predicts at the data of a run, or at new inputs; `None` if its model has no likelihood lines.
pub(crate) fn predicted(
    finished: &Finished,
    inputs: Option<&Table>,
    draws: usize,
    seed: u64,
) -> Result<Option<Predicted>> {
    let Some(model) = finished.subject.model.as_ref() else { return Ok(None) };
    let names: Vec<String> = model.measured().into_iter().map(str::to_owned).collect();
    let Finished { drawn, whose, .. } = finished;
    let draws = draws.min(drawn.x.len()).max(2);
    let rows = inputs.map_or(model.rows(), |inputs| inputs.rows.len());
    if names.is_empty() || inputs.is_none() && rows == 0 {
        return Ok(None);
    }
    check_size(draws, rows, names.len())?;
    let Some(table) = inputs.cloned().or_else(|| model.data()) else { return Ok(None) };
    let points = drawn.chosen(*whose, draws, seed).x;
    let mut simulated = vec![vec![Vec::new(); rows]; names.len()];
    let mut expected = vec![vec![f64::NAN; rows]; names.len()];
    model
        .predict(&points, inputs, seed, &mut |prediction| {
            simulated[prediction.line][prediction.row] = prediction.simulated.to_vec();
            expected[prediction.line][prediction.row] = mean(prediction.expected);
            true
        })
        .context("cannot predict")?;
    let inputs = (0..names.len()).map(|line| model.inputs(line)).collect();
    let time = model.time().map(str::to_owned);
    let group = model.group().map(str::to_owned);
    let whose = *whose;
    Ok(Some(Predicted {
        names,
        inputs,
        time,
        group,
        rows,
        draws,
        whose,
        simulated,
        expected,
        table,
    }))
}

impl Predicted {
    /// A cell of the table; NaN if it is missing.
    pub(crate) fn cell(&self, row: usize, name: &str) -> f64 {
        let column = self.table.names.iter().position(|known| known == name);
        column.map_or(f64::NAN, |column| self.table.rows[row][column])
    }

    /// A quantile of the predicted measurements, over the draws that have one.
    pub(crate) fn quantile(&self, line: usize, row: usize, share: f64) -> f64 {
        let mut values = self.simulated[line][row].clone();
        values.retain(|x| !x.is_nan());
        values.sort_by(f64::total_cmp);
        quantile(&values, share)
    }

    /// The table of predictions.
    pub(crate) fn csv(&self) -> String {
        let names: Vec<String> = self.table.names.iter().map(|name| csv::quoted(name)).collect();
        let mut text = format!("row,{},measured,observed,expected", names.join(","));
        text += ",predicted_mean,predicted_sd";
        for share in QUANTILES {
            // 0.025 -> q025, 0.5 -> q50: names that every program accepts.
            let digits = format!("{share:.3}");
            let digits = digits.trim_start_matches("0.");
            write!(text, ",q{}", digits.strip_suffix('0').unwrap_or(digits)).expect("strings grow");
        }
        text.push('\n');
        for row in 0..self.rows {
            for (line, name) in self.names.iter().enumerate() {
                let mut values = self.simulated[line][row].clone();
                values.retain(|x| !x.is_nan());
                values.sort_by(f64::total_cmp);
                let mean = mean(&values);
                let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
                let sd = (squares / (values.len() as f64 - 1.0)).sqrt();
                write!(text, "{}", row + 1).expect("strings grow");
                let cells = self.table.rows[row].iter().copied();
                cells.for_each(|x| push(&mut text, x));
                write!(text, ",{}", csv::quoted(name)).expect("strings grow");
                for x in [self.cell(row, name), self.expected[line][row], mean, sd] {
                    push(&mut text, x);
                }
                for share in QUANTILES {
                    push(&mut text, quantile(&values, share));
                }
                text.push('\n');
            }
        }
        text
    }
}

/// Appends a cell; empty for a missing number.
fn push(text: &mut String, x: f64) {
    if x.is_nan() {
        text.push(',');
    } else {
        write!(text, ",{x:?}").expect("strings grow");
    }
}

fn mean(values: &[f64]) -> f64 {
    let finite = values.iter().filter(|x| !x.is_nan());
    finite.clone().sum::<f64>() / finite.count() as f64
}

/// A quantile of sorted numbers, with linear interpolation.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    if sorted.is_empty() {
        return f64::NAN;
    }
    let at = share * (sorted.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (at - at.floor()) * (sorted[high] - sorted[low])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let sorted = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!(
            [0.0, 0.25, 0.375, 1.0].map(|share| quantile(&sorted, share)),
            [1.0, 2.0, 3.0, 16.0]
        );
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn means_leave_out_what_is_lost() {
        assert_eq!(mean(&[1.0, f64::NAN, 5.0]), 3.0);
    }
}
