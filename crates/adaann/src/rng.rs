//! Counter-based random numbers (Philox4x32-10): each number depends on its position alone.
//!
//! With a stateful generator, a result depends on the order of the draws. Here coordinate d of
//! point i in draw n is a function of (seed, purpose, n, i, d), the same for any split into tiles,
//! threads or machines. Instruction sets may differ in the last bits because ln, sin and cos round
//! differently.
//!
//! J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).

use crate::Batch;
use crate::simd::{F64, Kernel, Lane, Math, dispatch, ln_positive};
use fearless_simd::{Bytes, Simd, SimdBase};

/// The use of random numbers; each purpose has its own stream under a seed.
///
/// Every recorded result depends on these numbers: add new ones, but never change or reuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Purpose {
    /// Base samples of the training updates.
    Training = 0,
    /// Base samples that choose a temperature or judge a flow.
    Evaluation = 1,
    /// Base samples of the final approximation.
    Posterior = 2,
    /// Initial parameters of a flow.
    Parameters = 3,
    /// Noise of synthetic data.
    Data = 4,
    /// Moves and decisions of Monte Carlo methods.
    MonteCarlo = 5,
    /// Initial positions of the components of a base.
    Components = 6,
    /// Permutations of coordinates.
    Order = 7,
    /// Parameters drawn from their priors.
    Prior = 8,
    /// Measurements that a model predicts.
    Prediction = 9,
    /// Base samples of the forward-KL refinement, and which of them an update sees.
    ForwardKl = 10,
    /// Velocities and decisions of long chains.
    Chains = 12,
    /// Starting points of ascents.
    Modes = 13,
    /// Draws from a mixture during its adaptation.
    Mixture = 14,
}

/// The random numbers of one seed and purpose.
///
/// ```
/// use adaann::{Batch, support::rng::{Purpose, Stream}};
///
/// let stream = Stream::new(1, Purpose::Training);
/// let mut whole = Batch::zeros(3, 64);
/// stream.fill_normals(0, 0, &mut whole);
/// let mut second_half = Batch::zeros(3, 32);
/// stream.fill_normals(0, 32, &mut second_half);
/// assert_eq!(whole.row(2)[32..], *second_half.row(2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    key: [u32; 2],
}

impl Stream {
    /// The stream of a seed and a purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let [a, b, ..] = philox([purpose as u32, 0, 0, 0], halves(seed));
        Self { key: [a, b] }
    }

    /// Standard normals for a tile: coordinate d of point i of `out` is that of point
    /// `first_point + i` in draw number `draw`. Some of the padding is filled as well.
    ///
    /// The Box–Muller transformation makes two normals from a block of 128 bits. They go to the
    /// same coordinate of points j and j + 8 in an aligned group of 16 points, which wastes nothing
    /// in any dimension and fits registers of any width. A tile may start anywhere; one that starts
    /// inside a group discards the start of that group.
    ///
    /// # Panics
    /// If `draw` is `u64::MAX`, which is reserved for [`Stream::uniform_at`], or the points exceed
    /// 2³³ in one draw.
    pub fn fill_normals(&self, draw: u64, first_point: u64, out: &mut Batch) {
        assert_ne!(draw, SCALAR_DRAW, "draw number reserved for single numbers");
        assert!(
            first_point.saturating_add(out.padded_len() as u64) <= 1 << 33,
            "more than 2^33 points in one draw"
        );
        dispatch(FillNormals { key: self.key, draw, first_point, out });
    }

    /// A uniform number between 0 and 1, both excluded, for one point of a draw; independent of
    /// that point's normals.
    ///
    /// # Panics
    /// As [`Stream::fill_normals`].
    pub fn point_uniform_at(&self, draw: u64, point: u64) -> f64 {
        self.point_uniform_of(draw, point, 0)
    }

    /// Like [`Stream::point_uniform_at`], which is number 0, with `number` below a million.
    ///
    /// # Panics
    /// As [`Stream::fill_normals`].
    pub fn point_uniform_of(&self, draw: u64, point: u64, number: u32) -> f64 {
        assert_ne!(draw, SCALAR_DRAW, "draw number reserved for single numbers");
        assert!(point < 1 << 33, "more than 2^33 points in one draw");
        let [draw_low, draw_high] = halves(draw);
        let [a, b, c, d] = philox(
            [(point / 2) as u32, UNIFORM_COORDINATE - number, draw_low, draw_high],
            self.key,
        );
        if point.is_multiple_of(2) { uniform(a, b) } else { uniform(c, d) }
    }

    /// A uniform number between 0 and 1, both excluded: number `index` of this stream, independent
    /// of [`Stream::fill_normals`].
    pub fn uniform_at(&self, index: u64) -> f64 {
        self.pair_at(index).0
    }

    /// A standard normal number: number `index` of this stream. It is not independent of
    /// [`Stream::uniform_at`] with the same index.
    pub fn normal_at(&self, index: u64) -> f64 {
        let (u, v) = self.pair_at(index);
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// The two uniform numbers of a block.
    fn pair_at(&self, index: u64) -> (f64, f64) {
        let ([low, high], [draw_low, draw_high]) = (halves(index), halves(SCALAR_DRAW));
        let [a, b, c, d] = philox([low, high, draw_low, draw_high], self.key);
        (uniform(a, b), uniform(c, d))
    }
}

