//! What can be wrong with a file that is to be written.

/// An error of the crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that netCDF does not allow.
    #[error("the name {name:?} of {what} {reason}")]
    Name {
        /// What has the name, and where.
        what: String,
        /// The name.
        name: String,
        /// What is wrong with it and what is allowed.
        reason: String,
    },
    /// A name that is there twice.
    #[error("{place} has two things called {name:?}; names within it must differ")]
    Twice {
        /// Where they are.
        place: String,
        /// Their name.
        name: String,
    },
    /// Values that do not fit the dimensions.
    #[error("{what} has {found} values, but its dimensions {dimensions} ask for {expected}")]
    Length {
        /// What has the values.
        what: String,
        /// How many there are.
        found: usize,
        /// The dimensions and their lengths.
        dimensions: String,
        /// How many there should be.
        expected: String,
    },
    /// A dimension that the group does not have.
    #[error("{what} is over the dimension {dimension:?}, but its group has only {known:?}")]
    Dimension {
        /// The variable, and where it is.
        what: String,
        /// The dimension it names.
        dimension: String,
        /// The dimensions of its group.
        known: Vec<String>,
    },
    /// Something larger than the format can hold.
    #[error("{what} has {found} {unit}, but at most {most} can be written")]
    TooLarge {
        /// What is too large.
        what: String,
        /// How large it is.
        found: usize,
        /// What is counted.
        unit: &'static str,
        /// The most that can be written.
        most: usize,
    },
    /// A text that readers would cut.
    #[error("a text of {what} has the character NUL, where readers would cut it: {text:?}")]
    Nul {
        /// Whose text it is.
        what: String,
        /// The text.
        text: String,
    },
    /// Writing failed.
    #[error("cannot write the netCDF file: {0}")]
    Io(#[from] std::io::Error),
}

/// A result of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
