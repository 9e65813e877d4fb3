//! Sums over the rows of a table, and their derivatives, as loops for any number of rows.
//!
//! Only the row-dependent part of Σ_rows f stays in the loop. Terms independent of the row count n
//! times, and factors independent of it move in front of the sum. Terms that are affine in
//! row-independent values, with numbers of the row as coefficients, are summed to one such term in
//! advance. Affine values inside the rest, mostly linear predictors, are computed as matrix
//! products with a block of samples at a time, and so is the backward pass from their slopes.

mod add_up;
mod compress;
mod form;
mod pass;
mod product;
mod row_graph;
#[cfg(test)]
mod tests;

pub(crate) use row_graph::{Data, Gather};

use super::affine::{affine, separate};
use super::graph::Graph;
use super::op::{Node, Op};
use super::prepared::Rows;
use super::run::Block;
use super::split::{Inputs, Numbered, Source, split};
use super::terms::{Terms, terms};
use fearless_simd::Simd;
use form::{Form, FormRoom};
use pass::{Entering, Pass, PassRoom, Samples};
use product::add_scaled;
use row_graph::RowGraph;

/// Σ_rows f = outside + Σ_k factor_k·S_k(crossing values), as nodes of the recorded graph.
#[derive(Debug)]
pub(crate) struct Summed {
    pub(crate) outside: Node,
    /// The remaining sums; `None` if nothing is left to loop over.
    pub(crate) sum: Option<RowSum>,
    /// The factor of each sum; `None` stands for 1.
    pub(crate) factors: Vec<Option<Node>>,
    /// The arguments of the sums.
    pub(crate) crossing: Vec<Node>,
}

/// Records Σ_rows `value`, which does not depend on the states of a system.
pub(crate) fn sum_over_rows(
    graph: &mut Graph,
    inputs: Inputs<'_>,
    data: Data<'_>,
    value: Node,
) -> Summed {
    let mut outside = graph.constant(0.0);
    let (mut factors, mut crossing) = (Vec::new(), Vec::new());
    if data.rows.is_empty() {
        return Summed { outside, sum: None, factors, crossing };
    }
    let with_row = inputs.change_with_row(graph);
    let Terms { free, groups } = terms(graph, &with_row, value);
    let count = graph.constant(data.rows.len() as f64);
    for term in free {
        let counted = graph.mul(count, term);
        outside = graph.add(outside, counted);
    }
    let sums: Vec<Node> = groups.iter().map(|group| group.sum).collect();
    let part = split(graph, inputs, &sums);
    let mut row = RowGraph {
        graph: part.graph,
        sources: part.inputs,
        uniforms: data.uniforms(&part.uniforms),
        width: part.uniforms.len(),
        data,
    };
    let mut left = Vec::new();
    for (group, sum) in groups.iter().zip(part.outputs) {
        let [affine, rest] = separate(&mut row.graph, sum);
        if let Some(affine) = affine {
            let total = row.total(graph, affine);
            let term = group.factor.map_or(total, |factor| graph.mul(factor, total));
            outside = graph.add(outside, term);
        }
        if let Some(rest) = rest {
            left.push(rest);
            factors.push(group.factor);
        }
    }
    let sum = (!left.is_empty()).then(|| {
        let sum;
        (sum, crossing) = RowSum::new(row, left);
        sum
    });
    Summed { outside, sum, factors, crossing }
}

/// Compiled sums over rows: from row-independent values to the sums and their slopes.
#[derive(Debug)]
pub(crate) struct RowSum {
    sums: usize,
    forms: Vec<Form>,
    /// Crossing values that are used outside of forms.
    plain: Vec<usize>,
    value: Pass,
    gradient: Pass,
}

/// The memory that a thread needs to run one.
#[derive(Debug)]
pub(crate) struct RowSumRoom {
    forms: Vec<FormRoom>,
    value: PassRoom,
    gradient: PassRoom,
    sums: Rows,
}

