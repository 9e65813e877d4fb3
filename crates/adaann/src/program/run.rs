//! The interpreter: one pass over a block of samples per instruction, over SIMD lanes.

use super::code::{Code, DenseCall, Instruction, Place, Tail, Work};
use super::dense::Values;
use super::op::{Comparison, Unary};
pub(crate) use crate::batch::Block;
use crate::batch::PAD;
use crate::simd::{Buffer, F64, Lane, Math, Special};
use fearless_simd::Simd;
use std::cell::Cell;

/// Samples in a block: enough to hide the fixed cost of an instruction, and few enough that the
/// slots stay in the fastest cache. Rows of a batch hold whole blocks.
const BLOCK: usize = PAD;

/// Registers that hold a result on its way through a chain: half of those of AVX2, which leaves
/// registers for operands. They hold a block with AVX2, and half a block with SSE2.
const REGISTERS: usize = 8;

/// The rows that a program reads, `stride` blocks apart.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    pub(super) blocks: &'a [Block],
    pub(super) stride: usize,
}

/// Rows of the outputs: the two values, then the gradient.
pub(super) const PRIOR: usize = 0;
pub(super) const LIKELIHOOD: usize = 1;
const GRADIENT: usize = 2;

/// The rows that a program writes: two values, and those of a gradient, `stride` blocks apart.
pub(super) struct Outputs<'a> {
    pub(super) log_prior: &'a mut [Block],
    pub(super) log_likelihood: &'a mut [Block],
    pub(super) gradient: &'a mut [Block],
    pub(super) stride: usize,
}

/// The memory that a thread holds between calls, so that a call allocates nothing.
#[derive(Default)]
pub(super) struct Scratch {
    slots: Buffer,
    scalars: Vec<f64>,
    /// The code and the uniforms of the current scalars and splats.
    of: Option<(u64, [f64; UNIFORMS])>,
}

/// The number of uniforms of a program: the two weights.
pub(super) const UNIFORMS: usize = 2;

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Takes the thread's scratch, prepared for a code.
#[inline]
pub(super) fn take_scratch(code: &Code, uniforms: [f64; UNIFORMS]) -> Box<Scratch> {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    if scratch.of != Some((code.id, uniforms)) {
        prepare(&mut scratch, code, uniforms);
    }
    scratch
}

/// Returns the scratch for the next call.
#[inline]
pub(super) fn keep_scratch(scratch: Box<Scratch>) {
    // `LocalKey::set` would also work, but is a function call.
    SCRATCH.with(|kept| kept.set(Some(scratch)));
}

/// Runs over some blocks of samples, with scratch that was prepared for the code.
#[inline(always)]
pub(super) fn run<S: Simd>(
    simd: S,
    scratch: &mut Scratch,
    code: &Code,
    inputs: Inputs<'_>,
    outputs: &mut Outputs<'_>,
    blocks: usize,
) {
    debug_assert_eq!(scratch.of.map(|of| of.0), Some(code.id), "prepared for this code");
    let (slots, _) = scratch.slots.as_chunks_mut();
    for at in 0..blocks {
        for &row in &code.reads {
            let row = row as usize;
            slots[row] = inputs.blocks[row * inputs.stride + at];
        }
        let mut results = InRows { outputs, first: code.first_output, at };
        execute(simd, code, slots, &scratch.scalars, &mut results);
        for &row in &code.copied {
            let place = code.outputs[row as usize] as usize;
            *outputs.block(code.first_output + row as usize, at) = slots[place];
        }
    }
}

/// The destination of outputs that no instruction reads.
pub(super) trait Results {
    /// The block of an output, if it is not its slot.
    fn place(&mut self, row: Option<u32>) -> Option<&mut Block>;
}

/// Leaves results in the slots that the code assigns.
pub(super) struct InSlots;

impl Results for InSlots {
    #[inline(always)]
    fn place(&mut self, _: Option<u32>) -> Option<&mut Block> {
        None
    }
}

