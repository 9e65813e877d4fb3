//! Evaluates a posterior as a target: block by block of samples, allocating only on the first call.

use super::compile::{ObservedSystem, Part, Posterior, Sums};
use super::finale::Arguments;
use crate::batch::PAD;
use crate::ode::LikelihoodRoom;
use crate::program::{Block, Room, RowSumRoom, Rows};
use crate::series;
use crate::simd::{Kernel, dispatch};
use crate::target::{Evaluation, Target, Weights};
use crate::{Batch, Error, Result, non_finite};
use fearless_simd::Simd;
use std::cell::Cell;

impl Target for Posterior {
    fn dim(&self) -> usize {
        self.parameters
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.check(points, gradient.is_some(), out)?;
        let mut work = WORK.take().filter(|work| work.of == self.id);
        let work_mut = work.get_or_insert_with(|| Box::new(self.work()));
        dispatch(Evaluate { posterior: self, work: work_mut, points, weights: gradient, out });
        WORK.set(work);
        Ok(())
    }

    fn has_prior(&self) -> bool {
        true
    }

    fn operations(&self) -> Option<f64> {
        let sums = self.parts.iter().map(|part| part.sums.cost());
        Some(self.with_gradient.cost() + sums.sum::<f64>())
    }

    fn has_formulas(&self) -> bool {
        true
    }

    fn notes(&self) -> Vec<String> {
        self.systems().map(|system| system.likelihood.note()).collect()
    }
}

/// The memory that a thread holds between calls, so that a call allocates nothing.
struct Work {
    of: u64,
    /// The prelude without gradient.
    prelude: Room,
    values: Room,
    /// Results of the prelude.
    crossing: Rows,
    parts: Vec<SumsRoom>,
    /// Inputs of the last program, followed by its memory for the gradient.
    slots: Rows,
}

enum SumsRoom {
    Rows(Box<RowSumRoom>),
    /// With storage for the sum and its slopes.
    System(Box<LikelihoodRoom>, Rows),
    Series(Box<series::LikelihoodRoom>, Rows),
}

impl Sums {
    /// Elementary operations for a sample with its slopes.
    fn cost(&self) -> f64 {
        match self {
            Self::Rows(sum) => sum.cost(),
            Self::System(system) => system.likelihood.cost(),
            Self::Series(series) => series.cost(),
        }
    }

    fn room(&self) -> SumsRoom {
        match self {
            Self::Rows(sum) => SumsRoom::Rows(Box::new(sum.room())),
            Self::System(system) => {
                SumsRoom::System(Box::new(system.likelihood.room()), Rows::default())
            }
            Self::Series(series) => SumsRoom::Series(Box::new(series.room()), Rows::default()),
        }
    }
}

thread_local! {
    static WORK: Cell<Option<Box<Work>>> = const { Cell::new(None) };
}

impl Posterior {
    fn work(&self) -> Work {
        Work {
            of: self.id,
            prelude: self.prelude.routine.room(),
            values: self.values.routine.room(),
            crossing: Rows::zeros(self.prelude.routine.outputs()),
            parts: self.parts.iter().map(|part| part.sums.room()).collect(),
            slots: Rows::zeros(self.with_gradient.slots()),
        }
    }

    /// Refuses points and output buffers of the wrong size.
    fn check(&self, points: &Batch, has_gradient: bool, out: &Evaluation) -> Result<()> {
        let shape = |what: &str, found: String, expected: usize| {
            let expected = expected.to_string();
            Err(Error::Shape { what: what.into(), found, expected })
        };
        let coordinates = |batch: &Batch| format!("{} coordinates", batch.dim());
        if points.dim() != self.parameters {
            return shape("the batch of points", coordinates(points), self.parameters);
        }
        if has_gradient && out.gradient.dim() != self.parameters {
            return shape("the room for gradients", coordinates(&out.gradient), self.parameters);
        }
        let room = out.log_prior.len().min(out.log_likelihood.len());
        let room = if has_gradient { room.min(out.gradient.padded_len()) } else { room };
        if room < points.padded_len() {
            return shape("the evaluation", format!("room for {room} points"), points.padded_len());
        }
        Ok(())
    }
}

