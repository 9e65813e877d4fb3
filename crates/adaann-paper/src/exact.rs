//! The steps of AdaAnn with the exact variance of log p by quadrature, without a flow or noise.

/// The exact number of values of t, including t_0 and 1, for a density on the line.
///
/// `log_p` need not be normalised. `extra` is a part of the variance at t that is known in closed form: 1/(2t²) for
/// each further independent Gaussian coordinate.
pub fn steps(
    log_p: &dyn Fn(f64) -> f64,
    reach: &dyn Fn(f64) -> [f64; 2],
    extra: &dyn Fn(f64) -> f64,
    t0: f64,
    tau: f64,
) -> usize {
    let (mut t, mut steps) = (t0, 1);
    while t < 1.0 {
        t += tau / (variance(log_p, reach(t), t) + extra(t)).sqrt();
        steps += 1;
    }
    steps
}

/// The variance of log p under p^t by the trapezium rule, which converges faster than any power for a smooth density
/// that vanishes at both ends.
fn variance(log_p: &dyn Fn(f64) -> f64, [low, high]: [f64; 2], t: f64) -> f64 {
    const CELLS: usize = 2_000;
    let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
    for i in 0..=CELLS {
        let b = log_p(low + (high - low) * i as f64 / CELLS as f64);
        let p = (t * b).exp();
        mass += p;
        first += p * b;
        second += p * b * b;
    }
    let mean = first / mass;
    second / mass - mean * mean
}

/// A Gaussian in `dim` dimensions, where the standard deviation of log p is √(dim/2)/t.
pub fn gaussian(dim: usize, t0: f64, tau: f64) -> usize {
    steps(&|_| 0.0, &|_| [0.0, 1.0], &|t| 0.5 * dim as f64 / (t * t), t0, tau)
}

/// Example 1.
pub fn bimodal(t0: f64, tau: f64) -> usize {
    // x = z + 2; p^t is below e⁻⁴⁵⁰ at both ends.
    let log_p = |x: f64| -(x * x - 3.0).powi(2);
    let reach = |t: f64| {
        let end = (3.0 + (450.0 / t).sqrt()).sqrt();
        [-end, end]
    };
    steps(&log_p, &reach, &|_| 0.0, t0, tau)
}

/// Example 3. Its second coordinate is an independent Gaussian.
pub fn mixture2d(mu: f64, tau: f64) -> usize {
    let at = mu + 1.0;
    let log_p = |x: f64| {
        let (left, right) = (-16.0 * (x + at).powi(2), -16.0 * (x - at).powi(2));
        left.max(right) + (-(left - right).abs()).exp().ln_1p()
    };
    let reach = |t: f64| {
        let end = at + (450.0 / (16.0 * t)).sqrt();
        [-end, end]
    };
    steps(&log_p, &reach, &|t| 0.5 / (t * t), 0.01, tau)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a Gaussian t grows by the factor 1 + τ √2 a step.
    #[test]
    fn a_gaussian_is_annealed_geometrically() {
        let reach = |t: f64| [-40.0 / t.sqrt(), 40.0 / t.sqrt()];
        let tau: f64 = 0.05;
        let expected = (100.0_f64.ln() / (tau * 2.0_f64.sqrt()).ln_1p()).ceil() as usize + 1;
        assert_eq!(steps(&|x| -0.5 * x * x, &reach, &|_| 0.0, 0.01, tau), expected);
    }

    #[test]
    fn counts_of_the_examples() {
        assert_eq!([1.0, 0.1, 0.01, 0.001].map(|tau| bimodal(0.01, tau)), [6, 29, 259, 2_558]);
        assert_eq!(mixture2d(0.5, 0.01), 445);
        // Examples 4 and 5 near a mode.
        assert_eq!([gaussian(3, 0.05, 0.5), gaussian(3, 0.000_05, 0.005)], [10, 2_432]);
    }
}
