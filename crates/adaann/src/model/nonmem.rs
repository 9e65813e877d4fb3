//! Doses in rows of the data, in NONMEM's convention.

use super::changes::{Changes, Flow, Inflow, Jump, Moment, Story, number, turns};
use super::diagnostic::Report;
use super::events::{MOST_ALL, MOST_EVENTS, MOST_MOVING};
use super::expression::Span;
use super::outline::Outline;
use crate::posterior::{Effect, Event, MovingEvent};

/// The columns of the convention, by their index in the data.
struct Columns {
    amt: Option<usize>,
    rate: Option<usize>,
    evid: Option<usize>,
    cmt: Option<usize>,
    ii: Option<usize>,
    addl: Option<usize>,
    ss: Option<usize>,
    mdv: Option<usize>,
}

/// The doses of a subject.
#[derive(Default)]
struct Orders {
    events: Vec<Event>,
    moving: Vec<MovingEvent>,
    inflows: Vec<Inflow>,
    /// Of the rows so far, the one that comes last in the file.
    latest: Option<usize>,
}

/// A dosing row, in NONMEM's terms.
struct Record {
    row: usize,
    time: f64,
    state: usize,
    amount: f64,
    rate: f64,
    /// The number of repetitions, and the interval between them.
    repeats: usize,
    interval: f64,
}

impl Outline {
    fn nonmem_columns(&self) -> Columns {
        let find = |name: &str| self.data.names.iter().position(|n| n.eq_ignore_ascii_case(name));
        Columns {
            amt: find("AMT"),
            rate: find("RATE"),
            evid: find("EVID"),
            cmt: find("CMT"),
            ii: find("II"),
            addl: find("ADDL"),
            ss: find("SS"),
            mdv: find("MDV"),
        }
    }

    /// The columns that doses are read from.
    pub(super) fn columns_of_doses(&self) -> Vec<usize> {
        let Columns { amt, rate, evid, cmt, ii, addl, ss, mdv } = self.nonmem_columns();
        [amt, rate, evid, cmt, ii, addl, ss, mdv].into_iter().flatten().collect()
    }

    /// The doses of each subject; notes which rows are not measurements.
    pub(super) fn doses(
        &self,
        place: &Span,
        changes: &mut Changes,
        report: &mut Report,
    ) -> Vec<Story> {
        self.check_late_doses(true, report);
        let columns = self.nonmem_columns();
        let mut orders: Vec<Orders> = Vec::new();
        orders.resize_with(self.subjects.starts.len(), Orders::default);
        if self.file.data.is_none() {
            let message = "events = \"nonmem\" needs [data] with a column AMT";
            report.error(&self.source, place.clone(), message, None);
        }
        if columns.amt.is_none() && !self.data.names.is_empty() {
            let message = "the data has no column AMT, which events = \"nonmem\" needs";
            let help = self.data.columns_in_words();
            report.error(&self.source, place.clone(), message, help);
        }
        let Some(time) = self.time else { return vec![Story::default(); orders.len()] };
        let (are_sound, mut total) = (self.check_columns(&columns, report), 0);
        for row in 0..self.data.len() {
            let cell = |column: Option<usize>| match column.map(|c| self.data.columns[c][row]) {
                Some(x) if !x.is_nan() => x,
                _ => 0.0,
            };
            let (amount, time) = (cell(columns.amt), self.data.columns[time][row]);
            let evid = match columns.evid {
                Some(_) => cell(columns.evid),
                None => f64::from(u8::from(amount != 0.0)),
            };
            if evid != 0.0 || cell(columns.mdv) != 0.0 {
                changes.unmeasured.push(row as u32);
            }
            if !are_sound {
                continue;
            }
            let orders = &mut orders[self.subjects.of[row] as usize];
            if evid == 3.0 || evid == 4.0 {
                self.check_reset(row, orders.latest, report);
                if self.settle > 0.0 {
                    let message = "a reset cannot be combined with `settle`: after it, the system would have to \
                                   settle again";
                    let help = "remove `settle` from [ode], or remove the reset".to_owned();
                    let column = columns.evid.unwrap_or(0);
                    self.error_at_cell(row, column, message.to_owned(), Some(help), report);
                }
                if !orders.moving.is_empty() {
                    let message = "a reset cannot follow doses whose lag depends on parameters: which of them are \
                                   still to arrive is not known";
                    self.error_at_cell(
                        row,
                        columns.evid.unwrap_or(0),
                        message.to_owned(),
                        None,
                        report,
                    );
                }
                orders.reset(row, time, number(&mut changes.jumps, Jump::Reset));
            }
            let number = |row: usize| self.data.number_of(row);
            orders.latest =
                orders.latest.filter(|other| number(*other) > number(row)).or(Some(row));
            if evid != 1.0 && evid != 4.0 {
                continue;
            }
            total += 1 + cell(columns.addl) as usize;
            if total > MOST_ALL {
                let message = format!("the data has more than {MOST_ALL} doses");
                self.error_at_cell(row, columns.addl.unwrap_or(0), message, None, report);
                break;
            }
            let record = Record {
                row,
                time,
                state: (cell(columns.cmt).max(1.0) - 1.0) as usize,
                amount,
                rate: cell(columns.rate),
                repeats: cell(columns.addl) as usize,
                interval: cell(columns.ii),
            };
            if let Err((column, message)) = self.order(&record, &columns, orders, changes) {
                let message = format!("{message}, in row {} of the data", self.data.number_of(row));
                self.error_at_cell(row, column, message, None, report);
                break;
            }
        }
        let story = |Orders { events, moving, inflows, .. }: Orders| Story {
            events: [events, turns(&inflows)].concat(),
            moving,
        };
        orders.into_iter().map(story).collect()
    }

