//! Mistakes in data files, and in systems of equations that use data.

use super::{assert_none, difference};

#[test]
fn data_files() {
    let head = "[data]\nfile = \"data.csv\"\n[parameters]\na = \"beta(2, 3)\"\n[likelihood]\n";
    let cases = [
        ("empty", "y = \"normal(a, 1)\"", "¦", "the file is empty"),
        ("only-names", "y = \"normal(a, 1)\"", "¦x,y\n", "no rows"),
        ("no-names", "y = \"normal(a, 1)\"", "¦1,2\n3,4\n", "the first row must name the columns"),
        (
            "ragged",
            "y = \"normal(a, 1)\"",
            "x,y\n1,2\n¦1\n3,4\n",
            "1 cells in a row, but 2 columns",
        ),
        ("twice", "y = \"normal(a, 1)\"", "y,¦y\n1,2\n", "two columns are called `y`"),
        (
            "word",
            "y = \"normal(a, 1)\"",
            "x,y\n1,2\n1,¦two\n",
            "`y` is not a number in row 2 of the data",
        ),
        (
            "infinite",
            "y = \"normal(a, 1)\"",
            "y,x\n¦inf,2\n",
            "`y` is not a number in row 1 of the data",
        ),
        (
            "nan",
            "y = \"normal(a, 1)\"",
            "x,y\n1,¦NaN\n",
            "`y` is missing in row 1 of the data | set missing = \"skip\"",
        ),
        (
            "hole",
            "y = \"normal(a, 1)\"",
            "y,x\n1,2\n¦,4\n",
            "`y` is missing in row 2 of the data | set missing = \"skip\"",
        ),
        (
            "input",
            "y = \"normal(a * x, 1)\"",
            "y,x\n1,2\n1,¦NA\n",
            "`x` is missing in row 2 of the data",
        ),
        (
            "negative",
            "y = \"poisson(1 + a)\"",
            "x,y\n1,2\n1,¦-1\n",
            "`y` is -1 in row 2 of the data, which is not a possible value of poisson | values of poisson are whole \
             numbers of at least 0",
        ),
        (
            "between",
            "y = \"poisson(1 + a)\"",
            "x,y\n1,2\n1,¦1.5\n",
            "`y` is 1.5 in row 2 of the data, which is not a possible value of poisson",
        ),
        (
            "beta",
            "y = \"beta(1 + a, 2)\"",
            "x,y\n1,0.5\n1,¦1.5\n",
            "which is not a possible value of beta | values of beta are numbers from 0 to 1",
        ),
        (
            "lognormal",
            "y = \"lognormal(a, 1)\"",
            "x,y\n1,0.5\n1,¦0\n",
            "`y` is 0 in row 2 of the data, which is not a possible value of lognormal | values of lognormal are \
             numbers above 0",
        ),
        (
            "binomial",
            "y = \"binomial(x, a)\"",
            "x,y\n3,3\n4,¦5\n",
            "`y` is 5 in row 2 of the data, which is not a possible value of binomial | values of binomial are \
             whole numbers from 0 to 4",
        ),
        (
            "bernoulli",
            "y = \"bernoulli(a)\"",
            "x,y\n3,1\n4,¦2\n",
            "`y` is 2 in row 2 of the data, which is not a possible value of bernoulli",
        ),
        (
            "uniform",
            "y = \"uniform(0, 2)\"",
            "x,y\n3,1\n4,¦2.5\n",
            "`y` is 2.5 in row 2 of the data, which is not a possible value of uniform | values of uniform are \
             numbers from 0 to 2",
        ),
        (
            "argument",
            "y = \"normal(a, ¦x)\"",
            "x,y\n1,2\n-1,2\n",
            "sd of normal is -1 in row 2 of the data, but must be above 0 and finite",
        ),
    ];
    let differences = cases.into_iter().filter_map(|(name, line, data, expected)| {
        difference(name, &format!("{head}{line}\n"), data, &[expected])
    });
    assert_none(differences.collect());
}

