//! The interpreter: one pass over a block of samples per instruction, with the engine's lanes.

use super::code::{Code, Instruction, LAST, NOWHERE, OUTPUT, Slot, Work};
use super::op::{Comparison, Unary};
use crate::batch::PAD;
use crate::simd::{Buffer, F64, Lane, Math};
use fearless_simd::Simd;
use std::cell::RefCell;

/// Where a program reads and writes. Rows hold whole registers, padding included.
pub(super) trait Rows {
    fn input(&self, row: usize) -> &[f64];
    fn output(&mut self, row: usize) -> &mut [f64];
}

/// Samples in a block: enough to hide what an instruction costs by itself, and few enough that the
/// slots stay in the fastest cache. Rows of a batch hold whole blocks.
const BLOCK: usize = PAD;

/// What a thread keeps between calls, so that a call allocates nothing.
#[derive(Default)]
pub(super) struct Scratch {
    slots: Buffer,
    scalars: Vec<f64>,
    /// The code and the uniforms that the scalars and the splats are of.
    of: Option<(u64, [f64; UNIFORMS])>,
}

/// How many uniforms a program has: the two weights.
pub(super) const UNIFORMS: usize = 2;

thread_local! {
    static SCRATCH: RefCell<Option<Scratch>> = const { RefCell::new(None) };
}

/// Lends the thread's scratch, prepared for a code. Outside of the kernel that uses it: what runs
/// inside a function of the standard library is not compiled for the lanes.
#[inline]
pub(super) fn with_scratch<T>(
    code: &Code,
    uniforms: [f64; UNIFORMS],
    work: impl FnOnce(&mut Scratch) -> T,
) -> T {
    SCRATCH.with_borrow_mut(|scratch| {
        let scratch = scratch.get_or_insert_default();
        if scratch.of != Some((code.id, uniforms)) {
            prepare(scratch, code, uniforms);
        }
        work(scratch)
    })
}

/// Runs over `len` samples, which is a multiple of the padding of a batch, with scratch that was
/// prepared for the code.
#[inline(always)]
pub(super) fn run<S: Simd, R: Rows>(
    simd: S,
    scratch: &mut Scratch,
    code: &Code,
    rows: &mut R,
    len: usize,
) {
    debug_assert_eq!(scratch.of.map(|of| of.0), Some(code.id), "prepared for this code");
    let Scratch { slots, scalars, .. } = scratch;
    for &(row, scalar) in &code.fills {
        let value = F64::splat(simd, scalars[scalar as usize]);
        for register in rows.output(row)[..len].chunks_exact_mut(F64::<S>::LEN) {
            value.store(register);
        }
    }
    let (slots, _) = slots.as_chunks_mut::<BLOCK>();
    let mut machine = Machine { simd, slots, scalars };
    for at in (0..len).step_by(BLOCK) {
        match F64::<S>::LEN {
            2 => machine.block::<R, 16>(code, rows, at),
            4 => machine.block::<R, 8>(code, rows, at),
            8 => machine.block::<R, 4>(code, rows, at),
            _ => unreachable!("lanes hold 2, 4 or 8 doubles"),
        }
    }
}

/// Computes the scalars, and lays out as blocks those that are needed so.
#[cold]
#[inline(never)]
fn prepare(scratch: &mut Scratch, code: &Code, uniforms: [f64; UNIFORMS]) {
    code.scalars.run(&uniforms, &mut scratch.scalars);
    scratch.slots.reserve(code.slots * BLOCK);
    for (slot, &scalar) in scratch.slots.chunks_exact_mut(BLOCK).zip(&code.splats) {
        slot.fill(scratch.scalars[scalar as usize]);
    }
    scratch.of = Some((code.id, uniforms));
}

struct Machine<'a, S: Simd> {
    simd: S,
    slots: &'a mut [[f64; BLOCK]],
    scalars: &'a [f64],
}

