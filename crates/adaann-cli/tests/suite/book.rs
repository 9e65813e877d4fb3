//! Checks the book in `docs/src`: its chapters, links, commands and Rust code.

use crate::support::common;
use common::{Place, names, stderr};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const SUMMARY: &str = "SUMMARY.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn book() -> PathBuf {
    root().join("docs/src")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every chapter's file name with its text.
fn chapters() -> Vec<(String, String)> {
    let files = names(&book()).into_iter().filter(|name| name.ends_with(".md") && name != SUMMARY);
    files.map(|name| (name.clone(), read(&book().join(&name)))).collect()
}

/// Every line with the language of its code fence, `None` outside of fences.
fn lines(text: &str) -> Vec<(Option<&str>, &str)> {
    let mut fence = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), fence) {
            (Some(language), None) => fence = Some(language.split(',').next().unwrap_or("")),
            (Some(_), Some(_)) => fence = None,
            (None, _) => lines.push((fence, line)),
        }
    }
    assert_eq!(fence, None, "a fence is left open");
    lines
}

/// The text outside of fences: prose, and code in backticks.
fn prose_and_code(text: &str) -> (String, Vec<String>) {
    let outside: Vec<_> = lines(text).into_iter().filter(|(fence, _)| fence.is_none()).collect();
    let joined = outside.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
    let (mut prose, mut code) = (String::new(), Vec::new());
    for (i, piece) in joined.split('`').enumerate() {
        if i % 2 == 0 { prose.push_str(piece) } else { code.push(piece.to_owned()) }
    }
    (prose, code)
}

/// The targets of the links and images of a text.
fn links(text: &str) -> Vec<String> {
    let (prose, _) = prose_and_code(text);
    let mut links = Vec::new();
    for rest in prose.split("](").skip(1) {
        links.push(rest.split(')').next().unwrap_or_default().to_owned());
    }
    links
}

