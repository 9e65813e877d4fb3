//! Events listed in a model file, and their times for each subject.

use super::changes::{Changes, Flow, Inflow, Jump, Moment, Story, as_state, number, turns};
use super::diagnostic::Report;
use super::evaluate::nearest;
use super::expression::Span;
use super::file::{At, Change, Event as Written, Events, Formula};
use super::outline::Outline;
use super::value::Plain;
use crate::ode::Solver;
use crate::posterior::{Effect, Event, MovingEvent};

/// Maximum number of events per subject; more are surely a mistake.
pub(super) const MOST_EVENTS: usize = 100_000;

/// Maximum number of events of all subjects together.
pub(super) const MOST_ALL: usize = 1_000_000;

/// Maximum number of events at times that depend on parameters; each is checked between any two stops
/// of the solver.
pub(super) const MOST_MOVING: usize = 1_000;

impl Outline {
    /// Finds the events of every subject.
    pub(super) fn find_events(&mut self, report: &mut Report) {
        let Some(ode) = &self.file.ode else { return };
        let mut changes = Changes::default();
        if !matches!(ode.events, Events::Nonmem(_)) {
            self.check_late_doses(false, report);
        }
        let stories = match &ode.events {
            Events::None => vec![Story::default(); self.subjects.starts.len()],
            Events::Nonmem(place) => self.doses(place, &mut changes, report),
            Events::List(list) => self.listed(list, &mut changes, report),
        };
        let (mut events, moving): (Vec<_>, Vec<_>) =
            stories.into_iter().map(|story| (story.events, story.moving)).unzip();
        changes.numbers = changes.flows.len();
        let mut stretches = vec![vec![0.0; changes.numbers]; events.len()];
        self.add_inputs(&mut changes, &mut events, &mut stretches);
        for (own, stretch) in events.iter_mut().zip(&mut stretches) {
            own.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.before.cmp(&b.before)));
            debug_assert_eq!(stretch.len(), changes.numbers);
        }
        self.subjects.events = events;
        self.subjects.moving = moving;
        self.subjects.stretches = stretches;
        self.changes = changes;
    }

    /// The listed events of each subject.
    fn listed(&self, list: &[Written], changes: &mut Changes, report: &mut Report) -> Vec<Story> {
        let subjects = self.subjects.starts.len();
        let (mut stories, mut inflows) =
            (vec![Story::default(); subjects], vec![Vec::new(); subjects]);
        for (e, event) in list.iter().enumerate() {
            self.check_states(event, report);
            for subject in 0..subjects {
                if let Some(formula) = self.moving_time(event, report) {
                    let moving = self.moving_events(e, event, formula, changes, report);
                    stories[subject].moving.extend(moving);
                    continue;
                }
                let times = self.times_of(event, subject, report);
                match &event.change {
                    Change::Set | Change::Add => {
                        // Events at the same time see the states as they were before.
                        let jump = number(&mut changes.jumps, Jump::Listed(e));
                        stories[subject].events.extend(times.into_iter().map(|time| Event {
                            time,
                            before: u32::MAX,
                            effect: Effect::Jump(jump, Vec::new()),
                        }));
                    }
                    Change::Infuse(lasts) => {
                        let flow = number(&mut changes.flows, Flow::Listed(e));
                        let duration = self.duration(lasts, subject, report);
                        inflows[subject].extend(times.into_iter().map(|from| Inflow {
                            flow,
                            from,
                            to: from + duration,
                            rate: 1.0,
                        }));
                    }
                }
            }
        }
        for (story, inflows) in stories.iter_mut().zip(inflows) {
            story.events.extend(turns(&inflows));
        }
        stories
    }

    /// The formula of an event's time, if it depends on parameters.
    fn moving_time<'e>(&self, event: &'e Written, report: &mut Report) -> Option<&'e Formula> {
        let At::Formula(formula) = &event.at else { return None };
        let reach = self.names.reach(&formula.ast);
        if !reach.parameters || reach.states || reach.time {
            return None;
        }
        if let Change::Infuse(lasts) = &event.change {
            let message = "the time of an infusion cannot depend on parameters";
            report.error(&self.source, lasts.span.clone(), message, None);
        }
        let knows_time = |(_, formula): &&(_, Formula)| self.names.reach(&formula.ast).time;
        if let Some((_, formula)) = event.flows.iter().find(knows_time) {
            let message = "the time of this event depends on parameters: write its formula in place \
                           of the name of time";
            report.error(&self.source, formula.span.clone(), message, None);
        }
        self.check_solver(&formula.span, report);
        Some(formula)
    }

    /// Reports that rk4 cannot stop at times that differ between samples.
    pub(super) fn check_solver(&self, place: &Span, report: &mut Report) {
        if let Some(Solver::Rk4 { .. }) = self.solver {
            let message = "the fixed steps of rk4 cannot stop at a time that depends on parameters";
            let help = Some("choose another solver: auto, dopri5 or stiff".to_owned());
            report.error(&self.source, place.clone(), message, help);
        }
    }

    /// The events at a time that depends on parameters, one for each repetition.
    fn moving_events(
        &self,
        e: usize,
        event: &Written,
        at: &Formula,
        changes: &mut Changes,
        report: &mut Report,
    ) -> Vec<MovingEvent> {
        let (count, every) = (event.count.unwrap_or(1), event.every.unwrap_or(0.0));
        if count > MOST_MOVING {
            let message =
                format!("at most {MOST_MOVING} events can have a time that depends on parameters");
            report.error(&self.source, at.span.clone(), message, None);
            return Vec::new();
        }
        let moment = number(&mut changes.moments, Moment::Listed(e));
        let jump = number(&mut changes.jumps, Jump::Listed(e));
        let one =
            |i: usize| MovingEvent { moment, after: i as f64 * every, jump, numbers: Vec::new() };
        (0..count).map(one).collect()
    }

    fn check_states(&self, event: &Written, report: &mut Report) {
        let states = || self.file.ode.iter().flat_map(|ode| &ode.states);
        for (name, _) in &event.flows {
            if as_state(self.names.find(&name.text)).is_none() && !self.names.is_partial {
                let message = format!("there is no state `{}`", name.text);
                let help = nearest(&name.text, states().map(|state| &state.name.text[..]));
                report.error(&self.source, name.span.clone(), message, help);
            }
        }
    }

    /// The times of an event for a subject.
    fn times_of(&self, event: &Written, subject: usize, report: &mut Report) -> Vec<f64> {
        let (first, span) = match &event.at {
            At::Numbers(times, span) => (times.clone(), span),
            At::Formula(formula) => (self.numbers_of(formula, subject, report), &formula.span),
        };
        let start = self.subjects.starts[subject];
        let (count, every) = (event.count.unwrap_or(1), event.every.unwrap_or(0.0));
        let all = count.saturating_mul(first.len());
        if all > MOST_EVENTS || all.saturating_mul(self.subjects.starts.len()) > MOST_ALL {
            let message = format!(
                "too many events: at most {MOST_EVENTS} for each subject, and {MOST_ALL} in all"
            );
            report.error(&self.source, span.clone(), message, None);
            return Vec::new();
        }
        let repeated = first.iter().flat_map(|t| (0..count).map(move |i| t + i as f64 * every));
        let times: Vec<f64> = repeated.collect();
        if let Some(time) = times.iter().find(|time| !(start..f64::INFINITY).contains(time)) {
            let message = format!(
                "the time of an event is {time}, but must be finite and not before the start of the \
                 system at {start}"
            );
            let help = Some("set `start` in [ode]".to_owned());
            report.error(&self.source, span.clone(), message, help);
            return Vec::new();
        }
        times
    }

    fn duration(&self, lasts: &Formula, subject: usize, report: &mut Report) -> f64 {
        let numbers = self.numbers_of(lasts, subject, report);
        match numbers[..] {
            [duration] if duration > 0.0 && duration.is_finite() => duration,
            [] => 1.0,
            _ => {
                let message = "the duration of an infusion must be one number above 0";
                report.error(&self.source, lasts.span.clone(), message, None);
                1.0
            }
        }
    }

    /// The value of a formula of constants and of columns that the rows of a subject share; reports any
    /// other formula and returns no numbers.
    pub(super) fn numbers_of(
        &self,
        formula: &Formula,
        subject: usize,
        report: &mut Report,
    ) -> Vec<f64> {
        let reach = self.names.reach(&formula.ast);
        let refuse = |message: &str, report: &mut Report| {
            report.error(&self.source, formula.span.clone(), message, None);
            Vec::new()
        };
        if reach.parameters || reach.states || reach.time {
            return refuse(
                "this must be known: it cannot depend on parameters, states or time",
                report,
            );
        }
        if reach.columns && reach.within_subject {
            return refuse(
                "the times of events can depend only on columns that all rows of a subject share",
                report,
            );
        }
        if reach.columns {
            let row = self.subjects.of.iter().position(|of| *of as usize == subject);
            return row.and_then(|row| self.row_value(&formula.ast, row)).into_iter().collect();
        }
        match self.constant_value(formula, report) {
            Plain::Number(x) => vec![x],
            Plain::Vector(x) => x,
            Plain::Matrix(_) => refuse("expected a number or a vector", report),
            Plain::Unknown => Vec::new(),
        }
    }
}
