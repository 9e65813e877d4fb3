//! `adaann init`: writes a commented model file to start from.

use crate::{
    args::{InitArgs, Kind},
    folder::out::Out,
    text::failure::usage,
};
use adaann::model;
use anyhow::Result;
use std::{
    fs,
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Writes the file, and on request the schema.
pub(crate) fn init(args: &InitArgs) -> Result<ExitCode> {
    let file = Out::new("FILE.toml", &args.file, args.force)?;
    let schema = args.schema.as_ref().map(|path| Out::new("--schema", path, args.force));
    let schema = schema.transpose()?;
    if args.schema.as_ref() == Some(&args.file) {
        return Err(usage("--schema has the name of the model file; choose another"));
    }
    let name = args.file.display().to_string();
    let text = template(args.kind).replace("NAME", &name);
    let is_new = schema.as_ref().is_some_and(|schema| !schema.path().exists());
    let old = schema.as_ref().and_then(|schema| Old::keep(schema.path()));
    if let Some(out) = &schema {
        let schema = serde_json::to_string_pretty(&model::schema())?;
        out.write(format!("{schema}\n").as_bytes())?;
    }
    file.write(text.as_bytes()).inspect_err(|_| {
        // Write both files or none, and report the first error.
        if let Some(schema) = schema.as_ref().filter(|_| is_new) {
            let _ = fs::remove_file(schema.path());
        }
        if let Some(old) = &old {
            old.bring_back();
        }
    })?;
    writeln!(
        stdout(),
        "written to {name}\n  next   adaann check {name}\n         adaann fit {name}"
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A file under replacement, kept under a second name until the replacement has succeeded.
struct Old {
    path: PathBuf,
    kept: PathBuf,
}

impl Old {
    /// `None` if there is no file, or if the second name cannot be created.
    fn keep(path: &Path) -> Option<Self> {
        let path = fs::canonicalize(path).ok().filter(|path| path.is_file())?;
        let mut kept = path.clone().into_os_string();
        kept.push(format!(".{}.old", std::process::id()));
        let kept = PathBuf::from(kept);
        fs::hard_link(&path, &kept).ok()?;
        Some(Self { path, kept })
    }

    fn bring_back(&self) {
        let _ = fs::rename(&self.kept, &self.path);
    }
}

impl Drop for Old {
    fn drop(&mut self) {
        // After `bring_back` the second name no longer exists.
        let _ = fs::remove_file(&self.kept);
    }
}

fn template(kind: Kind) -> &'static str {
    match kind {
        Kind::Density => include_str!("../../templates/density.toml"),
        Kind::Regression => include_str!("../../templates/regression.toml"),
        Kind::Ode => include_str!("../../templates/ode.toml"),
        Kind::Hierarchical => include_str!("../../templates/hierarchical.toml"),
    }
}
