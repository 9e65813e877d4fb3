//! What a compiled program is made of: instructions on blocks of samples, and a scalar part.

use super::op::{Comparison, Op, Unary};

/// The slot of a block of samples. Inputs have the first slots, in order.
pub(super) type Place = u32;

/// The place of a number in the table of scalars.
pub(super) type Scalar = u32;

/// One pass over a block. `P` is where operands live: nodes before slots are allocated, slots
/// after. `a b c` are blocks, `s t` are scalars.
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
}

impl<P: Copy> Work<P> {
    /// The same work on other places.
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
        }
    }

    /// Calls `see` with every operand.
    pub(super) fn each(self, see: impl FnMut(P)) {
        self.map(see);
    }
}

/// Work and the place of its result, which is never the slot of an operand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    pub(super) to: Place,
    pub(super) work: Work<Place>,
}

/// A program: run once per block of samples, after its scalars were computed once per call.
#[derive(Debug, Clone)]
pub(super) struct Code {
    /// Tells the code whose scalars are in a thread's scratch.
    pub(super) id: u64,
    pub(super) scalars: Scalars,
    /// How many inputs there are, and which of them are read.
    pub(super) inputs: usize,
    pub(super) reads: Vec<Place>,
    /// Scalars that instructions want as blocks: slot inputs + i holds scalar `splats[i]` all the
    /// time.
    pub(super) splats: Vec<Scalar>,
    pub(super) instructions: Vec<Instruction>,
    /// Where the results are at the end, and the row of the first of them.
    pub(super) outputs: Vec<Place>,
    pub(super) first_output: usize,
    /// Slots in use.
    pub(super) slots: usize,
}

/// The part of a program that is the same for all samples.
#[derive(Debug, Clone)]
pub(super) struct Scalars {
    /// Constants, numbers given at run time and results, in the order of their places.
    pub(super) steps: Vec<Op>,
}

impl Scalars {
    /// Appends the table. Operands of the steps are places in it.
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
