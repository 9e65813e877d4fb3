//! Central differences whose steps stay inside supports, with one-sided slopes where a side is not
//! finite.

use super::Support;

/// Steps of ∛ε times the distance to the nearest bound, or times max(1, |θ|) if that is less: near
/// a bound, a density varies with the logarithm of the distance.
pub(crate) fn steps_inside(supports: &[Support], theta: &[f64], steps: &mut [f64]) {
    for (d, [low, high]) in Support::intervals(supports, theta).enumerate() {
        steps[d] = (theta[d] - low).min(high - theta[d]);
        match &supports[d] {
            Support::After => steps[d - 1] = steps[d - 1].min(theta[d] - theta[d - 1]),
            &Support::Share { index, of } if index + 2 == of => {
                // No part may exceed what the parts before it leave.
                let left = high - theta[d];
                for step in &mut steps[d - index..=d] {
                    *step = step.min(left);
                }
            }
            Support::Within { low: lower, high: upper } => {
                // A moving bound may not pass the coordinate that it bounds.
                for (edge, room) in [(lower, theta[d] - low), (upper, high - theta[d])] {
                    let most = edge.moves().len() as f64;
                    for &(of, factor) in edge.moves() {
                        steps[of] = steps[of].min(room / (most * factor.abs()));
                    }
                }
            }
            _ => {}
        }
    }
    for (step, theta) in steps.iter_mut().zip(theta) {
        let room = *step;
        let wanted = f64::EPSILON.cbrt() * room.min(theta.abs().max(1.0));
        // At least a few units in the last place, at most half of the room.
        *step = wanted.max(4.0 * f64::EPSILON * theta.abs()).min(room / 2.0);
    }
}

/// The slope from a point below, the point itself and one above, each with its value. Two of them
/// suffice if the third is not finite; `None` with fewer than two.
pub(crate) fn slope([down, here, up]: [(f64, f64); 3]) -> Option<f64> {
    let between = |a: (f64, f64), b: (f64, f64)| {
        let slope = (b.1 - a.1) / (b.0 - a.0);
        slope.is_finite().then_some(slope)
    };
    if !here.1.is_finite() {
        return None;
    }
    // Both steps round onto a bound: θ does not move with z either.
    if down.0 == up.0 {
        return Some(0.0);
    }
    between(down, up).or_else(|| between(here, up)).or_else(|| between(down, here))
}
