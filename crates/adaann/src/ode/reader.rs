//! Quantities of whole trajectories: values at some times, extremes between them.

use super::course::Course;
use super::extreme::{Sought, SoughtRoom};
use super::forward::Forward;
use super::grid::{Grid, Way};
use super::trace::Trace;
use super::within::{Within, WithinRoom, look};
use super::{Solver, System};
use crate::batch::PAD;
use crate::program::{Block, Function, Prepared, Room, Rows};
use crate::simd::{Kernel, dispatch};
use crate::{Batch, Result};
use fearless_simd::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Blocks of samples that a thread takes at a time.
const BLOCKS: usize = 16;

/// A request about function number `of` of time, states, parameters and numbers of the stretch.
/// Marks are stops that every course has, identified by an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Asked {
    /// Its value at a mark, before the events there.
    At { of: usize, mark: usize },
    /// Its largest value between two marks and its time; the smallest with −1 as `sense`.
    Extreme { of: usize, sense: f64, from: usize, to: usize },
}

impl Asked {
    /// The number of values in the reply.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::At { .. } => 1,
            Self::Extreme { .. } => 2,
        }
    }
}

/// A compiled system, with the courses of its subjects and the requests about them.
#[derive(Debug)]
pub(crate) struct Reader {
    grid: Grid,
    forward: Forward,
    within: Within,
    looks: Vec<Prepared>,
    asked: Vec<Asked>,
    courses: Vec<Marked>,
}

/// A course with the stops of its marks.
#[derive(Debug)]
struct Marked {
    arguments: Vec<usize>,
    marks: Vec<usize>,
    /// The times of the marks.
    times: Vec<f64>,
    /// For each stop, whether an extreme is sought on the stretch to it.
    keeps: Vec<bool>,
}

impl Reader {
    /// # Errors
    /// If the solver's settings are out of range, or it cannot solve so large a system.
    pub(crate) fn new(
        system: &System,
        solver: &Solver,
        courses: Vec<(Course, Vec<usize>)>,
        functions: &[Function],
        asked: Vec<Asked>,
    ) -> Result<Self> {
        let solver = &solver.settled(system)?;
        let (courses, marks): (Vec<Course>, Vec<Vec<usize>>) = courses.into_iter().unzip();
        let grid = Grid::new(solver, &courses)?;
        let forward = Forward::new(system, solver, (&grid, &courses), Vec::new());
        let stops = courses.iter().flat_map(|course| &course.stops);
        let settings: Vec<Vec<f64>> =
            stops.map(|stop| [&[0.0, 0.0], &stop.stretch[..]].concat()).collect();
        let inputs = system.states().len() + 1 + system.parameters().len();
        let prepare = |function: &Function| {
            let settings = settings.iter().map(Vec::as_slice);
            Prepared::new(look(system, function), inputs, settings)
        };
        let looks = functions.iter().map(prepare).collect();
        let within = Within::new(system, solver.method(), settings);
        let mark = |(course, marks): (Course, Vec<usize>)| {
            let mut keeps = vec![false; course.stops.len()];
            for asked in &asked {
                if let Asked::Extreme { from, to, .. } = *asked {
                    keeps[marks[from] + 1..=marks[to]].fill(true);
                }
            }
            let times = marks.iter().map(|stop| course.stops[*stop].time).collect();
            Marked { arguments: course.arguments, marks, times, keeps }
        };
        let courses = courses.into_iter().zip(marks).map(mark).collect();
        Ok(Self { grid, forward, within, looks, asked, courses })
    }

    /// The replies for each course, request after request; NaN for failed trajectories.
    pub(crate) fn answers(&self, values: &Batch) -> Vec<Batch> {
        let width = self.asked.iter().map(|asked| asked.width()).sum();
        let blocks = values.padded_len() / PAD;
        let shares = |course: usize| {
            let first = (0..blocks).step_by(BLOCKS);
            first.map(move |first| (course, first..(first + BLOCKS).min(blocks)))
        };
        let shares: Vec<(usize, Range<usize>)> = (0..self.courses.len()).flat_map(shares).collect();
        let found: Vec<Vec<Block>> = shares
            .par_iter()
            .map(|(course, blocks)| {
                let (course, blocks) = (*course, blocks.clone());
                dispatch(Share { reader: self, course, blocks, values, width })
            })
            .collect();
        let mut answers = vec![Batch::zeros(width, values.len()); self.courses.len()];
        for ((course, blocks), found) in shares.into_iter().zip(found) {
            let (rows, stride) = answers[course].blocks_mut();
            for (block, found) in blocks.zip(found.chunks(width.max(1))) {
                for (row, found) in found.iter().enumerate() {
                    rows[row * stride + block] = *found;
                }
            }
        }
        answers
    }
}

/// Some blocks of samples on one course.
struct Share<'a> {
    reader: &'a Reader,
    course: usize,
    blocks: Range<usize>,
    values: &'a Batch,
    width: usize,
}

impl Kernel for Share<'_> {
    type Output = Vec<Block>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<Block> {
        let Self { reader, course, blocks, values, width } = self;
        let Reader { grid, forward, within, looks, asked, courses } = reader;
        let (way, own): (&Way, &Marked) = (&grid.ways()[course], &courses[course]);
        let (n, parameters) = (forward.layout.states, forward.layout.parameters);
        let mut room = forward.room();
        let mut look_rooms: Vec<Room> = looks.iter().map(|look| look.routine.room()).collect();
        let mut within_room = WithinRoom::default();
        let (mut inputs, mut place) =
            (Rows::zeros(n + 2 + parameters), Rows::zeros(n + 1 + parameters));
        let mut trace = Trace::new(way, grid, &forward.layout, &own.keeps);
        let (rows, stride) = values.blocks();
        let mut out = Vec::with_capacity(blocks.len() * width);
        for block in blocks {
            let samples = PAD.min(values.len() - block * PAD);
            let p = |j: usize| rows[own.arguments[j] * stride + block];
            let idle = std::array::from_fn(|i| i >= samples);
            forward.run(simd, way, &mut room, p, &idle, &mut trace);
            let lost: [bool; PAD] = std::array::from_fn(|i| {
                idle[i] || forward.is_non_finite(way, forward.rows(&room), i)
            });
            for j in 0..parameters {
                inputs[n + 2 + j] = p(j);
                place[n + 1 + j] = p(j);
            }
            let first = out.len();
            for asked in asked {
                match *asked {
                    Asked::At { of, mark } => {
                        let stop = own.marks[mark];
                        place[..n].copy_from_slice(trace.stop(stop));
                        place[n] = [own.times[mark]; PAD];
                        let (look, room) = (&looks[of], &mut look_rooms[of]);
                        let mut found = [[0.0; PAD]];
                        look.apply(simd, room, way.stop(stop), &place, &mut found);
                        out.extend(found);
                    }
                    Asked::Extreme { of, sense, from, to } => {
                        let (look, first_stop) = (&looks[of], way.stop(0));
                        let sought = Sought { look, within, first_stop, sense };
                        let mut room = SoughtRoom {
                            look: &mut look_rooms[of],
                            within: &mut within_room,
                            inputs: &mut inputs,
                            place: &mut place,
                        };
                        let stops = own.marks[from] + 1..=own.marks[to];
                        out.extend(sought.find(simd, &mut room, &trace, stops));
                    }
                }
            }
            for answer in &mut out[first..] {
                for i in (0..PAD).filter(|&i| lost[i]) {
                    answer[i] = f64::NAN;
                }
            }
        }
        out
    }
}
