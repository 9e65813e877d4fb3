//! A way through the rows of a table: group by group, each in its order, with what is carried along it.

use super::scope::Lag;
use std::collections::HashMap;

/// A way through the rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Walk {
    /// The rows, group by group.
    pub(super) order: Vec<usize>,
    /// For each row, its place among these.
    places: Vec<usize>,
    /// For each row, how many rows of its group come before it.
    ages: Vec<usize>,
}

/// A series, understood.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    pub(super) walk: Walk,
    /// Columns of the order and of the group.
    pub(super) order: Option<usize>,
    pub(super) group: Option<usize>,
    /// The length of each state that is a vector.
    pub(super) sizes: Vec<Option<usize>>,
    /// Columns at earlier rows that formulas name.
    pub(super) lags: Vec<Lag>,
}

/// Two rows of one group that nothing puts in order.
pub(super) struct Tie(pub(super) usize, pub(super) usize);

impl Walk {
    /// Through so many rows, with a number for the order of each and one for its group, if there are any.
    /// Groups come in the order in which they are first met.
    pub(super) fn new(
        rows: usize,
        order: Option<&[f64]>,
        group: Option<&[f64]>,
    ) -> Result<Self, Tie> {
        let mut numbers: HashMap<u64, usize> = HashMap::new();
        let mut groups = vec![0; rows];
        if let Some(group) = group {
            for (row, number) in groups.iter_mut().enumerate() {
                // Zero has two signs.
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

    /// How many rows of its group come before a row.
    pub(super) fn age(&self, row: usize) -> usize {
        self.ages[row]
    }

    /// Does a row begin its group?
    pub(super) fn begins(&self, row: usize) -> bool {
        self.ages[row] == 0
    }

    /// Does a row end its group?
    pub(super) fn ends(&self, row: usize) -> bool {
        self.order.get(self.places[row] + 1).is_none_or(|&next| self.begins(next))
    }

    /// The row so many rows before, if its group has one.
    pub(super) fn back(&self, row: usize, back: usize) -> Option<usize> {
        (back <= self.ages[row]).then(|| self.order[self.places[row] - back])
    }
}
