//! Events and inputs in mathematical notation.

use super::Notation;
use super::file::{At, Change, Event, Events, Shape};
use super::outline::Outline;
use crate::posterior::Effect;

impl Outline {
    /// The events and inputs of a system, line by line.
    pub(super) fn events_in_words(&self, notation: Notation) -> Vec<String> {
        let Some(ode) = &self.file.ode else { return Vec::new() };
        let mut lines: Vec<String> = Vec::new();
        for input in &ode.inputs {
            let name = notation.name(&input.name);
            lines.push(match input.shape {
                Shape::Step => format!("{name}: steps through its table"),
                Shape::Linear => format!("{name}: lines through its table"),
                Shape::Cubic => format!("{name}: a natural cubic spline through its table"),
            });
        }
        for state in &ode.states {
            let name = notation.name(&state.name);
            if let Some(lag) = &state.lag {
                lines.push(format!("doses reach {name} later by {}", notation.formula(&lag.ast)));
            }
            if let Some(fraction) = &state.fraction {
                lines.push(format!("of doses, {name} has {}", notation.formula(&fraction.ast)));
            }
        }
        match &ode.events {
            Events::None => {}
            Events::Nonmem(_) => {
                let events = self.subjects.events.iter().flatten();
                let jumps = events.filter(|event| matches!(event.effect, Effect::Jump(..))).count();
                let flows = if self.changes.flows.is_empty() { "" } else { " and infusions" };
                lines.push(format!("{jumps} doses of the data{flows}"));
            }
            Events::List(list) => {
                lines.extend(list.iter().map(|event| self.event_in_words(event, notation)));
            }
        }
        lines
    }

    fn event_in_words(&self, event: &Event, notation: Notation) -> String {
        let time = self.file.ode.as_ref().map_or(String::new(), |ode| notation.name(&ode.time));
        let at = match &event.at {
            At::Formula(formula) => notation.formula(&formula.ast),
            At::Numbers(times, _) => {
                times.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
            }
        };
        let mut line = format!("{time} = {at}");
        if let (Some(every), Some(count)) = (event.every, event.count) {
            line += &format!(" and every {every}, {count} times");
        }
        let arrow = match notation {
            Notation::Plain => "→",
            Notation::Latex => r"\to",
        };
        for (state, formula) in &event.flows {
            let (name, formula) = (notation.name(state), notation.formula(&formula.ast));
            line += &match &event.change {
                Change::Set => format!(": {name} {arrow} {formula}"),
                Change::Add => format!(": {name} {arrow} {name} + {formula}"),
                Change::Infuse(lasts) => {
                    format!(": {formula} flows into {name} for {}", notation.formula(&lasts.ast))
                }
            };
        }
        line
    }
}
