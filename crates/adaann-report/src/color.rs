//! The colours of Okabe and Ito, which are safe for colour-blind readers.

/// A colour of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Blue.
    Blue,
    /// A red that differs from green for colour-blind readers.
    Vermillion,
    /// A bluish green.
    Green,
    /// Orange.
    Orange,
    /// A light blue.
    Sky,
    /// A reddish purple.
    Purple,
    /// Yellow, for areas but not for lines.
    Yellow,
    /// Black.
    Black,
    /// A medium grey, for secondary marks.
    Grey,
}

impl Color {
    /// The default colours of series, in order.
    pub const CYCLE: [Self; 7] = [
        Self::Blue,
        Self::Vermillion,
        Self::Green,
        Self::Orange,
        Self::Purple,
        Self::Sky,
        Self::Black,
    ];

    /// The colour as `#rrggbb`.
    pub fn hex(self) -> &'static str {
        match self {
            Self::Blue => "#0072b2",
            Self::Vermillion => "#d55e00",
            Self::Green => "#009e73",
            Self::Orange => "#e69f00",
            Self::Sky => "#56b4e9",
            Self::Purple => "#cc79a7",
            Self::Yellow => "#f0e442",
            Self::Black => "#000000",
            Self::Grey => "#767676",
        }
    }
}
