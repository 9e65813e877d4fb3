//! Commands and flags, read from the program's help, so that new flags are tested automatically.

use std::process::Command as Process;

#[derive(Debug, Clone)]
pub(crate) struct Flag {
    /// With its dashes.
    pub(crate) name: String,
    /// The name of its value, if it takes one.
    pub(crate) value: Option<String>,
    /// The values that the help lists.
    pub(crate) choices: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) name: String,
    pub(crate) flags: Vec<Flag>,
    /// The names of positional arguments.
    pub(crate) places: Vec<String>,
}

fn asked(binary: &str, words: &[&str]) -> String {
    let output = Process::new(binary).args(words).output().expect("the binary starts");
    String::from_utf8(output.stdout).expect("text")
}

/// All commands with their flags.
pub(crate) fn commands(binary: &str) -> Vec<Command> {
    let text = asked(binary, &["help"]);
    let rows = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    rows.take_while(|line| !line.is_empty())
        // Deeper lines continue the description before.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(|name| command(name, &asked(binary, &["help", name])))
        .collect()
}

/// Targets that `list` shows.
pub(crate) fn targets(binary: &str) -> Vec<String> {
    let text = asked(binary, &["list"]);
    let rows = text.lines().skip(1).take_while(|line| !line.is_empty());
    let names = rows.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn command(name: &str, help: &str) -> Command {
    let (mut flags, mut places): (Vec<Flag>, Vec<String>) = (Vec::new(), Vec::new());
    let mut is_listing = false;
    for line in help.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if (2..=6).contains(&indent) && text.starts_with('-') {
            flags.push(flag(text));
        } else if indent == 2 && text.starts_with(['<', '[']) {
            places.extend(text.split("  ").next().map(|name| bare(name).to_owned()));
        } else if let (Some(flag), Some((_, listed))) =
            (flags.last_mut(), text.split_once("[possible values: "))
        {
            flag.choices = listed.trim_end_matches(']').split(", ").map(str::to_owned).collect();
        }
        if let (true, Some(choice), Some(flag)) =
            (is_listing, text.strip_prefix("- "), flags.last_mut())
        {
            flag.choices.extend(choice.split(':').next().map(str::to_owned));
        }
        is_listing = text == "Possible values:" || is_listing && indent >= 10;
    }
    Command { name: name.to_owned(), flags, places }
}

/// A flag from a line like `-n, --count <COUNT>  How many`.
fn flag(text: &str) -> Flag {
    let text = text.split("  ").next().unwrap_or(text);
    let words: Vec<_> = text.splitn(2, '<').collect();
    let name = words[0].split_whitespace().last().unwrap_or_default();
    let value = words.get(1).map(|value| value.trim_end_matches('>').to_owned());
    Flag { name: name.trim_end_matches(',').to_owned(), value, choices: Vec::new() }
}

/// The name in `<RUN>`, `[FILE.toml]` or `[EXAMPLE]...`.
fn bare(text: &str) -> &str {
    let inner = text.trim_start_matches(['<', '[']);
    inner.split(['>', ']']).next().unwrap_or(inner)
}
