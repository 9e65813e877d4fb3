//! The order of rows in series: group by group, each group in its own order.

use super::scope::Lag;
use std::collections::HashMap;

/// An order of the rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Walk {
    /// The rows, group by group.
    pub(super) order: Vec<usize>,
    /// For each row, its position in this order.
    places: Vec<usize>,
    /// For each row, the number of rows of its group that come before it.
    ages: Vec<usize>,
}

/// The resolved series of a model.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    pub(super) walk: Walk,
    /// The columns of order and group.
    pub(super) order: Option<usize>,
    pub(super) group: Option<usize>,
    /// The size of each state that is a vector.
    pub(super) sizes: Vec<Option<usize>>,
    /// The lags that formulas use.
    pub(super) lags: Vec<Lag>,
}

/// Two rows of one group whose order is not defined.
pub(super) struct Tie(pub(super) usize, pub(super) usize);

impl Walk {
    /// Orders a number of rows, with the values of the columns of order and group, if any. Groups come in
    /// the order of their first rows.
    pub(super) fn new(
        rows: usize,
        order: Option<&[f64]>,
        group: Option<&[f64]>,
    ) -> Result<Self, Tie> {
        let mut numbers: HashMap<u64, usize> = HashMap::new();
        let mut groups = vec![0; rows];
        if let Some(group) = group {
            for (row, number) in groups.iter_mut().enumerate() {
                // Treat 0 and -0 as the same number.
                let bits = (group[row] + 0.0).to_bits();
                let next = numbers.len();
                *number = *numbers.entry(bits).or_insert(next);
            }
        }
        let mut walk: Vec<usize> = (0..rows).collect();
        let at = |row: usize| order.map_or(0.0, |order| order[row]);
        walk.sort_by(|&a, &b| groups[a].cmp(&groups[b]).then(at(a).total_cmp(&at(b))));
        let (mut places, mut ages) = (vec![0; rows], vec![0; rows]);
        for (place, &row) in walk.iter().enumerate() {
            places[row] = place;
            let Some(&before) = place.checked_sub(1).and_then(|place| walk.get(place)) else {
                continue;
            };
            if groups[before] == groups[row] {
                ages[row] = ages[before] + 1;
                if order.is_some() && at(before) == at(row) {
                    return Err(Tie(before, row));
                }
            }
        }
        Ok(Self { order: walk, places, ages })
    }

    /// The number of rows of its group that come before a row.
    pub(super) fn age(&self, row: usize) -> usize {
        self.ages[row]
    }

    /// Is a row the first of its group?
    pub(super) fn begins(&self, row: usize) -> bool {
        self.ages[row] == 0
    }

    /// Is a row the last of its group?
    pub(super) fn ends(&self, row: usize) -> bool {
        self.order.get(self.places[row] + 1).is_none_or(|&next| self.begins(next))
    }

    /// The row that is `back` rows earlier, if its group has one.
    pub(super) fn back(&self, row: usize, back: usize) -> Option<usize> {
        (back <= self.ages[row]).then(|| self.order[self.places[row] - back])
    }
}
