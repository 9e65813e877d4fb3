//! Mistakes in the columns of subjects, in events and in inputs.

use super::{assert_none, difference};

const DATA: &str = "id,t,y,wt,amt\n1,0,1,70,5\n1,1,2,70,0\n2,1,2,80,0\n";

/// A model with these lines of `[ode]`, this rate and these events.
fn model(ode: &str, rate: &str, more: &str) -> String {
    format!(
        "[data]\nfile = \"data.csv\"\nmissing = \"skip\"\n[parameters]\n\
         k = {{ prior = \"normal(0, 1)\", size = 2 }}\n[ode]\n{ode}\n{more}\n\
         [ode.states]\nu = {{ start = 1, rate = \"{rate}\" }}\n[likelihood]\ny = \"normal(u, 1)\"\n"
    )
}

#[test]
fn subjects() {
    let group = "group = \"id\"";
    let rate = |rate: &str| model(group, rate, "");
    let cases = [
        (
            "differs",
            rate("-¦wt * u"),
            "id,t,y,wt\n1,0,1,70\n2,1,2,80\n1,1,2,71\n",
            "share, but not on other columns | for subject 1, `wt` is 70 in row 1 of the data, and 71 in row 3",
        ),
        ("missing", rate("-wt * u"), "id,t,y,wt\n1,0,1,¦\n1,1,2,\n", "`wt` is missing in row 1"),
        (
            "start-differs",
            rate("-u").replace("start = 1", "start = \"¦y\""),
            DATA,
            "a start is the same for all of them | for subject 1, `y` is 1 in row 1 of the data, and 2 in row 2",
        ),
        ("no-such-column", model("group = ¦\"idd\"", "-u", ""), DATA, "did you mean `id`?"),
        ("gap", rate("-u"), "id,t,y\n1,0,1\n¦,1,2\n", "`id` is missing in row 2 of the data"),
        (
            "words",
            rate("-u"),
            "id,t,y\n1,0,1\n¦anna,1,2\n",
            "`id` is not a number in row 2 of the data",
        ),
        (
            "index",
            rate("-k[¦wt] * u"),
            DATA,
            "the index is 70 in row 1 of the data, but must be from 1 to 2",
        ),
        ("index-by-time", rate("-k[¦t] * u"), DATA, "an index must be a constant or a column"),
    ];
    let differences = cases
        .into_iter()
        .filter_map(|(name, text, data, expected)| difference(name, &text, data, &[expected]));
    let mut differences: Vec<String> = differences.collect();
    let data = "id,t,y,wt\n1,0,1,70\n1,1,2,¦\n";
    let expected =
        ["`wt` is 70 in row 1 of the data, and missing in row 2", "`wt` is missing in row 2"];
    differences.extend(difference("missing-once", &rate("-¦wt * u"), data, &expected));
    assert_none(differences);
}

#[test]
fn listed_events() {
    let event = |text: &str| model("", "-u", &format!("[[ode.events]]\n{text}\n"));
    let cases = [
        ("nothing", event("¦at = 1"), "one of `set`, `add` and `infuse`"),
        (
            "both",
            event("¦at = 1\nset = { u = 1 }\nadd = { u = 1 }"),
            "one of `set`, `add` and `infuse`",
        ),
        ("no-state", event("at = 1\nadd = { ¦uu = 1 }"), "there is no state `uu`"),
        ("no-time", event("at = []\nadd = { u = 1 }").replace("[]", "¦[]"), "finite numbers"),
        (
            "early",
            event("at = ¦-1\nadd = { u = 1 }"),
            "the time of an event is -1, but must be finite and not before the start",
        ),
        ("late", event("at = ¦inf\nadd = { u = 1 }"), "finite numbers"),
        ("no-for", event("at = 1\ninfuse = ¦{ u = 1 }"), "`infuse` needs a `for`"),
        ("for-nothing", event("at = 1\ninfuse = { u = 1 }\nfor = ¦0"), "one number above 0"),
        ("for-jump", event("¦at = 1\nset = { u = 1 }\nfor = 1"), "`for` applies only to `infuse`"),
        ("once", event("¦at = 1\nset = { u = 1 }\nevery = 1"), "`every` and `count`"),
        (
            "endless",
            event("at = ¦1\nset = { u = 1 }\nevery = 1\ncount = 100001"),
            "too many events: at most 100000 for each subject",
        ),
        ("empty", event("at = 1\nset = ¦{}"), "no state is given"),
        ("unknown", event("at = 1\nset = { u = \"¦w\" }"), "unknown name `w`"),
        ("of-rows", event("at = 1\nset = { u = \"¦wt\" }"), "not on other columns"),
        ("of-rows-when", event("at = ¦\"wt\"\nset = { u = 1 }"), "all rows of a subject share"),
        ("no-such", event("at = 1\n¦sett = { u = 1 }\nadd = { u = 1 }"), "did you mean `set`?"),
    ];
    let differences = cases
        .into_iter()
        .filter_map(|(name, text, expected)| difference(name, &text, DATA, &[expected]));
    assert_none(differences.collect());
}

