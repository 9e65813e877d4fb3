//! Encodes a piece of a batch and the target's reply as bytes; every bit of the numbers is
//! preserved.

use crate::{
    Batch, Result,
    error::Error,
    target::{Evaluation, Weights},
};
use std::ops::Range;

/// The first byte of an evaluation request, so that a transport can tell it from other requests.
const EVALUATE: u8 = 1;
/// Bytes of a request before its points.
const HEAD: usize = 3 + 8 + 2 * 8 + 2 * 4;

/// An evaluation request at some points.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) is_tightened: bool,
    pub(super) gradient: Option<Weights>,
    pub(super) points: Batch,
}

/// The number of the target in a request; `None` if the request is of another kind.
pub fn subject_of(question: &[u8]) -> Option<u64> {
    let (kind, rest) = question.split_first()?;
    let number = rest.first_chunk().copied().map(u64::from_le_bytes)?;
    (*kind == EVALUATE).then_some(number)
}

/// A request: points of a batch, for the target with this number.
pub(super) fn question(
    subject: u64,
    is_tightened: bool,
    gradient: Option<Weights>,
    points: &Batch,
    range: &Range<usize>,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + 8 * points.dim() * range.len());
    bytes.push(EVALUATE);
    bytes.extend(subject.to_le_bytes());
    bytes.extend([u8::from(is_tightened), u8::from(gradient.is_some())]);
    let Weights { prior, likelihood } = gradient.unwrap_or(Weights { prior: 0.0, likelihood: 0.0 });
    put(&mut bytes, &[prior, likelihood]);
    for count in [points.dim(), range.len()] {
        bytes.extend((count as u32).to_le_bytes());
    }
    (0..points.dim()).for_each(|d| put(&mut bytes, &points.row(d)[range.clone()]));
    bytes
}

/// Decodes a request.
pub(super) fn asked(question: &[u8]) -> Option<Asked> {
    subject_of(question)?;
    let (flags, rest) = question.get(9..)?.split_first_chunk::<2>()?;
    let (weights, rest) = rest.split_at_checked(2 * 8)?;
    let weights: Vec<f64> = numbers(weights).collect();
    let (counts, rest) = rest.split_at_checked(2 * 4)?;
    let count = |i: usize| counts[4 * i..].first_chunk().copied().map(u32::from_le_bytes);
    let (dim, len) = (count(0)? as usize, count(1)? as usize);
    if rest.len() != 8 * dim * len || dim == 0 || len == 0 {
        return None;
    }
    let mut points = Batch::zeros(dim, len);
    for (d, row) in rest.chunks_exact(8 * len).enumerate() {
        take(row, &mut points.row_mut(d)[..len]);
    }
    let weights = Weights { prior: weights[0], likelihood: weights[1] };
    Some(Asked {
        is_tightened: flags[0] != 0,
        gradient: (flags[1] != 0).then_some(weights),
        points,
    })
}

/// The reply: the target's output.
pub(super) fn answer(asked: &Asked, found: &Evaluation) -> Vec<u8> {
    let (dim, len) = (asked.points.dim(), asked.points.len());
    let rows = if asked.gradient.is_some() { 2 + dim } else { 2 };
    let mut bytes = Vec::with_capacity(8 * rows * len);
    put(&mut bytes, &found.log_prior[..len]);
    put(&mut bytes, &found.log_likelihood[..len]);
    if asked.gradient.is_some() {
        (0..dim).for_each(|d| put(&mut bytes, &found.gradient.row(d)[..len]));
    }
    bytes
}

/// Copies a reply to the positions of its points in the batch.
pub(super) fn fill(
    answer: &[u8],
    range: &Range<usize>,
    has_gradient: bool,
    out: &mut Evaluation,
) -> Result<()> {
    let dim = out.gradient.dim();
    let rows = if has_gradient { 2 + dim } else { 2 };
    if answer.len() != 8 * rows * range.len() {
        return Err(Error::Target(format!(
            "a rank returned {} bytes for {} points, but {} were expected",
            answer.len(),
            range.len(),
            8 * rows * range.len()
        )));
    }
    for (i, row) in answer.chunks_exact(8 * range.len()).enumerate() {
        let to = match i {
            0 => &mut out.log_prior[range.clone()],
            1 => &mut out.log_likelihood[range.clone()],
            i => &mut out.gradient.row_mut(i - 2)[range.clone()],
        };
        take(row, to);
    }
    Ok(())
}

fn put(bytes: &mut Vec<u8>, numbers: &[f64]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn take(bytes: &[u8], to: &mut [f64]) {
    to.iter_mut().zip(numbers(bytes)).for_each(|(to, number)| *to = number);
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.as_chunks().0.iter().map(|number| f64::from_le_bytes(*number))
}
