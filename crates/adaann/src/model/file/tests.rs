use super::*;
use crate::fit::Overlay;
use crate::flow::FlowSpec;
use crate::model::diagnostic::Source;
use crate::model::expression::Kind;
use crate::model::{Given, Output};

/// A file with every key.
const FULL: &str = r#"title = "All of it"
density = "-a^2"
log-likelihood = "logpdf(normal(mu, 1), y)"

[constants]
g = 9.81
v = [1, 2.5]
m = [[1, 0], [0.5, 2]]
f = "mean(x)"

[data]
x = [1, 2, 3]
y = [2.1, nan, 6]
t = [0, 1, 2]
missing = "skip"
rename = { weight = "Weight (kg)" }
vectors = { xy = ["x", "y"] }

[parameters]
zeta = "normal(0, 10)"
a = { prior = "normal(0, 1)", lower = -inf, upper = "g", size = 3, support = "ordered" }
z = {}

[quantities]
mu = """
a[1]
  + zeta*x"""

[likelihood]
y = "normal(mu, 1)"

[ode]
time = "t"
start = 0
solver = "rk4"
step = 0.05
[ode.states]
u = { start = "zeta", rate = "-u*v[1]" }
w = { start = 2.5, rate = 1 }

[fit]
tau = 0.01
layers = 6
flow = "spline"
quiet = true
force = false
base-sd = [2, 3]
"#;

/// A file with every key of a series.
const SERIES: &str = r#"[data]
t = [1, 2, 3, 1, 2, 3]
who = [1, 1, 1, 2, 2, 2]
y = [0.1, 0.4, -0.2, 0.3, 0.5, 0.1]

[parameters]
a = "normal(0, 1)"

[series]
order = "t"
group = "who"
skip = 1
final = "-h^2"
[series.states]
h = { start = "a", next = "a * h + before(y)" }
v = { size = 2, start = 0, next = "[v[2], before(y, 2, a)]" }

[likelihood]
y = "normal(h + v[1], 1)"
"#;

/// Events and inputs with every key between them.
const CHANGES: &str = r#"[[ode.events]]
at = [1, 2]
set = { u = 0 }
[[ode.events]]
at = "g"
every = 2
count = 3
add = { u = "zeta", w = 1 }
[[ode.events]]
at = 0.5
infuse = { u = "zeta" }
for = 0.5
[ode.inputs]
warmth = { times = [0, 1], values = [2, 3], shape = "cubic" }
rain = { file = "rain.csv", time = "day", value = "mm", group = "station" }
[fit]"#;

/// Files that have every key between them.
pub(crate) fn examples() -> Vec<String> {
    let start = "[parameters]\na = \"flat()\"\n";
    let command = "[command]\nrun = [\"sim\", \"-x\"]\ngradient = \"differences\"\ntimeout = 60\n";
    let data = "[constants]\nk = { file = \"k.csv\" }\n[data]\nfile = \"points.csv\"\njoin = [{ file = \"other.csv\", by = \"id\" }]\n\
                derived = { l = \"log(y)\" }\n[quantities]\nb = { formula = \"2*a\", hidden = true }\n\
                [likelihood]\ny = { law = \"normal(b, 1)\", weight = 2 }\n";
    let adaptive = "solver = \"stiff\"\nrtol = 1e-6\natol = 1e-8\nmax-steps = 500";
    vec![
        FULL.to_owned(),
        format!("command = \"./simulate\"\n{start}"),
        format!("{start}{command}"),
        format!("{start}{data}"),
        FULL.replace("solver = \"rk4\"\nstep = 0.05", adaptive),
        SERIES.to_owned(),
        FULL.replace(
            "[ode.states]",
            "group = \"x\"\nsettle = \"2 * 5\"\nevents = \"nonmem\"\n[ode.states]\n\
                       s = { start = 0, rate = 1, lag = \"zeta\", fraction = 0.5 }",
        ),
        FULL.replace("[fit]", CHANGES),
    ]
}

fn said(text: &str) -> Vec<String> {
    let source = Source::new("model.toml", text);
    let (_, report) = read(&source);
    let Err(all) = report.into_result() else { return Vec::new() };
    let line = |one: &crate::model::Diagnostic| {
        let place = one.place.as_ref();
        let place = place.map_or(String::new(), |at| format!("{}:{} ", at.line, at.column));
        let help = one.help.as_ref().map_or(String::new(), |help| format!(" | {help}"));
        format!("{place}{}{help}", one.message)
    };
    all.shown().iter().map(line).collect()
}

