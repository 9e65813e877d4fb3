//! The parts of a compiled program: instructions on blocks of samples, and a scalar part.

use super::dense::Dense;
use super::op::{Comparison, Op, Unary};

/// The slot of a block of samples. Inputs have the first slots, in order.
pub(super) type Place = u32;

/// The position of a number in the table of scalars.
pub(super) type Scalar = u32;

/// One pass over a block. `P` identifies operands: nodes before slots are allocated, slots
/// afterwards. `a b c` are blocks, `s t` are scalars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Work<P> {
    /// s everywhere
    Fill { s: Scalar },
    /// f(a)
    Unary { function: Unary, a: P },
    /// a + t
    Shift { a: P, t: Scalar },
    /// s·a
    Scale { s: Scalar, a: P },
    /// s·a + t
    Affine { s: Scalar, a: P, t: Scalar },
    /// a + b
    Add { a: P, b: P },
    /// s·a + c
    ScaleAdd { s: Scalar, a: P, c: P },
    /// s·a + t·c
    Combine { s: Scalar, a: P, t: Scalar, c: P },
    /// a·b
    Mul { a: P, b: P },
    /// s·a·b
    MulScale { s: Scalar, a: P, b: P },
    /// a·b + t
    MulShift { a: P, b: P, t: Scalar },
    /// s·a·b + t
    MulAffine { s: Scalar, a: P, b: P, t: Scalar },
    /// a·b + c
    MulAdd { a: P, b: P, c: P },
    /// s·a·b + c
    MulScaleAdd { s: Scalar, a: P, b: P, c: P },
    /// s·y² for y = (a + t)² + u
    SquareOfSquare { s: Scalar, a: P, t: Scalar, u: Scalar },
    /// s·x·y for x = a + t and y = x² + u
    SquareTimesRoot { s: Scalar, a: P, t: Scalar, u: Scalar },
    /// a / b
    Div { a: P, b: P },
    /// s / (a + t)
    Over { s: Scalar, a: P, t: Scalar },
    /// The smaller of a and b.
    Min { a: P, b: P },
    /// The larger of a and b.
    Max { a: P, b: P },
    /// yes where a compares with b, no elsewhere
    Select { comparison: Comparison, a: P, b: P, yes: P, no: P },
    /// e^−|a − b|
    ExpNegDistance { a: P, b: P },
    /// ln(1 + a) + c
    Ln1pAdd { a: P, c: P },
    /// A dense routine, by its index among the calls, which hold its operands and results.
    Call { call: u32 },
}

impl<P: Copy> Work<P> {
    /// The same work on other operands.
    pub(super) fn map<Q>(self, mut to: impl FnMut(P) -> Q) -> Work<Q> {
        match self {
            Self::Fill { s } => Work::Fill { s },
            Self::Unary { function, a } => Work::Unary { function, a: to(a) },
            Self::Shift { a, t } => Work::Shift { a: to(a), t },
            Self::Scale { s, a } => Work::Scale { s, a: to(a) },
            Self::Affine { s, a, t } => Work::Affine { s, a: to(a), t },
            Self::Add { a, b } => Work::Add { a: to(a), b: to(b) },
            Self::ScaleAdd { s, a, c } => Work::ScaleAdd { s, a: to(a), c: to(c) },
            Self::Combine { s, a, t, c } => Work::Combine { s, a: to(a), t, c: to(c) },
            Self::Mul { a, b } => Work::Mul { a: to(a), b: to(b) },
            Self::MulScale { s, a, b } => Work::MulScale { s, a: to(a), b: to(b) },
            Self::MulShift { a, b, t } => Work::MulShift { a: to(a), b: to(b), t },
            Self::MulAffine { s, a, b, t } => Work::MulAffine { s, a: to(a), b: to(b), t },
            Self::MulAdd { a, b, c } => Work::MulAdd { a: to(a), b: to(b), c: to(c) },
            Self::MulScaleAdd { s, a, b, c } => {
                Work::MulScaleAdd { s, a: to(a), b: to(b), c: to(c) }
            }
            Self::SquareOfSquare { s, a, t, u } => Work::SquareOfSquare { s, a: to(a), t, u },
            Self::SquareTimesRoot { s, a, t, u } => Work::SquareTimesRoot { s, a: to(a), t, u },
            Self::Div { a, b } => Work::Div { a: to(a), b: to(b) },
            Self::Over { s, a, t } => Work::Over { s, a: to(a), t },
            Self::Min { a, b } => Work::Min { a: to(a), b: to(b) },
            Self::Max { a, b } => Work::Max { a: to(a), b: to(b) },
            Self::Select { comparison, a, b, yes, no } => {
                Work::Select { comparison, a: to(a), b: to(b), yes: to(yes), no: to(no) }
            }
            Self::ExpNegDistance { a, b } => Work::ExpNegDistance { a: to(a), b: to(b) },
            Self::Ln1pAdd { a, c } => Work::Ln1pAdd { a: to(a), c: to(c) },
            Self::Call { call } => Work::Call { call },
        }
    }

    /// Calls `see` with every operand.
    pub(super) fn each(self, see: impl FnMut(P)) {
        self.map(see);
    }

