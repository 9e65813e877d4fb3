//! Errors of files that cannot be written.

/// An error of the crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that netCDF does not allow.
    #[error("the name {name:?} of {what} {reason}")]
    Name {
        /// The item with this name, and where it is.
        what: String,
        /// The name.
        name: String,
        /// Why the name is invalid and what is allowed.
        reason: String,
    },
    /// A name that occurs twice.
    #[error("{place} has two entries named {name:?}; names must be unique")]
    Twice {
        /// Where the entries are.
        place: String,
        /// Their name.
        name: String,
    },
    /// Values that do not fit the dimensions.
    #[error("{what} has {found} values, but its dimensions {dimensions} require {expected}")]
    Length {
        /// The item with the values.
        what: String,
        /// The number of values.
        found: usize,
        /// The dimensions and their lengths.
        dimensions: String,
        /// The expected number.
        expected: String,
    },
    /// A dimension that the group does not have.
    #[error("{what} uses the dimension {dimension:?}, but its group only has {known:?}")]
    Dimension {
        /// The variable, and where it is.
        what: String,
        /// The missing dimension.
        dimension: String,
        /// The dimensions of its group.
        known: Vec<String>,
    },
    /// An item that is too large for the format.
    #[error("{what} has {found} {unit}, but at most {most} can be written")]
    TooLarge {
        /// The item that is too large.
        what: String,
        /// Its size.
        found: usize,
        /// The unit of the size.
        unit: &'static str,
        /// The maximal size.
        most: usize,
    },
    /// A text with a NUL character, at which readers would cut it.
    #[error("a text of {what} contains the character NUL, at which readers would cut it: {text:?}")]
    Nul {
        /// The item with the text.
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