impl<S: Simd> Machine<'_, S> {
    /// Runs all instructions over `B` samples from `at` on, which are `N` registers.
    #[inline(always)]
    fn block<R: Rows, const N: usize>(&mut self, code: &Code, rows: &mut R, at: usize) {
        let len = N * F64::<S>::LEN;
        // The last input is the last result of the first instruction.
        let mut last = [F64::splat(self.simd, 0.0); N];
        for &(row, slot) in &code.inputs {
            let row = &rows.input(row)[at..][..len];
            for k in 0..N {
                last[k] = F64::load(self.simd, &row[k * F64::<S>::LEN..]);
            }
            self.put(slot, last, rows, at);
        }
        let mut rest = code.instructions.as_slice();
        while !rest.is_empty() {
            // A run of cheap instructions: the last result stays in registers.
            while let [instruction, others @ ..] = rest
                && instruction.is_cheap
            {
                last = self.cheap(last, instruction, rows, at);
                self.put(instruction.to, last, rows, at);
                rest = others;
            }
            if let [instruction, others @ ..] = rest {
                self.dear::<N>(instruction.to as usize, instruction.work);
                // Nothing stays in registers beyond it.
                last = [F64::splat(self.simd, 0.0); N];
                rest = others;
            }
        }
        for &(row, slot) in &code.outputs {
            let row = &mut rows.output(row)[at..][..len];
            let slot = &self.slots[slot as usize];
            for k in (0..len).step_by(F64::<S>::LEN) {
                F64::<S>::load(self.simd, &slot[k..]).store(&mut row[k..]);
            }
        }
    }

    /// Stores a block where it belongs.
    #[inline(always)]
    fn put<R: Rows, const N: usize>(
        &mut self,
        to: Slot,
        block: [F64<S>; N],
        rows: &mut R,
        at: usize,
    ) {
        if to != NOWHERE {
            let to = self.place(to, rows, at, N * F64::<S>::LEN);
            for k in 0..N {
                block[k].store(&mut to[k * F64::<S>::LEN..]);
            }
        }
    }

    /// Where a result belongs, which is somewhere.
    #[inline(always)]
    fn place<'a, R: Rows>(
        &'a mut self,
        to: Slot,
        rows: &'a mut R,
        at: usize,
        len: usize,
    ) -> &'a mut [f64] {
        if to < OUTPUT {
            &mut self.slots[to as usize][..len]
        } else {
            &mut rows.output((to - OUTPUT) as usize)[at..][..len]
        }
    }

    #[inline(always)]
    fn scalar(&self, index: u32) -> F64<S> {
        F64::splat(self.simd, self.scalars[index as usize])
    }

    /// The result of a cheap instruction, after the one whose result is `last`.
    #[inline(always)]
    fn cheap<R: Rows, const N: usize>(
        &mut self,
        last: [F64<S>; N],
        instruction: &Instruction,
        rows: &mut R,
        at: usize,
    ) -> [F64<S>; N] {
        /// Evaluates an expression of blocks and scalars for every register.
        macro_rules! each {
            // `$from` are operands that are the last result.
            (@ $last:ident [$($from:ident)*] [$($block:ident)*] $value:expr) => {{
                $(let $block = &self.slots[$block as usize];)*
                let mut result = [F64::splat(self.simd, 0.0); N];
                for k in 0..N {
                    $(let $from = $last[k];)*
                    $(let $block = F64::<S>::load(self.simd, &$block[k * F64::<S>::LEN..]);)*
                    result[k] = $value;
                }
                result
            }};
        }
        /// The same where the first block may be the last result, and the second one too.
        macro_rules! after {
            ([$a:ident] [$($scalar:ident)*] $value:expr) => {{
                $(let $scalar = self.scalar($scalar);)*
                if $a == LAST {
                    each!(@ last [$a] [] $value)
                } else {
                    each!(@ last [] [$a] $value)
                }
            }};
            ([$a:ident $b:ident $($c:ident)?] [$($scalar:ident)*] $value:expr) => {{
                $(let $scalar = self.scalar($scalar);)*
                if $a != LAST {
                    each!(@ last [] [$a $b $($c)?] $value)
                } else if $b != LAST {
                    each!(@ last [$a] [$b $($c)?] $value)
                } else {
                    each!(@ last [$a $b] [$($c)?] $value)
                }
            }};
        }
        match instruction.work {
            Work::Shift { a, t } => after!([a] [t] a + t),
            Work::Scale { s, a } => after!([a] [s] s * a),
            Work::Affine { s, a, t } => after!([a] [s t] a.mul_add(s, t)),
            Work::Add { a, b } => after!([a b] [] a + b),
            Work::ScaleAdd { s, a, c } => after!([a c] [s] a.mul_add(s, c)),
            Work::Combine { s, a, t, c } => after!([a c] [s t] a.mul_add(s, t * c)),
            Work::Mul { a, b } => after!([a b] [] a * b),
            Work::MulScale { s, a, b } => after!([a b] [s] s * (a * b)),
            Work::MulShift { a, b, t } => after!([a b] [t] a.mul_add(b, t)),
            Work::MulAffine { s, a, b, t } => after!([a b] [s t] (a * b).mul_add(s, t)),
            Work::MulAdd { a, b, c } => after!([a b c] [] a.mul_add(b, c)),
            Work::MulScaleAdd { s, a, b, c } => after!([a b c] [s] (a * b).mul_add(s, c)),
            Work::Over { s, a, t } => after!([a] [s t] s / (a + t)),
            Work::ShiftSquare { a, t, s, u } => {
                let kept = after!([a] [t] a + t);
                self.put(instruction.kept, kept, rows, at);
                let (s, u) = (self.scalar(s), self.scalar(u));
                each!(@ kept [x] [] (x * x).mul_add(s, u))
            }
            Work::SquareMul { s, a, t, b } => {
                let kept = after!([a] [s] s * (a * a));
                self.put(instruction.kept, kept, rows, at);
                after!([a b] [t] t * (a * b))
            }
            Work::SquareOfSquare { a, t, s, u, v, w } => {
                let a = after!([a] [] a);
                let [t, s, u, v, w] = [
                    self.scalar(t),
                    self.scalar(s),
                    self.scalar(u),
                    self.scalar(v),
                    self.scalar(w),
                ];
                let kept = self.place(instruction.kept, rows, at, N * F64::<S>::LEN);
                let mut result = a;
                for k in 0..N {
                    let x = a[k] + t;
                    let y = (s * x).mul_add(x, u);
                    (v * y * y).store(&mut kept[k * F64::<S>::LEN..]);
                    result[k] = w * (x * y);
                }
                result
            }
            _ => unreachable!("is not cheap"),
        }
    }

    /// Runs an instruction that costs more than its loads and stores.
    #[inline(always)]
    fn dear<const N: usize>(&mut self, to: usize, work: Work<Slot>) {
        /// Evaluates an expression of blocks for every register.
        macro_rules! each {
            ([$($block:ident)*] [] $value:expr) => {
                for k in 0..N {
                    let k = k * F64::<S>::LEN;
                    $(let $block = F64::<S>::load(self.simd, &self.slots[$block as usize][k..]);)*
                    let result: F64<S> = $value;
                    result.store(&mut self.slots[to][k..]);
                }
            };
        }
        let zero = F64::splat(self.simd, 0.0);
        match work {
            Work::Div { a, b } => each!([a b] [] a / b),
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
            Work::Ln1pAdd { a, c } => each!([a c] [] ln_1p(a) + c),
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
                Unary::Ln1p => each!([a] [] ln_1p(a)),
                Unary::Tanh => each!([a] [] a.tanh()),
                Unary::Sin => each!([a] [] a.sin()),
                Unary::Cos => each!([a] [] a.cos()),
                Unary::Detach => unreachable!("is gone when a program is compiled"),
            },
            _ => unreachable!("is cheap"),
        }
    }
}

/// ln(1 + x), where x is the answer if it is tiny: its powers would be subnormal, and slow.
#[inline(always)]
pub(crate) fn ln_1p<S: Simd>(x: F64<S>) -> F64<S> {
    let zero = F64::splat(x.token(), 0.0);
    let tiny = x.abs().lt(F64::splat(x.token(), f64::EPSILON * f64::EPSILON));
    F64::select(tiny, x, F64::select(tiny, zero, x).ln_1p())
}
