//! The lanes' elementary functions compared with exact values, at the ends of the range, and by their
//! laws.

use adaann::Instructions;
use adaann::support::simd::{F32, F64, Kernel, Lane, LogProduct, Math, dispatch_on};
use fearless_simd::Simd;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    Exp,
    ExpM1,
    Ln,
    Ln1p,
    Tanh,
    Softplus,
    Sin,
    Cos,
    SinTurns,
    CosTurns,
}
use Function::*;

impl Function {
    const ALL: [Self; 10] = [Exp, ExpM1, Ln, Ln1p, Tanh, Softplus, Sin, Cos, SinTurns, CosTurns];

    fn parse(name: &str) -> Self {
        const NAMES: [&str; 10] = [
            "exp",
            "exp_m1",
            "ln",
            "ln_1p",
            "tanh",
            "softplus",
            "sin",
            "cos",
            "sin_turns",
            "cos_turns",
        ];
        Self::ALL[NAMES.iter().position(|&n| n == name).expect("a known function")]
    }

    #[inline(always)]
    fn of<S: Simd, V: Math<S>>(self, x: V) -> V {
        match self {
            Exp => x.exp(),
            ExpM1 => x.exp_m1(),
            Ln => x.ln(),
            Ln1p => x.ln_1p(),
            Tanh => x.tanh(),
            Softplus => x.softplus(),
            Sin => x.sin(),
            Cos => x.cos(),
            SinTurns => x.sin_cos_turns().0,
            CosTurns => x.sin_cos_turns().1,
        }
    }

    /// Reference in double precision from the standard library.
    fn reference(self, x: f64) -> f64 {
        let turn = std::f64::consts::TAU * (x - x.round());
        match self {
            Exp => x.exp(),
            ExpM1 => x.exp_m1(),
            Ln => x.ln(),
            Ln1p => x.ln_1p(),
            Tanh => x.tanh(),
            Softplus if x > 0.0 => x + (-x).exp().ln_1p(),
            Softplus => x.exp().ln_1p(),
            Sin => x.sin(),
            Cos => x.cos(),
            SinTurns => turn.sin(),
            CosTurns => turn.cos(),
        }
    }

    /// The largest error in units in the last place: (double, single) precision.
    fn bound(self, instructions: Instructions) -> (f64, f64) {
        let fused = instructions != Instructions::Baseline;
        match self {
            Tanh if !fused => (2.5, 7.0),
            Tanh => (2.0, 6.0),
            Exp | Ln | Sin | Cos => (1.1, 1.1),
            ExpM1 | Ln1p | Softplus => (2.0, 2.0),
            SinTurns | CosTurns => (2.0, 2.0),
        }
    }
}

/// A function applied to every number in place; the length is a multiple of every register's length.
struct Map<'a, E>(Function, &'a mut [E]);

impl Kernel for Map<'_, f64> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for chunk in self.1.chunks_exact_mut(F64::<S>::LEN) {
            self.0.of(F64::<S>::load(simd, chunk)).store(chunk);
        }
    }
}

impl Kernel for Map<'_, f32> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for chunk in self.1.chunks_exact_mut(F32::<S>::LEN) {
            self.0.of(F32::<S>::load(simd, chunk)).store(chunk);
        }
    }
}

/// Instruction sets that the machine lacks run as the widest available one below them.
const INSTRUCTIONS: [Instructions; 3] =
    [Instructions::Avx512, Instructions::Avx2, Instructions::Baseline];

fn map64(on: Instructions, function: Function, x: &[f64]) -> Vec<f64> {
    let mut values = x.to_vec();
    values.resize(x.len().next_multiple_of(16), 1.0);
    dispatch_on(on, Map(function, &mut values[..]));
    values.truncate(x.len());
    values
}

fn map32(on: Instructions, function: Function, x: &[f32]) -> Vec<f32> {
    let mut values = x.to_vec();
    values.resize(x.len().next_multiple_of(16), 1.0);
    dispatch_on(on, Map(function, &mut values[..]));
    values.truncate(x.len());
    values
}

/// The unit in the last place at x, for a format with p explicit bits and this least exponent.
fn ulp(x: f64, p: i32, least_exponent: i32) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let exponent = exponent.max(least_exponent) - p;
    if exponent < -1022 {
        f64::from_bits(1 << (exponent + 1074)) // where `powi` would give 0
    } else {
        2.0_f64.powi(exponent)
    }
}

#[test]
fn doubles_agree_with_exact_values() {
    let fixture = include_str!("../fixtures/math.txt");
    let bits = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).expect("hexadecimal"));
    for function in Function::ALL {
        let rows: Vec<(f64, f64, f64)> = fixture
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>())
            .filter(|words| Function::parse(words[0]) == function)
            .map(|words| (bits(words[1]), bits(words[2]), words[3].parse().expect("a number")))
            .collect();
        assert!(rows.len() > 200, "{function:?} has {} rows", rows.len());
        let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
        for on in INSTRUCTIONS {
            for (y, &(x, exact, rest)) in map64(on, function, &x).iter().zip(&rows) {
                // Convert to units first: the difference of near neighbours is exact.
                let error = ((y - exact) / ulp(exact, 52, -1022) - rest).abs();
                assert!(
                    error <= function.bound(on).0,
                    "{function:?}({x:e}) = {y:e} on {on} is {error} units off"
                );
            }
        }
    }
}

