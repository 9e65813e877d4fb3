//! One line of a run's list: a part by its path, and what it came to.

use super::{decode::decode, encode::encode, value::Value};
use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};

/// A part that is finished, or the state of one under way.
pub(super) struct Entry {
    pub(super) path: String,
    found: Found,
}

/// What a part came to, or its state.
enum Found {
    /// As it is: few runs are long enough to write it down.
    Plain(Box<dyn Plain>),
    /// As it was read, or is written.
    Encoded(Value<'static>),
}

/// Anything that can be written down later.
trait Plain: Send {
    fn encode(&self) -> Result<Value<'static>>;
}

impl<T: Serialize + Send> Plain for T {
    fn encode(&self) -> Result<Value<'static>> {
        encode(self).map_err(|error| Error::Save(error.to_string()))
    }
}

impl Entry {
    /// What a part came to, to be written down when there is a reason.
    pub(super) fn new<T: Serialize + Send + 'static>(path: String, found: T) -> Self {
        Self { path, found: Found::Plain(Box::new(found)) }
    }

    /// The same of something that is only lent.
    pub(super) fn of<T: Serialize>(path: String, found: &T) -> Result<Self> {
        let value = encode(found).map_err(|error| Error::Save(error.to_string()))?;
        Ok(Self { path, found: Found::Encoded(value) })
    }

    /// Makes it what is written.
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

/// The list of a checkpoint.
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

/// A list that does not fit what is done.
pub(super) fn strange(path: &str, why: &str) -> Error {
    Error::Load(format!(
        "the checkpoint does not fit the run at `{path}`: {why}; it may be of another version, so that the \
         run has to begin again"
    ))
}