/// Writes results to the rows of a batch, at block number `at`.
struct InRows<'a, 'o> {
    outputs: &'a mut Outputs<'o>,
    first: usize,
    at: usize,
}

impl Results for InRows<'_, '_> {
    #[inline(always)]
    fn place(&mut self, row: Option<u32>) -> Option<&mut Block> {
        match row {
            Some(row) => Some(self.outputs.block(self.first + row as usize, self.at)),
            None => None,
        }
    }
}

/// Runs over one block of samples. The slots begin with the inputs and hold the splats of the
/// scalars.
#[inline(always)]
pub(super) fn execute<S: Simd>(
    simd: S,
    code: &Code,
    slots: &mut [Block],
    scalars: &[f64],
    results: &mut impl Results,
) {
    execute_some(simd, code, (&code.instructions, &code.tails), slots, scalars, results);
}

/// Runs some instructions of a code, with their tails, over one block of samples.
#[inline(always)]
pub(super) fn execute_some<S: Simd>(
    simd: S,
    code: &Code,
    (instructions, mut tails): (&[Instruction], &[Tail<Place>]),
    slots: &mut [Block],
    scalars: &[f64],
    results: &mut impl Results,
) {
    for instruction in instructions {
        let result = results.place(instruction.row);
        if instruction.tails == 0 && result.is_none() {
            step(simd, code, instruction, slots, scalars);
        } else {
            let (own, others) = tails.split_at(instruction.tails as usize);
            step_chain(simd, instruction, own, slots, scalars, result);
            tails = others;
        }
    }
}

/// Computes the scalars, and expands those that instructions need as blocks.
#[cold]
#[inline(never)]
fn prepare(scratch: &mut Scratch, code: &Code, uniforms: [f64; UNIFORMS]) {
    scratch.scalars.clear();
    code.scalars.run(&uniforms, &mut scratch.scalars);
    scratch.slots.reserve(code.slots * BLOCK);
    splat(code, scratch.slots.as_chunks_mut().0, &scratch.scalars);
    scratch.of = Some((code.id, uniforms));
}

/// Expands the scalars that instructions need as blocks.
pub(super) fn splat(code: &Code, slots: &mut [Block], scalars: &[f64]) {
    for (slot, &scalar) in slots[code.inputs..].iter_mut().zip(&code.splats) {
        slot.fill(scalars[scalar as usize]);
    }
}

/// Evaluates an expression of blocks and scalars for every register.
macro_rules! each_register {
    ($simd:ident $slots:ident $to:ident [$($block:ident)*] $value:expr) => {{
        $(let $block = $block as usize;)*
        for k in 0..BLOCK / F64::<S>::LEN {
            let k = k * F64::<S>::LEN;
            $(let $block = F64::<S>::load($simd, &$slots[$block][k..]);)*
            let result: F64<S> = $value;
            result.store(&mut $slots[$to][k..]);
        }
    }};
}