struct Evaluate<'a> {
    posterior: &'a Posterior,
    work: &'a mut Work,
    points: &'a Batch,
    weights: Option<Weights>,
    out: &'a mut Evaluation,
}

impl Kernel for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { posterior, work, points, weights, out } = self;
        let (rows, stride) = points.blocks();
        for block in 0..points.padded_len() / PAD {
            for d in 0..posterior.parameters {
                work.slots[d] = rows[d * stride + block];
            }
            let samples = PAD.min(points.len() - block * PAD);
            work.sum(simd, posterior, samples, weights.is_some());
            match weights {
                Some(weights) => {
                    work.finish_with_gradient(simd, posterior, weights, samples, out, block);
                }
                None => work.finish(simd, posterior, out, block),
            }
        }
    }
}

impl Work {
    /// Computes sums and slopes from the parameters, which are the first slots.
    #[inline(always)]
    fn sum<S: Simd>(&mut self, simd: S, posterior: &Posterior, samples: usize, with_slopes: bool) {
        let layout = &posterior.layout;
        if with_slopes {
            posterior.with_gradient.begin(simd, &mut self.slots, 0);
            for (row, crossing) in self.crossing.iter_mut().enumerate() {
                *crossing = *posterior.with_gradient.output(&self.slots, row);
            }
        } else {
            posterior.prelude.apply(simd, &mut self.prelude, 0, &self.slots, &mut self.crossing);
        }
        let (theta, rest) = self.slots.split_at_mut(layout.parameters);
        let (sums, slopes) = rest.split_at_mut(layout.sums);
        for (Part { sums: of, place }, room) in posterior.parts.iter().zip(&mut self.parts) {
            let arguments = match &place.arguments {
                Arguments::Crossing(range) => &self.crossing[range.clone()],
                Arguments::Parameters => &*theta,
            };
            let weights = &self.crossing[place.weights.clone()];
            let (sums, slopes) = (&mut sums[place.sums.clone()], &mut slopes[place.slopes.clone()]);
            match (of, room) {
                (Sums::Rows(of), SumsRoom::Rows(room)) => {
                    let slopes = with_slopes.then_some((weights, slopes));
                    of.run(simd, room, arguments, sums, slopes);
                }
                (Sums::System(of), SumsRoom::System(room, rows)) => {
                    rows.grow(1 + arguments.len());
                    let ObservedSystem { likelihood, floor } = &**of;
                    let p = |j: usize| arguments[j];
                    let lost = likelihood.run(simd, room, p, samples, with_slopes, rows);
                    leave_out(rows, lost, *floor);
                    sums[0] = rows[0];
                    slopes.copy_from_slice(&rows[1..]);
                }
                (Sums::Series(of), SumsRoom::Series(room, rows)) => {
                    rows.grow(1 + arguments.len());
                    let rows = &mut rows[..1 + arguments.len()];
                    let lost = of.run(simd, room, arguments, with_slopes, rows);
                    leave_out(rows, lost, None);
                    sums[0] = rows[0];
                    slopes.copy_from_slice(&rows[1..]);
                }
                _ => unreachable!("each room matches its sums"),
            }
        }
    }

    /// Writes a block of the evaluation without its gradient.
    #[inline(always)]
    fn finish<S: Simd>(
        &mut self,
        simd: S,
        posterior: &Posterior,
        out: &mut Evaluation,
        block: usize,
    ) {
        let mut parts = [[0.0; PAD]; 2];
        posterior.values.apply(simd, &mut self.values, 0, &self.slots, &mut parts);
        write(&mut parts, out, block);
    }

