//! Arbitrary text as a table of data. A form feed separates two tables that are joined.

#![no_main]

use adaann::model::Model;
use adaann_fuzz::{folder, write};
use libfuzzer_sys::fuzz_target;
use std::{path::PathBuf, sync::LazyLock};

/// Models, with the columns that each needs.
const MODELS: [(&[&str], &str); 4] = [
    (
        &["x", "y"],
        "[data]\nfile = \"data.csv\"\nmissing = \"skip\"\n[parameters]\na = \"normal(0, 1)\"\n\
         [likelihood]\ny = \"normal(a * x, 1)\"\n",
    ),
    (
        &["t", "y", "who"],
        "[data]\nfile = \"data.csv\"\n[constants]\nmost = \"max(who)\"\n[parameters]\n\
         a = { prior = \"normal(0, 1)\", size = 3 }\n[ode]\ntime = \"t\"\ngroup = \"who\"\n\
         [ode.states]\nu = { start = 1, rate = \"-exp(a[who]) * u\" }\n\
         [likelihood]\ny = \"normal(u, 1)\"\n",
    ),
    (
        &["id", "hours", "amt", "dv"],
        "[data]\nfile = \"data.csv\"\nmissing = \"skip\"\n[parameters]\nk = \"lognormal(0, 1)\"\n\
         [ode]\ntime = \"hours\"\ngroup = \"id\"\nevents = \"nonmem\"\n[ode.states]\n\
         gut = { start = 0, rate = \"-k * gut\" }\nblood = { start = 0, rate = \"k * gut - blood\" }\n\
         [likelihood]\ndv = \"lognormal(log(blood + 0.1), 1)\"\n",
    ),
    (
        &["t", "u"],
        "[data]\nfile = \"data.csv\"\n[parameters]\na = \"normal(0, 1)\"\n[series]\norder = \"t\"\n\
         skip = 1\n[likelihood]\nu = \"normal(a * before(u), 1)\"\n",
    ),
];

/// Joins two tables by a common key.
const JOINED: &str = "[data]\nfile = \"data.csv\"\njoin = [{ file = \"more.csv\", by = \"who\" }]\n\
                      [parameters]\na = \"normal(0, 1)\"\n[likelihood]\ny = \"normal(a * x, 1)\"\n";

static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = folder("table");
    write(&place.join("model.toml"), JOINED.as_bytes());
    place
});

static PLAIN: LazyLock<Model> = LazyLock::new(|| {
    let text = "[data]\nx = [1, 2]\ny = [1, 2]\n[parameters]\na = \"normal(0, 1)\"\n\
                [likelihood]\ny = \"normal(a * x, 1)\"\n";
    Model::parse("model.toml", text).expect("a model")
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some((data, more)) = text.split_once('\u{c}') {
        write(&PLACE.join("data.csv"), data.as_bytes());
        write(&PLACE.join("more.csv"), more.as_bytes());
        look(Model::read(&PLACE.join("model.toml")));
    }
    match PLAIN.read_inputs("data.csv", text) {
        // A table that cannot be parsed would fail in the models with the same message.
        Err(wrong) if !wrong.to_string().contains("is not a number") => return,
        Err(_) => {}
        Ok(table) => assert!(table.rows.iter().all(|row| row.len() == table.names.len())),
    }
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    for (columns, model) in MODELS {
        if columns.iter().all(|name| header.contains(name)) {
            let files = [("data.csv".to_owned(), text.to_owned())];
            look(Model::of_files("model.toml", model, "".as_ref(), &files));
        }
    }
});

/// Evaluates the result: the data of a model, or the text of its errors.
fn look(model: Result<Model, adaann::model::Diagnostics>) {
    match model {
        Ok(model) => drop(model.data()),
        Err(wrong) => drop(wrong.to_string()),
    }
}
