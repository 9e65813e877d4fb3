//! Mistakes in quantities of whole trajectories.

use super::{assert_none, difference};

const DATA: &str = "id,t,y,wt\n1,0,1,70\n1,1,2,70\n2,1,2,80\n";

/// A model with subjects and this quantity, and lines at its ends.
fn model(quantity: &str, first: &str, last: &str) -> String {
    format!(
        "{first}\n[data]\nfile = \"data.csv\"\n[constants]\nlimit = 3\nlist = [1, 2]\n[parameters]\n\
         k = \"lognormal(0, 1)\"\n[quantities]\nq = \"{quantity}\"\n[ode]\ngroup = \"id\"\nstart = -1\n\
         [ode.states]\nu = {{ start = 1, rate = \"-k * u\" }}\n{last}\n"
    )
}

fn likelihood(line: &str) -> String {
    format!("[likelihood]\ny = \"{line}\"\n")
}

#[test]
fn what_they_are_asked() {
    let only = |quantity: &str| model(quantity, "", &likelihood("normal(u, 1)"));
    let cases = [
        ("early", only("at(u, ¦-2)"), "time -2 is before the start of the system at -1"),
        ("early-from", only("integral(u, ¦-1.5, 2)"), "set start in [ode], or write a later time"),
        ("backwards", only("integral(u, ¦limit, 2)"), "the earlier time first"),
        ("backwards-top", only("maximum(u, ¦2, 1)"), "maximum(formula, from, to)"),
        ("no-number", only("at(u, ¦0/0)"), "the time is NaN, but must be finite"),
        ("infinite", only("integral(u, 0, ¦inf)"), "write a finite number"),
        ("list", only("at(u, ¦list)"), "expected a number, found a vector"),
        ("parameter", only("at(u, ¦k)"), "a constant cannot depend on parameters"),
        (
            "column",
            only("at(u, ¦wt)"),
            "`wt` differs between rows, but the times of trajectories must be constants",
        ),
        ("time", only("at(u, ¦t + 1)"), "times of trajectories must be constants"),
        ("count", only("¦at(u)"), "`at` does not take 1 argument: write at(formula, time)"),
        ("count-4", only("¦integral(u, 1, 2, 3)"), "write integral(formula, from, to)"),
        ("unknown", only("maximum(¦uu, 1, 2)"), "unknown name `uu`"),
        ("no-such-function", only("¦maximun(u, 1, 2)"), "did you mean `maximum`?"),
        ("nested", only("at(¦at(u, 1), 2)"), "functions of trajectories cannot be nested"),
        (
            "rows",
            only("at(u * ¦y, 2)"),
            "but not on other columns | for subject 1, `y` is 1 in row 1",
        ),
        ("with-rows", only("¦at(u, 2) * wt"), "use it only in [quantities]"),
        ("vector", only("at(¦[u, 2], 2)"), "expected a number, found a vector"),
        ("law", only("at(¦normal(u, 1), 2)"), "expected a number, found a distribution"),
        ("like-a-function", only("¦u(2)"), "at(u, time) is its value at that time"),
        ("element", only("at(u, 2)[¦3]"), "3"),
        ("no-call", only("1 + ¦integral"), "`integral` is a function: write integral(...)"),
    ];
    let said = |(name, text, message): &(&str, String, &str)| {
        difference(&format!("trajectory-{name}"), text, DATA, &[message])
    };
    assert_none(cases.iter().filter_map(said).collect());
}

