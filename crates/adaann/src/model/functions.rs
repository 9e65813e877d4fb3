//! The functions in formulas, by name.

use super::matrix_functions::MatrixFunction;
use super::trajectory_functions::TrajectoryFunction;
use crate::program::{Expr, log_sum_exp};

/// The kinds of functions, by their arguments.
#[derive(Clone, Copy)]
pub(super) enum Function {
    /// Of one number; applied to vectors element by element.
    Each(for<'g> fn(Expr<'g>) -> Expr<'g>),
    /// Of two numbers; applied to vectors element by element.
    Pair(for<'g> fn(Expr<'g>, Expr<'g>) -> Expr<'g>),
    /// Of all elements of a vector, giving a number.
    Reduce(for<'g> fn(&[Expr<'g>]) -> Expr<'g>),
    /// Of all elements of a vector, giving a vector.
    Whole(for<'g> fn(&[Expr<'g>]) -> Vec<Expr<'g>>),
    /// Of two or more numbers, or of all elements of one vector.
    Fold(for<'g> fn(Expr<'g>, Expr<'g>) -> Expr<'g>),
    /// Of two vectors of the same length, giving a number.
    Dot,
}

/// A function with its names and a one-line description.
pub(super) struct Entry {
    /// The name, followed by common synonyms.
    pub(super) names: &'static [&'static str],
    pub(super) function: Function,
    pub(super) summary: &'static str,
}

/// The function of this name.
pub(super) fn find(name: &str) -> Option<Function> {
    ALL.iter().find(|entry| entry.names.contains(&name)).map(|entry| entry.function)
}

/// The names of all functions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter()
        .flat_map(|entry| entry.names.iter().copied())
        .chain(["if", "logpdf", "before"])
        .chain(MatrixFunction::ALL.iter().map(|function| function.name()))
        .chain(TrajectoryFunction::ALL.iter().map(|function| function.name()))
}

/// The syntax of every function, with a one-line description.
pub(super) fn in_words() -> Vec<(String, &'static str)> {
    let usage = |entry: &Entry| {
        let arguments = match entry.function {
            Function::Each(_) => "x",
            Function::Pair(_) => "x, y",
            Function::Reduce(_) | Function::Whole(_) => "vector",
            Function::Fold(_) => "x, y, ...",
            Function::Dot => "vector, vector",
        };
        (format!("{}({arguments})", entry.names.join(", ")), entry.summary)
    };
    let others = [
        ("if(condition, x, y)", "x if the condition holds, otherwise y"),
        ("logpdf(distribution, x)", "log density of a distribution at x"),
        (
            "before(column, k, otherwise)",
            "the value of a column k rows earlier in its series; k is 1 if not given",
        ),
    ];
    let others = others.map(|(usage, summary)| (usage.to_owned(), summary));
    let matrices = MatrixFunction::ALL.iter();
    let matrices = matrices.map(|function| (function.usage().to_owned(), function.summary()));
    let trajectories = TrajectoryFunction::ALL.iter();
    let trajectories =
        trajectories.map(|function| (function.usage().to_owned(), function.summary()));
    ALL.iter().map(usage).chain(matrices).chain(others).chain(trajectories).collect()
}

macro_rules! entries {
    ($($names:expr, $kind:ident$(($function:expr))?, $summary:expr;)*) => {
        &[$(Entry {
            names: &$names,
            function: Function::$kind$(($function))?,
            summary: $summary,
        }),*]
    };
}

