//! Records the changes to a system: jumps, inflows, and times that depend on parameters.

use super::changes::{Flow, Jump, Moment, as_state};
use super::file::{At, Change, Event, Events};
use super::record::Recorder;
use super::scope::Place;
use crate::program::Expr;

impl<'g> Recorder<'_, 'g> {
    /// The rates including inflows, and the states after each kind of jump.
    pub(super) fn changes(
        &mut self,
        mut rates: Vec<Expr<'g>>,
        initial: &[Expr<'g>],
    ) -> (Vec<Expr<'g>>, Vec<Vec<Expr<'g>>>) {
        let (outline, graph, layout) = (self.outline, self.graph, self.layout);
        let listed = |e: usize| match &outline.file.ode.as_ref()?.events {
            Events::List(list) => list.get(e),
            _ => None,
        };
        let states = self.scope.states.clone();
        // If rates or start values are missing, a mistake has been reported.
        if rates.len() != states.len() || initial.len() != states.len() || states.is_empty() {
            return (rates, Vec::new());
        }
        for (i, flow) in outline.changes.flows.iter().enumerate() {
            let size = Expr::input(graph, (layout.stretch + i) as u32);
            match *flow {
                Flow::Infusion(state) => rates[state] += size * self.fraction(state),
                Flow::Listed(e) => {
                    for (state, rate) in self.flows(listed(e), Place::Rate) {
                        rates[state] += size * rate;
                    }
                }
            }
        }
        let mut jumps = Vec::new();
        for jump in &outline.changes.jumps {
            let mut to = states.clone();
            match *jump {
                Jump::Dose(state) => {
                    to[state] += Expr::input(graph, layout.event as u32) * self.fraction(state);
                }
                Jump::Reset => to.copy_from_slice(initial),
                Jump::Listed(e) => {
                    let event = listed(e);
                    let adds = event.is_some_and(|event| matches!(event.change, Change::Add));
                    for (state, value) in self.flows(event, Place::Rate) {
                        to[state] = if adds { states[state] + value } else { value };
                    }
                }
            }
            jumps.push(to);
        }
        (rates, jumps)
    }

    /// The fraction of a dose that arrives in a state.
    fn fraction(&mut self, state: usize) -> Expr<'g> {
        let ode = self.outline.file.ode.as_ref();
        let formula = ode.and_then(|ode| ode.states[state].fraction.as_ref());
        formula.and_then(|formula| self.number(formula, Place::Start)).unwrap_or(1.0.into())
    }

    /// Times of events that depend on parameters.
    pub(super) fn moments(&mut self) -> Vec<Expr<'g>> {
        let Some(ode) = &self.outline.file.ode else { return Vec::new() };
        let formula = |moment: &Moment| match (*moment, &ode.events) {
            (Moment::Lag(state), _) => ode.states[state].lag.as_ref(),
            (Moment::Listed(e), Events::List(list)) => match &list[e].at {
                At::Formula(formula) => Some(formula),
                At::Numbers(..) => None,
            },
            (Moment::Listed(_), _) => None,
        };
        let moments = self.outline.changes.moments.iter().filter_map(formula);
        moments.filter_map(|formula| self.number(formula, Place::Start)).collect()
    }

    /// The states of an event, with the values of their formulas.
    fn flows(&mut self, event: Option<&Event>, place: Place) -> Vec<(usize, Expr<'g>)> {
        let mut flows = Vec::new();
        for (name, formula) in event.iter().flat_map(|event| &event.flows) {
            let value = self.number(formula, place);
            flows.extend(as_state(self.outline.names.find(&name.text)).zip(value));
        }
        flows
    }
}
