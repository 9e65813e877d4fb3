//! Rows that are walked through in one run of a program: what a run costs by itself is shared by several.

use super::recursion::Recursion;
use std::collections::{HashMap, HashSet};

/// Rows of a run, and its operations: what a run costs by itself is less than a hundredth of so many.
const MOST_ROWS: usize = 128;
const MOST_OPERATIONS: usize = 12288;

/// The same where rows do so many different things that programs of that length would seldom be run again.
const FEW_ROWS: usize = 8;
const FEW_OPERATIONS: usize = 512;

/// Operations of all long programs together: one for the rows that groups begin with, one for those in the middle, one
/// for the last. More would take longer to compile than a few runs more take.
const MOST_COMPILED: usize = 3 * MOST_OPERATIONS;

/// Programs for runs of several rows; rows that would need more go one by one.
const MOST_KINDS: usize = 16;

/// All rows, cut into stretches.
#[derive(Debug)]
pub(super) struct Stretches {
    pub(super) kinds: Vec<Kind>,
    /// The kind of each stretch, which of its kind it is, and its first row.
    pub(super) of: Vec<Stretch>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) kind: u32,
    pub(super) setting: u32,
    pub(super) first: u32,
}

/// Stretches whose rows do the same.
#[derive(Debug)]
pub(super) struct Kind {
    /// The pattern of each row.
    pub(super) patterns: Vec<u32>,
    /// For each number of each row, which of the numbers of the stretch it is. The same column may be a row's
    /// own and what the next row looks back at: what is equal in all stretches is there once.
    pub(super) numbers: Vec<u32>,
    /// The numbers of each stretch.
    pub(super) settings: Vec<Vec<f64>>,
}

impl Stretches {
    /// For rows that take so many operations each.
    pub(super) fn new(recursion: &Recursion, operations: usize) -> Self {
        let mut pieces = cut(recursion, operations.max(1));
        let mut counts: HashMap<&[u32], usize> = HashMap::new();
        for &(first, end) in &pieces {
            *counts.entry(&recursion.rows[first..end]).or_default() += end - first;
        }
        let mut common: Vec<(&[u32], usize)> =
            counts.into_iter().filter(|(patterns, _)| patterns.len() > 1).collect();
        common.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        common.truncate(MOST_KINDS);
        let is_common = |first: usize, end: usize| {
            common.iter().any(|(patterns, _)| *patterns == &recursion.rows[first..end])
        };
        let one_by_one = |(first, end): (usize, usize)| -> Vec<(usize, usize)> {
            if is_common(first, end) {
                return vec![(first, end)];
            }
            (first..end).map(|row| (row, row + 1)).collect()
        };
        pieces = pieces.into_iter().flat_map(one_by_one).collect();

        let mut numbers: HashMap<&[u32], usize> = HashMap::new();
        let (mut of, mut members): (Vec<Stretch>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        for (first, end) in pieces {
            let next = numbers.len();
            let kind = *numbers.entry(&recursion.rows[first..end]).or_insert(next);
            if kind == members.len() {
                members.push(Vec::new());
            }
            let setting = members[kind].len() as u32;
            of.push(Stretch { kind: kind as u32, setting, first: first as u32 });
            members[kind].push(first);
        }
        let mut patterns: Vec<(&[u32], usize)> = numbers.into_iter().collect();
        patterns.sort_by_key(|(_, kind)| *kind);
        let kinds = patterns.iter().zip(&members);
        let kinds = kinds.map(|((patterns, _), firsts)| Kind::new(recursion, patterns, firsts));
        Self { kinds: kinds.collect(), of }
    }
}

/// The rows in pieces, which are as long as they can be without too many programs.
fn cut(recursion: &Recursion, operations: usize) -> Vec<(usize, usize)> {
    let mut longest = (MOST_OPERATIONS / operations).clamp(1, MOST_ROWS);
    let few = (FEW_OPERATIONS / operations).clamp(1, FEW_ROWS);
    while longest > few {
        let pieces = pieces(recursion, longest);
        let kinds = pieces.iter().map(|&(first, end)| &recursion.rows[first..end]);
        let kinds: HashSet<&[u32]> = kinds.collect();
        let rows: usize = kinds.iter().map(|patterns| patterns.len()).sum();
        if kinds.len() <= MOST_KINDS && rows * operations <= MOST_COMPILED {
            return pieces;
        }
        longest /= 2;
    }
    pieces(recursion, few)
}

/// The rows in pieces that begin with each group and are at most so long.
fn pieces(recursion: &Recursion, longest: usize) -> Vec<(usize, usize)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    for (row, pattern) in recursion.rows.iter().enumerate() {
        match pieces.last_mut() {
            Some((first, end))
                if !recursion.patterns[*pattern as usize].is_first && *end - *first < longest =>
            {
                *end += 1;
            }
            _ => pieces.push((row, row + 1)),
        }
    }
    pieces
}

impl Kind {
    /// Of stretches that begin with these rows.
    fn new(recursion: &Recursion, patterns: &[u32], firsts: &[usize]) -> Self {
        let width = recursion.part.uniforms.len();
        let of = |first: usize| &recursion.uniforms[first * width..][..patterns.len() * width];
        let (mut known, mut numbers) = (HashMap::new(), Vec::new());
        let mut settings = vec![Vec::new(); firsts.len()];
        for number in 0..patterns.len() * width {
            let column: Vec<u64> =
                firsts.iter().map(|&first| of(first)[number].to_bits()).collect();
            let next = known.len() as u32;
            let place = *known.entry(column).or_insert(next);
            if place == next {
                for (setting, &first) in settings.iter_mut().zip(firsts) {
                    setting.push(of(first)[number]);
                }
            }
            numbers.push(place);
        }
        Self { patterns: patterns.to_vec(), numbers, settings }
    }

    /// How many rows a stretch has.
    pub(super) fn rows(&self) -> usize {
        self.patterns.len()
    }
}