#[test]
fn settling() {
    let with = |settle: &str| {
        model("at(u, 2)", "", &likelihood("normal(u, 1)"))
            .replace("start = -1", &format!("start = -1\nsettle = {settle}"))
    };
    let cases = [
        (
            "negative",
            with("¦-1"),
            "`settle` is -1, but must be at least 0 and finite | `settle` is how long the system runs",
        ),
        ("nan", with("¦nan"), "nan is not allowed"),
        ("infinite", with("¦\"inf\""), "`settle` is inf, but must be"),
        ("parameter", with("\"3 * ¦k\""), "a constant cannot depend on parameters"),
        ("vector", with("¦\"list\""), "expected a number, found a vector"),
        ("unknown", with("\"¦limt\""), "did you mean `limit`?"),
        ("state", with("\"¦u\""), "a constant cannot depend on parameters"),
        ("no-number", with("¦\"0 / 0\""), "`settle` is NaN, but must be"),
    ];
    let said = |(name, text, message): &(&str, String, &str)| {
        difference(&format!("settle-{name}"), text, DATA, &[message])
    };
    assert_none(cases.iter().filter_map(said).collect());
    let text = with("5").replace("group = \"id\"", "group = \"id\"\nevents = \"nonmem\"");
    let data = "id,t,y,amt,evid,wt\n1,0,1,0,0,70\n1,1,0,0,¦3,70\n2,2,1,0,0,80\n";
    assert_none(
        difference("settle-reset", &text, data, &["would have to settle again"])
            .into_iter()
            .collect(),
    );
}

#[test]
fn where_they_stand() {
    let usual = likelihood("normal(u, 1)");
    let prior = model("at(u, 2)[1]", "", &usual);
    let rate = model("at(u, 2)[1]", "", &usual);
    let of_draws = "it depends on whole trajectories, which are computed only for draws";
    let cases = [
        ("prior", prior.replace("lognormal(0, 1)", "lognormal(¦q, 1)"), of_draws),
        (
            "prior-call",
            prior.replace("lognormal(0, 1)", "lognormal(¦at(u, 1), 1)"),
            "computed only for draws",
        ),
        (
            "bound",
            prior.replace(
                "k = \"lognormal(0, 1)\"",
                "k = \"lognormal(0, 1)\"\nm = { prior = \"normal(0, 1)\", lower = \"¦q\" }",
            ),
            of_draws,
        ),
        ("rate", rate.replace("-k * u", "-k * u * ¦q"), of_draws),
        ("rate-call", rate.replace("-k * u", "-k * ¦at(u, 1)"), "delayed states"),
        ("start", rate.replace("start = 1,", "start = \"¦q\","), of_draws),
        ("likelihood", model("at(u, 2)[1]", "", &likelihood("normal(u + ¦q, 1)")), of_draws),
        (
            "likelihood-call",
            model("1", "", &likelihood("normal(¦at(u, 2), 1)")),
            "a state already has its value at the row's time",
        ),
        ("density", model("at(u, 2)[1]", "density = \"¦q\"", &usual), of_draws),
        ("density-call", model("1", "density = \"¦at(u, 1)\"", &usual), "computed only for draws"),
        (
            "through",
            model("at(u, 2)[1]", "", &likelihood("normal(u + ¦r, 1)"))
                .replace("[ode]\n", "r = \"q + 1\"\n[ode]\n"),
            of_draws,
        ),
        (
            "constant",
            model("1", "", &usual).replace("limit = 3", "limit = \"¦at(u, 1)\""),
            "computed only for draws",
        ),
        (
            "no-subjects",
            "[parameters]\nk = \"normal(0, 1)\"\n[quantities]\nq = \"at(u, 1)\"\n[ode]\ngroup = ¦\"id\"\n\
             [ode.states]\nu = { start = 1, rate = \"-k\" }\n"
                .to_owned(),
            "without [data] there is no subject column `id`",
        ),
        (
            "no-doses",
            "[parameters]\nk = \"normal(0, 1)\"\n[quantities]\nq = \"at(u, 1)\"\n[ode]\nevents = ¦\"nonmem\"\n\
             [ode.states]\nu = { start = 1, rate = \"-k\" }\n"
                .to_owned(),
            "AMT",
        ),
        (
            "no-system",
            "[parameters]\nk = \"normal(0, 1)\"\n[quantities]\nq = \"¦at(k, 1)\"\n".to_owned(),
            "the model has no [ode]",
        ),
    ];
    let said = |(name, text, message): &(&str, String, &str)| {
        difference(&format!("of-draws-{name}"), text, DATA, &[message])
    };
    assert_none(cases.iter().filter_map(said).collect());
}
