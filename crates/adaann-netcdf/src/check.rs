//! Rejects files that could not be written or read back.

use crate::{Dimension, Error, File, Group, Result, Value, Values, Variable};
use std::collections::HashSet;

/// The maximal length of a name in netCDF, in bytes.
const MOST_NAME: usize = 256;
/// The maximal size of an attribute, which is a header message of at most 64 KiB.
const MOST_ATTRIBUTE: usize = 64_000;
/// The maximal number of entries: readers search a group linearly, and attribute numbers have 16 bits.
const MOST_MEMBERS: usize = 65_535;
/// The limit of HDF5.
const MOST_DIMENSIONS: usize = 32;
/// A text's length has 32 bits.
const MOST_TEXT: usize = u32::MAX as usize;

/// Attributes that netCDF-4 uses internally, and the one that marks missing values.
const RESERVED: [&str; 9] = [
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_FillValue",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_nc3_strict",
];

/// A prefix that netCDF removes from names when reading.
const HIDDEN: &str = "_nc4_non_coord_";

/// Checks that the file can be written.
pub(crate) fn file(file: &File) -> Result<()> {
    attributes(&file.attributes, "the file")?;
    let names = file.groups.iter().map(|group| group.name.as_str());
    distinct(names, "the file", |_| "a group".into())?;
    file.groups.iter().try_for_each(group)
}

fn group(group: &Group) -> Result<()> {
    let place = format!("group {:?}", group.name);
    attributes(&group.attributes, &place)?;
    let dimensions = group.dimensions.iter().map(|dimension| dimension.name.as_str());
    let names = dimensions.clone().chain(group.variables.iter().map(|v| v.name.as_str()));
    let count = group.dimensions.len();
    distinct(names, &place, |i| {
        format!("a {} in {place}", if i < count { "dimension" } else { "variable" })
    })?;
    for dimension in &group.dimensions {
        let what = format!("dimension {:?} in {place}", dimension.name);
        if let Some(values) = &dimension.coordinate {
            lengths(values, &[dimension], &what)?;
            texts(values, &what)?;
        } else {
            most(dimension.length, "indices without coordinate", isize::MAX as usize / 8, &what)?;
        }
    }
    for variable in &group.variables {
        self::variable(variable, group, &place)?;
    }
    Ok(())
}

fn variable(variable: &Variable, group: &Group, place: &str) -> Result<()> {
    let what = format!("variable {:?} in {place}", variable.name);
    attributes(&variable.attributes, &what)?;
    most(variable.dimensions.len(), "dimensions", MOST_DIMENSIONS, &what)?;
    let mut dimensions: Vec<&Dimension> = Vec::new();
    for name in &variable.dimensions {
        let found = group.dimensions.iter().find(|dimension| dimension.name == *name);
        let found = found.ok_or_else(|| Error::Dimension {
            what: what.clone(),
            dimension: name.clone(),
            known: group.dimensions.iter().map(|dimension| dimension.name.clone()).collect(),
        })?;
        if dimensions.iter().any(|dimension| dimension.name == *name) {
            return Err(Error::Twice { place: format!("the shape of {what}"), name: name.clone() });
        }
        dimensions.push(found);
    }
    lengths(&variable.values, &dimensions, &what)?;
    texts(&variable.values, &what)
}

/// Checks that the number of values matches the dimensions.
fn lengths(values: &Values, dimensions: &[&Dimension], what: &str) -> Result<()> {
    let found = values.len();
    let expected = if dimensions.iter().any(|dimension| dimension.length == 0) {
        Some(0)
    } else {
        dimensions.iter().try_fold(1_usize, |size, d| size.checked_mul(d.length))
    };
    if expected == Some(found) {
        return Ok(());
    }
    let shape: Vec<String> = dimensions
        .iter()
        .map(|dimension| format!("{}: {}", dimension.name, dimension.length))
        .collect();
    Err(Error::Length {
        what: what.into(),
        found,
        dimensions: format!("({})", shape.join(", ")),
        expected: expected.map_or("more than memory can hold".into(), |size| size.to_string()),
    })
}

fn attributes(attributes: &[(String, Value)], place: &str) -> Result<()> {
    let names = attributes.iter().map(|(name, _)| name.as_str());
    distinct(names, place, |_| format!("an attribute of {place}"))?;
    for (name, value) in attributes {
        if RESERVED.contains(&name.as_str()) {
            let what = format!("an attribute of {place}");
            return Err(refused(name, what, "is reserved by netCDF; choose another"));
        }
        let what = format!("attribute {name:?} of {place}");
        match value {
            Value::Number(_) | Value::Integer(_) => {}
            Value::Text(value) => text(value, &what)?,
            Value::List(values) => {
                let size = if matches!(values, Values::Texts(_)) { 16 } else { 8 };
                most(values.len(), "values", MOST_ATTRIBUTE / size, &what)?;
                texts(values, &what)?;
            }
        }
    }
    Ok(())
}

fn texts(values: &Values, what: &str) -> Result<()> {
    match values {
        Values::Texts(values) => values.iter().try_for_each(|value| text(value, what)),
        Values::Numbers(_) | Values::Integers(_) => Ok(()),
    }
}

fn text(text: &str, what: &str) -> Result<()> {
    most(text.len(), "bytes in one text", MOST_TEXT, what)?;
    if text.contains('\0') {
        return Err(Error::Nul { what: what.into(), text: text.into() });
    }
    Ok(())
}

fn most(found: usize, unit: &'static str, most: usize, what: &str) -> Result<()> {
    if found <= most {
        return Ok(());
    }
    Err(Error::TooLarge { what: what.into(), found, unit, most })
}

/// Checks that names are valid and distinct. `what` describes the item with the i-th name.
fn distinct<'a>(
    names: impl Iterator<Item = &'a str>,
    place: &str,
    what: impl Fn(usize) -> String,
) -> Result<()> {
    let mut seen = HashSet::new();
    for (i, name) in names.enumerate() {
        self::name(name, || what(i))?;
        if !seen.insert(name) {
            return Err(Error::Twice { place: place.into(), name: name.into() });
        }
    }
    most(seen.len(), "names", MOST_MEMBERS, place)
}

/// The rule of netCDF: a name starts with a letter, a digit, an underscore or a non-ASCII character. Further characters
/// may also be punctuation and spaces, but not slashes, control characters or a space at the end. So `theta[1]` is
/// valid.
fn name(name: &str, what: impl Fn() -> String) -> Result<()> {
    let Some(first) = name.chars().next() else {
        return Err(refused(name, what(), "is empty; choose a name"));
    };
    if !(first.is_ascii_alphanumeric() || first == '_' || !first.is_ascii()) {
        return Err(refused(
            name,
            what(),
            "begins with punctuation or a space; it must begin with a letter, a digit or an underscore",
        ));
    }
    if let Some(wrong) = name.chars().find(|&c| c == '/' || c.is_ascii_control()) {
        return Err(refused(
            name,
            what(),
            &format!("has {wrong:?}, but netCDF does not allow slashes and control characters"),
        ));
    }
    if name.starts_with(HIDDEN) {
        return Err(refused(
            name,
            what(),
            "begins with a prefix that netCDF hides; choose another",
        ));
    }
    if name.ends_with(' ') {
        return Err(refused(name, what(), "ends with a space, which netCDF does not allow"));
    }
    most(name.len(), "bytes", MOST_NAME, &format!("the name of {}", what()))
}

fn refused(name: &str, what: String, reason: &str) -> Error {
    Error::Name { what, name: name.into(), reason: reason.into() }
}
