//! The quantiles of the standard normal distribution.

use crate::simd::Special;

/// The number that a standard normal one is below with probability p, to 16 digits.
///
/// M. Wichura, "Algorithm AS241: the percentage points of the normal distribution" (1988).
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&MIDDLE, 0.180_625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let size = if r <= 5.0 { ratio(&TAIL, r - 1.6) } else { ratio(&FAR, r - 5.0) };
    size.copysign(q)
}

/// The number that a standard normal one is below with the probability of this logarithm, which may be far
/// below what a double can say of the probability itself.
pub(crate) fn normal_quantile_of_ln(ln_p: f64) -> f64 {
    if ln_p.is_nan() || ln_p == f64::NEG_INFINITY {
        return ln_p;
    }
    let mut x = match ln_p {
        ln_p if ln_p > -700.0 => normal_quantile(ln_p.exp()),
        // The tail is exp(−x²/2)/(x √2π).
        ln_p => {
            let square = -2.0 * ln_p;
            -(square - (std::f64::consts::TAU * square).ln()).max(0.0).sqrt()
        }
    };
    // The slope of ln Φ is its hazard; far out each step of Newton's doubles the digits.
    for _ in 0..2 {
        let step = (ln_p - Special::LnNormalCdf.at(x)) / Special::NormalHazard.at(x);
        if step.is_finite() {
            x += step;
        }
    }
    x
}

/// Numerator over denominator, by Horner's rule.
fn ratio([numerator, denominator]: &[[f64; 8]; 2], r: f64) -> f64 {
    let value = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, c| sum * r + c);
    value(numerator) / value(denominator)
}

/// Coefficients for p from 0.075 to 0.925, highest power first.
const MIDDLE: [[f64; 8]; 2] = [
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
];

/// Beyond that, to e^−25.
const TAIL: [[f64; 8]; 2] = [
    [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-09,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];

/// And further out.
const FAR: [[f64; 8]; 2] = [
    [
        2.010_334_399_292_288_1e-07,
        2.711_555_568_743_487_6e-05,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-07,
        1.846_318_317_510_054_8e-05,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// By mpmath, to 17 digits.
    #[test]
    fn known_quantiles() {
        for (p, x) in [
            (1e-300, -37.047_096_299_361_2),
            (1e-20, -9.262_340_089_798_407),
            (1e-11, -6.706_023_155_495_136),
            (0.001, -3.090_232_306_167_813_6),
            (0.05, -1.644_853_626_951_472_6),
            (0.075, -1.439_531_470_938_456),
            (0.3, -0.524_400_512_708_040_8),
            (0.5, 0.0),
            (0.7, 0.524_400_512_708_040_7),
            (0.95, 1.644_853_626_951_472_2),
            (0.9999, 3.719_016_485_455_708_4),
        ] {
            let found: f64 = normal_quantile(p);
            let x: f64 = x;
            assert!((found - x).abs() <= 1e-15 * x.abs().max(1.0), "{p}: {found} is not {x}");
        }
    }

    /// ln Φ and back.
    #[test]
    fn quantiles_of_logarithms() {
        for x in [-200.0, -60.0, -37.5, -9.0, -1.0, 0.0, 0.7] {
            let found = normal_quantile_of_ln(Special::LnNormalCdf.at(x));
            assert!((found - x).abs() <= 1e-13 * x.abs().max(1.0), "{found} is not {x}");
        }
    }
}
