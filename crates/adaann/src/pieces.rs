//! Long vectors cut in halves, down to pieces that are worth a thread each.
//!
//! The cuts depend on the length alone, so that a sum over pieces has the same bits for any number
//! of threads. Vectors of up to two pieces are not cut.

/// Numbers of a piece: it takes some microseconds, a fork less than one.
const PIECE: usize = 1 << 14;

/// Where to cut a vector of this length, if it is to be cut.
pub(crate) fn cut(len: usize) -> Option<usize> {
    (len > 2 * PIECE).then(|| (len / 2).next_multiple_of(8))
}

/// Does `work` on a vector, piece by piece.
pub(crate) fn each(numbers: &mut [f64], work: impl Fn(&mut [f64]) + Copy + Send + Sync) {
    match cut(numbers.len()) {
        None => work(numbers),
        Some(at) => {
            let (numbers, rest) = numbers.split_at_mut(at);
            rayon::join(|| each(numbers, work), || each(rest, work));
        }
    }
}

/// Does `work` on a vector beside another that is only read, piece by piece.
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

/// Adds up what `work` makes of the pieces.
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
