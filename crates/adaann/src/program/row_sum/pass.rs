//! The loop over rows: several rows per run of a routine, with sums that it feeds back to itself.

use super::add_up::add_up;
use super::form::{Form, FormRoom};
use super::row_graph::RowGraph;
use crate::program::gradient::gradient;
use crate::program::graph::Graph;
use crate::program::op::{Node, Op};
use crate::program::split::Numbered;
use crate::program::{Block, Prepared, Recorded, Room, Rows};
use fearless_simd::Simd;

/// Rows of a run: sums are loaded and stored once for this many rows.
const MOST_ROWS: usize = 8;

/// Operations of a run beyond which further rows only make it larger.
const MOST_OPERATIONS: usize = 512;

/// The arguments of the summed nodes, besides uniforms: nodes of the row's graph.
pub(super) struct Entering<'a> {
    pub(super) forms: &'a [Node],
    pub(super) plain: &'a [Node],
}

/// All rows, in runs of many rows and, for the remainder, runs of one.
#[derive(Debug)]
pub(super) struct Pass {
    layout: Layout,
    many: Runs,
    one: Runs,
}

/// The positions of the inputs of a run: plain values, weights, sums, then the forms of all its
/// rows.
#[derive(Debug, Clone, Copy)]
struct Layout {
    plain: usize,
    weights: usize,
    /// The sums fed back: values and, with slopes, those in the plain values.
    sums: usize,
    forms: usize,
    with_slopes: bool,
}

impl Layout {
    fn first_sum(&self) -> usize {
        self.plain + self.weights
    }

    fn first_form(&self) -> usize {
        self.first_sum() + self.sums
    }
}

#[derive(Debug)]
struct Runs {
    prepared: Prepared,
    /// Rows of a run, the first row of all, and the number of runs.
    rows: usize,
    first: usize,
    count: usize,
    /// Whether runs have their own numbers.
    varies: bool,
}

#[derive(Debug)]
pub(super) struct PassRoom {
    many: Room,
    one: Room,
}

/// The block of samples that a pass runs over.
pub(super) struct Samples<'a> {
    pub(super) forms: &'a [Form],
    pub(super) rooms: &'a mut [FormRoom],
    pub(super) crossing: &'a [Block],
    /// The indices of the plain crossing values.
    pub(super) plain: &'a [usize],
    pub(super) weights: &'a [Block],
    /// Accumulates slopes in gathered values.
    pub(super) slopes: &'a mut [Block],
}

impl Pass {
    /// Compiles runs of this many rows.
    pub(super) fn new(
        row: &RowGraph<'_>,
        left: &[Node],
        entering: &Entering<'_>,
        rows: usize,
        with_slopes: bool,
    ) -> Self {
        let plain = entering.plain.len();
        let layout = Layout {
            plain,
            weights: if with_slopes && left.len() > 1 { left.len() } else { 0 },
            sums: left.len() + if with_slopes { plain } else { 0 },
            forms: entering.forms.len(),
            with_slopes,
        };
        let mut uniforms: Numbered<Node> = Numbered::default();
        let single = record(layout, &row.graph, left, entering, 1, 0, &mut uniforms);
        let table = row.tabulate(&uniforms.items);
        let width = uniforms.items.len();
        let operations = single.0.len().max(1);
        let per_run = if operations * MOST_ROWS <= MOST_OPERATIONS { MOST_ROWS } else { 1 };
        let many = record(layout, &row.graph, left, entering, per_run, width, &mut uniforms);
        let whole = rows / per_run;
        let runs = |recorded: Recorded, rows: usize, first: usize, count: usize| {
            let inputs = layout.first_form() + layout.forms * rows;
            let numbers = &table[first * width..][..count * rows * width];
            let settings = numbers.chunks_exact((rows * width).max(1));
            let varies = width > 0;
            let prepared = if varies {
                Prepared::feeding_back(recorded, inputs, layout.first_sum(), settings)
            } else {
                Prepared::feeding_back(recorded, inputs, layout.first_sum(), [&[][..]])
            };
            Runs { prepared, rows, first, count, varies }
        };
        Self {
            many: runs(many, per_run, 0, whole),
            one: runs(single, 1, whole * per_run, rows - whole * per_run),
            layout,
        }
    }

    /// Elementary operations for a sample over all rows, without the products of forms.
    pub(super) fn cost(&self) -> f64 {
        let of = |runs: &Runs| runs.count as f64 * runs.prepared.routine.cost();
        of(&self.many) + of(&self.one)
    }

    pub(super) fn room(&self) -> PassRoom {
        PassRoom { many: self.many.prepared.routine.room(), one: self.one.prepared.routine.room() }
    }

