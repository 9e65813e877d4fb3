//! Mistakes in formulas: names, calls, shapes and indices.

use super::{assert_none, difference};

#[test]
fn names_and_calls() {
    let head = "[data]\nx = [1, 2]\ny = [1, 2]\n[parameters]\nslope = \"normal(0, 1)\"\n";
    let cases = [
        (
            "unknown-name",
            "[likelihood]\ny = \"normal(¦slop * x, 1)\"",
            "unknown name `slop` | did you mean `slope`?",
        ),
        (
            "unknown-function",
            "[likelihood]\ny = \"normal(2 * ¦sqr(x), 1)\"",
            "unknown function `sqr` | did you mean `sqrt`?",
        ),
        (
            "unknown-distribution",
            "[likelihood]\ny = \"¦norml(x, 1)\"",
            "unknown function `norml` | did you mean `normal`?",
        ),
        (
            "function-without-call",
            "[likelihood]\ny = \"normal(¦exp * x, 1)\"",
            "unknown name `exp` | `exp` is a function: write exp(...)",
        ),
        (
            "call-of-a-name",
            "[likelihood]\ny = \"normal(¦slope(x), 1)\"",
            "`slope` is not a function; for a product, write slope * (...)",
        ),
        (
            "few-arguments",
            "[likelihood]\ny = \"¦normal(slope)\"",
            "`normal` does not take 1 argument: write normal(mean, sd)",
        ),
        (
            "many-arguments",
            "[likelihood]\ny = \"normal(¦exp(x, 1), 1)\"",
            "`exp` does not take 2 arguments: write exp(x)",
        ),
        (
            "no-distribution",
            "[likelihood]\ny = \"¦slope * x\"",
            "expected a distribution, found a number | write a distribution, like normal(0, 1)",
        ),
        (
            "a-distribution",
            "[likelihood]\ny = \"normal(1 + ¦normal(0, 1), 1)\"",
            "expected a number or a vector, found a distribution",
        ),
        (
            "bad-argument",
            "[likelihood]\ny = \"normal(slope, ¦-2)\"",
            "sd of normal is -2, but must be above 0",
        ),
        (
            "quantities-in-a-circle",
            "[quantities]\np = ¦\"q + 1\"\nq = \"2 * r\"\nr = \"p\"\nfree = \"slope\"\n\
             [likelihood]\ny = \"normal(p, 1)\"",
            "`p` depends on itself: p -> q -> r -> p",
        ),
        (
            "constants-in-a-circle",
            "[constants]\nfree = 1\n¦a = \"b\"\nb = \"a + free\"\n[likelihood]\ny = \"normal(a, 1)\"",
            "the constant `a` depends on itself",
        ),
        (
            "constant-of-a-parameter",
            "[constants]\na = \"2 * ¦slope\"\n[likelihood]\ny = \"normal(a, 1)\"",
            "`slope` cannot be used here: a constant cannot depend on parameters",
        ),
        (
            "no-column",
            "[likelihood]\n¦weight = \"normal(slope, 1)\"",
            "the data has no column `weight` | its columns are x, y",
        ),
        (
            "joint-law-of-a-row",
            "[likelihood]\ny = ¦\"multi_normal([slope, 1], [[1, 0], [0, 1]])\"",
            "expected a distribution of numbers, found a distribution of vectors",
        ),
        (
            "lengths",
            "[quantities]\nv = \"¦[1, slope] + [1, 2, 3]\"\n[likelihood]\ny = \"normal(slope, 1)\"",
            "cannot combine a vector of 2 with a vector of 3",
        ),
        (
            "sum-of-a-number",
            "[likelihood]\ny = \"normal(slope * sum(¦x), 1)\"",
            "expected a vector, found a number | in a likelihood, a column is its value at the row",
        ),
        (
            "element-of-a-column",
            "[likelihood]\ny = \"normal(dot(¦x[y], [slope, 1]), 1)\"",
            "a number has no elements | here a column is its value at the row; before(column, k) is the value k rows \
             earlier, and [constants] can hold a vector or a table of numbers",
        ),
        (
            "concentrations",
            "p = { prior = \"dirichlet(¦1)\", support = \"simplex\", size = 3 }\n\
             [likelihood]\ny = \"normal(slope, p[1])\"",
            "dirichlet needs a vector with one concentration for each part of the simplex, found one number | \
             write, for example, dirichlet([1, 1, 1])",
        ),
        (
            "index",
            "[constants]\nc = [1, 2, 3]\n[likelihood]\ny = \"normal(slope * c[¦4], 1)\"",
            "the index 4 is outside 1 to 3",
        ),
        (
            "index-between",
            "[constants]\nc = [1, 2, 3]\n[likelihood]\ny = \"normal(slope * c[¦1.5], 1)\"",
            "the index 1.5 is not a whole number",
        ),
        (
            "index-by-a-column",
            "[likelihood]\ny = \"normal([slope][¦x], 1)\"",
            "the index is 2 in row 2 of the data, but must be from 1 to 1",
        ),
        (
            "weights",
            "[likelihood]\ny = \"¦mixture(0.5, normal(slope, 1), 0.6, normal(0, 1))\"",
            "the weights are [0.5, 0.6]: they must be positive and sum to 1",
        ),
    ];
    let differences = cases.into_iter().filter_map(|(name, rest, expected)| {
        difference(name, &format!("{head}{rest}\n"), "", &[expected])
    });
    assert_none(differences.collect());
}