    /// Reports the first invalid cell of each column; returns whether there is none.
    fn check_columns(&self, columns: &Columns, report: &mut Report) -> bool {
        let states = self.file.ode.as_ref().map_or(0, |ode| ode.states.len()) as f64;
        let is_whole = |x: f64| x.fract() == 0.0;
        let count = MOST_EVENTS as f64;
        type Test<'t> = &'t dyn Fn(f64) -> bool;
        let cases: [(Option<usize>, Test<'_>, String); 8] = [
            (columns.amt, &|x| x >= 0.0 && x.is_finite(), "at least 0".into()),
            (
                columns.rate,
                &|x| x >= 0.0 && x.is_finite(),
                "at least 0: rates and durations as parameters (-1, -2) are not supported".into(),
            ),
            (columns.evid, &|x| is_whole(x) && (0.0..=4.0).contains(&x), "0, 1, 2, 3 or 4".into()),
            (
                columns.cmt,
                &|x| is_whole(x) && (0.0..=states).contains(&x),
                format!("the number of a state, 1 to {states}, in the order of the file"),
            ),
            (columns.ii, &|x| x >= 0.0 && x.is_finite(), "at least 0".into()),
            (
                columns.addl,
                &|x| is_whole(x) && (0.0..=count).contains(&x),
                format!("a whole number from 0 to {count}"),
            ),
            (
                columns.ss,
                &|x| x == 0.0,
                "0: steady-state doses are not supported; give earlier doses by ADDL and II".into(),
            ),
            (columns.mdv, &|x| x == 0.0 || x == 1.0, "0 or 1".into()),
        ];
        let mut are_sound = true;
        for (column, test, expected) in cases {
            let Some(column) = column else { continue };
            let values = &self.data.columns[column];
            let wrong = values.iter().position(|x| !x.is_nan() && !test(*x));
            let Some(row) = self.data.strange(column).or(wrong) else { continue };
            let name = &self.data.names[column];
            let found = if values[row].is_nan() {
                "not a number".to_owned()
            } else {
                values[row].to_string()
            };
            let number = self.data.number_of(row);
            let message =
                format!("`{name}` is {found} in row {number} of the data, but must be {expected}");
            self.error_at_cell(row, column, message, None, report);
            are_sound = false;
        }
        are_sound
    }

    /// Reports a time that goes back after a reset. Rows are sorted by time here, so a row that follows the reset
    /// in the file but has an earlier time comes before it; that is `latest`.
    fn check_reset(&self, row: usize, latest: Option<usize>, report: &mut Report) {
        let (Some(time), data) = (self.time, &self.data) else { return };
        let Some(other) = latest.filter(|other| data.number_of(*other) > data.number_of(row))
        else {
            return;
        };
        let message = format!(
            "row {} of the data follows the reset in row {} but has an earlier time: the time of a system cannot \
             go back",
            data.number_of(other),
            data.number_of(row)
        );
        let help =
            Some("give the rows after the reset a subject of their own, or later times".to_owned());
        self.error_at_cell(other, time, message, help, report);
    }

    /// The lag of doses into a state; None if it depends on parameters.
    fn lag_of(&self, state: usize, subject: usize) -> Option<f64> {
        let lag = self.file.ode.as_ref().and_then(|ode| ode.states.get(state)?.lag.as_ref());
        let Some(lag) = lag else { return Some(0.0) };
        if self.names.reach(&lag.ast).parameters {
            return None;
        }
        // Mistakes in it have been reported.
        self.numbers_of(lag, subject, &mut Report::default()).first().copied().or(Some(0.0))
    }

    /// Reports mistakes in lags and fractions, and lags and fractions without doses.
    pub(super) fn check_late_doses(&self, has_doses: bool, report: &mut Report) {
        for state in self.file.ode.iter().flat_map(|ode| &ode.states) {
            let Some(formula) = state.of_doses().next() else { continue };
            if !has_doses {
                let message = "this applies only to doses in rows of the data";
                let help = "set events = \"nonmem\" in [ode], or list each dose at the time when it \
                            arrives";
                report.error(&self.source, formula.span.clone(), message, Some(help.to_owned()));
                continue;
            }
            let Some(lag) = &state.lag else { continue };
            match self.names.reach(&lag.ast).parameters {
                true => self.check_solver(&lag.span, report),
                false => drop(self.numbers_of(lag, 0, report)),
            }
        }
    }

    /// Adds a dose and its repetitions; an error names the column and the mistake.
    fn order(
        &self,
        record: &Record,
        columns: &Columns,
        orders: &mut Orders,
        changes: &mut Changes,
    ) -> Result<(), (usize, String)> {
        let Record { row, time, state, amount, rate, repeats, interval } = *record;
        let fault = |column: Option<usize>, message: &str| {
            Err((column.or(self.time).unwrap_or(0), message.to_owned()))
        };
        if time.is_nan() {
            return fault(self.time, "a dose has no time");
        }
        if repeats > 0 && interval <= 0.0 {
            return fault(columns.addl, "a repeated dose needs an interval II above 0");
        }
        if rate > 0.0 && amount <= 0.0 {
            return fault(columns.rate, "an infusion needs an amount AMT above 0");
        }
        if orders.events.len() + orders.inflows.len() + repeats > MOST_EVENTS {
            return fault(columns.addl, &format!("a subject has more than {MOST_EVENTS} doses"));
        }
        if orders.moving.len() + repeats > MOST_MOVING {
            let message = format!(
                "a subject has more than {MOST_MOVING} doses with a lag that depends on parameters"
            );
            return fault(columns.addl, &message);
        }
        let lag = self.lag_of(state, self.subjects.of[row] as usize);
        for i in 0..=repeats {
            let time = time + i as f64 * interval;
            let jump = |changes: &mut Changes| number(&mut changes.jumps, Jump::Dose(state));
            let time = match lag {
                Some(lag) if lag >= 0.0 => time + lag,
                Some(_) => return fault(None, "the lag of a dose is negative"),
                None if rate > 0.0 => {
                    return fault(
                        columns.rate,
                        "an infusion cannot go into a state whose lag depends on parameters",
                    );
                }
                None => {
                    let moment = number(&mut changes.moments, Moment::Lag(state));
                    let (jump, numbers) = (jump(changes), vec![amount]);
                    orders.moving.push(MovingEvent { moment, after: time, jump, numbers });
                    continue;
                }
            };
            if rate > 0.0 {
                let flow = number(&mut changes.flows, Flow::Infusion(state));
                orders.inflows.push(Inflow { flow, from: time, to: time + amount / rate, rate });
            } else {
                let effect = Effect::Jump(jump(changes), vec![amount]);
                orders.events.push(Event { time, before: row as u32, effect });
            }
        }
        Ok(())
    }
}

impl Orders {
    /// Resets the system at a time: doses and infusions after it are cancelled.
    fn reset(&mut self, row: usize, time: f64, jump: usize) {
        self.events.retain(|event| event.time <= time);
        self.inflows.retain(|inflow| inflow.from < time);
        self.inflows.iter_mut().for_each(|inflow| inflow.to = inflow.to.min(time));
        let effect = Effect::Jump(jump, Vec::new());
        self.events.push(Event { time, before: row as u32, effect });
    }
}