#[test]
fn singles_agree_with_doubles() {
    // A prime stride through all bit patterns: every exponent, both signs, subnormals, no NaN.
    let all: Vec<f32> =
        (0..u32::MAX).step_by(8191).map(f32::from_bits).filter(|x| x.is_finite()).collect();
    for function in Function::ALL {
        let turns = matches!(function, SinTurns | CosTurns);
        let x: Vec<f32> = all.iter().copied().filter(|x| !turns || x.abs() < 1e3).collect();
        for on in INSTRUCTIONS {
            for (&y, &x) in map32(on, function, &x).iter().zip(&x) {
                let exact = function.reference(x.into());
                if exact.is_nan() {
                    assert!(y.is_nan(), "{function:?}({x:e}) = {y:e} on {on}");
                } else if exact.abs() > f32::MAX.into() {
                    assert_eq!(y, exact as f32, "{function:?}({x:e}) on {on}");
                } else {
                    let error = (f64::from(y) - exact).abs() / ulp(exact, 23, -126);
                    assert!(
                        error <= function.bound(on).1 || (turns && exact.abs() < 1e-10),
                        "{function:?}({x:e}) = {y:e} on {on} is {error} units off"
                    );
                }
            }
        }
    }
}

#[test]
fn ends_of_the_range_are_those_of_the_standard_library() {
    use std::f64::consts::LN_2;
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let cases = [
        (Exp, vec![(INF, INF), (-INF, 0.0), (0.0, 1.0), (-0.0, 1.0), (1e30, INF), (-1e30, 0.0)]),
        (ExpM1, vec![(INF, INF), (-INF, -1.0), (0.0, 0.0), (-0.0, -0.0), (1e30, INF)]),
        (Ln, vec![(INF, INF), (-INF, NAN), (0.0, -INF), (-0.0, -INF), (-1.0, NAN), (1.0, 0.0)]),
        (Ln1p, vec![(INF, INF), (-INF, NAN), (0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN)]),
        (
            Tanh,
            vec![(INF, 1.0), (-INF, -1.0), (0.0, 0.0), (-0.0, -0.0), (1e30, 1.0), (-1e30, -1.0)],
        ),
        (Softplus, vec![(INF, INF), (-INF, 0.0), (0.0, LN_2), (1e30, 1e30), (-1e30, 0.0)]),
        (Sin, vec![(INF, NAN), (-INF, NAN), (0.0, 0.0), (-0.0, -0.0)]),
        (Cos, vec![(INF, NAN), (-INF, NAN), (0.0, 1.0), (-0.0, 1.0)]),
    ];
    for on in INSTRUCTIONS {
        for (function, pairs) in &cases {
            for &(x, y) in pairs.iter().chain([&(NAN, NAN)]) {
                let got = map64(on, *function, &[x])[0];
                let same = got.to_bits() == y.to_bits() || (got.is_nan() && y.is_nan());
                assert!(same, "{function:?}({x}) = {got} on {on}, not {y}");
                let (got, y) = (map32(on, *function, &[x as f32])[0], y as f32);
                let same = got.to_bits() == y.to_bits() || (got.is_nan() && y.is_nan());
                assert!(same, "{function:?}({x}) = {got} in single precision on {on}, not {y}");
            }
        }
    }
}

