//! Mistakes with matrices: shapes that do not fit, indices, sizes and priors of matrices.

use super::{assert_none, difference};

#[test]
fn indices_of_rows() {
    let head = "[data]\ng = [1, 2, 3]\nh = [1, 2, 4]\ny = [1, 2, 3]\n[parameters]\n\
                c = { prior = \"normal(0, 1)\", size = [3, 2] }\na = \"normal(0, 1)\"\n[likelihood]\n";
    let cases = [
        (
            "column",
            "y = \"normal(c[g, ¦h], 1)\"",
            "the index is 4 in row 3 of the data, but must be from 1 to 2",
        ),
        (
            "row",
            "y = \"normal(c[¦h, g], 1)\"",
            "the index is 4 in row 3 of the data, but must be from 1 to 3",
        ),
        (
            "of-parameters",
            "y = \"normal(c[g, ¦if(a > y, 1, 2)], 1)\"",
            "two indices that differ between rows must depend on the data alone",
        ),
    ];
    let found = cases.iter().filter_map(|(name, line, message)| {
        difference(&format!("indices-{name}"), &format!("{head}{line}\n"), "", &[*message])
    });
    assert_none(found.collect());
}

#[test]
fn shapes_and_indices() {
    let head = "[constants]\nm = [[1, 2], [3, 4], [5, 6]]\nv = [1, 2, 3]\n[parameters]\n\
                a = \"normal(0, 1)\"\n[quantities]\n";
    let cases = [
        (
            "meets",
            "q = \"¦m + v\"",
            "cannot combine a matrix of 3 × 2 with a vector of 3 | `A @ x`",
        ),
        ("product", "q = \"¦m @ v\"", "a matrix of 3 × 2 cannot be multiplied by a vector of 3"),
        ("number", "q = \"m @ ¦2\"", "expected a matrix or a vector, found a number | write `*`"),
        ("square", "q = \"cholesky(¦m)\"", "expected a square matrix, found a matrix of 3 × 2"),
        ("no-matrix", "q = \"log_det(¦v)\"", "expected a matrix, found a vector of 3"),
        ("range", "q = \"v[¦3:2]\"", "the range 3:2 is empty"),
        ("nothing", "q = \"sum([][¦:])\"", "cannot take a slice: there are no elements"),
        ("range-end", "q = \"v[2:¦4]\"", "the index 4 is outside 1 to 3"),
        ("from-the-end", "q = \"v[¦-4]\"", "the index -4 is outside 1 to 3"),
        ("list", "q = \"v[¦[1, 5]]\"", "the index 5 is outside 1 to 3"),
        ("by-parameter", "q = \"v[1:¦a]\"", "an index must be a constant"),
        ("three", "q = \"¦m[1, 2, 3]\"", "a matrix of 3 × 2 cannot be indexed with 3 indices"),
        ("large", "q = \"identity(¦201)\"", "a matrix of 201 × 201 is too large: at most 200 rows"),
        ("no-range", "q = \"¦range(1, 3e6)\"", "invalid range from 1 to 3000000"),
        ("size", "q = \"identity(¦1.5)\"", "the size is 1.5, but must be a whole number from 1"),
        ("symmetric", "q = \"log_det(¦[[1, 2], [3, 4]])\"", "not symmetric in row 2 and column 1"),
        ("definite", "q = \"log_det(¦[[1, 2], [2, 1]])\"", "not positive definite"),
        ("arguments", "q = \"¦cov_exp_quad(v, 1)\"", "write cov_exp_quad(x, alpha, rho, jitter)"),
        ("name", "q = \"¦cholsky(m)\"", "unknown function `cholsky` | did you mean `cholesky`?"),
        ("points", "q = \"cov_exp_quad(¦a, 1, 1)\"", "expected points"),
        (
            "factor",
            "q = \"logpdf(multi_normal_cholesky(0, ¦[[1, 1], [0, 1]]), [1, 2])\"",
            "lower-triangular",
        ),
        ("concat", "q = \"¦concat(m, v)\"", "concat joins vectors"),
        (
            "mean",
            "q = \"logpdf(multi_normal([0, 0, 0], ¦[[1, 0], [0, 1]]), v)\"",
            "the matrix has 2 rows, but the mean has 3 elements",
        ),
        ("range-outside", "q = \"sum(1¦:3)\"", "`:` is out of place | in brackets"),
    ];
    let told = cases.iter().filter_map(|(name, text, expected)| {
        difference(&format!("matrices-{name}"), &format!("{head}{text}"), "", &[expected])
    });
    assert_none(told.collect());
}

#[test]
fn parameters() {
    let head = "density = \"0\"\n[parameters]\n";
    let cases = [
        ("three-sizes", "p = { size = ¦[1, 2, 3] }", "`size` has 3 numbers | write a length"),
        ("zero", "p = { size = [¦0, 2] }", "the size is 0"),
        ("no-sizes", "p = { size = ¦[] }", "`size` has 0 numbers"),
        (
            "prior",
            "p = { size = 2, support = \"correlation\", prior = ¦\"normal(0, 1)\" }",
            "lkj(eta)",
        ),
        ("support", "p = { size = 2, prior = ¦\"lkj(1)\" }", "support = \"correlation\""),
        (
            "other",
            "p = { size = 2, support = \"correlation\", prior = ¦\"lkj_cholesky(1)\" }",
            "cholesky-correlation",
        ),
        (
            "eta",
            "p = { size = 2, support = \"correlation\", prior = \"lkj(¦0)\" }",
            "eta of lkj is 0",
        ),
        (
            "not-square",
            "p = { size = [2, 3], support = ¦\"correlation\" }",
            "a correlation matrix must be square",
        ),
        ("huge", "p = { size = 51, support = ¦\"correlation\" }", "at most 50 rows"),
        (
            "rows",
            "p = { size = [3, 2], prior = ¦\"multi_normal(0, identity(3))\" }",
            "has 3 elements, but each row of `p` has 2",
        ),
        (
            "bounded",
            "p = { size = 2, lower = 0, support = ¦\"correlation\" }",
            "a correlation matrix can have no bounds",
        ),
    ];
    let told = cases.iter().filter_map(|(name, text, expected)| {
        difference(&format!("matrix-parameters-{name}"), &format!("{head}{text}"), "", &[expected])
    });
    assert_none(told.collect());
}
