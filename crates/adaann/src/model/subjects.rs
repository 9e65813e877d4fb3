//! Subjects: groups of rows that share a trajectory.

use super::diagnostic::Report;
use super::outline::Outline;
use crate::posterior::Subjects;

impl Outline {
    /// The column that identifies subjects.
    pub(super) fn subject_column(&self) -> Option<usize> {
        let group = self.file.ode.as_ref()?.group.as_ref()?;
        self.data.find(&group.text)
    }

    /// The subject of each row, from 0, and the sorted numbers of subjects in the file.
    fn subjects_of_rows(&self) -> Option<(Vec<u32>, Vec<f64>)> {
        let column = &self.data.columns[self.subject_column()?];
        // Treat 0 and -0 as the same number.
        let column: Vec<f64> = column.iter().map(|x| x + 0.0).collect();
        let mut names: Vec<f64> = column.iter().copied().filter(|x| !x.is_nan()).collect();
        names.sort_by(f64::total_cmp);
        names.dedup();
        let number = |x: &f64| names.binary_search_by(|name| name.total_cmp(x)).unwrap_or(0) as u32;
        Some((column.iter().map(number).collect(), names))
    }

    /// For each column, a description of where rows of a subject differ; empty without subjects.
    pub(super) fn differences(&self, report: &mut Report) -> Vec<Option<String>> {
        self.check_group(report);
        let Some((of, names)) = self.subjects_of_rows() else { return Vec::new() };
        let data = &self.data;
        let mut first = vec![usize::MAX; names.len().max(1)];
        for (row, &subject) in of.iter().enumerate().rev() {
            first[subject as usize] = row;
        }
        let difference = |(name, column): (&String, &Vec<f64>)| {
            let differs = |row: &usize| {
                let one = column[first[of[*row] as usize]];
                column[*row].to_bits() != one.to_bits()
            };
            let row = (0..column.len()).find(differs)?;
            let subject = of[row] as usize;
            let cell = |row: usize| match column[row] {
                x if x.is_nan() => "missing".to_owned(),
                x => x.to_string(),
            };
            Some(format!(
                "for subject {}, `{name}` is {} in row {} of the data, and {} in row {}",
                names.get(subject).copied().unwrap_or(f64::NAN),
                cell(first[subject]),
                data.number_of(first[subject]),
                cell(row),
                data.number_of(row)
            ))
        };
        data.names.iter().zip(&data.columns).map(difference).collect()
    }

    /// Reports a missing subject column, or gaps in it.
    fn check_group(&self, report: &mut Report) {
        let Some(group) = self.file.ode.as_ref().and_then(|ode| ode.group.as_ref()) else { return };
        if self.file.data.is_none() {
            let message = format!("without [data] there is no subject column `{}`", group.text);
            report.error(&self.source, group.span.clone(), message, None);
        }
        if self.data.names.is_empty() {
            return;
        }
        let Some(column) = self.data.find(&group.text) else {
            let message = format!("the data has no subject column `{}`", group.text);
            report.error(&self.source, group.span.clone(), message, self.column_meant(&group.text));
            return;
        };
        let rows: Vec<u32> = (0..self.data.len() as u32).collect();
        self.check_present(&[column], &rows, None, report);
    }

    /// Determines the subject of each row, and the events of each subject.
    pub(super) fn find_subjects(&mut self, report: &mut Report) {
        let (start, rows) = (self.start, self.data.len());
        self.subject_names = Vec::new();
        self.subjects = match self.subjects_of_rows() {
            None => Subjects::one(rows, start),
            Some((of, names)) => {
                let count = names.len().max(1);
                self.subject_names = names;
                Subjects {
                    of,
                    starts: vec![start; count],
                    are_grouped: true,
                    events: vec![Vec::new(); count],
                    moving: vec![Vec::new(); count],
                    stretches: vec![Vec::new(); count],
                }
            }
        };
        self.check_inputs(report);
        self.find_events(report);
    }
}