/// The draw number reserved for single numbers.
const SCALAR_DRAW: u64 = u64::MAX;

/// A coordinate beyond those of any point, reserved for the uniform number of each point.
const UNIFORM_COORDINATE: u32 = u32::MAX;

const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const KEY_STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: u32 = 10;

/// Low and high half.
fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

/// The key of a round.
#[inline(always)]
fn round_key(key: [u32; 2], round: u32) -> [u32; 2] {
    [0, 1].map(|i| key[i].wrapping_add(KEY_STEPS[i].wrapping_mul(round)))
}

/// Philox4x32-10 of one counter.
fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    (0..ROUNDS).fold(counter, |[a, b, c, d], round| {
        let key = round_key(key, round);
        let [low_a, high_a] = halves(u64::from(a) * u64::from(MULTIPLIERS[0]));
        let [low_c, high_c] = halves(u64::from(c) * u64::from(MULTIPLIERS[1]));
        [high_c ^ b ^ key[0], low_c, high_a ^ d ^ key[1], low_a]
    })
}

/// (n + ½)/2⁵² with n the first 52 of 64 bits: never 0, never 1.
fn uniform(high: u32, low: u32) -> f64 {
    let bits = (u64::from(high) << 32 | u64::from(low)) >> 12 | 1.0_f64.to_bits();
    f64::from_bits(bits) - (1.0 - f64::EPSILON / 2.0)
}

/// Points in a group, and the blocks that fill one coordinate of it.
const GROUP: usize = 16;
const BLOCKS: usize = GROUP / 2;

struct FillNormals<'a> {
    key: [u32; 2],
    draw: u64,
    first_point: u64,
    out: &'a mut Batch,
}

impl Kernel for FillNormals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let skip = (self.first_point % GROUP as u64) as usize;
        let first_group = self.first_point / GROUP as u64;
        let draw = halves(self.draw);
        let used = (skip + self.out.len()).next_multiple_of(GROUP) - skip;
        for (d, row) in self.out.padded_rows_mut().enumerate() {
            let row = if row.len() > used { &mut row[..used] } else { row };
            let (head, body) = row.split_at_mut((GROUP - skip).min(row.len()));
            let group = normals(simd, self.key, draw, d as u64, first_group);
            head.copy_from_slice(&group[skip..][..head.len()]);
            for (index, chunk) in (first_group + 1..).zip(body.chunks_mut(GROUP)) {
                let group = normals(simd, self.key, draw, d as u64, index);
                chunk.copy_from_slice(&group[..chunk.len()]);
            }
        }
    }
}

/// Coordinate d of a group of points.
#[inline(always)]
fn normals<S: Simd>(simd: S, key: [u32; 2], draw: [u32; 2], d: u64, group: u64) -> [f64; GROUP] {
    const BLOCK: [u64; BLOCKS] = [0, 1, 2, 3, 4, 5, 6, 7];
    let splat = |value| -> S::u64s { SimdBase::splat(simd, value) };
    let mut blocks =
        [[splat(0), splat(d), splat(draw[0].into()), splat(draw[1].into())]; MAX_REGISTERS];
    let blocks = &mut blocks[..BLOCKS / F64::<S>::LEN];
    for (counter, block) in blocks.iter_mut().zip(BLOCK.chunks_exact(F64::<S>::LEN)) {
        let block: S::u64s = SimdBase::from_slice(simd, block);
        counter[0] = block + group * BLOCKS as u64;
    }
    philox_lanes::<S>(blocks, key);

    let mut normals = [0.0; GROUP];
    let (cosines, sines) = normals.split_at_mut(BLOCKS);
    let (cosines, sines) =
        (cosines.chunks_exact_mut(F64::<S>::LEN), sines.chunks_exact_mut(F64::<S>::LEN));
    for ((&[a, b, c, d], cosines), sines) in blocks.iter().zip(cosines).zip(sines) {
        let offset = F64::splat(simd, 1.0 - f64::EPSILON / 2.0);
        let u = one_to_two::<S>(a, b) - offset;
        let radius = (F64::splat(simd, -2.0) * ln_positive(u, F64::splat(simd, 0.0))).sqrt();
        // Whole turns do not matter, so the angle may stay in [1, 2).
        let (sin, cos) = one_to_two::<S>(c, d).sin_cos_turns();
        (radius * cos).store(cosines);
        (radius * sin).store(sines);
    }
    normals
}

