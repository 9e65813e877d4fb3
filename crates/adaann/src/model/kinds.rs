//! Groups the rows of a line by how they were measured; each group has its own log density.
//!
//! The kind of each measurement is known when a model is compiled. A censored row needs no density, an
//! uncensored row needs no distribution function, and each category has its own probability.

use super::compound::{CENSORED, named};
use super::diagnostic::Report;
use super::expression::{Ast, Kind};
use super::file::{Formula, Name};
use super::outline::Outline;
use super::value::{Censoring, Law};
use crate::program::Expr;

/// A line of the likelihood: the measured column and its distribution.
#[derive(Clone, Copy)]
pub(super) struct Measured<'a> {
    pub(super) name: &'a Name,
    pub(super) column: usize,
    pub(super) formula: &'a Formula,
}

/// Log densities, each with the rows over which it is summed.
pub(super) type Kinds<'g> = Vec<(Expr<'g>, Vec<u32>)>;

/// What a measurement says about the underlying value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Itself,
    /// It is at most the limit, or the recorded value.
    BelowLimit,
    AtMost,
    /// It is at least the limit, or the recorded value.
    AboveLimit,
    AtLeast,
    /// It is above the recorded value and at most another number.
    Between,
}

impl Seen {
    const ALL: [Self; 6] = [
        Self::Itself,
        Self::BelowLimit,
        Self::AtMost,
        Self::AboveLimit,
        Self::AtLeast,
        Self::Between,
    ];
}

impl<'g> Censoring<'g> {
    /// The logarithm of the density or probability of a measurement; None if it is not available.
    fn log_p_of(&self, seen: Seen, part: &Law<'g>, y: Expr<'g>) -> Option<Expr<'g>> {
        match seen {
            Seen::Itself => Some(part.log_density(&[y])),
            Seen::BelowLimit => part.log_at_most(self.lower?),
            Seen::AtMost => part.log_at_most(y),
            Seen::AboveLimit => part.log_at_least(self.upper?),
            Seen::AtLeast => part.log_at_least(y),
            Seen::Between => part.log_after(y, self.until?),
        }
    }
}

