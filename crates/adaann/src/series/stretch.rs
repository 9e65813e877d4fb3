//! Groups of rows that run as one program, so that they share its fixed cost.

use super::recursion::Recursion;
use std::collections::{HashMap, HashSet};

/// The most rows and operations of a run; the fixed cost is less than a hundredth of these
/// operations.
const MOST_ROWS: usize = 128;
const MOST_OPERATIONS: usize = 12288;

/// The same limits if rows differ so much that long programs would seldom be reused.
const FEW_ROWS: usize = 8;
const FEW_OPERATIONS: usize = 512;

/// The most operations of all long programs together: one for the first rows of groups, one for the
/// rows in the middle, one for the last rows. Compiling more would take longer than a few more runs.
const MOST_COMPILED: usize = 3 * MOST_OPERATIONS;

/// Shorter runs are accepted if they add at most one run per this many rows: the fixed cost is then
/// one or two hundredths of the cost of these rows. A program for fewer rows takes a fraction of
/// the time to compile.
const ROWS_A_RUN: usize = 40;

/// The most lengths that are tried.
const MOST_CUTS: usize = 16;

/// The most programs for runs of several rows; with more, rows run one by one.
const MOST_KINDS: usize = 16;

/// All rows, divided into stretches.
#[derive(Debug)]
pub(super) struct Stretches {
    pub(super) kinds: Vec<Kind>,
    /// The kind of each stretch, its index among that kind, and its first row.
    pub(super) of: Vec<Stretch>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) kind: u32,
    pub(super) setting: u32,
    pub(super) first: u32,
}

/// Stretches with the same computation.
#[derive(Debug)]
pub(super) struct Kind {
    /// The pattern of each row.
    pub(super) patterns: Vec<u32>,
    /// For each number of each row, its index among the numbers of the stretch. A column may be
    /// read by its own row and, as a lag, by the next; numbers that are equal in all stretches are
    /// stored once.
    pub(super) numbers: Vec<u32>,
    /// The numbers of each stretch.
    pub(super) settings: Vec<Vec<f64>>,
}

impl Stretches {
    /// For rows with this many operations each.
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

/// Divides the rows into the longest pieces that do not need too many programs, or into shorter
/// ones if a single program then serves most of them.
fn cut(recursion: &Recursion, operations: usize) -> Vec<(usize, usize)> {
    let most = (MOST_OPERATIONS / operations).clamp(1, MOST_ROWS);
    let few = (FEW_OPERATIONS / operations).clamp(1, FEW_ROWS);
    let lengths = std::iter::successors(Some(most), |length| Some(length / 2));
    let long = lengths.take_while(|&length| length > few).find_map(|length| {
        let pieces = pieces(recursion, length, false);
        let rows = compiled(recursion, &pieces)?;
        (rows * operations <= MOST_COMPILED).then_some((pieces, rows))
    });
    let Some((long, rows)) = long else { return pieces(recursion, few, false) };
    let most_pieces = long.len() + recursion.rows.len() / ROWS_A_RUN;
    let alike = alike(recursion, most, most_pieces).filter(|(_, fewer)| *fewer < rows);
    alike.map_or(long, |(pieces, _)| pieces)
}

/// Pieces of identical rows with the fewest rows to compile, given at most `most_pieces` pieces,
/// and the number of these rows; `None` if rows differ too often.
fn alike(
    recursion: &Recursion,
    most: usize,
    most_pieces: usize,
) -> Option<(Vec<(usize, usize)>, usize)> {
    let runs = pieces(recursion, usize::MAX, true);
    let longest = runs.iter().map(|(first, end)| end - first).max()?;
    // The remainder of an evenly divided run needs its own program.
    let parts = longest.div_ceil(most)..;
    let cuts = parts.take(MOST_CUTS).map_while(|parts| {
        let pieces = pieces(recursion, longest / parts, true);
        (pieces.len() <= most_pieces).then_some(pieces)
    });
    let counted = cuts.filter_map(|pieces| {
        let rows = compiled(recursion, &pieces)?;
        Some((pieces, rows))
    });
    counted.min_by_key(|(_, rows)| *rows)
}

/// The rows of all programs that the pieces need; `None` if there are too many programs.
fn compiled(recursion: &Recursion, pieces: &[(usize, usize)]) -> Option<usize> {
    let kinds = pieces.iter().map(|&(first, end)| &recursion.rows[first..end]);
    let kinds: HashSet<&[u32]> = kinds.collect();
    (kinds.len() <= MOST_KINDS).then(|| kinds.iter().map(|patterns| patterns.len()).sum())
}

/// Divides the rows into pieces of at most `longest` rows. A piece begins with each group and, if
/// `are_alike`, wherever the pattern changes.
fn pieces(recursion: &Recursion, longest: usize, are_alike: bool) -> Vec<(usize, usize)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    for (row, pattern) in recursion.rows.iter().enumerate() {
        let begins = recursion.patterns[*pattern as usize].is_first
            || are_alike && row > 0 && recursion.rows[row - 1] != *pattern;
        match pieces.last_mut() {
            Some((first, end)) if !begins && *end - *first < longest => *end += 1,
            _ => pieces.push((row, row + 1)),
        }
    }
    pieces
}

impl Kind {
    /// The kind of the stretches that begin with these rows.
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

    /// The number of rows in a stretch.
    pub(super) fn rows(&self) -> usize {
        self.patterns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Graph, RowPart};
    use crate::series::Pattern;

    /// Rows with these patterns, the first of which begins a group.
    fn rows(patterns: &[u32]) -> Recursion {
        let kinds = patterns.iter().max().map_or(0, |last| last + 1);
        let pattern = |i: u32| Pattern { is_first: i == 0, terms: vec![i > 1] };
        let part = RowPart {
            graph: Graph::new(),
            outputs: Vec::new(),
            inputs: Vec::new(),
            uniforms: Vec::new(),
        };
        Recursion {
            part,
            arguments: Vec::new(),
            states: 0,
            parameters: 0,
            elements: 0,
            patterns: (0..kinds).map(pattern).collect(),
            rows: patterns.to_vec(),
            taken: Vec::new(),
            uniforms: Vec::new(),
        }
    }

    fn lengths(patterns: &[u32], operations: usize) -> Vec<usize> {
        cut(&rows(patterns), operations).iter().map(|(first, end)| end - first).collect()
    }

    #[test]
    fn one_program_serves_most_rows_that_are_alike() {
        let garch = [&[0][..], &[1; 199]].concat();
        assert_eq!(lengths(&garch, 30), [1, 39, 39, 39, 39, 39, 4]);
        // A last row with a term of its own would need another program and run, which is not
        // worthwhile for so few rows.
        let hidden_states = [&[0][..], &[1; 98], &[2]].concat();
        assert_eq!(lengths(&hidden_states, 30), [100]);
    }

    #[test]
    fn rows_that_differ_go_together() {
        let gaps: Vec<u32> = (0..240).map(|row| if row == 0 { 0 } else { 1 + row % 2 }).collect();
        assert_eq!(lengths(&gaps, 30), [128, 112]);
    }

    #[test]
    fn short_groups_stay_whole() {
        let groups: Vec<u32> = (0..240).map(|row| u32::from(row % 20 > 0)).collect();
        assert_eq!(lengths(&groups, 30), [20; 12]);
    }

    #[test]
    fn long_formulas_have_few_rows() {
        let rows = [&[0][..], &[1; 199]].concat();
        assert!(lengths(&rows, 1_000).iter().all(|length| *length <= 12));
    }
}
