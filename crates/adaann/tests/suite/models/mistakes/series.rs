//! Mistakes in series: states, earlier rows, order and groups.

use super::{assert_none, difference};

const HEAD: &str = "[data]\nt = [1, 2, 3]\nid = [1, 1, 2]\nx = [1, 2, 3]\ny = [1, 2, 4]\n\
                    [parameters]\na = \"normal(0, 1)\"\n";

#[test]
fn states_and_earlier_rows() {
    let cases = [
        (
            "start-sees-a-state",
            "[series.states]\nh = { start = \"¦h\", next = \"a * h\" }\n[likelihood]\ny = \"normal(h, 1)\"",
            "`h` cannot be used here: before the first row there are no states",
        ),
        (
            "a-vector-without-size",
            "[series.states]\nh = { start = 0, next = ¦\"[a, h]\" }\n[likelihood]\ny = \"normal(h, 1)\"",
            "the state `h` is a number, but this is a vector of 2 | give the state its size: size = 2",
        ),
        (
            "a-vector-of-another-size",
            "[series.states]\nh = { size = 3, start = 0, next = ¦\"[a, 1]\" }\n\
             [likelihood]\ny = \"normal(h[1], 1)\"",
            "the state `h` is a vector of 3, but this is a vector of 2",
        ),
        (
            "a-state-that-is-a-column",
            "[series.states]\n¦x = { start = 0, next = \"a\" }\n[likelihood]\ny = \"normal(x, 1)\"",
            "`x` is already a column",
        ),
        (
            "no-next",
            "[series.states]\n¦h = { start = 0 }\n[likelihood]\ny = \"normal(a, 1)\"",
            "`h` has no `next`",
        ),
        (
            "nothing-before-the-first-row",
            "[likelihood]\ny = \"normal(a * ¦before(y), 1)\"",
            "row 1 of the data has no row before it, but `before` goes back one row | skip = 1 in [series]",
        ),
        (
            "too-little-skipped",
            "[series]\nskip = 1\n[likelihood]\ny = \"normal(¦before(y, 2), 1)\"",
            "row 2 of the data has one row before it, but `before` goes back 2 rows | skip = 2",
        ),
        (
            "states-are-there-in-skipped-rows",
            "[series]\nskip = 2\n[series.states]\nh = { start = 0, next = \"a * ¦before(y, 2)\" }\n\
             [likelihood]\ny = \"normal(h, 1)\"",
            "row 2 of the data has one row before it",
        ),
        (
            "all-skipped",
            "[series]\nskip = 3\n[likelihood]\n¦y = \"normal(a, 1)\"",
            "every value of `y` is missing or skipped",
        ),
        (
            "before-a-state",
            "[series.states]\nh = { start = 0, next = \"before(¦h)\" }\n[likelihood]\ny = \"normal(h, 1)\"",
            "`h` is a state, but `before` needs a column | in `next`, a state's name already means \
             its value",
        ),
        (
            "before-a-formula",
            "[likelihood]\ny = \"normal(before(¦y + 1, 1, 0), 1)\"",
            "`before` needs the name of a column",
        ),
        (
            "before-an-unknown-column",
            "[likelihood]\ny = \"normal(before(¦yy, 1, 0), 1)\"",
            "unknown name `yy`",
        ),
        (
            "before-a-parameter",
            "[likelihood]\ny = \"normal(before(¦a, 1, 0), 1)\"",
            "`a` is not a column of the data",
        ),
        (
            "before-in-a-prior",
            "b = \"normal(¦before(y), 1)\"\n[likelihood]\ny = \"normal(b, 1)\"",
            "`before` reads earlier rows of the data; use it in formulas that are evaluated row by row",
        ),
        (
            "half-a-row-back",
            "[likelihood]\ny = \"normal(before(y, ¦0.5, 0), 1)\"",
            "the number of rows to go back is 0.5",
        ),
        (
            "back-by-a-parameter",
            "[likelihood]\ny = \"normal(before(y, ¦a, 0), 1)\"",
            "the number of rows to go back must be a constant",
        ),
        (
            "other-programs-name",
            "[likelihood]\ny = \"normal(¦lag(y, 1), 1)\"",
            "unknown function `lag` | before(column, k) is the value of a column k rows earlier",
        ),
        (
            "no-such-order",
            "[series]\norder = ¦\"time\"\n[likelihood]\ny = \"normal(a, 1)\"",
            "the data has no order column `time` | its columns are t, id, x, y",
        ),
        (
            "no-such-group",
            "[series]\ngroup = ¦\"ids\"\n[likelihood]\ny = \"normal(a, 1)\"",
            "the data has no group column `ids`",
        ),
        (
            "an-unknown-key",
            "[series]\n¦ordre = \"t\"\n[likelihood]\ny = \"normal(a, 1)\"",
            "unknown key `ordre` | did you mean `order`?",
        ),
        (
            "states-in-a-quantity-of-draws",
            "b = \"normal(¦h, 1)\"\n[series.states]\nh = { start = 0, next = \"a\" }\n\
             [likelihood]\ny = \"normal(h, 1)\"",
            "`h` cannot be used here",
        ),
        ("no-likelihood", "[¦series]\nskip = 1\n", "a series needs a likelihood"),
        (
            "with-a-system",
            "[ode.states]\nu = { start = 1, rate = \"-a * u\" }\n[¦series]\nskip = 1\n\
             [likelihood]\ny = \"normal(u, 1)\"",
            "[ode] and [series] cannot be combined",
        ),
    ];
    let differs = |&(name, text, message): &(&str, &str, &str)| {
        difference(name, &format!("{HEAD}{text}\n"), "", &[message])
    };
    assert_none(cases.iter().filter_map(differs).collect());
}

#[test]
fn rows_without_an_order() {
    let model = "[data]\nfile = \"data.csv\"\n[parameters]\na = \"normal(0, 1)\"\n\
                 [series]\norder = \"t\"\n[likelihood]\ny = \"normal(a * before(y, 1, 0), 1)\"\n";
    let cases = [
        (
            "a-tie",
            "t,y\n1,2\n2,3\n¦1,4\n",
            "`t` is 1 in rows 1 and 3 of the data, so their order is not defined | if they belong",
        ),
        (
            "no-place",
            "t,y\n1,2\n¦,3\n",
            "`t`, the order of [series], is missing in row 2 of the data",
        ),
    ];
    let differs =
        |&(name, data, message): &(&str, &str, &str)| difference(name, model, data, &[message]);
    assert_none(cases.iter().filter_map(differs).collect());
    let clash = "[data]\nfile = \"data.csv\"\n[parameters]\na = \"normal(0, 1)\"\n\
                 [series.states]\n¦t = { start = 0, next = \"a\" }\n[likelihood]\ny = \"normal(t, 1)\"\n";
    let gap = "[data]\nfile = \"data.csv\"\nmissing = \"skip\"\n[parameters]\na = \"normal(0, 1)\"\n\
               [series.states]\nh = { start = 0, next = \"a * ¦before(y)\" }\n\
               [likelihood]\ny = \"normal(h, 1)\"\n";
    let cases = [
        ("clash", clash, "t,y\n1,2\n", "`t` is both a state and a column of the data"),
        (
            "gap",
            gap,
            "t,y\n1,2\n2,\n3,1\n",
            "`y` is not a number in row 2 of the data, which row 3 refers back to",
        ),
    ];
    let differs = |&(name, model, data, message): &(&str, &str, &str, &str)| {
        difference(name, model, data, &[message])
    };
    assert_none(cases.iter().filter_map(differs).collect());
}
