//! The logarithms of Euler's gamma and beta functions, for the constants of densities.
//!
//! Both rest on Stirling's series, whose leading terms cancel in ln B on paper: what is left keeps
//! its digits where ln Γ itself is large.

/// ½ ln 2π
pub(super) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// From here on Stirling's series has all digits.
const LARGE: f64 = 10.0;

/// ln Γ(x) for x > 0.
pub(super) fn ln_gamma(x: f64) -> f64 {
    // Γ(x) = Γ(x + n) / (x (x + 1) … (x + n − 1))
    let (mut x, mut product) = (x, 1.0);
    while x < LARGE {
        product *= x;
        x += 1.0;
    }
    (x - 0.5) * x.ln() - x + HALF_LN_TAU + stirling_rest(x) - product.ln()
}

/// ln B(a, b) = ln Γ(a) + ln Γ(b) − ln Γ(a + b) for a, b > 0.
pub(super) fn ln_beta(a: f64, b: f64) -> f64 {
    let (less, more) = (a.min(b), a.max(b));
    let sum = less + more;
    if more < LARGE {
        return ln_gamma(less) + ln_gamma(more) - ln_gamma(sum);
    }
    // ln(more / sum)
    let ln_share = (-less / sum).ln_1p();
    let rest = stirling_rest(more) - stirling_rest(sum);
    if less < LARGE {
        return ln_gamma(less) + less - less * sum.ln() + (more - 0.5) * ln_share + rest;
    }
    (less - 0.5) * (less / sum).ln() + more * ln_share - 0.5 * more.ln()
        + HALF_LN_TAU
        + stirling_rest(less)
        + rest
}

/// ln Γ(x) − ((x − ½) ln x − x + ½ ln 2π) = Σ B_2k / (2k (2k − 1) x^(2k−1)), for x ≥ 10.
///
/// The first term left out is 3e-17 there.
fn stirling_rest(x: f64) -> f64 {
    const TERMS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1_260.0,
        -1.0 / 1_680.0,
        1.0 / 1_188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let inverse_square = (x * x).recip();
    TERMS.iter().rev().fold(0.0, |sum, term| sum * inverse_square + term) / x
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[track_caller]
    fn assert_close(found: f64, exact: f64) {
        let scale = exact.abs().max(1.0);
        assert!((found - exact).abs() <= 1e-14 * scale, "{found} is not {exact}");
    }

    /// By mpmath with 60 digits.
    #[test]
    fn ln_gamma_is_exact() {
        for (x, exact) in [
            (1e-300, 690.775_527_898_213_7),
            (1e-8, 18.420_680_738_180_21),
            (0.25, 1.288_022_524_698_077_4),
            (0.5, 0.5 * PI.ln()),
            (1.0, 0.0),
            (1.46163, -0.121_486_290_533_623_53),
            (2.0, 0.0),
            (3.7, 1.428_072_326_665_388),
            (9.9999, 12.801_602_305_348_396),
            (10.0, 362_880_f64.ln()),
            (25.5, 56.389_167_643_719_944),
            (1_000.25, 5_906.947_268_271_117_5),
            (1e10, 220_258_509_288.810_58),
            (1e300, 6.897_755_278_982_137e302),
        ] {
            assert_close(ln_gamma(x), exact);
        }
    }

    /// By mpmath with 260 digits; ln Γ(5e9) alone is 1e11 and has no digit after the fifth decimal.
    #[test]
    fn ln_beta_is_exact_where_ln_gamma_is_large() {
        for (a, b, exact) in [
            (0.5, 0.5, PI.ln()),
            (2.5, 0.3, 0.863_778_073_303_247_9),
            (1e-8, 3.0, 18.420_680_728_952_366),
            (9.5, 9.75, -13.195_061_176_335_525),
            (0.5, 10.0, -0.566_432_796_397_593_9),
            (3.5, 40.0, -11.816_840_683_354_368),
            (0.5, 5e9, -10.593_986_931_740_556),
            (12.0, 15.5, -18.865_768_491_887_003),
            (11.0, 1e9, -212.851_511_688_335),
            (1e8, 3e8, -224_934_065.995_084_14),
            (1e-3, 1e200, 6.446_661_866_785_044),
        ] {
            assert_close(ln_beta(a, b), exact);
            assert_close(ln_beta(b, a), exact);
        }
    }

    /// Γ(x + 1) = x Γ(x), across the place where the series takes over.
    #[test]
    fn the_recurrence_holds() {
        for i in 1..400 {
            let x = 0.037 * f64::from(i);
            assert_close(ln_gamma(x + 1.0), ln_gamma(x) + x.ln());
        }
    }
}
