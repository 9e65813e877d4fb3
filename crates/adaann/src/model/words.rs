//! The words that mean something in every formula.

/// Functions of numbers and vectors, and the words that are called like them.
pub(crate) const FUNCTIONS: &[&str] = &[
    "exp",
    "expm1",
    "log",
    "log1p",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sinh",
    "cosh",
    "atan",
    "logistic",
    "inv_logit",
    "logit",
    "softplus",
    "abs",
    "min",
    "max",
    "pow",
    "square",
    "lgamma",
    "digamma",
    "erf",
    "erfc",
    "Phi",
    "log_beta",
    "floor",
    "round",
    "sum",
    "prod",
    "mean",
    "sd",
    "dot",
    "logsumexp",
    "softmax",
    "length",
    "cumsum",
    "logpdf",
];

/// Distributions, for priors, likelihoods and `logpdf`.
pub(crate) const DISTRIBUTIONS: &[&str] = &[
    "flat",
    "normal",
    "lognormal",
    "student_t",
    "cauchy",
    "half_normal",
    "half_cauchy",
    "half_student_t",
    "exponential",
    "gamma",
    "inv_gamma",
    "beta",
    "uniform",
    "log_uniform",
    "laplace",
    "logistic",
    "weibull",
    "poisson",
    "binomial",
    "bernoulli",
    "bernoulli_logit",
    "poisson_log",
    "binomial_logit",
    "neg_binomial",
    "multi_normal",
    "dirichlet",
    "mixture",
];

/// Numbers with a name.
pub(crate) const NUMBERS: &[&str] = &["pi", "e", "inf"];

/// Parts of the grammar.
pub(crate) const KEYWORDS: &[&str] = &["if", "and", "or", "not"];

/// What a name is already, if nothing in a model can be called by it.
pub(crate) fn reserved(name: &str) -> Option<&'static str> {
    let kinds = [
        (KEYWORDS, "a word of the language"),
        (NUMBERS, "a number"),
        (FUNCTIONS, "a function"),
        (DISTRIBUTIONS, "a distribution"),
    ];
    kinds.into_iter().find(|(words, _)| words.contains(&name)).map(|(_, kind)| kind)
}