/// The only complaint about a file.
fn only(text: &str) -> String {
    let said = said(text);
    assert_eq!(said.len(), 1, "{text}\n{said:#?}");
    said[0].clone()
}

fn texts<T>(entries: &[(Name, T)]) -> Vec<&str> {
    entries.iter().map(|(name, _)| name.text.as_str()).collect()
}

#[test]
fn every_key_arrives() {
    let source = Source::new("model.toml", FULL);
    let (file, report) = read(&source);
    report.into_result().unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(file.title.as_deref(), Some("All of it"));
    assert_eq!(file.density.unwrap().text, "-a^2");
    assert_eq!(file.log_likelihood.unwrap().text, "logpdf(normal(mu, 1), y)");

    assert_eq!(texts(&file.constants), ["g", "v", "m", "f"]);
    assert_eq!(file.constants[0].1, Constant::Number(9.81));
    assert_eq!(file.constants[1].1, Constant::Vector(vec![1.0, 2.5]));
    assert_eq!(file.constants[2].1, Constant::Matrix(vec![vec![1.0, 0.0], vec![0.5, 2.0]]));
    assert!(matches!(&file.constants[3].1, Constant::Formula(f) if f.text == "mean(x)"));

    let data = file.data.unwrap();
    assert_eq!(texts(&data.columns), ["x", "y", "t"]);
    assert_eq!(data.columns[0].1, [1.0, 2.0, 3.0]);
    assert!(data.columns[1].1[1].is_nan());
    assert_eq!((data.file, data.missing), (None, Missing::Skip));
    assert_eq!(data.rename[0].0.text, "weight");
    assert_eq!(data.rename[0].1.text, "Weight (kg)");
    assert_eq!(data.vectors[0].1.iter().map(|name| &name.text).collect::<Vec<_>>(), ["x", "y"]);

    let names: Vec<&str> = file.parameters.iter().map(|one| one.name.text.as_str()).collect();
    assert_eq!(names, ["zeta", "a", "z"]);
    let [zeta, a, z] = &file.parameters[..] else { panic!("three parameters") };
    assert_eq!(zeta.prior.as_ref().unwrap().text, "normal(0, 10)");
    assert_eq!(a.lower.as_ref().unwrap().ast.kind, Kind::Number(f64::NEG_INFINITY));
    assert_eq!(a.upper.as_ref().unwrap().ast.kind, Kind::Name("g".to_owned()));
    assert_eq!(a.size[0].ast.kind, Kind::Number(3.0));
    assert_eq!(a.support.as_ref().unwrap().0, SupportName::Ordered);
    assert!(z.prior.is_none() && z.size.is_empty());

    let Kind::Binary { right, .. } = &file.quantities[0].1.ast.kind else { panic!("a sum") };
    assert_eq!(&FULL[right.span.clone()], "zeta*x");
    assert_eq!(texts(&file.likelihood), ["y"]);

    let ode = file.ode.unwrap();
    assert_eq!((ode.time.text.as_str(), ode.solver, ode.step), ("t", SolverName::Rk4, Some(0.05)));
    assert_eq!(ode.start.unwrap().ast.kind, Kind::Number(0.0));
    let states: Vec<&str> = ode.states.iter().map(|state| state.name.text.as_str()).collect();
    assert_eq!(states, ["u", "w"]);
    assert_eq!(ode.states[1].start.ast.kind, Kind::Number(2.5));

    let Fit { settings: Given { fit: overlay, output, .. }, given, unread, .. } = file.fit;
    let expected = Overlay {
        tau: Some(0.01),
        layers: Some(6),
        flow: Some(FlowSpec::named("spline").unwrap()),
        base_sd: Some(vec![2.0, 3.0]),
        ..Overlay::default()
    };
    assert_eq!(overlay, expected);
    assert_eq!(output, Output { quiet: Some(true), force: Some(false), ..Output::default() });
    let written = |(key, span): &(Name, Span)| format!("{} {}", key.text, &FULL[span.clone()]);
    assert_eq!(given[0..2].iter().map(written).collect::<Vec<_>>(), ["tau 0.01", "layers 6"]);
    assert_eq!((given.len(), unread.len()), (6, 0));
}

