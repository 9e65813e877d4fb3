//! What can go wrong in a drawing.

/// An error of this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A picture without an area, or of one that no memory holds.
    #[error("cannot paint the figure '{figure}' in {width} by {height} pixels; draw fewer panels")]
    Size {
        /// The name of the figure.
        figure: String,
        /// Pixels across.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// A picture that cannot be compressed.
    #[error("cannot write the figure '{figure}' as PNG: {cause}; its SVG needs no pixels")]
    Png {
        /// The name of the figure.
        figure: String,
        /// What the encoder said.
        cause: String,
    },
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
