//! The interpreter: one pass over a block of samples per instruction, with the engine's lanes.

use super::code::{Code, Home, Instruction, Place, Work};
use super::op::{Comparison, Unary};
use crate::batch::PAD;
use crate::simd::{Buffer, F64, Lane, Math};
use fearless_simd::Simd;
use std::cell::RefCell;

/// Where a program reads and writes. Rows hold whole registers, padding included.
pub(super) trait Rows {
    fn input(&self, row: usize) -> &[f64];
    fn output(&self, row: usize) -> &[f64];
    fn output_mut(&mut self, row: usize) -> &mut [f64];
}

/// Registers in a block: 32 samples on AVX2. Its results then fit into half of the machine's
/// registers, and a block's slots into its fastest cache.
const BLOCK: usize = 8;

/// What a thread keeps between calls, so that a call allocates nothing.
#[derive(Default)]
pub(super) struct Scratch {
    slots: Buffer,
    scalars: Vec<f64>,
    /// The code and the uniforms that the scalars were computed for.
    of: Option<(u64, usize, [f64; UNIFORMS])>,
}

/// How many uniforms a program has: the two weights.
pub(super) const UNIFORMS: usize = 2;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Lends the thread's scratch. Outside of the kernel that uses it: what runs inside a function of
/// the standard library is not compiled for the lanes.
pub(super) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    SCRATCH.with_borrow_mut(work)
}

/// Runs over `len` samples, which is a multiple of the padding of a batch.
#[inline(always)]
pub(super) fn run<S: Simd, R: Rows>(
    simd: S,
    scratch: &mut Scratch,
    code: &Code,
    uniforms: [f64; UNIFORMS],
    rows: &mut R,
    len: usize,
) {
    let lanes = F64::<S>::LEN;
    if scratch.of != Some((code.id, lanes, uniforms)) {
        prepare(scratch, code, uniforms, lanes);
    }
    let Scratch { slots, scalars, .. } = scratch;
    for &(row, scalar) in &code.fills {
        let value = F64::splat(simd, scalars[scalar as usize]);
        for register in rows.output_mut(row)[..len].chunks_exact_mut(lanes) {
            value.store(register);
        }
    }
    let mut machine = Machine { simd, slots, scalars, rows, at: 0 };
    while machine.at + BLOCK * lanes <= len {
        machine.block::<BLOCK>(&code.instructions);
    }
    // Narrower blocks for what is left of a row, where 16 samples are not whole blocks.
    if BLOCK * lanes > PAD && machine.at + 4 * lanes <= len {
        machine.block::<4>(&code.instructions);
    }
    if 4 * lanes > PAD && machine.at + 2 * lanes <= len {
        machine.block::<2>(&code.instructions);
    }
    debug_assert_eq!(machine.at, len);
}

/// Computes the scalars, and lays out as blocks those that are needed so.
#[inline(never)]
fn prepare(scratch: &mut Scratch, code: &Code, uniforms: [f64; UNIFORMS], lanes: usize) {
    let block = BLOCK * lanes;
    code.scalars.run(&uniforms, &mut scratch.scalars);
    scratch.slots.reserve(code.slots * block);
    for (slot, &scalar) in scratch.slots.chunks_exact_mut(block).zip(&code.splats) {
        slot.fill(scratch.scalars[scalar as usize]);
    }
    scratch.of = Some((code.id, lanes, uniforms));
}

struct Machine<'a, S: Simd, R> {
    simd: S,
    slots: &'a mut [f64],
    scalars: &'a [f64],
    rows: &'a mut R,
    /// The first sample of the block.
    at: usize,
}