#[test]
fn data_in_other_places() {
    let inline = "[data]\n¦y = [1, -1]\n[parameters]\na = \"beta(2, 3)\"\n[likelihood]\ny = \"poisson(a)\"\n";
    let mut differences = Vec::new();
    differences.extend(difference("inline", inline, "", &["`y` is -1 in row 2 of the data"]));
    let renamed = "[data]\nfile = \"data.csv\"\nrename = { y = ¦\"Why\" }\nvectors = { v = [\"x\", ¦\"z\"] }\n\
                   [parameters]\na = \"normal(0, 1)\"\n[likelihood]\nx = \"normal(a, 1)\"\n";
    let expected = ["the data has no column `Why`", "the data has no column `z`"];
    differences.extend(difference("renamed", renamed, "x,why\n1,2\n", &expected));
    let absent = "[data]\nfile = ¦\"nowhere.csv\"\n[parameters]\na = \"normal(0, 1)\"\n[likelihood]\ny = \"normal(a, 1)\"\n";
    differences.extend(difference("absent", absent, "", &["cannot read"]));
    let collision = "[data]\nfile = \"data.csv\"\nrename = { ¦y = \"x\" }\n\
                     [parameters]\na = \"normal(0, 1)\"\n[likelihood]\ny = \"normal(a, 1)\"\n";
    let expected = ["after renaming, two columns of the data are called `y`"];
    differences.extend(difference("collision", collision, "x,y\n1,2\n", &expected));
    let index = "[data]\nfile = \"data.csv\"\nmissing = \"skip\"\n[parameters]\n\
                 a = { prior = \"normal(0, 1)\", size = 2 }\n[likelihood]\ny = \"normal(a[g], 1)\"\n";
    let expected = ["`g` is missing in row 2 of the data"];
    differences.extend(difference("index-hole", index, "g,y\n1,2\n¦,3\n2,4\n", &expected));
    assert_none(differences);
}

const DELAY: &str = "delayed states such as u(t - 3) are not supported: rates can depend on current \
                     states only | to approximate a lag, use a chain of states, each fed by the one before it";

#[test]
fn systems() {
    let data = "t,y,x\n0,1,5\n1,2,6\n";
    let model = |prior: &str, ode: &str, rate: &str, line: &str| {
        format!(
            "[data]\nfile = \"data.csv\"\n[parameters]\nk = \"{prior}\"\n[ode]\n{ode}\n\
             [ode.states]\nu = {{ start = 1, rate = \"{rate}\" }}\n[likelihood]\ny = \"{line}\"\n"
        )
    };
    let fine = ["normal(0, 1)", "time = \"t\"", "-k * u", "normal(u, 1)"];
    let with = |at: usize, text: &str| {
        let mut parts = fine;
        parts[at] = text;
        model(parts[0], parts[1], parts[2], parts[3])
    };
    let cases = [
        (
            "column-in-a-prior",
            with(0, "normal(¦x, 1)"),
            data,
            "`x` cannot be used here: it differs between the rows of the data",
        ),
        (
            "state-in-a-prior",
            with(0, "normal(¦u, 1)"),
            data,
            "`u` cannot be used here: states change with time",
        ),
        (
            "column-in-a-rate",
            with(2, "-k * u * ¦x"),
            data,
            "`x` cannot be used here: rates can depend on time, states, parameters and columns",
        ),
        (
            "no-such-time",
            with(1, "time = ¦\"hours\""),
            data,
            "the data has no time column `hours` | its columns are t, y, x",
        ),
        (
            "before-the-start",
            with(1, "start = 0.5"),
            "t,y,x\n1,2,6\n¦0,1,5\n",
            "time 0 is before the start of the system at 0.5",
        ),
        (
            "missing-time",
            with(1, "time = \"t\""),
            "t,y,x\n1,2,6\n¦,1,5\n",
            "`t` is missing in row 2 of the data",
        ),
        (
            "unsorted-hole",
            with(1, "time = \"t\""),
            "t,y,x\n2,2,6\n1,¦,5\n",
            "`y` is missing in row 2 of the data",
        ),
        ("unknown-in-a-rate", with(2, "-k * u + ¦w"), data, "unknown name `w`"),
        ("state-of-another-time", with(2, "-k * ¦u(t - 0.5)"), data, DELAY),
        ("delay", with(2, "-k * ¦delay(u, 0.5)"), data, DELAY),
        ("state-before", with(2, "-k * ¦before(u, 1)"), data, DELAY),
        ("state-at-another-time", with(2, "-k * ¦at(u, t - 0.5)"), data, DELAY),
        ("element-of-a-state", with(2, "-k * ¦u[t - 0.5]"), data, DELAY),
    ];
    let differences = cases
        .into_iter()
        .filter_map(|(name, text, data, expected)| difference(name, &text, data, &[expected]));
    assert_none(differences.collect());
}
