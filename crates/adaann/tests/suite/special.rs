//! Special functions compared with exact values, at the ends of the range, and in programs.

use crate::support::common;
use adaann::Instructions;
use adaann::support::simd::{F64, Kernel, Lane, Special, dispatch_on};
use adaann::{Expr, Program};
use common::{Difference, WHOLE, assert_close, evaluate, log_p_at};
use fearless_simd::Simd;
use std::f64::consts::{FRAC_PI_2, PI};

const NAMES: [(&str, Special); 12] = [
    ("ln_gamma", Special::LnGamma),
    ("digamma", Special::Polygamma(0)),
    ("trigamma", Special::Polygamma(1)),
    ("polygamma_2", Special::Polygamma(2)),
    ("polygamma_5", Special::Polygamma(5)),
    ("ln_gamma_rest", Special::LnGammaRest),
    ("digamma_rest", Special::DigammaRest),
    ("erf", Special::Erf),
    ("erfc", Special::Erfc),
    ("ln_normal_cdf", Special::LnNormalCdf),
    ("normal_hazard", Special::NormalHazard),
    ("atan", Special::Atan),
];

/// Instruction sets that the machine lacks run as the widest available one below them.
const INSTRUCTIONS: [Instructions; 3] =
    [Instructions::Avx512, Instructions::Avx2, Instructions::Baseline];

fn map(on: Instructions, function: Special, x: &[f64]) -> Vec<f64> {
    struct Map<'a>(Special, &'a mut [f64]);
    impl Kernel for Map<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            for chunk in self.1.chunks_exact_mut(F64::<S>::LEN) {
                self.0.of(F64::<S>::load(simd, chunk)).store(chunk);
            }
        }
    }
    let mut values = x.to_vec();
    values.resize(x.len().next_multiple_of(16), 1.0);
    dispatch_on(on, Map(function, &mut values[..]));
    values.truncate(x.len());
    values
}

/// The largest error in units in the last place.
fn bound(function: Special) -> f64 {
    match function {
        Special::Erf | Special::Atan | Special::Floor => 1.5,
        Special::Erfc => 3.5,
        Special::LnNormalCdf | Special::NormalHazard => 4.5,
        Special::LnGamma | Special::LnGammaRest | Special::DigammaRest => 6.0,
        Special::Polygamma(0) => 4.0,
        // Powers of rounded numbers.
        Special::Polygamma(n) => 4.0 + f64::from(n),
    }
}

/// The size of the terms whose difference is the result at x.
fn parts(function: Special, x: f64) -> f64 {
    match function {
        // ψ(2 + z) and 1/x, near the zero of ψ.
        Special::Polygamma(0) if x < 2.5 => 0.68,
        Special::LnGammaRest if x < 10.0 => x.max(1.0) * (x.ln().abs() + 1.0),
        Special::DigammaRest if x < 10.0 => x.ln().abs() + 0.5 / x,
        _ => 0.0,
    }
}

/// The unit in the last place at x.
fn ulp(x: f64) -> f64 {
    x.abs().next_up() - x.abs()
}

#[test]
fn values_agree_with_exact_ones() {
    let fixture = include_str!("../fixtures/special.txt");
    let bits = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).expect("hexadecimal"));
    for (name, function) in NAMES {
        let rows: Vec<(f64, f64, f64)> = fixture
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>())
            .filter(|words| words[0] == name)
            .map(|words| (bits(words[1]), bits(words[2]), words[3].parse().expect("a number")))
            .collect();
        assert!(rows.len() > 180, "{name} has {} rows", rows.len());
        let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
        for on in INSTRUCTIONS {
            for (y, &(x, exact, rest)) in map(on, function, &x).iter().zip(&rows) {
                // Convert to units first: the difference of near neighbours is exact.
                let error = ((y - exact) / ulp(exact) - rest).abs();
                let error = error * ulp(exact) / ulp(exact).max(ulp(parts(function, x)));
                assert!(error <= bound(function), "{name}({x:e}) = {y:e} on {on}: {error} units");
            }
        }
    }
}