/// Matches work without tables of constants: `$each` receives the blocks, the scalars and the
/// result.
macro_rules! match_work {
    ($work:expr, $each:ident, $work_with_constants:expr) => {
        match $work {
            Work::Fill { s } => $each!([] [s] s),
            Work::Shift { a, t } => $each!([a] [t] a + t),
            Work::Scale { s, a } => $each!([a] [s] s * a),
            Work::Affine { s, a, t } => $each!([a] [s t] a.mul_add(s, t)),
            Work::Add { a, b } => $each!([a b] [] a + b),
            Work::ScaleAdd { s, a, c } => $each!([a c] [s] a.mul_add(s, c)),
            Work::Combine { s, a, t, c } => $each!([a c] [s t] a.mul_add(s, t * c)),
            Work::Mul { a, b } => $each!([a b] [] a * b),
            Work::MulScale { s, a, b } => $each!([a b] [s] s * (a * b)),
            Work::MulShift { a, b, t } => $each!([a b] [t] a.mul_add(b, t)),
            Work::MulAffine { s, a, b, t } => $each!([a b] [s t] (a * b).mul_add(s, t)),
            Work::MulAdd { a, b, c } => $each!([a b c] [] a.mul_add(b, c)),
            Work::MulScaleAdd { s, a, b, c } => $each!([a b c] [s] (a * b).mul_add(s, c)),
            Work::SquareOfSquare { s, a, t, u } => $each!([a] [s t u] {
                let x = a + t;
                let y = x.mul_add(x, u);
                s * (y * y)
            }),
            Work::SquareTimesRoot { s, a, t, u } => $each!([a] [s t u] {
                let x = a + t;
                let y = x.mul_add(x, u);
                s * (x * y)
            }),
            Work::Div { a, b } => $each!([a b] [] a / b),
            Work::Over { s, a, t } => $each!([a] [s t] s / (a + t)),
            Work::Min { a, b } => $each!([a b] [] F64::select(b.lt(a) | !b.eq(b), b, a)),
            Work::Max { a, b } => $each!([a b] [] F64::select(a.lt(b) | !b.eq(b), b, a)),
            Work::Select { comparison: Comparison::Less, a, b, yes, no } => {
                $each!([a b yes no] [] F64::select(a.lt(b), yes, no))
            }
            Work::Select { comparison: Comparison::LessOrEqual, a, b, yes, no } => {
                $each!([a b yes no] [] F64::select(a.le(b), yes, no))
            }
            Work::Unary { function: Unary::Sqrt, a } => $each!([a] [] a.sqrt()),
            _ => $work_with_constants,
        }
    };
}

/// Runs an instruction without tails over a block: from memory to memory, register by register.
#[inline(always)]
fn step<S: Simd>(
    simd: S,
    code: &Code,
    instruction: &Instruction,
    slots: &mut [Block],
    scalars: &[f64],
) {
    let to = instruction.to as usize;
    macro_rules! each {
        ([$($block:ident)*] [$($scalar:ident)*] $value:expr) => {{
            $(let $scalar = F64::splat(simd, scalars[$scalar as usize]);)*
            each_register!(simd slots to [$($block)*] $value)
        }};
    }
    match_work!(instruction.work, each, dear(simd, code, instruction, slots))
}

/// Runs an instruction with tails or a separate destination. The result of a whole block stays in
/// registers until it is stored, so that each tail is selected once per block.
#[inline(always)]
fn step_chain<S: Simd>(
    simd: S,
    instruction: &Instruction,
    tails: &[Tail<Place>],
    slots: &mut [Block],
    scalars: &[f64],
    mut result: Option<&mut Block>,
) {
    // With AVX-512, four registers already hold a block.
    let registers = const {
        let block = BLOCK / F64::<S>::LEN;
        if block < REGISTERS { block } else { REGISTERS }
    };
    let zero = F64::splat(simd, 0.0);
    for at in (0..BLOCK).step_by(registers * F64::<S>::LEN) {
        let mut r = [zero; REGISTERS];
        macro_rules! each {
            ([$($block:ident)*] [$($scalar:ident)*] $value:expr) => {{
                $(let $scalar = F64::splat(simd, scalars[$scalar as usize]);)*
                $(let $block = &slots[$block as usize];)*
                for k in 0..registers {
                    $(let $block = F64::<S>::load(simd, &$block[at + k * F64::<S>::LEN..]);)*
                    r[k] = $value;
                }
            }};
        }
        match_work!(instruction.work, each, unreachable!("has no tails"));
        macro_rules! each_of {
            ($r:ident [$($block:ident)*] [$($scalar:ident)*] $value:expr) => {{
                $(let $scalar = F64::splat(simd, scalars[$scalar as usize]);)*
                $(let $block = &slots[$block as usize];)*
                for k in 0..registers {
                    $(let $block = F64::<S>::load(simd, &$block[at + k * F64::<S>::LEN..]);)*
                    let $r = r[k];
                    r[k] = $value;
                }
            }};
        }
        for tail in tails {
            match *tail {
                Tail::Scale { s } => each_of!(r [] [s] s * r),
                Tail::Affine { s, t } => each_of!(r [] [s t] r.mul_add(s, t)),
                Tail::Add { b } => each_of!(r [b] [] r + b),
                Tail::ScaleAdd { s, b } => each_of!(r [b] [s] r.mul_add(s, b)),
                Tail::AddScaled { t, b } => each_of!(r [b] [t] b.mul_add(t, r)),
                Tail::Combine { s, t, b } => each_of!(r [b] [s t] r.mul_add(s, t * b)),
                Tail::CombineLast { t, b, s } => each_of!(r [b] [s t] b.mul_add(t, s * r)),
                Tail::Mul { b } => each_of!(r [b] [] r * b),
                Tail::MulAdd { b, c } => each_of!(r [b c] [] r.mul_add(b, c)),
                Tail::AddMul { b, c } => each_of!(r [b c] [] b.mul_add(c, r)),
                Tail::AddMulScaled { s, b, c } => each_of!(r [b c] [s] (b * c).mul_add(s, r)),
            }
        }
        let to = match &mut result {
            Some(result) => result,
            None => &mut slots[instruction.to as usize],
        };
        for k in 0..registers {
            r[k].store(&mut to[at + k * F64::<S>::LEN..]);
        }
    }
}

