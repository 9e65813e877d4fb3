//! An entry of a run's list: the path of a part, and its result.

use super::{decode::decode, encode::encode, value::Value};
use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};

/// A finished part, or the state of a current one.
pub(super) struct Entry {
    pub(super) path: String,
    found: Found,
}

/// The result of a part, or its state.
enum Found {
    /// Not encoded yet: few runs are long enough to write it.
    Plain(Box<dyn Plain>),
    /// Encoded, as it was read or is written.
    Encoded(Value<'static>),
}

/// A value that can be encoded later.
trait Plain: Send {
    fn encode(&self) -> Result<Value<'static>>;
}

impl<T: Serialize + Send> Plain for T {
    fn encode(&self) -> Result<Value<'static>> {
        encode(self).map_err(|error| Error::Save(error.to_string()))
    }
}

impl Entry {
    /// The result of a part, encoded only when it is written.
    pub(super) fn new<T: Serialize + Send + 'static>(path: String, found: T) -> Self {
        Self { path, found: Found::Plain(Box::new(found)) }
    }

    /// The same for a borrowed result, encoded now.
    pub(super) fn of<T: Serialize>(path: String, found: &T) -> Result<Self> {
        let value = encode(found).map_err(|error| Error::Save(error.to_string()))?;
        Ok(Self { path, found: Found::Encoded(value) })
    }

    /// Encodes the value.
    pub(super) fn encode(&mut self) -> Result<()> {
        if let Found::Plain(found) = &self.found {
            self.found = Found::Encoded(found.encode()?);
        }
        Ok(())
    }

    pub(super) fn into_value(self) -> Option<Value<'static>> {
        let Found::Encoded(value) = self.found else { return None };
        Some(Value::List(vec![Value::Text(self.path), value]))
    }

    pub(super) fn decode<T: DeserializeOwned>(&self) -> Result<T> {
        let value = match &self.found {
            Found::Plain(found) => found.encode()?,
            Found::Encoded(value) => value.clone(),
        };
        decode(value).map_err(|error| strange(&self.path, &error.to_string()))
    }

    pub(super) fn of_value(value: Value<'static>) -> Option<Self> {
        let Value::List(pair) = value else { return None };
        let [Value::Text(path), value] = <[_; 2]>::try_from(pair).ok()? else { return None };
        Some(Self { path, found: Found::Encoded(value) })
    }
}

/// The list in a checkpoint.
pub(super) fn entries(value: Value<'static>) -> Result<Vec<Entry>> {
    let Value::List(listed) = value else {
        return Err(Error::Load("a checkpoint without a list of parts".into()));
    };
    let count = listed.len();
    let entries: Vec<Entry> = listed.into_iter().filter_map(Entry::of_value).collect();
    match entries.len() == count {
        true => Ok(entries),
        false => Err(Error::Load("a checkpoint with parts that have no name".into())),
    }
}

/// The error for a list that does not match the run.
pub(super) fn strange(path: &str, why: &str) -> Error {
    Error::Load(format!(
        "the checkpoint does not match the run at `{path}`: {why}; another version may have written it; start \
         the run again"
    ))
}
