//! Mistakes in parameters: priors, supports, bounds and sizes.

use super::{assert_none, difference};

#[test]
fn parameters_and_priors() {
    let density = "density = \"-square(k)\"\n[parameters]\nk = \"normal(0, 1)\"\n";
    let cases = [
        (
            "outside-the-support",
            "p = { prior = ¦\"half_normal(1)\", lower = -1 }",
            "the prior has no density below 0, but lower is -1",
        ),
        (
            "above-the-support",
            "p = { prior = ¦\"beta(2, 3)\", upper = 4 }",
            "the prior has no density above 1, but upper is 4",
        ),
        (
            "nothing-left",
            "p = { prior = ¦\"half_normal(1)\", upper = -2 }",
            "the prior has no density between the bounds",
        ),
        (
            "discrete",
            "p = ¦\"poisson(3)\"",
            "a discrete distribution cannot be the prior of a parameter",
        ),
        (
            "dirichlet-alone",
            "p = { prior = ¦\"dirichlet([1, 2])\", size = 2 }",
            "a simplex needs a dirichlet prior, and dirichlet needs a simplex",
        ),
        (
            "simplex-alone",
            "p = { prior = ¦\"normal(0, 1)\", support = \"simplex\", size = 2 }",
            "a simplex needs a dirichlet prior, and dirichlet needs a simplex",
        ),
        (
            "dirichlet-size",
            "p = { prior = ¦\"dirichlet([1, 2])\", support = \"simplex\", size = 3 }",
            "the distribution has 2 elements, but `p` has 3",
        ),
        (
            "dirichlet-negative",
            "p = { prior = \"dirichlet(¦[1, -2])\", support = \"simplex\", size = 2 }",
            "the concentrations of dirichlet must be positive",
        ),
        (
            "dirichlet-infinite",
            "p = { prior = \"dirichlet(¦[1, inf])\", support = \"simplex\", size = 2 }",
            "the concentrations of dirichlet must be positive and finite",
        ),
        (
            "joint-of-a-number",
            "p = ¦\"multi_normal([0], [[1]])\"",
            "this is a distribution of vectors, but `p` is a number",
        ),
        (
            "covariance",
            "p = { prior = \"multi_normal([0, 0], ¦[[1, 2], [2, 1]])\", size = 2 }",
            "positive definite",
        ),
        (
            "covariance-shape",
            "p = { prior = \"multi_normal([0, 0, 0], ¦[[1, 0], [0, 1]])\", size = 3 }",
            "the matrix has 2 rows, but the mean has 3 elements",
        ),
        (
            "size-number",
            "p = { prior = \"normal(0, 1)\", size = ¦2.5 }",
            "expected a whole number from 1 or the name of a constant, found 2.5",
        ),
        (
            "size-formula",
            "p = { prior = \"normal(0, 1)\", size = ¦\"5 / 2\" }",
            "the size is 2.5, but must be a whole number from 1 to 10,000",
        ),
        (
            "bounds",
            "¦p = { prior = \"normal(0, 1)\", lower = 2, upper = 1 }",
            "lower = 2 and upper = 1 leave no room between them",
        ),
        (
            "bounds-of-parameters-below",
            "p = { prior = \"normal(0, 1)\", lower = ¦\"q\" }\nq = \"normal(0, 1)\"",
            "a bound of `p` cannot depend on `q`",
        ),
        (
            "bound-of-itself",
            "p = { prior = \"normal(0, 1)\", lower = ¦\"p - 1\" }",
            "a bound of `p` cannot depend on `p`",
        ),
        (
            "curved-bound",
            "p = { prior = \"normal(0, 1)\", lower = ¦\"k ^ 2\" }",
            "a bound must be a linear function of parameters",
        ),
        (
            "bound-of-numbers",
            "q = { size = 2, lower = 0, upper = 1 }\np = { prior = \"normal(0, 1)\", lower = ¦\"q\" }",
            "a bound must be a number, found a vector",
        ),
        (
            "bounds-that-cross",
            "¦p = { lower = 0, upper = \"k\" }",
            "lower and upper leave no room between them where `k` is far below 0",
        ),
        (
            "bounds-that-cross-at-an-end",
            "q = { lower = 0, upper = 2 }\n¦p = { lower = \"q - 1\", upper = \"1 - q\" }",
            "lower and upper leave no room between them where `q` is near 2",
        ),
        (
            "bounds-that-move-together",
            "¦p = { lower = \"k + 1\", upper = \"k\" }",
            "lower and upper leave no room between them",
        ),
        (
            "moving-out-of-the-support",
            "p = { prior = ¦\"half_normal(1)\", lower = \"k\" }",
            "the prior has no density below 0, but lower can be as low as -inf",
        ),
        (
            "bounds-and-priors-in-a-circle",
            "¦p = \"normal(q, 1)\"\nq = { prior = \"normal(0, 1)\", lower = \"p\" }",
            "the prior of `p` depends on itself: p -> q -> p",
        ),
        (
            "unknown-share",
            "p = { prior = ¦\"von_mises(k, 1)\", lower = 0 }",
            "the probability of this prior between its bounds is not available",
        ),
        (
            "support-of-parameters",
            "p = ¦\"uniform(0, k)\"",
            "the bounds of a uniform prior must be constants; for bounds that depend on the parameters above",
        ),
        (
            "ordered-number",
            "p = { prior = \"normal(0, 1)\", support = ¦\"ordered\" }",
            "this support needs a vector",
        ),
        (
            "priors-in-a-circle",
            "¦p = \"normal(q, 1)\"\nq = \"normal(p, 1)\"",
            "the prior of `p` depends on itself",
        ),
    ];
    let differences = cases.into_iter().filter_map(|(name, rest, expected)| {
        difference(name, &format!("{density}{rest}\n"), "", &[expected])
    });
    assert_none(differences.collect());
}

/// A cycle of thousands of names is shortened.
#[test]
fn a_long_circle_is_cut_short() {
    let mut model = "density = \"0\"\n[parameters]\n".to_owned();
    let count = 2_000;
    for i in 0..count {
        let mark = if i == 0 { "¦" } else { "" };
        model += &format!("{mark}p{i} = \"normal(p{}, 1)\"\n", (i + 1) % count);
    }
    let expected = "p0 -> p1 -> p2 -> p3 -> p4 -> p5 -> p6 -> p7 -> ... (2000 in all) -> p0";
    assert_none(difference("long-circle", &model, "", &[expected]).into_iter().collect());
}