/// Registers that hold a word of every block, at two lanes each.
const MAX_REGISTERS: usize = BLOCKS / 2;

/// [`philox`] of many counters, with a 32-bit word in the low half of each 64-bit lane so that
/// products fit. The high halves are unspecified.
///
/// All registers go through a round together, because a single one would stall on its own products.
#[inline(always)]
fn philox_lanes<S: Simd>(blocks: &mut [[S::u64s; 4]], key: [u32; 2]) {
    for round in 0..ROUNDS {
        let key = round_key(key, round);
        for block in blocks.iter_mut() {
            let [a, b, c, d] = *block;
            let product_a = multiply::<S>(a, MULTIPLIERS[0]);
            let product_c = multiply::<S>(c, MULTIPLIERS[1]);
            *block = [
                (product_c >> 32) ^ b ^ u64::from(key[0]),
                product_c,
                (product_a >> 32) ^ d ^ u64::from(key[1]),
                product_a,
            ];
        }
    }
}

/// The product of the low half of each lane.
#[inline(always)]
fn multiply<S: Simd>(x: S::u64s, multiplier: u32) -> S::u64s {
    (x & LOW_HALF) * u64::from(multiplier)
}

const LOW_HALF: u64 = 0xffff_ffff;

/// 1 + n/2⁵² with n the first 52 of 64 bits.
#[inline(always)]
fn one_to_two<S: Simd>(high: S::u64s, low: S::u64s) -> F64<S> {
    let bits: S::u64s = (high << 32) | (low & LOW_HALF);
    let bits: S::u64s = (bits >> 12) | 1.0_f64.to_bits();
    F64(bits.bitcast())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Instructions, dispatch_on};

    /// Counter, key and result, from Random123's `kat_vectors`.
    const KNOWN: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
        ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([0xffff_ffff; 4], [0xffff_ffff; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];

    struct Lanes([u32; 4], [u32; 2]);

    impl Kernel for Lanes {
        type Output = [u32; 4];
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> [u32; 4] {
            let mut blocks = [self.0.map(|word| SimdBase::splat(simd, u64::from(word))); 2];
            philox_lanes::<S>(&mut blocks, self.1);
            blocks[1].map(|lanes: S::u64s| {
                let mut values = [0; BLOCKS];
                lanes.store_slice(&mut values[..F64::<S>::LEN]);
                assert!(values[..F64::<S>::LEN].iter().all(|v| *v as u32 == values[0] as u32));
                values[0] as u32
            })
        }
    }

    #[test]
    fn known_answers() {
        for (counter, key, expected) in KNOWN {
            assert_eq!(philox(counter, key), expected);
            for on in [Instructions::Avx512, Instructions::Avx2, Instructions::Baseline] {
                assert_eq!(dispatch_on(on, Lanes(counter, key)), expected, "on {on}");
            }
        }
    }

    #[test]
    fn uniform_numbers_exclude_both_ends() {
        assert_eq!(uniform(0, 0), 0.5_f64.powi(53));
        assert_eq!(uniform(u32::MAX, u32::MAX), 1.0 - 0.5_f64.powi(53));
    }

    #[test]
    fn a_group_is_box_and_mullers_transformation_of_its_blocks() {
        let stream = Stream::new(5, Purpose::Training);
        let (draw, first_point, d) = ((9 << 32) + 4, 3 << 16, 2);
        let mut batch = Batch::zeros(d + 1, GROUP);
        for on in [Instructions::Avx512, Instructions::Avx2, Instructions::Baseline] {
            let out = &mut batch;
            dispatch_on(on, FillNormals { key: stream.key, draw, first_point, out });
            for j in 0..BLOCKS {
                let block = (first_point / 2) as u32 + j as u32;
                let [low, high] = halves(draw);
                let [a, b, c, e] = philox([block, d as u32, low, high], stream.key);
                let radius = (-2.0 * uniform(a, b).ln()).sqrt();
                let (sin, cos) = (std::f64::consts::TAU * uniform(c, e)).sin_cos();
                assert!((batch.row(d)[j] - radius * cos).abs() < 1e-14);
                assert!((batch.row(d)[j + BLOCKS] - radius * sin).abs() < 1e-14);
            }
        }
    }
}