impl<S: Simd, R: Rows> Machine<'_, S, R> {
    /// Runs all instructions over `N` registers of samples.
    #[inline(always)]
    fn block<const N: usize>(&mut self, instructions: &[Instruction]) {
        for instruction in instructions {
            self.step::<N>(instruction.to, instruction.work);
        }
        self.at += N * F64::<S>::LEN;
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, to: Place, result: [F64<S>; N]) {
        let len = N * F64::<S>::LEN;
        let to = match to.home() {
            Home::Slot(index) => &mut self.slots[index * BLOCK * F64::<S>::LEN..][..len],
            Home::Input(_) => unreachable!("inputs are only read"),
            Home::Output(row) => &mut self.rows.output_mut(row)[self.at..][..len],
        };
        for k in 0..N {
            result[k].store(&mut to[k * F64::<S>::LEN..]);
        }
    }

    #[inline(always)]
    fn source<const N: usize>(&self, place: Place) -> &[f64] {
        let len = N * F64::<S>::LEN;
        match place.home() {
            Home::Slot(index) => &self.slots[index * BLOCK * F64::<S>::LEN..][..len],
            Home::Input(row) => &self.rows.input(row)[self.at..][..len],
            Home::Output(row) => &self.rows.output(row)[self.at..][..len],
        }
    }

    #[inline(always)]
    fn scalar(&self, index: u32) -> F64<S> {
        F64::splat(self.simd, self.scalars[index as usize])
    }

    /// The block of results stays in registers until it is stored: operands may share its slot.
    #[inline(always)]
    fn step<const N: usize>(&mut self, to: Place, work: Work<Place>) {
        /// Evaluates an expression of blocks and scalars for every register.
        macro_rules! each {
            ([$($block:ident)*] [$($scalar:ident)*] $value:expr) => {{
                $(let $block = self.source::<N>($block);)*
                $(let $scalar = self.scalar($scalar);)*
                let mut result = [F64::splat(self.simd, 0.0); N];
                for k in 0..N {
                    $(let $block = F64::<S>::load(self.simd, &$block[k * F64::<S>::LEN..]);)*
                    result[k] = $value;
                }
                self.store(to, result);
            }};
        }
        let zero = F64::splat(self.simd, 0.0);
        match work {
            Work::Copy { a } => each!([a] [] a),
            Work::Shift { a, t } => each!([a] [t] a + t),
            Work::Scale { s, a } => each!([a] [s] s * a),
            Work::Affine { s, a, t } => each!([a] [s t] a.mul_add(s, t)),
            Work::Add { a, b } => each!([a b] [] a + b),
            Work::ScaleAdd { s, a, c } => each!([a c] [s] a.mul_add(s, c)),
            Work::Combine { s, a, t, c } => each!([a c] [s t] a.mul_add(s, t * c)),
            Work::Mul { a, b } => each!([a b] [] a * b),
            Work::MulScale { s, a, b } => each!([a b] [s] s * (a * b)),
            Work::MulShift { a, b, t } => each!([a b] [t] a.mul_add(b, t)),
            Work::MulAffine { s, a, b, t } => each!([a b] [s t] (a * b).mul_add(s, t)),
            Work::MulAdd { a, b, c } => each!([a b c] [] a.mul_add(b, c)),
            Work::MulScaleAdd { s, a, b, c } => each!([a b c] [s] (a * b).mul_add(s, c)),
            Work::Div { a, b } => each!([a b] [] a / b),
            Work::Over { s, a, t } => each!([a] [s t] s / (a + t)),
            Work::Min { a, b } => {
                each!([a b] [] F64::select(b.lt(a) | !b.eq(b), b, a))
            }
            Work::Max { a, b } => {
                each!([a b] [] F64::select(a.lt(b) | !b.eq(b), b, a))
            }
            Work::Select { comparison: Comparison::Less, a, b, yes, no } => {
                each!([a b yes no] [] F64::select(a.lt(b), yes, no))
            }
            Work::Select { comparison: Comparison::LessOrEqual, a, b, yes, no } => {
                each!([a b yes no] [] F64::select(a.le(b), yes, no))
            }
            Work::ExpNegDistance { a, b } => {
                each!([a b] [] (-F64::select(a.eq(b), zero, a - b).abs()).exp())
            }
            Work::Ln1pAdd { a, c } => each!([a c] [] a.ln_1p() + c),
            Work::Unary { function, a } => match function {
                Unary::Abs => each!([a] [] a.abs()),
                Unary::Sign => {
                    let one = F64::splat(self.simd, 1.0);
                    each!([a] [] F64::select(a.lt(zero) | zero.lt(a), one.copysign(a), a))
                }
                Unary::Sqrt => each!([a] [] a.sqrt()),
                Unary::Exp => each!([a] [] a.exp()),
                Unary::ExpM1 => each!([a] [] a.exp_m1()),
                Unary::Ln => each!([a] [] a.ln()),
                Unary::Ln1p => each!([a] [] a.ln_1p()),
                Unary::Tanh => each!([a] [] a.tanh()),
                Unary::Sin => each!([a] [] a.sin()),
                Unary::Cos => each!([a] [] a.cos()),
                Unary::Detach => unreachable!("is gone when a program is compiled"),
            },
        }
    }
}
