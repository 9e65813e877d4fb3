//! The lines of a model that depend on values carried from row to row.

use super::recorded::{Line, Recorded, RecordedSeries};
use crate::program::{Graph, Node, Numbered, RowInput, Source, free_of_rows, split};
use crate::series::{Argument, Likelihood, Pattern, Recursion};
use crate::{Error, Result};

/// The log likelihood terms that depend on carried values: `outside` and a function of the crossing
/// values.
pub(super) struct Carried {
    pub(super) outside: Node,
    pub(super) likelihood: Likelihood,
    pub(super) crossing: Vec<Node>,
}

/// Compiles the lines that depend on carried values, and the terms of the last rows of groups;
/// `None` if there are neither.
pub(super) fn carry(
    graph: &mut Graph,
    recorded: &Recorded,
    of: &RecordedSeries,
    lines: &[&Line],
) -> Result<Option<Carried>> {
    let has_rows = lines.iter().any(|line| !line.rows.is_empty());
    if of.order.is_empty() || !has_rows && of.last.is_none() {
        return Ok(None);
    }
    check(graph, recorded, of, lines)?;
    let inputs = recorded.inputs();
    let groups = of.begins.iter().filter(|begins| **begins).count();
    let of_lines = lines.iter().map(|line| (line.log_density, line.rows.len()));
    let terms: Vec<_> = of_lines.chain(of.last.map(|last| (last, groups))).collect();
    let mut outside = graph.constant(0.0);
    let mut outputs = [&of.start[..], &of.next].concat();
    for (term, rows) in terms {
        let (free, rest) = free_of_rows(graph, inputs, term);
        let count = graph.constant(rows as f64);
        let counted = graph.mul(count, free);
        outside = graph.add(outside, counted);
        outputs.push(rest);
    }
    let part = split(graph, inputs, &outputs);
    let (mut crossing, mut gathers) = (Numbered::default(), Vec::new());
    let argument = |source: &Source| match *source {
        Source::Crossing(node) => Argument::Parameter(crossing.number(node) as usize),
        Source::Row(RowInput::Gather(gather)) => {
            gathers.push(gather);
            Argument::Element(gathers.len() - 1)
        }
        Source::Row(RowInput::Carried(number)) => Argument::State(number),
        Source::Row(_) => unreachable!("numbers of a row are uniforms, and there is no system"),
    };
    let arguments = part.inputs.iter().map(argument).collect();
    let parameters = crossing.items.len();
    let mut taken = Vec::new();
    for &row in &of.order {
        for &gather in &gathers {
            let gather = &recorded.gathers[gather];
            taken.push(crossing.number(gather.vector[gather.index[row as usize] as usize]));
        }
    }
    let (patterns, rows) = patterns(of, lines);
    let recursion = Recursion {
        uniforms: recorded.data(&of.order).uniforms(&part.uniforms),
        part,
        arguments,
        states: of.next.len(),
        parameters,
        elements: gathers.len(),
        patterns,
        rows,
        taken,
    };
    let likelihood = Likelihood::new(&recursion);
    Ok(Some(Carried { outside, likelihood, crossing: crossing.items }))
}

/// The computation of each row, in the order of the loop: its lines and, at the end of a group, the
/// last term.
fn patterns(of: &RecordedSeries, lines: &[&Line]) -> (Vec<Pattern>, Vec<u32>) {
    let most = of.order.iter().map(|row| *row as usize + 1).max().unwrap_or(0);
    let mut terms = vec![vec![false; lines.len()]; most];
    for (number, line) in lines.iter().enumerate() {
        for row in &line.rows {
            if let Some(terms) = terms.get_mut(*row as usize) {
                terms[number] = true;
            }
        }
    }
    let (mut patterns, mut rows): (Vec<Pattern>, Vec<u32>) = (Vec::new(), Vec::new());
    for (at, &row) in of.order.iter().enumerate() {
        let mut terms = terms[row as usize].clone();
        if of.last.is_some() {
            terms.push(of.begins.get(at + 1).is_none_or(|begins| *begins));
        }
        let pattern = Pattern { is_first: of.begins[at], terms };
        let known = patterns.iter().position(|known| *known == pattern);
        rows.push(known.unwrap_or(patterns.len()) as u32);
        if known.is_none() {
            patterns.push(pattern);
        }
    }
    (patterns, rows)
}

/// Refuses a recursion that the loop over the rows cannot compute.
fn check(graph: &Graph, recorded: &Recorded, of: &RecordedSeries, lines: &[&Line]) -> Result<()> {
    let inputs = recorded.inputs();
    let refuse = |why: &str| Err(Error::Target(why.to_owned()));
    let (sees_carried, sees_states) = (inputs.see_carried(graph), inputs.see_states(graph));
    if of.start.iter().any(|node| sees_carried(*node)) {
        return refuse("the start of a series depends on its carried values");
    }
    let nodes = of.start.iter().chain(&of.next).chain(&of.last).copied();
    if nodes.chain(lines.iter().map(|line| line.log_density)).any(sees_states) {
        return refuse("a likelihood line cannot use both a series and a system of equations");
    }
    let rows = recorded.rows();
    if of.order.len() != of.begins.len() || of.begins.first() != Some(&true) {
        return refuse("the first row of a series must begin a group");
    }
    if let Some(row) = of.order.iter().find(|row| **row as usize >= rows) {
        return Err(Error::Data(format!("a series refers to row {} of {rows}", row + 1)));
    }
    Ok(())
}