/// The anchors of a chapter's headings in mdbook and on GitHub.
fn anchors(text: &str) -> Vec<String> {
    let headings =
        lines(text).into_iter().filter(|(fence, line)| fence.is_none() && line.starts_with('#'));
    let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings
        .map(|(_, line)| line.trim_start_matches('#').trim().to_lowercase())
        .map(|title| title.chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-"))
        .collect()
}

/// The broken relative links of a text, resolved from its folder.
fn broken_links(folder: &Path, text: &str) -> Vec<String> {
    let leads_nowhere = |link: &String| {
        if link.starts_with("https://") {
            return false;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = folder.join(file);
        if !file.is_empty() && !path.is_file() {
            return true;
        }
        let there = || if file.is_empty() { text.to_owned() } else { read(&path) };
        !anchor.is_empty() && !anchors(&there()).iter().any(|known| known == anchor)
    };
    links(text).into_iter().filter(leads_nowhere).collect()
}

/// The commands of a text that call the binary: lines of `sh` blocks, and `adaann run ...` between
/// backticks unless a word in capitals stands for something else.
fn commands(text: &str) -> Vec<String> {
    let shell = lines(text).into_iter().filter(|(fence, _)| *fence == Some("sh"));
    let whole =
        shell.filter_map(|(_, line)| line.split(" #").next()?.trim().strip_prefix("adaann "));
    let mut commands: Vec<String> = whole.map(str::to_owned).collect();
    let stands_for =
        |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    for code in prose_and_code(text).1 {
        if let Some(rest) = code.strip_prefix("adaann ")
            && rest.starts_with("run ")
            && !rest.split_whitespace().any(stands_for)
        {
            commands.push(rest.to_owned());
        }
    }
    commands
}

/// Does the binary accept a command? Runs use `--dry-run`, other commands print their help.
fn understood(place: &Place, command: &str) -> Output {
    let more = if command.starts_with("run ") { "--dry-run" } else { "--help" };
    let said = command.split_whitespace().any(|word| word == more);
    place.adaann(command, if said { &[] } else { std::slice::from_ref(&more) })
}

#[test]
fn the_summary_lists_every_chapter_and_no_other() {
    let listed: Vec<_> = links(&read(&book().join(SUMMARY)));
    let unique: BTreeSet<_> = listed.iter().cloned().collect();
    let there: BTreeSet<_> = chapters().into_iter().map(|(name, _)| name).collect();
    assert_eq!(unique, there);
    assert_eq!(listed.len(), unique.len(), "a chapter is listed twice");
}

#[test]
fn links_and_images_lead_somewhere() {
    for (name, text) in chapters() {
        assert_eq!(broken_links(&book(), &text), [""; 0], "{name}");
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        assert_eq!(broken_links(&root(), &read(&root().join(name))), [""; 0], "{name}");
    }
}

#[test]
fn figures_are_shown_and_small() {
    let shown: BTreeSet<_> = chapters().iter().flat_map(|(_, text)| links(text)).collect();
    for figure in names(&book().join("figures")) {
        assert!(shown.contains(&format!("figures/{figure}")), "{figure} is in no chapter");
        let size = fs::metadata(book().join("figures").join(&figure)).expect("a file").len();
        assert!(size < 300_000, "{figure} has {size} bytes");
    }
}

#[test]
fn commands_are_understood() {
    let place = Place::new();
    place.write("mine.csv", "t,x\n0.1,2.5\n0.2,\n0.3,6.7\n");
    let mut count = 0;
    for (name, text) in chapters() {
        for command in commands(&text) {
            let output = understood(&place, &command);
            assert!(output.status.success(), "{name}: adaann {command}\n{}", stderr(&output));
            count += 1;
        }
    }
    assert!(count > 20, "only {count} commands were found");
    assert_eq!(place.entries(), ["mine.csv"], "nothing was run");
}

#[test]
fn rust_is_compiled() {
    let library = read(&root().join("crates/adaann/src/lib.rs"));
    for (name, text) in chapters() {
        if lines(&text).iter().any(|(fence, _)| *fence == Some("rust")) {
            let included = format!("include_str!(\"../../../docs/src/{name}\")");
            assert!(library.contains(&included), "{name} has Rust, but lib.rs has no {included}");
        }
    }
}

/// The marked section of the chapter on trust is that which the library renders.
#[test]
fn thresholds_are_those_of_the_library() {
    let text = read(&book().join("trust.md"));
    let between = text
        .split_once("<!-- thresholds -->\n")
        .and_then(|(_, rest)| rest.split_once("<!-- /thresholds -->").map(|(table, _)| table));
    let rendered = adaann::diagnostics::thresholds::markdown();
    assert_eq!(between, Some(&rendered[..]), "put this between the marks:\n{rendered}");
}

/// The description of the files names all codes of findings and remedies.
#[test]
fn remedies_are_explained() {
    let text = read(&book().join("trust.md"));
    for remedy in adaann::diagnostics::Remedy::ALL {
        let start = format!("\n| `{}` | ", remedy.code());
        assert!(text.contains(&start), "{remedy:?} has no line");
    }
}

#[test]
fn what_is_wrong_is_seen() {
    let text = "# One `two`\n[a](missing.md) [b](#one-two) [c](#three) `[d](no.md)` ![e](x.svg)\n\
                `adaann run a\n--tau 1` `adaann run NAME` `adaann list`\n\
                ```sh\n  adaann run b --seed 2   # why\ncargo test\n```\n\
                ```text\nadaann run c [f](no.md)\n```\n";
    assert_eq!(broken_links(&book(), text), ["missing.md", "#three", "x.svg"]);
    assert_eq!(commands(text), ["run b --seed 2", "run a\n--tau 1"]);
    let place = Place::new();
    for command in
        ["run bimodal --tua 1", "run bimodl", "run bimodal --tau 0", "lsit", "list --all"]
    {
        assert!(!understood(&place, command).status.success(), "{command}");
    }
}

#[cfg(unix)]
#[test]
fn the_papers_page_is_taken_over_whole_or_not_at_all() {
    let place = Place::new();
    for folder in ["docs/src", "full/figures", "clash/figures", "empty", "torn/figures"] {
        fs::create_dir_all(place.path(folder)).expect("a folder");
    }
    fs::copy(root().join("docs/refresh"), place.path("docs/refresh")).expect("a copy");
    place.write("docs/src/paper.md", "old");
    place.write("full/paper.md", "![one](figures/one.svg)\n");
    place.write("full/figures/one.svg", "<svg/>");
    place.write("full/figures/two.svg", "<svg/>");
    place.write("torn/paper.md", "![one](figures/one.svg) ![two](figures/two.svg)\n");
    place.write("torn/figures/one.svg", "<svg/>");
    place.write("clash/paper.md", "![own](figures/own.svg)\n");
    place.write("clash/figures/own.svg", "<svg/>");
    place.write("docs/src/other.md", "![own](figures/own.svg)\n");
    let refresh = |folder: &str| {
        let script = place.path("docs/refresh");
        let run = Command::new("sh").arg(script).arg(place.path(folder)).output();
        run.expect("a shell").status.success()
    };
    for bad in ["empty", "torn", "absent", "clash"] {
        assert!(!refresh(bad), "{bad}");
        assert_eq!(place.read("docs/src/paper.md"), "old", "{bad}");
        assert!(!place.path("docs/src/figures").exists(), "{bad} has left figures");
    }
    assert!(refresh("full"));
    assert_eq!(place.read("docs/src/paper.md"), place.read("full/paper.md"));
    assert_eq!(names(&place.path("docs/src/figures")), ["one.svg"], "only what is shown");
}
