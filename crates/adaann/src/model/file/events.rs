//! Events and inputs of a system, as written in the file.

use super::keys::{EVENT, INPUT};
use super::read::{Reader, find, numbers};
use super::value::{Name, Node, Value};
use super::{At, Change, Event, Events, Input, Knots, Shape};

type Entries = [(Name, Value)];

impl Reader<'_> {
    pub(super) fn events(&mut self, value: &Value) -> Events {
        if value.text().is_some() {
            return Events::Nonmem(value.span.clone());
        }
        let list = value.list().unwrap_or_default();
        Events::List(list.iter().filter_map(|event| self.event(event)).collect())
    }

    fn event(&mut self, value: &Value) -> Option<Event> {
        let entries = value.table()?;
        let get = |key| find(entries, &EVENT, key).map(|(_, value)| value);
        let place = entries.first().map_or(value.span.clone(), |(name, _)| name.span.clone());
        let at = self.at(get("at")?)?;
        let every = get("every").and_then(Value::number);
        let count = get("count").and_then(|value| match value.node {
            Node::Whole(count) => usize::try_from(count).ok(),
            _ => None,
        });
        if every.is_some() != count.is_some() {
            let message = "a repeated event needs both `every` and `count`";
            self.error(&place, message, Some("write, for example, `every = 12, count = 7`"));
        }
        let lasts = get("for").and_then(|value| self.formula(value));
        let given: Vec<&str> =
            ["set", "add", "infuse"].into_iter().filter(|key| get(key).is_some()).collect();
        let [key] = given[..] else {
            let message = "an event needs exactly one of `set`, `add` and `infuse`";
            self.error(
                &place,
                message,
                Some("write two changes at the same time as two events, in order"),
            );
            return None;
        };
        let table = get(key)?;
        let flows: Vec<_> = table
            .table()?
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), self.formula(value)?)))
            .collect();
        if flows.is_empty() {
            self.error(&table.span, "no state is given", Some("write, for example, `{ u = 100 }`"));
            return None;
        }
        let change = match (key, lasts) {
            ("infuse", Some(lasts)) => Change::Infuse(lasts),
            ("infuse", None) => {
                self.error(
                    &table.span,
                    "`infuse` needs a `for`",
                    Some("`for` is the duration of the infusion"),
                );
                return None;
            }
            (_, Some(_)) => {
                self.error(&place, "`for` applies only to `infuse`", Some("remove it"));
                return None;
            }
            ("set", None) => Change::Set,
            _ => Change::Add,
        };
        Some(Event { at, every, count, change, flows })
    }

    fn at(&mut self, value: &Value) -> Option<At> {
        let span = value.span.clone();
        let times = match (value.list(), value.number()) {
            (Some(list), _) => numbers(list)?,
            (None, Some(number)) => vec![number],
            (None, None) => return Some(At::Formula(self.formula(value)?)),
        };
        if times.is_empty() || !times.iter().all(|time| time.is_finite()) {
            self.error(&span, "the times of an event must be finite numbers", None);
            return None;
        }
        Some(At::Numbers(times, span))
    }

    pub(super) fn inputs(&mut self, entries: &Entries) -> Vec<Input> {
        let mut inputs = Vec::new();
        for (name, value) in entries {
            match self.input(name, value.table().unwrap_or_default()) {
                Some(input) => inputs.push(input),
                None => self.unread.push(name.clone()),
            }
        }
        inputs
    }

    fn input(&mut self, name: &Name, entries: &Entries) -> Option<Input> {
        let get = |key| find(entries, &INPUT, key).map(|(_, value)| value);
        let text = |key| get(key).and_then(Value::text);
        let list = |key| get(key).and_then(Value::list).and_then(numbers);
        let shape = match text("shape") {
            Some(word) if word.text == "step" => Shape::Step,
            Some(word) if word.text == "cubic" => Shape::Cubic,
            _ => Shape::Linear,
        };
        let given = (get("file").is_some(), get("times").is_some() && get("values").is_some());
        let knots = match given {
            (true, false) => Knots::File {
                file: text("file")?,
                time: text("time"),
                value: text("value"),
                group: text("group"),
            },
            (false, true) => {
                let (times, values) = (list("times")?, list("values")?);
                if times.len() != values.len() || times.is_empty() {
                    let message =
                        format!("there are {} times and {} values", times.len(), values.len());
                    self.error(&name.span, message, Some("give one value for each time"));
                    return None;
                }
                Knots::Numbers { times, values }
            }
            _ => {
                let message = format!("the input `{}` has no knots", name.text);
                let help = "write `file = \"weather.csv\"`, or `times = [...], values = [...]`";
                self.error(&name.span, message, Some(help));
                return None;
            }
        };
        Some(Input { name: name.clone(), knots, shape })
    }
}
