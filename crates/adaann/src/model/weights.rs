//! Weights of rows.

use super::diagnostic::Report;
use super::file::Formula;
use super::outline::Outline;

impl Outline {
    /// The rows with positive weight; reports an invalid weight.
    pub(super) fn weighted_rows(
        &self,
        weight: &Formula,
        rows: &[u32],
        report: &mut Report,
    ) -> Vec<u32> {
        let mut fault = |message: String, help: Option<&str>| {
            report.error(&self.source, weight.span.clone(), message, help.map(str::to_owned));
            Vec::new()
        };
        if !self.names.reach(&weight.ast).is_of_data() {
            let help = "a weight can depend only on columns and constants";
            return fault("a weight cannot depend on parameters".to_owned(), Some(help));
        }
        let (mut scope, mut kept) = (self.data_scope(), Vec::with_capacity(rows.len()));
        for &row in rows {
            // A value that is not a number was reported with the formula.
            let Some(found) = self.data_value(&mut scope, &weight.ast, row as usize) else {
                return rows.to_vec();
            };
            if !(found >= 0.0 && found.is_finite()) {
                let number = self.data.number_of(row as usize);
                let message = format!(
                    "the weight is {found} in row {number} of the data, but must be at least 0 and \
                     finite"
                );
                return fault(message, None);
            }
            if found > 0.0 {
                kept.push(row);
            }
        }
        if kept.is_empty() && !rows.is_empty() {
            return fault("every weight is 0".to_owned(), None);
        }
        kept
    }
}