#[test]
fn a_lane_ignores_its_neighbours() {
    let odd_ones = [1e300, f64::NAN, 0.0, -1.0, f64::INFINITY, 5e-324];
    for on in INSTRUCTIONS {
        for function in Function::ALL {
            for x in [0.3, 1.7, 123.4] {
                let alone = map64(on, function, &[x; 16]);
                for odd in odd_ones {
                    let mut mixed = [odd; 16];
                    mixed[5] = x;
                    assert_eq!(map64(on, function, &mixed)[5], alone[5], "{function:?} on {on}");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn tanh_is_odd_and_bounded(x: f64, small in -10.0..10.0_f64) {
        for on in INSTRUCTIONS {
            for x in [x, small] {
                let y = map64(on, Tanh, &[x, -x]);
                prop_assert!(y[0] == -y[1] && y[0].abs() <= 1.0);
                let y = map32(on, Tanh, &[x as f32, -x as f32]);
                prop_assert!(y[0] == -y[1] && y[0].abs() <= 1.0);
            }
        }
    }

    #[test]
    fn order_is_kept(x in -30.0..30.0_f64, step in 1e-13..1.0_f64) {
        // A step above the error bound, relative to |x|, so that only a wrong branch can reverse the
        // order.
        let pair = [x, x + step * x.abs().max(1e-3)];
        for on in INSTRUCTIONS {
            for function in [Exp, ExpM1, Softplus, Tanh] {
                let y = map64(on, function, &pair);
                prop_assert!(y[0] <= y[1], "{function:?} falls from {} to {}", pair[0], pair[1]);
            }
            let y = map64(on, Ln, &pair.map(f64::abs));
            prop_assert!((y[0] <= y[1]) == (x > 0.0));
        }
    }

    #[test]
    fn sine_and_cosine_lie_on_the_circle(x in -2e6..2e6_f64) {
        for on in INSTRUCTIONS {
            let (sin, cos) = (map64(on, Sin, &[x, -x]), map64(on, Cos, &[x, -x]));
            prop_assert!((sin[0].powi(2) + cos[0].powi(2) - 1.0).abs() <= 4.0 * f64::EPSILON);
            prop_assert!(sin[0] == -sin[1] && cos[0] == cos[1]);
        }
    }
}

/// ln ∏ factors, rescaled every 8 factors.
struct SumOfLogs<'a>(&'a [f64]);

impl Kernel for SumOfLogs<'_> {
    /// Results in double and in single precision.
    type Output = (f64, f64);
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> (f64, f64) {
        (self.sum::<S, F64<S>>(simd), self.sum::<S, F32<S>>(simd))
    }
}

impl SumOfLogs<'_> {
    #[inline(always)]
    fn sum<S: Simd, V: Math<S>>(&self, simd: S) -> f64 {
        let mut product = LogProduct::<S, V>::one(simd);
        for factors in self.0.chunks(8) {
            for &factor in factors {
                product.multiply(V::splat(simd, factor));
            }
            product.rescale();
        }
        let mut values = [0.0; 16];
        product.ln().store_f64(&mut values);
        assert!(values[..V::LEN].iter().all(|v| v.to_bits() == values[0].to_bits()));
        values[0]
    }
}

#[test]
fn log_of_a_product_is_the_sum_of_logs() {
    // 1000 factors between 2^−15 and 2^7, whose product overflows a double.
    let factors: Vec<f64> = (0..1000)
        .map(|i| f64::from((1.5 + (i as f32).sin()) * 2.0_f32.powi(i % 20 - 14)))
        .collect();
    let sum: f64 = factors.iter().map(|x| x.ln()).sum();
    assert!(sum < -2000.0, "{sum}");
    for on in INSTRUCTIONS {
        let (double, single) = dispatch_on(on, SumOfLogs(&factors));
        // The product: half a unit per factor. The sum: the thousand roundings of the reference, or
        // the single rounding of a single-precision result.
        let (epsilon, epsilon_single) = (f64::EPSILON, f64::from(f32::EPSILON));
        assert!((double - sum).abs() < 500.0 * epsilon * (1.0 + sum.abs()));
        assert!((single - sum).abs() < epsilon_single * (500.0 + sum.abs()));
        assert_eq!(dispatch_on(on, SumOfLogs(&[])), (0.0, 0.0));
    }
}

#[test]
fn one_strange_factor_decides_a_product() {
    const INF: f64 = f64::INFINITY;
    for on in INSTRUCTIONS {
        for (strange, expected) in [(0.0, -INF), (INF, INF), (f64::NAN, f64::NAN), (-2.0, f64::NAN)]
        {
            for place in [0, 7, 8, 39] {
                let mut factors = [3.0; 40];
                factors[place] = strange;
                let (double, single) = dispatch_on(on, SumOfLogs(&factors));
                for got in [double, single] {
                    let same = got == expected || (got.is_nan() && expected.is_nan());
                    assert!(same, "{strange} at {place} gives {got} on {on}");
                }
            }
        }
    }
}

/// The fast tanh: an absolute error of a few units in the last place of 1, odd, and within [−1, 1] up
/// to one such unit.
#[test]
fn quick_tanh_is_close() {
    struct Quick<'a>(&'a mut [f64], &'a mut [f32]);
    impl Kernel for Quick<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            for chunk in self.0.chunks_exact_mut(F64::<S>::LEN) {
                F64::<S>::load(simd, chunk).tanh_quick().store(chunk);
            }
            for chunk in self.1.chunks_exact_mut(F32::<S>::LEN) {
                F32::<S>::load(simd, chunk).tanh_quick().store(chunk);
            }
        }
    }
    let x: Vec<f64> = (-80_000..80_000).map(|i| f64::from(i) * 3.1e-4).chain([1e3; 16]).collect();
    for on in INSTRUCTIONS {
        let (mut double, mut single) = (x.clone(), x.iter().map(|&x| x as f32).collect::<Vec<_>>());
        dispatch_on(on, Quick(&mut double, &mut single));
        let error = |(y, x): (f64, f64)| (y - x.tanh()).abs();
        let worst = double.iter().copied().zip(x.iter().copied()).map(error).fold(0.0, f64::max);
        assert!(worst <= 3.0 * f64::EPSILON / 2.0, "{on}: {worst:e}");
        let pairs =
            single.iter().map(|&y| f64::from(y)).zip(x.iter().map(|&x| f64::from(x as f32)));
        let worst = pairs.map(error).fold(0.0, f64::max);
        assert!(worst <= 3.0 * f64::from(f32::EPSILON) / 2.0, "{on}: {worst:e}");
    }
}
