//! The cost of compiled code in elementary operations for one sample.
//!
//! The count depends on the instructions alone: not on a clock, the number of threads or the width
//! of the registers. Additions and multiplications count 1 and a fused pair counts 2.

use super::code::{Code, Instruction, Tail, Work};
use super::dense::{Dense, triangle};
use super::op::Unary;
use crate::simd::Special;

/// The number of additions that take about as long as a division or a square root.
const DIVISION: f64 = 4.0;
const SQUARE_ROOT: f64 = 6.0;
/// The same for elementary functions, which are polynomials of degree 6 to 13 with some
/// preparation.
const EXPONENTIAL: f64 = 12.0;
const LOGARITHM: f64 = 16.0;
const TRIGONOMETRIC: f64 = 20.0;
/// Special functions have two or three such branches, and compute all of them.
const SPECIAL: f64 = 40.0;

impl Unary {
    fn cost(self) -> f64 {
        match self {
            Self::Detach => 0.0,
            Self::Abs | Self::Sign | Self::Special(Special::Floor) => 1.0,
            Self::Sqrt => SQUARE_ROOT,
            Self::Exp | Self::ExpM1 | Self::Tanh => EXPONENTIAL,
            Self::Ln | Self::Ln1p => LOGARITHM,
            Self::Sin | Self::Cos | Self::Special(Special::Atan) => TRIGONOMETRIC,
            Self::Special(_) => SPECIAL,
        }
    }
}

impl<P> Tail<P> {
    fn cost(&self) -> f64 {
        match self {
            Self::Scale { .. } | Self::Add { .. } | Self::Mul { .. } => 1.0,
            Self::Affine { .. }
            | Self::ScaleAdd { .. }
            | Self::AddScaled { .. }
            | Self::MulAdd { .. }
            | Self::AddMul { .. } => 2.0,
            Self::Combine { .. } | Self::CombineLast { .. } | Self::AddMulScaled { .. } => 3.0,
        }
    }
}

impl Dense {
    /// Leading orders, with the constants of the algorithms: a factor takes n³/3, an inverse twice
    /// as much.
    fn cost(&self) -> f64 {
        let cube = |n: usize| (n as f64).powi(3);
        let kernel = EXPONENTIAL + 4.0;
        match self {
            Self::Cholesky { n } => cube(*n) / 3.0 + SQUARE_ROOT * *n as f64,
            Self::CholeskyBack { n } => 2.0 * cube(*n) / 3.0 + DIVISION * *n as f64,
            Self::MultiNormal { n } => cube(*n) + 4.0 * triangle(*n) as f64,
            Self::LowerTimes { n } => 2.0 * triangle(*n) as f64,
            Self::LowerTimesBack { n } => 4.0 * triangle(*n) as f64,
            Self::Covariance(_) => kernel * self.outputs() as f64,
            // Settings, then values and slopes at each distance.
            Self::CovarianceBack(_) => kernel * (self.inputs() - self.outputs()) as f64,
        }
    }
}

impl Code {
    /// Operations for one sample.
    pub(super) fn cost(&self) -> f64 {
        let work = |instruction: &Instruction| match instruction.work {
            Work::Fill { .. } => 0.0,
            Work::Unary { function, .. } => function.cost(),
            Work::Shift { .. }
            | Work::Scale { .. }
            | Work::Add { .. }
            | Work::Mul { .. }
            | Work::Min { .. }
            | Work::Max { .. } => 1.0,
            Work::Affine { .. }
            | Work::ScaleAdd { .. }
            | Work::MulScale { .. }
            | Work::MulShift { .. }
            | Work::MulAdd { .. }
            | Work::Select { .. } => 2.0,
            Work::Combine { .. } | Work::MulAffine { .. } | Work::MulScaleAdd { .. } => 3.0,
            Work::SquareOfSquare { .. } | Work::SquareTimesRoot { .. } => 5.0,
            Work::Div { .. } => DIVISION,
            Work::Over { .. } => 1.0 + DIVISION,
            Work::ExpNegDistance { .. } => 2.0 + EXPONENTIAL,
            Work::Ln1pAdd { .. } => 1.0 + LOGARITHM,
            Work::Call { call } => self.calls[call as usize].routine.cost(),
        };
        self.instructions.iter().map(work).sum::<f64>()
            + self.tails.iter().map(Tail::cost).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Program;
    use crate::target::Target;

    fn cost(program: &Program) -> f64 {
        program.operations().unwrap()
    }

    /// (x + y)·y has the gradient (w y, w (x + 2 y)): from 5 operations, if all are shared and fused, to 10.
    #[test]
    fn a_small_program_costs_what_its_arithmetic_takes() {
        let program = Program::record(2, |z| (z[0] + z[1]) * z[1]);
        let found = cost(&program);
        assert!((5.0..=10.0).contains(&found), "{found}");
    }

    /// e^x is its own derivative: one exponential, and one product with the weight.
    #[test]
    fn an_exponential_shares_its_value_with_its_gradient() {
        let program = Program::record(1, |z| z[0].exp());
        assert_eq!(cost(&program), EXPONENTIAL + 1.0);
    }

    #[test]
    fn repeating_a_term_adds_its_cost() {
        let sum = |terms: usize| {
            Program::record(1, move |z| (0..terms).map(|i| (z[0] * (1.0 + i as f64)).sin()).sum())
        };
        let (one, ten, hundred) = (cost(&sum(1)), cost(&sum(10)), cost(&sum(100)));
        assert!(one > 2.0 * TRIGONOMETRIC && ten > 9.0 * one, "{one}, {ten}");
        assert!((hundred - ten) / (ten - one) > 9.5, "{one}, {ten}, {hundred}");
    }
}
