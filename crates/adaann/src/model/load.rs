//! Loads the data that a model file names or contains.

use super::asked::Asked;
use super::data::Data;
use super::diagnostic::{Report, Source};
use super::evaluate::nearest;
use super::file::{File, Join, Name};
use super::join::join;
use super::scan::{read, scan};
use crate::file::open_regular;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Maximum size in bytes of a data file, or of a model file, which may contain data.
pub(super) const MOST_BYTES: u64 = 1 << 31;

/// Maximum size in bytes of a table of which all columns are kept. Predictions and exports show the other columns,
/// such as a patient's number, beside their own. Of a larger table only the columns that the model names are kept.
const WHOLE: u64 = 1 << 23;

/// Where the data of a model comes from.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// From the file that the model names, relative to this folder.
    Named(&'a Path),
    /// From a file given in place of the one that the model names; the model must name one. Files that it is
    /// joined with are those that the model names, relative to the folder.
    Given { path: &'a Path, folder: &'a Path },
    /// From a copy of the file that the model names, if any, already joined with others.
    Copied(&'a Path),
    /// From these texts, named like the copies in a run folder.
    Held(&'a [(String, String)]),
}

impl Place<'_> {
    /// The path of the file that the model calls `named`.
    fn file(self, named: &str) -> PathBuf {
        match self {
            Self::Named(folder) => folder.join(named),
            Self::Given { path, .. } | Self::Copied(path) => path.to_owned(),
            Self::Held(_) => COPY_OF_DATA.into(),
        }
    }

    /// The path of the file of an input or a constant; a run has copies of these beside that of its data.
    pub(super) fn input(self, folder: &Path, input: &Name, file: &Name) -> PathBuf {
        match self {
            Self::Named(_) | Self::Given { .. } => folder.join(&file.text),
            Self::Copied(data) => data.with_file_name(copy_of_input(&input.text)),
            Self::Held(_) => copy_of_input(&input.text).into(),
        }
    }

    /// Opens a file for reading.
    fn open<'s>(self, found: &Path) -> io::Result<Box<dyn BufRead + 's>>
    where
        Self: 's,
    {
        let Self::Held(files) = self else {
            return Ok(Box::new(BufReader::new(open_regular(found)?)));
        };
        let held = files.iter().find(|(name, _)| Path::new(name) == found);
        match held {
            Some((_, text)) => Ok(Box::new(text.as_bytes())),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// The size of a file in bytes; 0 if it does not exist.
    fn len(self, found: &Path) -> u64 {
        match self {
            Self::Held(files) => {
                let held = files.iter().find(|(name, _)| Path::new(name) == found);
                held.map_or(0, |(_, text)| text.len() as u64)
            }
            _ => fs::metadata(found).map_or(0, |found| found.len()),
        }
    }

    /// A hint for a file that cannot be read.
    fn help(self) -> Option<String> {
        let help = match self {
            Self::Named(_) => "the path is relative to the folder of the model file",
            Self::Given { .. } | Self::Held(_) => return None,
            Self::Copied(_) => {
                "a run folder contains a copy of its data; data from other places is not used"
            }
        };
        Some(help.to_owned())
    }
}

/// The name of the copy of the data in a run folder.
const COPY_OF_DATA: &str = "data.csv";

/// The name of the copy of an input's file in a run folder.
pub(super) fn copy_of_input(input: &str) -> String {
    format!("input-{input}.csv")
}

/// Why a file cannot be read.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    }
}

/// Loads the data of a model, from a CSV file or from columns in the model file.
pub(super) fn load(file: &File, source: &Source, place: Place<'_>, report: &mut Report) -> Data {
    let Some(data) = &file.data else {
        if let Place::Given { path, .. } = place {
            let message = format!("the model has no [data] that {} could replace", path.display());
            let help = "omit the data file, or add [data] with a `file` to be replaced".to_owned();
            report.error_of_file(source, message, Some(help));
        }
        return Data::default();
    };
    if let (None, Place::Given { path, .. }) = (&data.file, place) {
        let message = format!(
            "{} cannot replace the data, which is written in the model file",
            path.display()
        );
        report.error(source, data.span.clone(), message, None);
    }
    let Some(path) = &data.file else {
        let len = |(_, values): &(Name, Vec<f64>)| values.len();
        // Columns of different lengths were reported when the file was read.
        if data.columns.windows(2).any(|pair| len(&pair[0]) != len(&pair[1])) {
            return Data::default();
        }
        let name = |(name, _): &(Name, Vec<f64>)| name.text.clone();
        let names = data.columns.iter().map(name).collect();
        return Data::new(names, data.columns.iter().map(|(_, values)| values.clone()).collect());
    };
    let found = place.file(&path.text);
    let name = match place {
        Place::Named(_) => path.text.clone(),
        Place::Given { path, .. } | Place::Copied(path) => path.display().to_string(),
        Place::Held(_) => COPY_OF_DATA.to_owned(),
    };
    let asked = Asked::of(source, file);
    let asked_of = |len: u64| if len <= WHOLE { asked.whole() } else { asked };
    let read = match place {
        Place::Named(folder) | Place::Given { folder, .. } if !data.join.is_empty() => {
            let first = text_of(&found, path, place, source, report);
            let first = first.map(|text| Source::new(name, text));
            let joined = first.and_then(|first| {
                joined(&asked, first, &data.join, (place, folder), source, report)
            });
            joined.and_then(|csv| read(&csv, &asked_of(csv.text.len() as u64), report))
        }
        // A long table is never held in memory as a whole.
        _ => {
            let (opened, asked) = (place.open(&found), asked_of(place.len(&found)));
            let read = opened.and_then(|opened| scan(&name, opened, MOST_BYTES, &asked, report));
            read.unwrap_or_else(|error| {
                cannot_read(&error, &found, path, place, source, report);
                None
            })
        }
    };
    let mut read = read.unwrap_or_default();
    let old = read.names.clone();
    for (name, column) in &data.rename {
        match old.iter().position(|known| *known == column.text) {
            Some(found) => read.names[found] = name.text.clone(),
            None if old.is_empty() => {}
            None => {
                let message = format!("the data has no column `{}`", column.text);
                let help = nearest(&column.text, read.shown_names().into_iter());
                report.error(source, column.span.clone(), message, help);
            }
        }
    }
    for (name, _) in &data.rename {
        if read.names.iter().filter(|known| **known == name.text).count() > 1 {
            let message =
                format!("after renaming, two columns of the data are called `{}`", name.text);
            report.error(source, name.span.clone(), message, None);
        }
    }
    read
}

/// A table with the columns of the files that it is joined with.
fn joined(
    asked: &Asked<'_>,
    mut csv: Source,
    joins: &[Join],
    (place, folder): (Place<'_>, &Path),
    source: &Source,
    report: &mut Report,
) -> Option<Source> {
    for Join { file, by } in joins {
        let other = text_of(&folder.join(&file.text), file, place, source, report)?;
        let other = Source::new(file.text.clone(), other);
        csv = Source::new(csv.name.clone(), join(asked, source, [&csv, &other], by, report)?);
    }
    Some(csv)
}

/// The text of a file that the model names; reports an error if it cannot be read.
pub(super) fn text_of(
    found: &Path,
    named: &Name,
    place: Place<'_>,
    source: &Source,
    report: &mut Report,
) -> Option<String> {
    let read = || {
        let mut text = String::new();
        place.open(found)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
        match text.len() as u64 > MOST_BYTES {
            true => Err(io::Error::other(format!("it has more than {} MiB", MOST_BYTES >> 20))),
            false => Ok(text),
        }
    };
    let read = read().map_err(|error| cannot_read(&error, found, named, place, source, report));
    read.ok()
}

/// Reports why a file cannot be read.
fn cannot_read(
    error: &io::Error,
    found: &Path,
    named: &Name,
    place: Place<'_>,
    source: &Source,
    report: &mut Report,
) {
    let found = found.display();
    if error.kind() == ErrorKind::InvalidData {
        let message = format!("{found} is not UTF-8 text");
        return report.error(source, named.span.clone(), message, None);
    }
    let message = format!("cannot read {found}: {}", reason(error));
    report.error(source, named.span.clone(), message, place.help());
}