impl Outline {
    /// A line of the likelihood as sums over the rows of each kind; reports impossible values.
    pub(super) fn kinds<'g>(
        &self,
        line: Measured<'_>,
        law: &Law<'g>,
        y: Expr<'g>,
        rows: &[u32],
        report: &mut Report,
    ) -> Kinds<'g> {
        let Measured { name, column, formula } = line;
        let value = |row: &u32| self.data.columns[column][*row as usize];
        let mut kinds: Kinds<'g> = match law {
            Law::Censored { part, limits } => {
                let seen = self.seen(column, &formula.ast, rows);
                let Some(seen) = seen else {
                    return vec![(law.log_density(&[y]), rows.to_vec())];
                };
                let of = |kind: Seen| -> Vec<u32> {
                    rows.iter().zip(&seen).filter(|(_, s)| **s == kind).map(|(r, _)| *r).collect()
                };
                self.check_values(name, column, formula, &of(Seen::Itself), report);
                self.check_intervals(line, &of(Seen::Between), report);
                let mut kinds = Vec::new();
                for kind in Seen::ALL {
                    let rows = of(kind);
                    if !rows.is_empty() {
                        let log_p = limits.log_p_of(kind, part, y);
                        kinds.push((log_p.unwrap_or_else(|| f64::NAN.into()), rows));
                    }
                }
                kinds
            }
            Law::Categorical { log_p, .. } => {
                self.check_categories(line, log_p.len(), rows, report);
                let of = |k: usize| -> Vec<u32> {
                    rows.iter().copied().filter(|row| value(row) == k as f64 + 1.0).collect()
                };
                log_p.iter().enumerate().map(|(k, &log_p)| (log_p, of(k))).collect()
            }
            Law::WithZeros { .. } => {
                self.check_values(name, column, formula, rows, report);
                let (zeros, others) = rows.iter().copied().partition(|row| value(row) == 0.0);
                vec![(law.log_p_of_zero(), zeros), (law.log_p_above_zero(y), others)]
            }
            Law::Truncated { .. } => {
                self.check_bounds(line, rows, report);
                self.check_values(name, column, formula, rows, report);
                vec![(law.log_density(&[y]), rows.to_vec())]
            }
            _ => {
                self.check_values(name, column, formula, rows, report);
                vec![(law.log_density(&[y]), rows.to_vec())]
            }
        };
        kinds.retain(|(_, rows)| !rows.is_empty());
        kinds
    }

    /// The kind of each row; None if the limits depend on more than the data.
    fn seen(&self, column: usize, ast: &Ast, rows: &[u32]) -> Option<Vec<Seen>> {
        let Kind::Call { arguments, .. } = &ast.kind else { return None };
        let limit = |name: &str| named(arguments, name);
        let all = CENSORED.map(limit);
        if all.iter().flatten().any(|ast| !self.names.reach(ast).is_of_data()) {
            return None;
        }
        let [lower, upper, left, right, until] = all;
        let mut scope = self.data_scope();
        let mut seen = Vec::with_capacity(rows.len());
        for &row in rows {
            let row = row as usize;
            let y = self.data.columns[column][row];
            let mut holds = |ast: Option<&Ast>| {
                ast.is_some_and(|ast| self.data_truth(&mut scope, ast, row).unwrap_or(false))
            };
            let (left, right) = (holds(left), holds(right));
            let mut at =
                |ast: Option<&Ast>| ast.and_then(|ast| self.data_value(&mut scope, ast, row));
            let (lower, upper, to) = (at(lower), at(upper), at(until));
            seen.push(if right || until.is_some() && to.is_none_or(f64::is_nan) {
                Seen::AtLeast
            } else if left {
                Seen::AtMost
            } else if upper.is_some_and(|upper| y >= upper) {
                Seen::AboveLimit
            } else if lower.is_some_and(|lower| y <= lower) {
                Seen::BelowLimit
            } else if until.is_some() {
                Seen::Between
            } else {
                Seen::Itself
            });
        }
        Some(seen)
    }

    /// Reports the first interval that is empty.
    fn check_intervals(&self, line: Measured<'_>, rows: &[u32], report: &mut Report) {
        let Measured { name, column, formula } = line;
        let Kind::Call { arguments, .. } = &formula.ast.kind else { return };
        let Some(until) = named(arguments, "until") else { return };
        let mut scope = self.data_scope();
        for &row in rows {
            let row = row as usize;
            let y = self.data.columns[column][row];
            let Some(to) = self.data_value(&mut scope, until, row).filter(|to| *to <= y) else {
                continue;
            };
            let number = self.data.number_of(row);
            let message =
                format!("`{}` is {y} and `until` is {to} in row {number} of the data", name.text);
            let help = "`until` must be above the measured value".to_owned();
            return self.error_at_cell(row, column, message, Some(help), report);
        }
    }

    /// Reports the first value that is not a category.
    fn check_categories(
        &self,
        Measured { name, column, .. }: Measured<'_>,
        count: usize,
        rows: &[u32],
        report: &mut Report,
    ) {
        for &row in rows {
            let row = row as usize;
            let y = self.data.columns[column][row];
            if y.is_nan() || y.fract() == 0.0 && (1.0..=count as f64).contains(&y) {
                continue;
            }
            let message = format!(
                "`{}` is {y} in row {} of the data, which is not one of the {count} categories",
                name.text,
                self.data.number_of(row)
            );
            let help = format!("categories are the whole numbers from 1 to {count}");
            return self.error_at_cell(row, column, message, Some(help), report);
        }
    }

    /// Reports the first value outside the bounds of a truncated distribution.
    fn check_bounds(&self, line: Measured<'_>, rows: &[u32], report: &mut Report) {
        let Measured { name, column, formula } = line;
        let Kind::Call { arguments, .. } = &formula.ast.kind else { return };
        let known =
            |name: &str| named(arguments, name).filter(|ast| self.names.reach(ast).is_of_data());
        let (lower, upper) = (known("lower"), known("upper"));
        let mut scope = self.data_scope();
        for &row in rows {
            let row = row as usize;
            let y = self.data.columns[column][row];
            let mut at =
                |ast: Option<&Ast>| ast.and_then(|ast| self.data_value(&mut scope, ast, row));
            let (lower, upper) = (at(lower), at(upper));
            let side = if lower.is_some_and(|lower| y < lower) {
                lower.map(|lower| format!("below its lower bound {lower}"))
            } else if upper.is_some_and(|upper| y > upper) {
                upper.map(|upper| format!("above its upper bound {upper}"))
            } else {
                None
            };
            if let Some(side) = side {
                let number = self.data.number_of(row);
                let message = format!("`{}` is {y} in row {number} of the data, {side}", name.text);
                let help = "a truncated distribution has no values beyond its bounds; use `censored` for values that are \
                            only known to lie beyond a limit";
                return self.error_at_cell(row, column, message, Some(help.to_owned()), report);
            }
        }
    }
}
