//! Which file of the library uses which, through groups, `super` and re-exports.

use super::source::{Named, paths};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A module's path from the crate's root.
type Module = Vec<String>;

/// The files of a crate with what each names.
pub(super) struct Graph {
    /// File of each module; modules inside a file have that of the file.
    files: BTreeMap<Module, String>,
    /// What each module brings into scope, by name.
    uses: BTreeMap<Module, BTreeMap<String, Named>>,
    /// Everything that is named, with the file where it is.
    named: Vec<(String, Named)>,
}

/// A step from one file to another, with the path that takes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) path: String,
}

impl Graph {
    /// Reads all files below `src`.
    pub(super) fn read(src: &Path) -> Self {
        let mut texts = Vec::new();
        collect(src, src, &mut texts);
        Self::of(&texts)
    }

    /// The graph of files, each with its path below `src` and its text.
    pub(super) fn of(texts: &[(String, String)]) -> Self {
        let mut graph = Self { files: BTreeMap::new(), uses: BTreeMap::new(), named: Vec::new() };
        for (file, _) in texts {
            graph.files.insert(module_of(file), file.clone());
        }
        for (file, text) in texts {
            for named in paths(text, &module_of(file)) {
                graph.files.entry(named.within.clone()).or_insert_with(|| file.clone());
                if let Some(alias) = &named.alias {
                    let scope = graph.uses.entry(named.within.clone()).or_default();
                    scope.insert(alias.clone(), named.clone());
                }
                graph.named.push((file.clone(), named));
            }
        }
        graph
    }

    /// The file that a path leads to: that of the module where its item is defined, whoever hands it
    /// on. None for what is outside the crate.
    fn resolve(&self, named: &Named, depth: usize) -> Option<&str> {
        let mut module: Module = match named.path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" => named.within.clone(),
            "super" => named.within[..named.within.len().checked_sub(1)?].to_vec(),
            first => {
                // A name of this scope: a module below it, or something that a `use` brought here.
                let mut below = named.within.clone();
                below.push(first.to_owned());
                if !self.files.contains_key(&below) {
                    let known = self.uses.get(&named.within)?.get(first)?;
                    if known == named {
                        return None;
                    }
                }
                named.within.clone()
            }
        };
        let skip = usize::from(matches!(&*named.path[0], "crate" | "self" | "super"));
        let mut rest = &named.path[skip..];
        while let Some((segment, behind)) = rest.split_first() {
            let mut below = module.clone();
            below.push(segment.clone());
            if segment == "super" {
                module.pop()?;
            } else if self.files.contains_key(&below) {
                module = below;
            } else if let Some(known) = self.uses.get(&module).and_then(|scope| scope.get(segment))
            {
                if depth == 0 || known == named {
                    break;
                }
                let mut path = known.path.clone();
                path.extend(behind.iter().cloned());
                return self.resolve(&Named { path, ..known.clone() }, depth - 1);
            } else {
                break;
            }
            rest = behind;
        }
        self.files.get(&module).map(String::as_str)
    }

    /// All steps from a file to another. Handing on what a room has itself is none; handing on what
    /// another room has is one, except at the root and in what it hides, which do nothing else.
    pub(super) fn steps(&self) -> BTreeSet<Step> {
        let step = |(from, named): &(String, Named)| {
            let to = self.resolve(named, 8)?;
            let is_own = room(from) == room(to) || matches!(room(from), "lib" | "support");
            (to != from && !(named.handed_on && is_own)).then(|| Step {
                from: from.clone(),
                to: to.to_owned(),
                path: named.path.join("::"),
            })
        };
        self.named.iter().filter_map(step).collect()
    }
}

/// The room that a file belongs to: the first part of its path.
pub(super) fn room(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

/// Groups of files that reach each other; none is the aim.
pub(super) fn cycles(steps: &BTreeSet<Step>) -> Vec<BTreeSet<String>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for step in steps {
        next.entry(&step.from).or_default().insert(&step.to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> = next
        .keys()
        .map(|&from| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(at) = open.pop() {
                for &to in next.get(at).into_iter().flatten() {
                    if seen.insert(to) {
                        open.push(to);
                    }
                }
            }
            (from, seen)
        })
        .collect();
    let mut groups = BTreeSet::new();
    for (&from, seen) in &reach {
        if seen.contains(from) {
            let back = |to: &&&str| reach.get(**to).is_some_and(|theirs| theirs.contains(from));
            groups.insert(seen.iter().filter(back).map(|&file| file.to_owned()).collect());
        }
    }
    groups.into_iter().collect()
}

fn collect(src: &Path, folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(src, &path, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let below = path.strip_prefix(src).unwrap().to_str().unwrap();
            texts.push((below.replace('\\', "/"), fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The module of a file: `fit/run.rs` and `fit/run/mod.rs` are `fit::run`.
fn module_of(file: &str) -> Module {
    let mut parts: Module = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod") || parts == ["lib"] {
        parts.pop();
    }
    parts
}
