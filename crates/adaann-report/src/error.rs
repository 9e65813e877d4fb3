//! Errors of drawings.

/// An error of this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A picture without an area, or too large for memory.
    #[error("cannot paint the figure '{figure}' in {width} by {height} pixels; draw fewer panels")]
    Size {
        /// The name of the figure.
        figure: String,
        /// Pixels across.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// A picture that cannot be encoded.
    #[error("cannot write the figure '{figure}' as PNG: {cause}; write it as SVG instead")]
    Png {
        /// The name of the figure.
        figure: String,
        /// The message of the encoder.
        cause: String,
    },
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
