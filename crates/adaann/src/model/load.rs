//! The data that a model file names or has written in it.

use super::data::Data;
use super::diagnostic::{Report, Source};
use super::evaluate::nearest;
use super::file::{File, Name};
use std::path::Path;

/// Bytes of a data file.
const MOST_BYTES: u64 = 1 << 31;

/// The data of a file: from a CSV file, or from its own columns.
pub(super) fn load(
    file: &File,
    source: &Source,
    folder: &Path,
    instead: Option<&Path>,
    report: &mut Report,
) -> Data {
    let Some(data) = &file.data else { return Data::default() };
    if let (None, Some(path)) = (&data.file, instead) {
        let message =
            format!("{} has no file to replace: the data is written here", path.display());
        report.error(source, data.span.clone(), message, None);
    }
    let Some(path) = &data.file else {
        let len = |(_, values): &(Name, Vec<f64>)| values.len();
        // Columns of different lengths were found when the file was read.
        if data.columns.windows(2).any(|pair| len(&pair[0]) != len(&pair[1])) {
            return Data::default();
        }
        let name = |(name, _): &(Name, Vec<f64>)| name.text.clone();
        let names = data.columns.iter().map(name).collect();
        return Data::new(names, data.columns.iter().map(|(_, values)| values.clone()).collect());
    };
    let place = instead.map_or_else(|| folder.join(&path.text), Path::to_owned);
    let text = match read_file(&place, instead.is_some()) {
        Err(error) => {
            let reason = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => error.to_string(),
            };
            let message = format!("cannot read {}: {reason}", place.display());
            let help = "the path is relative to the folder of the model file".to_owned();
            report.error(source, path.span.clone(), message, Some(help));
            return Data::default();
        }
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => {
                let message = format!("{} is no text in UTF-8", place.display());
                report.error(source, path.span.clone(), message, None);
                return Data::default();
            }
        },
    };
    let name = instead.map_or_else(|| path.text.clone(), |path| path.display().to_string());
    let csv = Source::new(name, text);
    let mut read = Data::read(&csv, report).unwrap_or_default();
    let old = read.clone();
    for (name, column) in &data.rename {
        match old.find(&column.text) {
            Some(found) => read.names[found] = name.text.clone(),
            None if read.names.is_empty() => {}
            None => {
                let message = format!("the data has no column `{}`", column.text);
                let help = nearest(&column.text, read.names.iter().map(String::as_str));
                report.error(source, column.span.clone(), message, help);
            }
        }
    }
    for (name, _) in &data.rename {
        if read.names.iter().filter(|known| **known == name.text).count() > 1 {
            let message = format!("two columns of the data are then called `{}`", name.text);
            report.error(source, name.span.clone(), message, None);
        }
    }
    read
}

/// The bytes of a file. One that a model names must be a file of finite length; one that the user
/// gives may be a pipe.
fn read_file(path: &Path, is_given: bool) -> std::io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    let refuse = |what: &str| Err(std::io::Error::other(what));
    if metadata.is_dir() {
        return refuse("it is a folder");
    }
    if !metadata.is_file() && !is_given {
        return refuse("it is no regular file");
    }
    if metadata.len() > MOST_BYTES {
        return refuse("it has more than 2 GiB");
    }
    std::fs::read(path)
}
