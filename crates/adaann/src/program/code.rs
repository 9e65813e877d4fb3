//! What a compiled program is made of: instructions on blocks of samples, and a scalar part.

use super::op::{Comparison, Op, Unary};

/// The place of a block of samples in the scratch.
pub(super) type Slot = u32;

/// An operand that is the result of the instruction before: it is still in registers.
pub(super) const LAST: Slot = Slot::MAX;

/// The place of a result that only the next instruction reads.
pub(super) const NOWHERE: Slot = Slot::MAX;

/// A result with this bit goes to the row of the outputs that the other bits tell: nothing reads it.
pub(super) const OUTPUT: Slot = 1 << 31;

/// The place of a number in the table of scalars.
pub(super) type Scalar = u32;

/// One pass over a block. `P` is where operands live: nodes before slots are allocated, slots
/// after. `a b c` are blocks, `s t` are scalars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Work<P> {
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
    /// Two results: a + t, which is kept, and s times its square plus u
    ShiftSquare { a: P, t: Scalar, s: Scalar, u: Scalar },
    /// Two results: s·a², which is kept, and t·a·b
    SquareMul { s: Scalar, a: P, t: Scalar, b: P },
    /// Two results: v·y², which is kept, and w·x·y, with x = a + t and y = s·x² + u that nothing
    /// else reads
    SquareOfSquare { a: P, t: Scalar, s: Scalar, u: Scalar, v: Scalar, w: Scalar },
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
            Self::ShiftSquare { a, t, s, u } => Work::ShiftSquare { a: to(a), t, s, u },
            Self::SquareMul { s, a, t, b } => Work::SquareMul { s, a: to(a), t, b: to(b) },
            Self::SquareOfSquare { a, t, s, u, v, w } => {
                Work::SquareOfSquare { a: to(a), t, s, u, v, w }
            }
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

    /// The same work with `last` in front, where it need not be fetched; and whether it is there.
    pub(super) fn after(self, last: P) -> (Self, bool)
    where
        P: PartialEq,
    {
        let order = |a, b| if b == last { (b, a) } else { (a, b) };
        match self {
            Self::Shift { a, .. }
            | Self::Scale { a, .. }
            | Self::Affine { a, .. }
            | Self::ScaleAdd { a, .. }
            | Self::Combine { a, .. }
            | Self::ShiftSquare { a, .. }
            | Self::SquareMul { a, .. }
            | Self::SquareOfSquare { a, .. }
            | Self::Over { a, .. } => (self, a == last),
            Self::Add { a, b } => {
                let (a, b) = order(a, b);
                (Self::Add { a, b }, a == last)
            }
            Self::Mul { a, b } => {
                let (a, b) = order(a, b);
                (Self::Mul { a, b }, a == last)
            }
            Self::MulScale { s, a, b } => {
                let (a, b) = order(a, b);
                (Self::MulScale { s, a, b }, a == last)
            }
            Self::MulShift { a, b, t } => {
                let (a, b) = order(a, b);
                (Self::MulShift { a, b, t }, a == last)
            }
            Self::MulAffine { s, a, b, t } => {
                let (a, b) = order(a, b);
                (Self::MulAffine { s, a, b, t }, a == last)
            }
            Self::MulAdd { a, b, c } => {
                let (a, b) = order(a, b);
                (Self::MulAdd { a, b, c }, a == last)
            }
            Self::MulScaleAdd { s, a, b, c } => {
                let (a, b) = order(a, b);
                (Self::MulScaleAdd { s, a, b, c }, a == last)
            }
            _ => (self, false),
        }
    }

    /// Is it a few sums and products?
    pub(super) fn is_cheap(&self) -> bool {
        !matches!(
            self,
            Self::Unary { .. }
                | Self::Div { .. }
                | Self::Min { .. }
                | Self::Max { .. }
                | Self::Select { .. }
                | Self::ExpNegDistance { .. }
                | Self::Ln1pAdd { .. }
        )
    }

    /// Calls `see` with every operand.
    pub(super) fn each(self, see: impl FnMut(P)) {
        self.map(see);
    }
}

/// Work and the place of its result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    pub(super) to: Slot,
    /// The place of the first of two results.
    pub(super) kept: Slot,
    /// Does it cost no more than its loads and stores?
    pub(super) is_cheap: bool,
    pub(super) work: Work<Slot>,
}

/// A program: run once per block of samples, after its scalars were computed once per call.
#[derive(Debug, Clone)]
pub(super) struct Code {
    /// Tells the code whose scalars are in a thread's scratch.
    pub(super) id: u64,
    pub(super) scalars: Scalars,
    /// Scalars that instructions want as blocks: slot i holds scalar `splats[i]` all the time.
    pub(super) splats: Vec<Scalar>,
    /// Rows of the inputs, and the slots that they are read into.
    pub(super) inputs: Vec<(usize, Slot)>,
    pub(super) instructions: Vec<Instruction>,
    /// Rows of the outputs that are not written directly, and the slots that they are copied from.
    pub(super) outputs: Vec<(usize, Slot)>,
    /// Rows of the outputs that are the same for all samples.
    pub(super) fills: Vec<(usize, Scalar)>,
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
    /// Fills the table. Operands of the steps are places in it.
    pub(super) fn run(&self, uniforms: &[f64], table: &mut Vec<f64>) {
        table.clear();
        for step in &self.steps {
            let value = match *step {
                Op::Uniform(index) => Some(uniforms[index as usize]),
                op => op.of(|node| table[node.index()]),
            };
            table.push(value.expect("an input is not uniform"));
        }
    }
}
