//! The matrix functions in formulas, by name.

/// A matrix function, or a function that builds vectors or matrices from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatrixFunction {
    MatMul,
    Transpose,
    Diag,
    AddDiag,
    Outer,
    Identity,
    Trace,
    Cholesky,
    Solve,
    LogDet,
    Concat,
    Range,
    CovExpQuad,
    CovMatern32,
    CovMatern52,
    CovPeriodic,
}

use MatrixFunction::*;

impl MatrixFunction {
    /// All of them, in the order of the manual.
    pub(super) const ALL: [Self; 16] = [
        MatMul,
        Transpose,
        Diag,
        AddDiag,
        Outer,
        Identity,
        Trace,
        Cholesky,
        Solve,
        LogDet,
        Concat,
        Range,
        CovExpQuad,
        CovMatern32,
        CovMatern52,
        CovPeriodic,
    ];

    /// The function of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        let usage = self.usage();
        usage.split('(').next().unwrap_or(usage)
    }

    /// The syntax.
    pub(super) fn usage(self) -> &'static str {
        match self {
            MatMul => "matmul(A, B)",
            Transpose => "transpose(A)",
            Diag => "diag(x)",
            AddDiag => "add_diag(A, x)",
            Outer => "outer(x, y)",
            Identity => "identity(n)",
            Trace => "trace(A)",
            Cholesky => "cholesky(A)",
            Solve => "solve(A, b)",
            LogDet => "log_det(A)",
            Concat => "concat(a, b, ...)",
            Range => "range(first, last)",
            CovExpQuad => "cov_exp_quad(x, alpha, rho, jitter)",
            CovMatern32 => "cov_matern32(x, alpha, rho, jitter)",
            CovMatern52 => "cov_matern52(x, alpha, rho, jitter)",
            CovPeriodic => "cov_periodic(x, alpha, rho, period, jitter)",
        }
    }

    /// A one-line description.
    pub(super) fn summary(self) -> &'static str {
        match self {
            MatMul => "product of matrices and vectors, A @ B",
            Transpose => "rows as columns",
            Diag => "matrix with a vector on its diagonal, or the diagonal of a matrix",
            AddDiag => "A with a number or a vector added to its diagonal",
            Outer => "matrix of the products of two vectors' elements",
            Identity => "n x n matrix with ones on its diagonal",
            Trace => "sum of the diagonal",
            Cholesky => "lower-triangular L with L @ transpose(L) = A",
            Solve => "x with A @ x = b, for a triangular or positive definite A",
            LogDet => "log determinant of a positive definite matrix",
            Concat => "joins numbers and vectors to one vector, or stacks matrices",
            Range => "first, first + 1, ..., last",
            CovExpQuad => {
                "alpha^2 exp(-d^2 / (2 rho^2)) between points x, with jitter (default 0) on the diagonal"
            }
            CovMatern32 => "alpha^2 (1 + s) exp(-s), s = sqrt(3) d / rho",
            CovMatern52 => "alpha^2 (1 + s + s^2/3) exp(-s), s = sqrt(5) d / rho",
            CovPeriodic => "alpha^2 exp(-2 sin(pi d / period)^2 / rho^2)",
        }
    }
}