#[test]
fn commands_files_and_tolerances_arrive() {
    let all = examples().into_iter().map(|text| {
        let (file, report) = read(&Source::new("model.toml", text));
        report.into_result().unwrap_or_else(|errors| panic!("{errors}"));
        file
    });
    let [_, short, long, data, adaptive, series, dosed, listed] =
        all.collect::<Vec<_>>().try_into().unwrap();
    let series = series.series.unwrap();
    assert_eq!((series.skip, series.states.len(), series.formulas().count()), (1, 2, 5));
    let short = short.command.unwrap();
    assert!(matches!(&short.run, Run::Line(line) if line.text == "./simulate"));
    assert_eq!((short.gradient, short.timeout), (GradientName::Auto, None));
    let long = long.command.unwrap();
    assert!(matches!(&long.run, Run::Words(words) if words[1].text == "-x"));
    assert_eq!((long.gradient, long.timeout), (GradientName::Differences, Some(60.0)));
    assert_eq!(data.data.unwrap().file.unwrap().text, "points.csv");
    assert_eq!((texts(&data.quantities), data.hidden), (vec!["b"], vec!["b".to_owned()]));
    let ode = adaptive.ode.unwrap();
    assert_eq!((ode.solver, ode.rtol, ode.atol), (SolverName::Stiff, Some(1e-6), Some(1e-8)));
    assert_eq!(ode.max_steps, Some(500));
    let dosed = dosed.ode.unwrap();
    assert!(matches!(dosed.events, Events::Nonmem(_)) && dosed.states[0].lag.is_some());
    assert_eq!(dosed.group.unwrap().text, "x");
    let listed = listed.ode.unwrap();
    assert!(matches!(&listed.events, Events::List(list) if list.len() == 3));
    assert_eq!((listed.inputs.len(), listed.inputs[0].shape), (2, Shape::Cubic));
}

