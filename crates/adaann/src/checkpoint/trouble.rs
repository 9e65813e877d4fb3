//! An error of serde's code about a value, with the path of that value.

use std::fmt::{self, Display};

/// A message and the path of the value that it is about.
#[derive(Debug)]
pub(super) struct Trouble(Box<Details>);

#[derive(Debug)]
struct Details {
    /// Innermost first: the path is assembled on the way out.
    path: Vec<String>,
    message: String,
}

impl Trouble {
    /// An error at a path that is not known yet.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Details { path: Vec::new(), message: message.into() }))
    }

    /// The same error, within the field or element with this name.
    pub(super) fn within(mut self, name: impl Display) -> Self {
        self.0.path.push(name.to_string());
        self
    }
}

impl Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.path.is_empty() {
            let path: Vec<&str> = self.0.path.iter().rev().map(String::as_str).collect();
            write!(f, "{}: ", path.join("."))?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Trouble {}

impl serde::ser::Error for Trouble {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

impl serde::de::Error for Trouble {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}
