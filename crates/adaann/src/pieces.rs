//! Splits long vectors into halves, down to pieces that are each worth a thread.
//!
//! The splits depend on the length alone, so that a sum over pieces has the same bits for any
//! number of threads. Vectors of up to two pieces are not split.

/// Numbers in a piece: it takes some microseconds, while a fork takes less than one.
const PIECE: usize = 1 << 14;

/// Where to split a vector of this length, if it is long enough.
pub(crate) fn cut(len: usize) -> Option<usize> {
    (len > 2 * PIECE).then(|| (len / 2).next_multiple_of(8))
}

/// Applies `work` to a vector, piece by piece.
pub(crate) fn each(numbers: &mut [f64], work: impl Fn(&mut [f64]) + Copy + Send + Sync) {
    match cut(numbers.len()) {
        None => work(numbers),
        Some(at) => {
            let (numbers, rest) = numbers.split_at_mut(at);
            rayon::join(|| each(numbers, work), || each(rest, work));
        }
    }
}

/// Applies `work` to a vector and a second one that is only read, piece by piece.
pub(crate) fn zip(to: &mut [f64], from: &[f64], work: impl Fn(&mut [f64], &[f64]) + Copy + Sync) {
    match cut(to.len()) {
        None => work(to, from),
        Some(at) => {
            let (to, to_rest) = to.split_at_mut(at);
            let (from, from_rest) = from.split_at(at);
            rayon::join(|| zip(to, from, work), || zip(to_rest, from_rest, work));
        }
    }
}

/// Sums the results of `work` over the pieces.
pub(crate) fn sum(numbers: &[f64], work: impl Fn(&[f64]) -> f64 + Copy + Sync) -> f64 {
    match cut(numbers.len()) {
        None => work(numbers),
        Some(at) => {
            let (numbers, rest) = numbers.split_at(at);
            let (a, b) = rayon::join(|| sum(numbers, work), || sum(rest, work));
            a + b
        }
    }
}