#[test]
fn doses() {
    let nonmem = model("group = \"id\"\nevents = \"nonmem\"", "-u", "");
    let rows = |header: &str, cells: &str| format!("id,t,y,{header}\n1,0,,{cells}\n1,2,1,0,0,0\n");
    let cases = [
        ("cmt", rows("amt,cmt,rate", "5,¦2,0"), "but must be the number of a state, 1 to 1"),
        ("negative", rows("amt,cmt,rate", "5,1,¦-2"), "rates and durations as parameters"),
        ("steady", rows("amt,ss,ii", "5,¦1,12"), "steady-state doses are not supported"),
        ("kind", rows("amt,evid,rate", "5,¦7,0"), "but must be 0, 1, 2, 3 or 4"),
        ("no-interval", rows("amt,addl,ii", "5,¦3,0"), "needs an interval II above 0"),
        ("no-amount", rows("amt,evid,rate", "0,1,¦3"), "needs an amount AMT above 0"),
        ("many", rows("amt,addl,ii", "5,¦1e9,1"), "a whole number from 0 to 100000"),
        ("words", rows("amt,evid,rate", "¦much,1,3"), "is not a number"),
        (
            "set-back",
            "id,t,y,amt,evid\n1,5,,5,4\n1,¦2,1,0,0\n".to_owned(),
            "the time of a system cannot go back",
        ),
    ];
    let mut differences: Vec<String> = cases
        .into_iter()
        .filter_map(|(name, data, expected)| difference(name, &nonmem, &data, &[expected]))
        .collect();
    let without = nonmem.replace("events = ", "events = ¦");
    let expected = ["the data has no column AMT"];
    differences.extend(difference("without", &without, "id,t,y\n1,0,1\n", &expected));
    let other = model("events = ¦\"monolix\"", "-u", "");
    differences.extend(difference("other", &other, DATA, &["must be \"nonmem\""]));
    assert_none(differences);
}

#[test]
fn inputs() {
    let input =
        |text: &str, rate: &str| model("group = \"id\"", rate, &format!("[ode.inputs]\n{text}\n"));
    let knots = "f = { times = [0, 1], values = [1, 2] }";
    let cases = [
        ("without", input("¦f = { shape = \"step\" }", "-f"), "the input `f` has no knots"),
        ("uneven", input("¦f = { times = [0, 1], values = [1] }", "-f"), "2 times and 1 values"),
        ("twice", input("¦f = { times = [1, 1], values = [1, 2] }", "-f"), "two values at time 1"),
        ("infinite", input("¦f = { times = [1], values = [inf] }", "-f"), "is not finite"),
        ("absent", input("f = { file = ¦\"rain.csv\" }", "-f"), "there is no such file"),
        (
            "no-column",
            input("¦f = { file = \"data.csv\", time = \"t\" }", "-f"),
            "the file has no column `f`",
        ),
        (
            "subjects",
            input("¦f = { file = \"data.csv\", value = \"y\", group = \"wt\" }", "-f"),
            "has no values for subject 1",
        ),
        (
            "named",
            input(&knots.replace("f =", "u ="), "-u").replace("\nu = { start", "\n¦u = { start"),
            "`u` is already",
        ),
        (
            "shape",
            input("f = { times = [0], values = [1], shape = ¦\"wavy\" }", "-f"),
            "must be \"step\"",
        ),
        (
            "in-a-start",
            input(knots, "-f").replace("start = 1", "start = \"¦f\""),
            "a start is the same for all of them",
        ),
    ];
    let differences = cases
        .into_iter()
        .filter_map(|(name, text, expected)| difference(name, &text, DATA, &[expected]));
    assert_none(differences.collect());
}