    /// Sums over all rows: `sums` receives the values and, with slopes, those in the plain values.
    #[inline(always)]
    pub(super) fn run<S: Simd>(
        &self,
        simd: S,
        room: &mut PassRoom,
        samples: &mut Samples<'_>,
        sums: &mut Rows,
    ) {
        sums.as_flattened_mut().fill(0.0);
        self.many.run(simd, &self.layout, &mut room.many, samples, sums);
        self.one.run(simd, &self.layout, &mut room.one, samples, sums);
    }
}

impl Runs {
    #[inline(always)]
    fn run<S: Simd>(
        &self,
        simd: S,
        layout: &Layout,
        room: &mut Room,
        samples: &mut Samples<'_>,
        sums: &mut [Block],
    ) {
        let (first_sum, first_form) = (layout.first_sum(), layout.first_form());
        let inputs = room.inputs_mut();
        for p in 0..layout.plain {
            inputs[p] = samples.crossing[samples.plain[p]];
        }
        inputs[layout.plain..first_sum].copy_from_slice(samples.weights);
        inputs[first_sum..first_form].copy_from_slice(&sums[..layout.sums]);
        let routine = &self.prepared.routine;
        for run in 0..self.count {
            let first = self.first + run * self.rows;
            let rows = first..first + self.rows;
            for m in 0..layout.forms {
                let to = &mut room.inputs_mut()[first_form + m * self.rows..][..self.rows];
                let (form, form_room) = (&samples.forms[m], &samples.rooms[m]);
                form.forward(simd, form_room, samples.crossing, rows.clone(), to);
            }
            self.prepared.run(simd, room, if self.varies { run } else { 0 });
            for sum in 0..layout.sums {
                routine.feed_back(room, sum, first_sum + sum);
            }
            for m in 0..if layout.with_slopes { layout.forms } else { 0 } {
                let output = layout.sums + m * self.rows;
                let mut slopes = [routine.output(room, output); MOST_ROWS];
                for r in 0..self.rows {
                    slopes[r] = routine.output(room, output + r);
                }
                let (form, form_room) = (&samples.forms[m], &mut samples.rooms[m]);
                form.backward(simd, form_room, rows.clone(), &slopes[..self.rows], samples.slopes);
            }
        }
        sums[..layout.sums].copy_from_slice(&room.inputs()[first_sum..first_form]);
    }
}

/// A run of some rows. Inputs have the order of [`Layout`]; outputs: the sums, then the slopes in
/// the forms. Uniforms that are nodes of the row's graph are numbered; each row has `width` of
/// them.
fn record(
    layout: Layout,
    row: &Graph,
    left: &[Node],
    entering: &Entering<'_>,
    rows: usize,
    width: usize,
    uniforms: &mut Numbered<Node>,
) -> Recorded {
    let mut graph = Graph::new();
    let mut inputs = |range: std::ops::Range<usize>| -> Vec<Node> {
        range.map(|input| graph.input(input as u32)).collect()
    };
    let (first_sum, first_form) = (layout.first_sum(), layout.first_form());
    let plain = inputs(0..layout.plain);
    let weights = inputs(layout.plain..first_sum);
    let mut sums = inputs(first_sum..first_form);
    let forms = inputs(first_form..first_form + layout.forms * rows);
    let mut seeds = Vec::new();
    for r in 0..rows {
        let values = graph.embed_given(row, left, |graph, node, op| {
            if let Some(p) = entering.plain.iter().position(|n| *n == node) {
                Some(plain[p])
            } else if let Some(m) = entering.forms.iter().position(|n| *n == node) {
                Some(forms[m * rows + r])
            } else if row.is_uniform(node) && !matches!(op, Op::Constant(_)) {
                Some(graph.uniform((r * width) as u32 + uniforms.number(node)))
            } else {
                None
            }
        });
        let one = graph.constant(1.0);
        for (k, value) in values.into_iter().enumerate() {
            seeds.push((value, weights.get(k).copied().unwrap_or(one)));
        }
    }
    let slopes = if layout.with_slopes {
        gradient(&mut graph, &seeds, &[plain, forms].concat())
    } else {
        Vec::new()
    };
    for (k, sum) in sums[..left.len()].iter_mut().enumerate() {
        let values: Vec<Node> =
            seeds.iter().skip(k).step_by(left.len()).map(|(value, _)| *value).collect();
        *sum = add_up(&mut graph, *sum, &values);
    }
    if layout.with_slopes {
        let (of_plain, of_forms) = slopes.split_at(layout.plain);
        for (sum, &slope) in sums[left.len()..].iter_mut().zip(of_plain) {
            *sum = graph.add(*sum, slope);
        }
        sums.extend(of_forms);
    }
    (graph, sums)
}
