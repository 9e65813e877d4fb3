//! The meanings of names in a model file, and their dependencies.

use super::expression::{Ast, Kind};
use super::trajectory_functions::TrajectoryFunction;
use std::collections::HashMap;

/// The meaning of a name, with its index among names of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Constant(usize),
    /// A column of the data; in a likelihood, its value at the row.
    Column(usize),
    /// A named group of columns.
    Columns(usize),
    Parameter(usize),
    Quantity(usize),
    State(usize),
    /// A state of a series.
    Carried(usize),
    /// A known curve of time.
    Input(usize),
    Time,
    /// A name whose definition could not be read, which has been reported.
    Unread,
}

/// What a value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Reach {
    pub(super) parameters: bool,
    pub(super) columns: bool,
    pub(super) time: bool,
    pub(super) states: bool,
    /// Does it differ between the rows of a subject?
    pub(super) within_subject: bool,
    /// Does it depend on whole trajectories, so that it is computed only for draws?
    pub(super) trajectories: bool,
}

impl Reach {
    fn with(self, other: Self) -> Self {
        Self {
            parameters: self.parameters || other.parameters,
            columns: self.columns || other.columns,
            time: self.time || other.time,
            states: self.states || other.states,
            within_subject: self.within_subject || other.within_subject,
            trajectories: self.trajectories || other.trajectories,
        }
    }

    /// Does it differ between the rows of the data?
    pub(super) fn is_of_rows(self) -> bool {
        self.columns || self.time || self.states
    }

    /// Is it determined by the data alone?
    pub(super) fn is_of_data(self) -> bool {
        !self.parameters && !self.states
    }
}

/// All names of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    meanings: HashMap<String, Meaning>,
    /// The dependencies of each quantity.
    quantities: Vec<Reach>,
    /// For each quantity, a description of where two rows of a subject differ.
    quantity_differences: Vec<Option<String>>,
    /// The quantities, each after its dependencies; those in a cycle are missing.
    order: Vec<usize>,
    /// For each column, a description of where two rows of a subject differ; None if the rows of every
    /// subject agree. Empty if there are no subjects.
    pub(super) differences: Vec<Option<String>>,
    /// Columns that are not kept because nothing names them.
    pub(super) others: Vec<String>,
    /// Columns of a file that may not be data, whose names are not shown.
    pub(super) secret: Vec<String>,
    /// Is a part missing that may define names? Then unknown names are not reported.
    pub(super) is_partial: bool,
}

impl Names {
    /// Adds a name; an existing meaning is kept.
    pub(super) fn add(&mut self, name: &str, meaning: Meaning) {
        self.meanings.entry(name.to_owned()).or_insert(meaning);
    }

    pub(super) fn find(&self, name: &str) -> Option<Meaning> {
        self.meanings.get(name).copied()
    }

    /// All known names that messages may show.
    pub(super) fn known(&self) -> impl Iterator<Item = &str> {
        let own = self.meanings.keys().filter(|name| !self.secret.contains(name));
        own.chain(&self.others).map(String::as_str)
    }

    /// The quantities, each after its dependencies.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// What a formula depends on.
    pub(super) fn reach(&self, ast: &Ast) -> Reach {
        let mut reach = Reach::default();
        let mut left = vec![ast];
        while let Some(ast) = left.pop() {
            match &ast.kind {
                Kind::Name(name) => {
                    reach = reach.with(self.find(name).map_or_else(Reach::default, |m| self.of(m)));
                }
                // States and times belong to the call, not to a row.
                Kind::Call { name, .. } if TrajectoryFunction::named(name).is_some() => {
                    (reach.parameters, reach.trajectories) = (true, true);
                    continue;
                }
                Kind::Call { name, .. } if name == BEFORE => reach.columns = true,
                _ => {}
            }
            left.extend(parts(ast));
        }
        reach
    }

    /// What a name depends on.
    pub(super) fn of(&self, meaning: Meaning) -> Reach {
        let nothing = Reach::default();
        match meaning {
            Meaning::Constant(_) | Meaning::Unread => nothing,
            Meaning::Parameter(_) => Reach { parameters: true, ..nothing },
            Meaning::Column(column) => {
                let within_subject = !matches!(self.differences.get(column), Some(None));
                Reach { columns: true, within_subject, ..nothing }
            }
            Meaning::Columns(_) => Reach { columns: true, within_subject: true, ..nothing },
            Meaning::Time | Meaning::Input(_) => Reach { time: true, ..nothing },
            Meaning::State(_) | Meaning::Carried(_) => {
                Reach { parameters: true, states: true, ..nothing }
            }
            Meaning::Quantity(q) => self.quantities.get(q).copied().unwrap_or(nothing),
        }
    }