    /// Whether it computes a function with a table of constants. Such work runs separately and has
    /// no tails.
    pub(super) fn is_dear(self) -> bool {
        match self {
            Self::Unary { function, .. } => function != Unary::Sqrt,
            Self::ExpNegDistance { .. } | Self::Ln1pAdd { .. } | Self::Call { .. } => true,
            _ => false,
        }
    }
}

/// An operation on a result r that is still in registers. `b c` are blocks, `s t` are scalars.
///
/// Each is a [`Work`] with r in place of one of its blocks, and rounds in the same way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tail<P> {
    /// s·r
    Scale { s: Scalar },
    /// s·r + t
    Affine { s: Scalar, t: Scalar },
    /// r + b
    Add { b: P },
    /// s·r + b
    ScaleAdd { s: Scalar, b: P },
    /// r + t·b
    AddScaled { t: Scalar, b: P },
    /// s·r + t·b, where t·b is rounded
    Combine { s: Scalar, t: Scalar, b: P },
    /// t·b + s·r, where s·r is rounded
    CombineLast { t: Scalar, b: P, s: Scalar },
    /// r·b
    Mul { b: P },
    /// r·b + c
    MulAdd { b: P, c: P },
    /// r + b·c
    AddMul { b: P, c: P },
    /// r + s·b·c
    AddMulScaled { s: Scalar, b: P, c: P },
}

impl<P: Copy> Tail<P> {
    /// The same tail on other operands.
    pub(super) fn map<Q>(self, mut to: impl FnMut(P) -> Q) -> Tail<Q> {
        match self {
            Self::Scale { s } => Tail::Scale { s },
            Self::Affine { s, t } => Tail::Affine { s, t },
            Self::Add { b } => Tail::Add { b: to(b) },
            Self::ScaleAdd { s, b } => Tail::ScaleAdd { s, b: to(b) },
            Self::AddScaled { t, b } => Tail::AddScaled { t, b: to(b) },
            Self::Combine { s, t, b } => Tail::Combine { s, t, b: to(b) },
            Self::CombineLast { t, b, s } => Tail::CombineLast { t, b: to(b), s },
            Self::Mul { b } => Tail::Mul { b: to(b) },
            Self::MulAdd { b, c } => Tail::MulAdd { b: to(b), c: to(c) },
            Self::AddMul { b, c } => Tail::AddMul { b: to(b), c: to(c) },
            Self::AddMulScaled { s, b, c } => Tail::AddMulScaled { s, b: to(b), c: to(c) },
        }
    }

    /// Calls `see` with every operand.
    pub(super) fn each(self, see: impl FnMut(P)) {
        self.map(see);
    }
}

/// The work of one pass and the tails that follow it before the result is stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chain<P> {
    pub(super) work: Work<P>,
    pub(super) tails: Vec<Tail<P>>,
}

/// Work, the number of its tails, and the slot of its result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    pub(super) to: Place,
    pub(super) work: Work<Place>,
    pub(super) tails: u32,
    /// The output that the result is, if no instruction reads it: it may then be stored outside its
    /// slot.
    pub(super) row: Option<u32>,
}

/// A program: it runs once per block of samples, after its scalars are computed once per call.
#[derive(Debug, Clone)]
pub(super) struct Code {
    /// Identifies the code of the scalars in a thread's scratch.
    pub(super) id: u64,
    pub(super) scalars: Scalars,
    /// The number of inputs, and which of them are read.
    pub(super) inputs: usize,
    pub(super) reads: Vec<Place>,
    /// Scalars that instructions need as blocks: slot inputs + i always holds scalar `splats[i]`.
    pub(super) splats: Vec<Scalar>,
    pub(super) instructions: Vec<Instruction>,
    /// The tails of all instructions, in order.
    pub(super) tails: Vec<Tail<Place>>,
    /// The slots of the results at the end, and the row of the first of them.
    pub(super) outputs: Vec<Place>,
    /// The outputs that are not written directly by an instruction.
    pub(super) copied: Vec<u32>,
    pub(super) first_output: usize,
    pub(super) calls: Vec<DenseCall>,
    /// The first of the slots that calls use as scratch; it comes after all others.
    pub(super) scratch: usize,
    /// Number of slots.
    pub(super) slots: usize,
}

/// A dense routine with the slots of its operands and results.
#[derive(Debug, Clone)]
pub(super) struct DenseCall {
    pub(super) routine: Dense,
    pub(super) inputs: Vec<Place>,
    /// [`UNREAD`] for results that nothing reads.
    pub(super) outputs: Vec<Place>,
}

/// The part of a program that is the same for all samples.
#[derive(Debug, Clone)]
pub(super) struct Scalars {
    /// Constants, numbers given at run time and results, in the order of the table.
    pub(super) steps: Vec<Op>,
}

impl Scalars {
    /// Appends the table. Operands of the steps are positions in it.
    pub(super) fn run(&self, uniforms: &[f64], table: &mut Vec<f64>) {
        let start = table.len();
        for step in &self.steps {
            let value = match *step {
                Op::Uniform(index) => Some(uniforms[index as usize]),
                op => op.of(|node| table[start + node.index()]),
            };
            table.push(value.expect("an input is not uniform"));
        }
    }
}
