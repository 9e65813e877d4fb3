//! Curves through knots: piecewise polynomials, constant before the first knot and after the last.

use super::file::Shape;
use crate::program::Expr;

/// A curve as pieces: each begins at a time and has its numbers.
pub(super) type Pieces = Vec<(f64, Vec<f64>)>;

/// The curves of an input, by subject.
#[derive(Clone, Default)]
pub(super) struct Curves {
    /// Each with the number of its subject, or one curve for all subjects.
    pub(super) of: Vec<(Option<f64>, Pieces)>,
    /// The text of the file that they were read from, if any.
    pub(super) text: Option<String>,
}

impl Curves {
    pub(super) fn find(&self, subject: Option<f64>) -> Option<&Pieces> {
        let own = |(of, _): &&(Option<f64>, Pieces)| of.is_none() || *of == subject;
        self.of.iter().find(own).map(|(_, pieces)| pieces)
    }

    /// The value for a subject at a time.
    pub(super) fn value(&self, subject: Option<f64>, time: f64) -> f64 {
        let numbers = self.find(subject).and_then(|pieces| at(pieces, time)).unwrap_or_default();
        let numbers: Vec<Expr<'static>> = numbers.into_iter().map(Expr::from).collect();
        value(&numbers, time.into()).as_constant().unwrap_or(f64::NAN)
    }
}

/// The number of values per piece.
pub(super) fn width(shape: Shape) -> usize {
    match shape {
        Shape::Step => 1,
        Shape::Linear => 3,
        Shape::Cubic => 5,
    }
}

/// The value of a piece at a time: c₀, or c₀ + c₁(t − a) + c₂(t − a)² + c₃(t − a)³ for numbers a, c₀, c₁, ...
pub(super) fn value<'g>(numbers: &[Expr<'g>], t: Expr<'g>) -> Expr<'g> {
    match numbers {
        [] => f64::NAN.into(),
        [level] => *level,
        [from, level, slopes @ ..] => {
            let since = t - *from;
            let rest = slopes.iter().rev().fold(Expr::from(0.0), |sum, &c| (sum + c) * since);
            *level + rest
        }
    }
}

/// The pieces of a curve with ascending times, one from each knot on; before the first knot the curve is
/// constant.
pub(super) fn pieces(shape: Shape, times: &[f64], values: &[f64]) -> Pieces {
    let bends = match shape {
        Shape::Cubic => second_derivatives(times, values),
        _ => vec![0.0; times.len()],
    };
    let piece = |i: usize| {
        let (time, level) = (times[i], values[i]);
        let mut numbers = match shape {
            Shape::Step => vec![level],
            _ => vec![time, level],
        };
        if let (Some(next), true) = (times.get(i + 1), shape != Shape::Step) {
            let h = next - time;
            let (bend, change) = (bends[i], bends[i + 1] - bends[i]);
            numbers.push((values[i + 1] - level) / h - h * (3.0 * bend + change) / 6.0);
            numbers.extend([bend / 2.0, change / (6.0 * h)]);
        }
        numbers.resize(width(shape), 0.0);
        (time, numbers)
    };
    (0..times.len()).map(piece).collect()
}

/// The second derivatives at the knots of a natural cubic spline: 0 at both ends, with continuous slopes.
fn second_derivatives(times: &[f64], values: &[f64]) -> Vec<f64> {
    let n = times.len();
    let mut bends = vec![0.0; n];
    if n < 3 {
        return bends;
    }
    let h = |i: usize| times[i + 1] - times[i];
    let slope = |i: usize| (values[i + 1] - values[i]) / h(i);
    // Thomas algorithm for h₀ m₀ + 2(h₀ + h₁) m₁ + h₁ m₂ = 6(s₁ − s₀).
    let (mut ratios, mut rights) = (vec![0.0; n], vec![0.0; n]);
    for i in 1..n - 1 {
        let pivot = 2.0 * (h(i - 1) + h(i)) - h(i - 1) * ratios[i - 1];
        ratios[i] = h(i) / pivot;
        rights[i] = (6.0 * (slope(i) - slope(i - 1)) - h(i - 1) * rights[i - 1]) / pivot;
    }
    for i in (1..n - 1).rev() {
        bends[i] = rights[i] - ratios[i] * bends[i + 1];
    }
    bends
}

/// The piece that holds at a time; before the first knot, the first value.
pub(super) fn at(pieces: &Pieces, time: f64) -> Option<Vec<f64>> {
    match pieces.partition_point(|(from, _)| *from <= time) {
        0 => {
            let (_, numbers) = pieces.first()?;
            // The value of the first knot, with slope 0.
            let mut level = numbers[..numbers.len().min(2)].to_vec();
            level.resize(numbers.len(), 0.0);
            Some(level)
        }
        behind => pieces.get(behind - 1).map(|(_, numbers)| numbers.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(pieces: &Pieces, t: f64) -> f64 {
        let numbers: Vec<Expr<'static>> =
            at(pieces, t).unwrap().into_iter().map(Expr::from).collect();
        value(&numbers, t.into()).as_constant().unwrap()
    }

    #[test]
    fn curves_go_through_their_knots_and_stay_outside() {
        let (times, values) = ([1.0, 2.0, 4.0, 5.0], [3.0, -1.0, 2.0, 2.5]);
        for shape in [Shape::Step, Shape::Linear, Shape::Cubic] {
            let pieces = pieces(shape, &times, &values);
            for (t, v) in times.iter().zip(values) {
                assert!((curve(&pieces, *t) - v).abs() < 1e-12, "{shape:?} at {t}");
            }
            assert_eq!((curve(&pieces, -7.0), curve(&pieces, 9.0)), (3.0, 2.5), "{shape:?}");
        }
        let linear = pieces(Shape::Linear, &times, &values);
        assert!((curve(&linear, 3.0) - 0.5).abs() < 1e-15);
        let step = pieces(Shape::Step, &times, &values);
        assert_eq!(curve(&step, 3.999), -1.0);
    }

    /// A natural spline has continuous first and second derivatives, and its second derivative is 0 at both
    /// ends.
    #[test]
    fn cubic_curves_are_smooth() {
        let (times, values) = ([0.0, 0.5, 2.0, 3.0, 3.25], [1.0, 2.0, 0.0, 4.0, 3.0]);
        let pieces = pieces(Shape::Cubic, &times, &values);
        for i in 1..4 {
            let (from, [_, _, c1, c2, c3]) =
                (pieces[i - 1].0, pieces[i - 1].1[..].try_into().unwrap());
            let d: f64 = times[i] - from;
            let next = &pieces[i].1;
            assert!((c1 + 2.0 * c2 * d + 3.0 * c3 * d * d - next[2]).abs() < 1e-12);
            assert!((2.0 * c2 + 6.0 * c3 * d - 2.0 * next[3]).abs() < 1e-12);
        }
        assert_eq!(pieces[0].1[3], 0.0);
    }
}
