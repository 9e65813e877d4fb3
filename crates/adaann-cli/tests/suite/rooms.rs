//! Modules of the program use only those above them in the table of `lib.rs`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The modules in the table of `lib.rs`, the lowest layer first.
fn rooms(root: &str) -> Vec<&str> {
    let rows = root.lines().filter_map(|line| line.strip_prefix("//! | `"));
    rows.filter_map(|row| row.split_once('`')).map(|(room, _)| room).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The names after `crate::`, including those of a group `crate::{a::b, c}`.
fn used(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        // The first name of a path is the module.
        let (mut depth, mut is_first, mut name) = (0, true, String::new());
        for c in rest.chars() {
            if c.is_alphanumeric() || c == '_' {
                name.push(c);
                continue;
            }
            if is_first && !name.is_empty() {
                names.push(std::mem::take(&mut name));
                is_first = false;
            }
            name.clear();
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth <= 1 => is_first = true,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    names
}

#[test]
fn names_behind_crate_are_found() {
    let text = "use crate::{\n    args::{Cli, overlay},\n    text,\n};\nfn f() { crate::job::g() }";
    assert_eq!(used(text), ["args", "text", "job"]);
    assert_eq!(used("use crate::folder::{csv, record};"), ["folder"]);
}

#[test]
fn no_room_uses_one_below_it_in_the_list() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = fs::read_to_string(src.join("lib.rs")).unwrap();
    let rooms = rooms(&root);
    fn module(line: &str) -> Option<&str> {
        line.strip_suffix(';')?.trim_start_matches("pub ").strip_prefix("mod ")
    }
    let modules: Vec<&str> = root.lines().filter_map(module).collect();
    for room in &rooms {
        assert!(modules.contains(room), "{room} is no module");
    }
    assert_eq!(rooms.len(), modules.len(), "every room is in the table");
    let mut steps = 0;
    for (place, room) in rooms.iter().enumerate() {
        for path in sources(&src.join(room)) {
            let text = fs::read_to_string(&path).unwrap();
            // Tests may use any module.
            let code = text.split("#[cfg(test)]").next().unwrap();
            for name in used(code) {
                let to = rooms.iter().position(|known| *known == name);
                let to = to.unwrap_or_else(|| panic!("{}: what is {name}?", path.display()));
                assert!(to <= place, "{} uses {name}, which stands higher", path.display());
                steps += usize::from(to < place);
            }
        }
    }
    assert!(steps > 30, "only {steps} steps down were seen: is the source still read?");
}