    /// Writes a block of the evaluation.
    #[inline(always)]
    fn finish_with_gradient<S: Simd>(
        &mut self,
        simd: S,
        posterior: &Posterior,
        weights: Weights,
        samples: usize,
        out: &mut Evaluation,
        block: usize,
    ) {
        let (program, layout) = (&posterior.with_gradient, &posterior.layout);
        let at = layout.weights();
        (self.slots[at], self.slots[at + 1]) = ([weights.prior; PAD], [weights.likelihood; PAD]);
        program.finish(simd, &mut self.slots, 0);
        let first = posterior.prelude.routine.outputs();
        let mut parts = [first, first + 1].map(|row| *program.output(&self.slots, row));
        let is_non_finite = |i: usize| !(parts[0][i] + parts[1][i]).is_finite();
        let lost: [bool; PAD] = std::array::from_fn(|i| i < samples && is_non_finite(i));
        let any_lost = lost.contains(&true);
        if any_lost && weights.likelihood == 0.0 {
            // Only the prior counts: sums that are not finite must not reach its gradient.
            let sums = &mut self.slots[layout.parameters..layout.weights()];
            let is_finite = |sum: &f64| sum.is_finite();
            sums.as_flattened_mut()
                .iter_mut()
                .filter(|sum| !is_finite(sum))
                .for_each(|sum| *sum = 0.0);
            program.begin(simd, &mut self.slots, 0);
            program.finish(simd, &mut self.slots, 0);
        }
        let (rows, stride) = out.gradient.blocks_mut();
        for d in 0..layout.parameters {
            rows[d * stride + block] = *program.output(&self.slots, first + 2 + d);
        }
        let slopes = &self.slots[layout.first_slope()..layout.weights()];
        let of_parameters = |part: &&Part| matches!(part.place.arguments, Arguments::Parameters);
        for part in posterior.parts.iter().filter(of_parameters) {
            for (d, slopes) in slopes[part.place.slopes.clone()].iter().enumerate() {
                let row = &mut rows[d * stride + block];
                for i in 0..PAD {
                    row[i] += weights.likelihood * slopes[i];
                }
            }
        }
        if any_lost {
            let prior_counts = |i: usize| weights.likelihood == 0.0 && parts[0][i].is_finite();
            for d in 0..layout.parameters {
                for (i, slope) in rows[d * stride + block].iter_mut().enumerate() {
                    if lost[i] && !(prior_counts(i) && slope.is_finite()) {
                        *slope = 0.0;
                    }
                }
            }
        }
        write(&mut parts, out, block);
    }
}

/// A trajectory that failed, or whose numbers are not finite, gets log likelihood −∞ and no slopes.
/// With a floor, all values below it and all such trajectories get the floor.
#[inline(always)]
fn leave_out(rows: &mut [Block], lost: [bool; PAD], floor: Option<f64>) {
    // Row by row, in which samples are contiguous.
    let mut not_finite = [0.0; PAD];
    for row in &*rows {
        for i in 0..PAD {
            not_finite[i] += if row[i].is_finite() { 0.0 } else { 1.0 };
        }
    }
    for i in 0..PAD {
        let is_below = floor.is_some_and(|floor| rows[0][i] < floor);
        if lost[i] || is_below || not_finite[i] > 0.0 {
            rows.iter_mut().for_each(|row| row[i] = 0.0);
            rows[0][i] = floor.unwrap_or(f64::NEG_INFINITY);
        }
    }
}

/// Writes log prior and log likelihood.
#[inline(always)]
fn write(parts: &mut [Block; 2], out: &mut Evaluation, block: usize) {
    let [prior, likelihood] = parts;
    for (prior, likelihood) in prior.iter_mut().zip(&mut *likelihood) {
        non_finite::together(prior, likelihood);
    }
    out.log_prior.as_chunks_mut().0[block] = *prior;
    out.log_likelihood.as_chunks_mut().0[block] = *likelihood;
}
