//! Okabe and Ito's colours, which everyone can tell apart.

/// A colour of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Blue.
    Blue,
    /// A red that is not mistaken for green.
    Vermillion,
    /// A bluish green.
    Green,
    /// Orange.
    Orange,
    /// A light blue.
    Sky,
    /// A reddish purple.
    Purple,
    /// Yellow; for areas, not for lines.
    Yellow,
    /// Black.
    Black,
    /// A middle grey, for what is beside the point.
    Grey,
}

impl Color {
    /// Colours of series, in their order.
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