impl RowSum {
    /// Compiles Σ_rows of some nodes; also returns their arguments.
    fn new(mut row: RowGraph<'_>, mut left: Vec<Node>) -> (Self, Vec<Node>) {
        let mut crossing: Numbered<Node> = Numbered::default();
        let (mut forms, mut plain) = (Vec::new(), Vec::new());
        for node in entering(&row.graph, &left) {
            match row.graph.op(node) {
                Op::Input(input) if let Source::Crossing(of) = row.sources[input as usize] => {
                    plain.push((node, crossing.number(of) as usize));
                }
                _ => forms.push(node),
            }
        }
        let mut built: Vec<Form> =
            forms.iter().map(|&form| Form::new(&mut row, form, &mut crossing)).collect();
        let mut rows = row.data.rows.len();
        if let ([form], [], [sum]) = (&mut built[..], &plain[..], &mut left[..])
            && let Some(scale) = compress::scale_of_square(&mut row.graph, forms[0], *sum)
            && let Some(sign) = form.compress(&row.tabulate(&[scale]))
        {
            let square = row.graph.mul(forms[0], forms[0]);
            let sign = row.graph.constant(sign);
            *sum = row.graph.mul(sign, square);
            rows = form.rows();
        }
        let plain_nodes: Vec<Node> = plain.iter().map(|(node, _)| *node).collect();
        let entering = Entering { forms: &forms, plain: &plain_nodes };
        let [value, gradient] =
            [false, true].map(|gradient| Pass::new(&row, &left, &entering, rows, gradient));
        let sum = Self {
            sums: left.len(),
            forms: built,
            plain: plain.iter().map(|(_, number)| *number).collect(),
            value,
            gradient,
        };
        (sum, crossing.items)
    }

    /// Elementary operations for a sample, with slopes.
    pub(crate) fn cost(&self) -> f64 {
        self.gradient.cost() + self.forms.iter().map(Form::cost).sum::<f64>()
    }

    /// Memory for a thread to run in.
    pub(crate) fn room(&self) -> RowSumRoom {
        RowSumRoom {
            forms: self.forms.iter().map(Form::room).collect(),
            value: self.value.room(),
            gradient: self.gradient.room(),
            sums: Rows::zeros(self.sums + self.plain.len()),
        }
    }

    /// The sums for a block of samples and, with `slopes`, the slopes of Σ_k weight_k·S_k in the
    /// crossing values; a single sum has no weight.
    #[inline(always)]
    pub(crate) fn run<S: Simd>(
        &self,
        simd: S,
        room: &mut RowSumRoom,
        crossing: &[Block],
        values: &mut [Block],
        slopes: Option<(&[Block], &mut [Block])>,
    ) {
        let RowSumRoom { forms: rooms, value, gradient, sums } = room;
        for (form, room) in self.forms.iter().zip(&mut *rooms) {
            form.load(room, crossing);
        }
        let (forms, plain) = (&self.forms[..], &self.plain[..]);
        let with_slopes = slopes.is_some();
        let (weights, slopes) = slopes.unwrap_or_default();
        slopes.as_flattened_mut().fill(0.0);
        let mut samples = Samples { forms, rooms, crossing, plain, weights, slopes };
        if with_slopes {
            self.gradient.run(simd, gradient, &mut samples, sums);
            let Samples { rooms, slopes, .. } = samples;
            for (form, room) in forms.iter().zip(rooms) {
                form.finish(simd, room, slopes);
            }
            for (&number, sum) in plain.iter().zip(&sums[self.sums..]) {
                add_scaled(simd, 1.0, sum, &mut slopes[number]);
            }
        } else {
            self.value.run(simd, value, &mut samples, sums);
        }
        values.copy_from_slice(&sums[..self.sums]);
    }
}

/// The affine nodes that others read, without constant factors: the arguments of the rest.
fn entering(graph: &Graph, outputs: &[Node]) -> Vec<Node> {
    let (is_affine, needed) = (affine(graph), graph.needed_for(outputs));
    let mut found: Numbered<Node> = Numbered::default();
    for index in (0..is_affine.len()).filter(|&index| needed[index] && !is_affine[index]) {
        for &operand in graph.operands(Node(index as u32)) {
            let mut node = operand;
            while let Some((s, rest)) = graph.as_scaled(node)
                && graph.as_constant(s).is_some()
            {
                node = rest;
            }
            if is_affine[node.index()] && !graph.is_uniform(node) {
                found.number(node);
            }
        }
    }
    found.items
}