/// All functions, in the order of the manual.
pub(super) const ALL: &[Entry] = entries! {
    ["exp"], Each(|x| x.exp()), "e^x";
    ["expm1"], Each(|x| x.exp_m1()), "e^x - 1, accurate near 0";
    ["log", "ln"], Each(|x| x.ln()), "natural logarithm";
    ["log1p"], Each(|x| x.ln_1p()), "log(1 + x), accurate near 0";
    ["sqrt"], Each(|x| x.sqrt()), "square root";
    ["square"], Each(|x| x.square()), "x^2";
    ["abs"], Each(|x| x.abs()), "absolute value";
    ["sin"], Each(|x| x.sin()), "sine";
    ["cos"], Each(|x| x.cos()), "cosine";
    ["tan"], Each(|x| x.sin() / x.cos()), "tangent";
    ["atan"], Each(|x| x.atan()), "arc tangent";
    ["sinh"], Each(|x| 0.5 * (x.exp_m1() - (-x).exp_m1())), "hyperbolic sine";
    ["cosh"], Each(|x| 0.5 * (x.exp() + (-x).exp())), "hyperbolic cosine";
    ["tanh"], Each(|x| x.tanh()), "hyperbolic tangent";
    ["logistic", "inv_logit", "sigmoid"], Each(|x| x.logistic()), "1 / (1 + e^-x)";
    ["logit"], Each(|x| x.ln() - (-x).ln_1p()), "log(x / (1 - x))";
    ["softplus", "log1p_exp"], Each(|x| x.softplus()), "log(1 + e^x)";
    ["lgamma"], Each(|x| x.ln_gamma()), "logarithm of the gamma function";
    ["digamma"], Each(|x| x.digamma()), "derivative of lgamma";
    ["erf"], Each(|x| x.erf()), "error function";
    ["erfc"], Each(|x| x.erfc()), "1 - erf(x), accurate for large x";
    ["Phi"], Each(|x| 0.5 * (-std::f64::consts::FRAC_1_SQRT_2 * x).erfc()), "standard normal distribution function";
    ["log_Phi"], Each(|x| x.ln_normal_cdf()), "logarithm of Phi, accurate far below 0";
    ["floor"], Each(|x| x.floor()), "largest whole number not above x; its derivative is 0";
    ["pow"], Pair(power), "x^y";
    ["log_beta"], Pair(|a, b| a.ln_gamma() + b.ln_gamma() - (a + b).ln_gamma()), "logarithm of the beta function";
    ["log_add_exp"], Pair(|a, b| a.log_add_exp(b)), "log(e^x + e^y)";
    ["min"], Fold(|a, b| a.min(b)), "smallest of several numbers, or of a vector";
    ["max"], Fold(|a, b| a.max(b)), "largest of several numbers, or of a vector";
    ["sum"], Reduce(|x| x.iter().sum()), "sum of a vector";
    ["prod"], Reduce(|x| x.iter().fold(1.0.into(), |product, &x| product * x)), "product of a vector";
    ["dot"], Dot, "sum of the products of two vectors' elements";
    ["mean"], Reduce(mean), "mean of a vector";
    ["sd"], Reduce(sd), "standard deviation of a vector, with n - 1";
    ["length"], Reduce(|x| (x.len() as f64).into()), "number of elements";
    ["logsumexp", "log_sum_exp"], Reduce(log_sum_exp), "log of the sum of e^x";
    ["softmax"], Whole(softmax), "e^x divided by its sum";
    ["cumsum"], Whole(cumulative_sum), "cumulative sums";
    ["reverse"], Whole(|x| x.iter().rev().copied().collect()), "last element first";
};

/// x^y: repeated multiplication for a whole constant y, otherwise e^(y log x).
pub(super) fn power<'g>(x: Expr<'g>, y: Expr<'g>) -> Expr<'g> {
    match y.as_constant() {
        Some(y) => x.powf(y),
        None => (y * x.ln()).exp(),
    }
}

fn mean<'g>(x: &[Expr<'g>]) -> Expr<'g> {
    x.iter().sum::<Expr<'g>>() / x.len() as f64
}

fn sd<'g>(x: &[Expr<'g>]) -> Expr<'g> {
    let mean = mean(x);
    let squares: Expr<'g> = x.iter().map(|&x| (x - mean).square()).sum();
    (squares / (x.len() as f64 - 1.0)).sqrt()
}

fn softmax<'g>(x: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let log_sum = log_sum_exp(x);
    x.iter().map(|&x| (x - log_sum).exp()).collect()
}

fn cumulative_sum<'g>(x: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let add = |sum: &mut Expr<'g>, &x: &Expr<'g>| {
        *sum += x;
        Some(*sum)
    };
    x.iter().scan(0.0.into(), add).collect()
}