    /// A description of where rows of a subject differ.
    pub(super) fn difference(&self, meaning: Meaning) -> Option<&str> {
        match meaning {
            Meaning::Column(column) => self.differences.get(column)?.as_deref(),
            Meaning::Quantity(q) => self.quantity_differences.get(q)?.as_deref(),
            _ => None,
        }
    }

    /// Sorts the quantities and finds their dependencies; returns a cycle if there is one.
    pub(super) fn order_quantities(&mut self, formulas: &[&Ast]) -> Option<Vec<usize>> {
        let needs = |formula: &&Ast| {
            let mut needed = Vec::new();
            each_name(formula, &mut |name| {
                if let Some(Meaning::Quantity(q)) = self.find(name) {
                    needed.push(q);
                }
            });
            needed
        };
        let (order, cycle) = in_order(&formulas.iter().map(needs).collect::<Vec<_>>());
        self.quantities = vec![Reach::default(); formulas.len()];
        self.quantity_differences = vec![None; formulas.len()];
        for &q in &order {
            self.quantities[q] = self.reach(formulas[q]);
            let mut difference = None;
            each_name(formulas[q], &mut |name| {
                let own = self.find(name).and_then(|meaning| self.difference(meaning));
                difference = difference.take().or(own.map(str::to_owned));
            });
            self.quantity_differences[q] = difference;
        }
        self.order = order;
        cycle
    }
}

/// Sorts items so that each comes after its dependencies. Items in cycles are left out, and one cycle is
/// the second result.
pub(super) fn in_order(needs: &[Vec<usize>]) -> (Vec<usize>, Option<Vec<usize>>) {
    let mut waiting: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut users = vec![Vec::new(); needs.len()];
    for (user, needs) in needs.iter().enumerate() {
        needs.iter().for_each(|&need| users[need].push(user));
    }
    let mut order: Vec<usize> = (0..needs.len()).filter(|&f| waiting[f] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        for &user in &users[order[at]] {
            waiting[user] -= 1;
            if waiting[user] == 0 {
                order.push(user);
            }
        }
        at += 1;
    }
    let first = waiting.iter().position(|&waiting| waiting > 0);
    let cycle = first.map(|first| cycle(needs, &waiting, first));
    (order, cycle)
}

/// A cycle that can be reached from a waiting item.
fn cycle(needs: &[Vec<usize>], waiting: &[usize], first: usize) -> Vec<usize> {
    let mut way = vec![first];
    loop {
        let last = *way.last().expect("it begins with one");
        let next = needs[last].iter().copied().find(|&need| waiting[need] > 0);
        let Some(next) = next else { return way };
        if let Some(start) = way.iter().position(|&q| q == next) {
            return way.split_off(start);
        }
        way.push(next);
    }
}

/// The function that returns a column at an earlier row.
pub(super) const BEFORE: &str = "before";

/// Calls `see` with every name that stands for a value; the column in `before` does not.
pub(super) fn each_name(ast: &Ast, see: &mut impl FnMut(&str)) {
    each_part(ast, &mut |ast| {
        if let Kind::Name(name) = &ast.kind {
            see(name);
        }
    });
}

/// Calls `see` with every call of `before`.
pub(super) fn each_before<'a>(ast: &'a Ast, see: &mut impl FnMut(&'a Ast)) {
    each_part(ast, &mut |ast| {
        if matches!(&ast.kind, Kind::Call { name, .. } if name == BEFORE) {
            see(ast);
        }
    });
}

/// Calls `see` with every part of a formula, except the columns of `before`.
pub(super) fn each_part<'a>(ast: &'a Ast, see: &mut impl FnMut(&'a Ast)) {
    // Use an explicit stack: long sums are deep trees.
    let mut left = vec![ast];
    while let Some(ast) = left.pop() {
        see(ast);
        left.extend(parts(ast));
    }
}

/// The direct parts of a formula, except the column of `before`.
fn parts(ast: &Ast) -> impl Iterator<Item = &Ast> {
    let skipped = usize::from(matches!(&ast.kind, Kind::Call { name, .. } if name == BEFORE));
    ast.children().into_iter().skip(skipped)
}

/// Calls `see` with every outermost call of a function of trajectories, and its arguments.
pub(super) fn each_trajectory<'a>(
    ast: &'a Ast,
    see: &mut impl FnMut(&'a Ast, TrajectoryFunction, &'a [Ast]),
) {
    let mut left = vec![ast];
    while let Some(ast) = left.pop() {
        if let Kind::Call { name, arguments, .. } = &ast.kind
            && let Some(function) = TrajectoryFunction::named(name)
        {
            see(ast, function, arguments);
            continue;
        }
        left.extend(parts(ast));
    }
}
