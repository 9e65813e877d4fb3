//! Checks whether a mean or a standard deviation depends on a few draws.
//!
//! The mean of a function h under p is an average of w·h, whose tail may be heavier than that of the weights
//! alone: where q is too light far from the mean, the draws that count most are also the furthest. The shape
//! k̂ of the largest w·|x − m| and w·(x − m)² shows whether the estimates converge, as that of w does for log
//! Z (Vehtari and others, "Pareto smoothed importance sampling", 2024).

use crate::importance::{Sample, pareto};

/// The tail of a parameter's moments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MomentTail {
    pub(super) name: String,
    /// The larger shape of the two moments.
    pub(super) k_hat: f64,
}

/// The parameter whose first or second moment has the heaviest tail; none if the sample has no q.
pub(super) fn heaviest(sample: &Sample, names: &[String]) -> Option<MomentTail> {
    sample.log_q()?;
    let tail = |(d, name): (usize, &String)| {
        let x = &sample.x().row(d)[..sample.len()];
        let mean = sample.coordinate(d).ok()?.mean().value;
        let log_distances: Vec<f64> = x.iter().map(|x| (x - mean).abs().ln()).collect();
        let shape = |power: f64| {
            let log_terms = sample.log_weights().iter().zip(&log_distances);
            let log_terms: Vec<f64> = log_terms.map(|(w, l)| w + power * l).collect();
            // A constant parameter has no tail.
            pareto::tail_shape(&log_terms).unwrap_or(f64::NEG_INFINITY)
        };
        Some(MomentTail { name: name.clone(), k_hat: shape(1.0).max(shape(2.0)) })
    };
    let all = names.iter().enumerate().filter_map(tail);
    all.max_by(|a, b| a.k_hat.total_cmp(&b.k_hat))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Batch,
        rng::{Purpose, Stream},
    };

    /// Draws of N(0, 1) in each of two coordinates, weighted towards N(0, s²) in the second.
    fn sample(sd: f64) -> Sample {
        let mut x = Batch::zeros(2, 20_000);
        Stream::new(5, Purpose::MonteCarlo).fill_normals(0, 0, &mut x);
        let log_q: Vec<f64> = x.row(1)[..20_000].iter().map(|x| -0.5 * x * x).collect();
        let log_p = log_q.iter().map(|log_q| log_q / (sd * sd)).collect();
        Sample::of_draws(x.clone(), x, log_p, log_q).unwrap()
    }

    /// w = exp(a x²/2) with a = 1 − 1/s² has a tail of shape a. So has x² w, but it approaches that shape
    /// from above, because of the terms that a power of log w adds.
    #[test]
    fn the_parameter_that_q_is_too_narrow_in_is_named() {
        let names = ["wide".to_owned(), "narrow".to_owned()];
        let found = heaviest(&sample(1.6), &names).unwrap();
        let weights = sample(1.6).smoothed().unwrap().k_hat;
        assert_eq!(found.name, "narrow");
        assert!(found.k_hat > weights, "{found:?} beside {weights}");
        // a = 0.61, and the tail shape of 425 draws has a standard deviation of (1 + a)/√425 = 0.08; the
        // interval allows four of them, and the bias from the square.
        assert!((0.61 - 0.32..1.1).contains(&found.k_hat), "{found:?}");
        // Equal weights: the squares of a normal variable have a tail lighter than any power, of shape 0.
        let even = heaviest(&sample(1.0), &names).unwrap();
        assert!(even.k_hat < 0.4, "{even:?}");
    }

    #[test]
    fn constants_and_points_without_a_q_have_no_tail() {
        let x = Batch::zeros(1, 1_000);
        let zeros = vec![0.0; 1_000];
        let names = ["x".to_owned()];
        let draws = Sample::of_draws(x.clone(), x.clone(), zeros.clone(), zeros.clone()).unwrap();
        assert_eq!(heaviest(&draws, &names).unwrap().k_hat, f64::NEG_INFINITY);
        let particles = Sample::of_particles(x.clone(), x, zeros.clone(), zeros).unwrap();
        assert_eq!(heaviest(&particles, &names), None);
    }
}