/// Runs an instruction whose function has constants. It is separate from the others, because
/// otherwise every program would load the constants of all functions at every call.
#[inline(never)]
fn dear<S: Simd>(simd: S, code: &Code, instruction: &Instruction, slots: &mut [Block]) {
    let (work, to) = (instruction.work, instruction.to as usize);
    if let Work::Call { call } = work {
        let DenseCall { routine, inputs, outputs } = &code.calls[call as usize];
        let (slots, scratch) = slots.split_at_mut(code.scratch);
        return routine.run(simd, Values { slots, samples: BLOCK, inputs, outputs }, scratch);
    }
    simd.vectorize(
        #[inline(always)]
        move || {
            macro_rules! each {
                ([$($block:ident)*] $value:expr) => {
                    each_register!(simd slots to [$($block)*] $value)
                };
            }
            match work {
                Work::ExpNegDistance { a, b } => {
                    let zero = F64::splat(simd, 0.0);
                    each!([a b] (-F64::select(a.eq(b), zero, a - b).abs()).exp())
                }
                Work::Ln1pAdd { a, c } => each!([a c] a.ln_1p() + c),
                Work::Unary { function, a } => match function {
                    Unary::Abs => each!([a] a.abs()),
                    Unary::Sign => {
                        let (zero, one) = (F64::splat(simd, 0.0), F64::splat(simd, 1.0));
                        each!([a] F64::select(a.lt(zero) | zero.lt(a), one.copysign(a), a))
                    }
                    Unary::Exp => each!([a] a.exp()),
                    Unary::ExpM1 => each!([a] a.exp_m1()),
                    Unary::Ln => each!([a] a.ln()),
                    Unary::Ln1p => each!([a] a.ln_1p()),
                    Unary::Tanh => each!([a] a.tanh()),
                    Unary::Sin => each!([a] a.sin()),
                    Unary::Cos => each!([a] a.cos()),
                    Unary::Special(function) => special(simd, function, a, to, slots),
                    Unary::Detach => unreachable!("is removed by the compiler"),
                    Unary::Sqrt => unreachable!("has no constants"),
                },
                _ => unreachable!("has no constants"),
            }
        },
    );
}

/// Runs a special function over a block. It is separate from the elementary functions, whose
/// constants would compete with so many others for registers.
#[inline(never)]
fn special<S: Simd>(simd: S, function: Special, a: Place, to: usize, slots: &mut [Block]) {
    simd.vectorize(
        #[inline(always)]
        move || each_register!(simd slots to [a] function.of(a)),
    );
}

impl Outputs<'_> {
    #[inline(always)]
    fn block(&mut self, row: usize, at: usize) -> &mut Block {
        match row {
            PRIOR => &mut self.log_prior[at],
            LIKELIHOOD => &mut self.log_likelihood[at],
            _ => &mut self.gradient[(row - GRADIENT) * self.stride + at],
        }
    }
}
