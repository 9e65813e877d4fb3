//! The table `series`: states that are updated from row to row.

use super::keys::{CARRY, SERIES};
use super::read::{Reader, find};
use super::value::{Name, Node, Value};
use super::{Carried, Series};

impl Reader<'_> {
    pub(super) fn series(&mut self, name: &Name, entries: &[(Name, Value)]) -> Option<Series> {
        let get = |key| find(entries, &SERIES, key).map(|(_, value)| value);
        let skip = get("skip").and_then(|value| match value.node {
            Node::Whole(rows) => usize::try_from(rows).ok(),
            _ => None,
        });
        let last = get("final").and_then(|value| self.formula(value));
        let states = self.carried(get("states").and_then(Value::table).unwrap_or_default());
        Some(Series {
            span: name.span.clone(),
            order: get("order").and_then(Value::text),
            group: get("group").and_then(Value::text),
            skip: skip.unwrap_or(0),
            states,
            last,
        })
    }

    fn carried(&mut self, entries: &[(Name, Value)]) -> Vec<Carried> {
        let mut states = Vec::new();
        for (name, value) in entries {
            let table = value.table().unwrap_or_default();
            let mut formula = |key| {
                let (_, value) = find(table, &CARRY, key)?;
                self.formula(value)
            };
            let size = formula("size");
            match (formula("start"), formula("next")) {
                (Some(start), Some(next)) => {
                    states.push(Carried { name: name.clone(), size, start, next });
                }
                _ => self.unread.push(name.clone()),
            }
        }
        states
    }
}
