//! Mistakes in censored, truncated, categorical and zero-inflated distributions.

use super::{assert_none, difference};

#[test]
fn limits_and_categories() {
    let head = "[data]\nx = [1, 2]\ny = [1, 2]\n[parameters]\na = \"normal(0, 1)\"\n\
                b = { prior = \"normal(0, 1)\", size = 2 }\n[likelihood]\n";
    let cases = [
        (
            "no-limits",
            "y = \"¦censored(normal(a, 1))\"",
            "`censored` needs a distribution and its limits | write censored(distribution, lower = l",
        ),
        (
            "limit-without-a-name",
            "y = \"truncated(normal(a, 1), ¦0)\"",
            "the limits of `truncated` must be named arguments | write truncated(distribution, lower",
        ),
        (
            "limit-misspelt",
            "y = \"censored(normal(a, 1), ¦uper = 3)\"",
            "`censored` has no argument `uper` | did you mean `upper`?",
        ),
        (
            "limit-of-the-other",
            "y = \"truncated(normal(a, 1), ¦right = x == 2)\"",
            "`truncated` has no argument `right` | the arguments are lower, upper",
        ),
        (
            "limit-twice",
            "y = \"censored(normal(a, 1), lower = 0, ¦lower = 1)\"",
            "`lower` is given twice",
        ),
        (
            "limits-in-disorder",
            "y = \"¦truncated(normal(a, 1), lower = 3, upper = 1)\"",
            "lower is 3, but must be below upper, which is 1",
        ),
        (
            "no-distribution-function",
            "y = \"censored(¦von_mises(a, 1), lower = 3)\"",
            "needs the distribution function, which is not available for this distribution",
        ),
        (
            "a-vector-censored",
            "y = \"censored(¦multi_normal(b, [[1, 0], [0, 1]]), lower = 3)\"",
            "`censored` needs a distribution of single numbers",
        ),
        (
            "a-condition-is-a-law",
            "y = \"censored(normal(a, 1), right = ¦normal(0, 1))\"",
            "expected a condition, found a distribution",
        ),
        (
            "a-name-elsewhere",
            "y = \"normal(¦mean = a, 1)\"",
            "there is no argument called `mean` here | write `mean == ...` to compare",
        ),
        (
            "no-probabilities",
            "x = \"categorical(¦[0.5, 0.6])\"",
            "they must be positive and sum to 1 | softmax(x) is such a vector",
        ),
        (
            "no-vector-of-categories",
            "x = \"categorical_logit(¦a)\"",
            "`categorical_logit` needs a vector of at least 2 elements, found a number",
        ),
        (
            "cutpoints-in-disorder",
            "x = \"ordered_logistic(a, ¦[1, 0])\"",
            "the cutpoints must increase",
        ),
        (
            "no-count",
            "x = \"hurdle(0.5, ¦normal(a, 1))\"",
            "`hurdle` needs a distribution of counts, like poisson(mean)",
        ),
        (
            "no-probability",
            "x = \"zero_inflated(¦1.5, poisson(exp(a)))\"",
            "p of zero_inflated is 1.5, but must be between 0 and 1",
        ),
        (
            "a-distribution-misspelt",
            "x = \"¦categorial_logit(b)\"",
            "unknown function `categorial_logit` | did you mean `categorical_logit`?",
        ),
    ];
    let difference =
        |(name, line, message)| difference(name, &format!("{head}{line}"), "", &[message]);
    assert_none(cases.into_iter().filter_map(difference).collect());
}

#[test]
fn values_that_cannot_be() {
    let head = "[data]\nfile = \"data.csv\"\n[parameters]\na = \"normal(0, 1)\"\n[likelihood]\n";
    let cases = [
        (
            "no-category",
            "x = \"categorical_logit([a, 0])\"",
            "x\n1\n¦3\n",
            "`x` is 3 in row 2 of the data, which is not one of the 2 categories",
        ),
        (
            "beyond-a-bound",
            "x = \"truncated(normal(a, 1), upper = 2)\"",
            "x\n1\n¦3\n",
            "`x` is 3 in row 2 of the data, above its upper bound 2",
        ),
        (
            "no-count-with-zeros",
            "x = \"zero_inflated(0.5, poisson(exp(a)))\"",
            "x\n0\n¦-1\n",
            "`x` is -1 in row 2 of the data, which is not a possible value of poisson",
        ),
        (
            "no-interval",
            "x = \"censored(normal(a, 1), until = l)\"",
            "x,l\n1,2\n¦3,3\n",
            "`x` is 3 and `until` is 3 in row 2",
        ),
        (
            "negative-though-not-censored",
            "x = \"censored(lognormal(a, 1), lower = l)\"",
            "x,l\n0,1\n¦-1,-2\n",
            "`x` is -1 in row 2 of the data, which is not a possible value of lognormal",
        ),
    ];
    let difference =
        |(name, line, data, message)| difference(name, &format!("{head}{line}"), data, &[message]);
    assert_none(cases.into_iter().filter_map(difference).collect());
}

#[test]
fn priors_that_cannot_be() {
    let cases = [
        ("censored-prior", "¦\"censored(normal(0, 1), lower = 0)\"", "a prior cannot be censored"),
        ("categories-prior", "¦\"categorical([0.5, 0.5])\"", "a discrete distribution"),
        (
            "bounds-of-a-truncated-prior",
            "¦\"truncated(normal(0, 1), lower = b)\"",
            "the bounds of a truncated prior must be constants",
        ),
        (
            "two-kinds-of-bounds",
            "{ prior = ¦\"truncated(normal(0, 1), lower = 0)\", upper = 3 }",
            "a truncated prior cannot have lower or upper",
        ),
    ];
    let difference = |(name, prior, message)| {
        let model = format!("density = \"0\"\n[parameters]\nb = \"normal(0, 1)\"\na = {prior}\n");
        difference(name, &model, "", &[message])
    };
    assert_none(cases.into_iter().filter_map(difference).collect());
}