#[test]
fn a_mistake_is_said_where_it_is() {
    for (from, to, expected) in [
        ("title =", "titel =", "1:1 unknown key `titel` | did you mean `title`?"),
        (
            "[fit]",
            "[foo]",
            "41:2 unknown key `foo` | the keys are title, density, log-likelihood, command, constants, data, parameters, quantities, likelihood, ode, series, fit",
        ),
        (
            "prior = \"normal(0, 1)\"",
            "pior = \"normal(0, 1)\"",
            "21:7 unknown key `pior` | did you mean `prior`?",
        ),
        ("\"All of it\"", "true", "1:9 expected text in quotes, found a boolean"),
        ("upper = \"g\"", "upper = true", "21:53 expected a number or a formula, found a boolean"),
        (
            "upper = \"g\"",
            "upper = 2020-01-01",
            "21:53 expected a number or a formula, found a date",
        ),
        (
            "size = 3",
            "size = 0",
            "21:65 expected a whole number from 1 or the name of a constant, found 0",
        ),
        (
            "size = 3",
            "size = 2.5",
            "21:65 expected a whole number from 1 or the name of a constant, found 2.5",
        ),
        (
            "\"ordered\"",
            "\"orderd\"",
            "21:78 `support` must be \"real\" or \"positive\" or \"unit\" or \"ordered\" or \"positive-ordered\" or \"simplex\" or \"correlation\" or \"cholesky-correlation\" | did you mean `ordered`?",
        ),
        ("z = {}", "z = 3", "22:5 expected a formula in quotes or a table, found 3"),
        (
            "g = 9.81",
            "g = 99999999999999999999",
            "6:5 this number is too large | whole numbers have at most 64 bits; write it as `1e20`",
        ),
        (
            "g = 9.81",
            "g = 1e999",
            "6:5 this number is too large | at most 1.79e308; or write `inf`",
        ),
        ("g = 9.81", "g = nan", "6:5 nan is not allowed here"),
        (
            "[0.5, 2]]",
            "[0.5]]",
            "8:14 row 2 has length 1, but the first row has length 2 | all rows must have the same length, at least 1",
        ),
        (
            "[0.5, 2]]",
            "3]",
            "8:14 this is a number, but the other elements are rows | put it in brackets",
        ),
        (
            "v = [1, 2.5]",
            "v = [1, true]",
            "7:9 expected a number or a list of numbers, found a boolean",
        ),
        ("v = [1, 2.5]", "v = []", "7:5 the list is empty"),
        (
            "t = [0, 1, 2]",
            "t = [0, 1]",
            "14:1 `t` has 2 rows, but `x` has 3 | all columns must have the same length",
        ),
        (
            "z = {}",
            "\"z z\" = {}",
            "22:1 `z z` is not a name | a name consists of letters, digits and _, and does not begin with a digit",
        ),
        ("z = {}", "pi = {}", "22:1 `pi` is a number in formulas | choose another name"),
        ("z = {}", "not = {}", "22:1 `not` is a keyword in formulas | choose another name"),
        ("z = {}", "pi = {}", "22:1 `pi` is a number in formulas | choose another name"),
        ("z = {}", "g = {}", "22:1 `g` is already a constant | choose a different name"),
        ("u = { start", "g = { start", "38:1 `g` is already a constant | choose a different name"),
        (
            "time = \"t\"",
            "time = \"g\"",
            "33:8 `g` is both the time of [ode] and a constant | rename one of them; `time = \"...\"` names the time",
        ),
        (
            ", rate = 1 }",
            " }",
            "39:1 `w` has no `rate` | rate: The rate of change: a formula of states, parameters and time.",
        ),
        ("step = 0.05", "", "32:2 the solver rk4 needs a `step` | add `step = 0.05`"),
        ("step = 0.05", "step = -1", "36:8 expected a number above 0, found -1"),
        (
            "step = 0.05",
            "step = 1\nrtol = 1",
            "37:1 `rtol` applies only to the solver auto, dopri5 or stiff | remove it, or choose another solver",
        ),
        (
            "missing = \"skip\"",
            "file = \"a.csv\"",
            "12:1 [data] has both a file and the column `x` | put all columns into the file, or all of them here",
        ),
        (
            "missing = \"skip\"",
            "mising = \"skip\"",
            "15:1 unknown key `mising` | did you mean `missing`?",
        ),
        ("missing = \"skip\"", "s = \"skip\"", "15:5 expected a list of numbers, found text"),
        (
            "a[1]\n  + zeta*x",
            "a[1]\n  + 2zeta*x",
            "27:5 there is no operator between `2` and `zeta` | write `2*zeta` for a product",
        ),
        ("-a^2", "\\u002da**2", "2:19 `**` is not part of formulas | write `^` for a power"),
        (
            "zeta = \"normal(0, 10)\"",
            "zeta = normal(0, 10)",
            "20:8 this formula has no quotes | write `zeta = \"normal(0, 10)\"`",
        ),
        ("tau = 0.01", "tau = 0.01\ntau = 1", "43:1 `tau` is defined twice | remove one of them"),
        ("tau = 0.01", "tau = { a = 1 }", "42:7 `tau` must be a number, like 0.5 or 1e-3"),
        ("tau = 0.01", "tau = \"0.01\"", "42:7 `tau` must be a number, like 0.5 or 1e-3"),
        ("tau = 0.01", "taw = 0.01", "42:1 unknown key `taw` | did you mean `tau`?"),
        ("tau = 0.01", "base_mean = 0", "42:1 unknown key `base_mean` | did you mean `base-mean`?"),
        (
            "tau = 0.01",
            "title = \"x\"",
            "42:1 unknown key `title` | `title` concerns the whole file: move it above [fit]",
        ),
        (
            "flow = \"spline\"",
            "flow = \"splein\"",
            "44:8 `flow`: there is no flow called 'splein'; did you mean 'spline'?",
        ),
        ("quiet = true", "quiet = 1", "45:9 `quiet` must be true or false"),
        (
            "base-sd = [2, 3]",
            "base-sd = [2, \"3\"]",
            "47:11 `base-sd` must be a number or a list of numbers, like [0.5, 1]",
        ),
        (
            "log-likelihood =",
            "log_likelihood =",
            "3:1 unknown key `log_likelihood` | did you mean `log-likelihood`?",
        ),
    ] {
        assert!(FULL.contains(from), "{from}");
        let found = only(&FULL.replacen(from, to, 1));
        assert_eq!(found, expected, "{to}");
    }
}