#[test]
fn ends_of_the_range() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let gamma = [(0.0, INF), (-0.0, INF), (-0.5, NAN), (-1.0, NAN), (-INF, NAN), (INF, INF)];
    let polygamma = |sign: f64| {
        [(0.0, sign * INF), (-0.0, sign * INF), (-0.5, NAN), (-3.0, NAN), (-INF, NAN)].to_vec()
    };
    let cases = [
        (Special::LnGamma, [gamma.to_vec(), vec![(1.0, 0.0), (2.0, 0.0), (1e306, INF)]].concat()),
        (Special::Polygamma(0), [polygamma(-1.0), vec![(INF, INF)]].concat()),
        (Special::Polygamma(1), [polygamma(1.0), vec![(INF, 0.0)]].concat()),
        (Special::Polygamma(2), [polygamma(-1.0), vec![(INF, -0.0)]].concat()),
        (Special::LnGammaRest, vec![(INF, 0.0), (-1.0, NAN)]),
        (Special::DigammaRest, vec![(INF, -0.0), (-1.0, NAN)]),
        (Special::Erf, vec![(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (1e300, 1.0)]),
        (Special::Erfc, vec![(0.0, 1.0), (INF, 0.0), (-INF, 2.0), (1e300, 0.0), (28.0, 0.0)]),
        (Special::LnNormalCdf, vec![(INF, 0.0), (-INF, -INF), (1e300, 0.0), (-1e300, -INF)]),
        (Special::NormalHazard, vec![(INF, 0.0), (1e300, 0.0)]),
        (Special::Atan, vec![(0.0, 0.0), (-0.0, -0.0), (INF, FRAC_PI_2), (-INF, -FRAC_PI_2)]),
        (
            Special::Floor,
            vec![(-0.5, -1.0), (2.5, 2.0), (-3.0, -3.0), (1e300, 1e300), (-INF, -INF)],
        ),
    ];
    for on in INSTRUCTIONS {
        for (function, pairs) in &cases {
            for &(x, y) in pairs.iter().chain([&(NAN, NAN)]) {
                let got = map(on, *function, &[x])[0];
                // The sign of a zero matters if it is that of the argument.
                let odd = matches!(function, Special::Erf | Special::Atan);
                let same = got == y && (!odd || got.is_sign_negative() == y.is_sign_negative());
                assert!(same || got.is_nan() && y.is_nan(), "{function:?}({x}) = {got} on {on}");
            }
        }
    }
}

#[test]
fn a_lane_ignores_its_neighbours() {
    let odd_ones = [1e300, f64::NAN, 0.0, -1.0, f64::INFINITY, 5e-324, 9.7];
    for on in INSTRUCTIONS {
        for (name, function) in NAMES {
            for x in [0.3, 1.7, 8.2, 123.4] {
                let alone = map(on, function, &[x; 16]);
                for odd in odd_ones {
                    let mut mixed = [odd; 16];
                    mixed[5] = x;
                    assert_eq!(map(on, function, &mixed)[5], alone[5], "{name} on {on}");
                }
                if on == Instructions::current() {
                    assert_eq!(function.at(x), alone[0], "{name}");
                }
            }
        }
    }
}

/// Values from functions of plain numbers, gradients from differences.
#[test]
fn programs_have_them_with_their_derivatives() {
    type Case = (for<'g> fn(Expr<'g>) -> Expr<'g>, fn(f64) -> f64);
    let cases: [Case; 7] = [
        (|x| (x * x + 0.3).ln_gamma(), |x| Special::LnGamma.at(x * x + 0.3)),
        (|x| (x * x + 0.3).digamma(), |x| Special::Polygamma(0).at(x * x + 0.3)),
        (|x| x.erf(), |x| Special::Erf.at(x)),
        (|x| (2.0 * x).erfc(), |x| Special::Erfc.at(2.0 * x)),
        (|x| (3.0 * x).ln_normal_cdf(), |x| Special::LnNormalCdf.at(3.0 * x)),
        (|x| x.atan() * x, |x| x.atan() * x),
        (|x| (0.7 * x).floor() * x, |x| (0.7 * x).floor() * x),
    ];
    for (number, (recorded, plain)) in cases.into_iter().enumerate() {
        let program = Program::record(1, |z| recorded(z[0]));
        for x in [-4.2, -1.7, -0.31, 0.12, 0.83, 1.9, 3.3, 7.7] {
            let out = evaluate(&program, &[vec![x]], WHOLE);
            assert_close(out.log_likelihood[0], plain(x), 1e-14, &format!("{number} at {x}"));
            let slope = Difference::of(x, |x| log_p_at(&program, &[x]));
            let error = (out.gradient.row(0)[0] - slope.value).abs();
            assert!(error <= 10.0 * slope.error, "slope of {number} at {x}: {error}");
            assert!(slope.error < 1e-8 * slope.value.abs().max(1.0), "{number} at {x}");
        }
    }
}

/// ln B where ln Γ itself is large: reference from mpmath with 260 digits. ln Γ(5e9) is 1e11 and
/// has no digits beyond the fifth decimal.
#[test]
fn ln_beta_is_exact() {
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
        let program = Program::record(2, |z| z[0].ln_beta(z[1]));
        assert_close(log_p_at(&program, &[a, b]), exact, 1e-14, &format!("{a} {b}"));
        assert_close(log_p_at(&program, &[b, a]), exact, 1e-14, &format!("{b} {a}"));
    }
}