#[test]
fn missing_pieces_are_said() {
    let parameters = "[parameters]\na = \"flat()\"\n";
    for (text, expected) in [
        (
            "density = \"1\"",
            "the model has no parameters | list them under [parameters], each with its prior: `a = \"normal(0, 1)\"`",
        ),
        (
            "density = \"1\"\n[parameters]",
            "2:2 the model has no parameters | list them under [parameters], each with its prior: `a = \"normal(0, 1)\"`",
        ),
        (
            &format!("{parameters}[data]\nx = [1, 2]"),
            "3:2 the model has data but no likelihood | add the distribution of the data under [likelihood], or remove [data] to draw from the priors",
        ),
        (
            &format!("{parameters}density = \"-a^2\""),
            "3:1 `density` is inside [parameters] | move it above the first [table]",
        ),
        (
            &format!("{parameters}[likelihood]\ny = \"normal(a, 1)\""),
            "3:2 a likelihood needs data | add a table [data] with `file = \"points.csv\"` or with columns",
        ),
        (
            &format!("{parameters}[data]\n[likelihood]\ny = \"normal(a, 1)\""),
            "3:2 [data] has neither a file nor columns | add `file = \"points.csv\"`, or columns: `x = [1, 2, 3]`",
        ),
        (
            &format!("density = \"a\"\n{parameters}[ode.states]\nu = {{ start = 1, rate = 2 }}"),
            "4:2 differential equations need a likelihood | add a line under [likelihood] that measures the states: `y = \"normal(u, sigma)\"`; or use functions of trajectories in [quantities]",
        ),
        (
            &format!("command = \"\"\n{parameters}"),
            "1:11 the command names no program | write `run = \"./simulate\"`",
        ),
        (
            &format!("command = \"a\"\ndensity = \"a\"\n{parameters}"),
            "1:1 a command computes the whole likelihood and cannot be combined with formulas | remove the command or the formulas",
        ),
    ] {
        assert_eq!(only(text), expected, "{text}");
    }
}

#[test]
fn several_mistakes_are_said_at_once() {
    let text = FULL.replace("-a^2", "-a^").replace("9.81", "true");
    let said = said(&text.replace("normal(mu, 1)\"\n\n[ode]", "normal(mu 1)\"\n\n[ode]"));
    assert_eq!(said.len(), 3, "{said:#?}");
    let (file, _) = read(&Source::new("model.toml", text));
    assert_eq!(file.unread.iter().map(|name| name.text.as_str()).collect::<Vec<_>>(), ["g"]);
}

#[test]
fn limits_have_their_own_messages() {
    let model = |middle: &str| format!("density = \"1\"\n[parameters]\n{middle}");
    assert!(said(&model("a = { size = 10_000 }")).is_empty());
    let large = only(&model("a = { size = 10_000 }\nb = {}\nc = {}"));
    assert_eq!(
        large,
        "4:1 the model has more than 10000 parameters | each element of a vector counts"
    );
    assert!(only(&model("a = { size = 999999999999 }")).contains("more than 10000"));
    let numbers = format!("[data]\nx = [{}]\n", "1,".repeat(1_000_001));
    assert!(only(&model(&format!("a = {{}}\n{numbers}"))).contains("more than 1000000 numbers"));
    let comment = format!("#{}", "x".repeat(8 << 20));
    assert!(only(&comment).contains("the file has 8 MiB, more than 8"));
    let deep = format!("a = {}", "[".repeat(100_000));
    assert!(!said(&deep).is_empty());
    let dotted = format!("{}a = 1", "a.".repeat(100_000));
    assert!(!said(&dotted).is_empty());
}

/// Other programs write underscores.
#[test]
fn supports_are_read_with_hyphens_and_underscores() {
    for word in ["positive-ordered", "positive_ordered"] {
        let parameter = format!("a = {{ size = 2, support = \"{word}\" }}");
        let text = format!("density = \"-a[1]\"\n[parameters]\n{parameter}\n");
        let (file, report) = read(&Source::new("model.toml", text));
        report.into_result().unwrap_or_else(|errors| panic!("{word}: {errors}"));
        let support = file.parameters[0].support.as_ref().map(|(support, _)| *support);
        assert_eq!(support, Some(SupportName::PositiveOrdered), "{word}");
    }
}

#[test]
fn a_key_of_too_many_parts_is_found() {
    let key = vec!["a"; 200].join(".");
    let text = format!("density = \"-a^2\"\n[parameters]\na = {{}}\n{key} = 1\n# end\n");
    let all = said(&text);
    assert!(all.iter().any(|said| said.starts_with("4:1 this key has too many parts")), "{all:?}");
    let list = "[".repeat(200) + "1" + &"]".repeat(200);
    let text =
        format!("density = \"-a^2\"\n[constants]\nb = [\n1,\n{list}]\n[parameters]\na = {{}}\n");
    let all = said(&text);
    assert!(
        all.len() == 1 && all[0].starts_with("5:") && all[0].contains("nested too deeply"),
        "{all:?}"
    );
}
