//! What the project's own crates, tests and benchmarks share and nobody else needs: no promise is
//! made that it stays.

/// Lanes, kernels and their mathematics.
pub mod simd {
    pub use crate::simd::{
        F32, F64, Kernel, Lane, LogProduct, Math, Special, dispatch, dispatch_on,
    };
}

/// Files that are whole or absent.
pub mod file {
    pub use crate::file::{read, read_regular, write, write_with};
}

/// Texts of others, without what a terminal would obey.
pub mod visible {
    pub use crate::visible::{line, lines};
}

/// The name that was meant.
pub mod names {
    pub use crate::names::nearest;
}

/// Random numbers from counters.
pub mod rng {
    pub use crate::rng::{Purpose, Stream};
}

/// Densities written by hand over lanes.
pub mod hand {
    pub use crate::target::hand::{Bimodal, Mixture2d, TwoMoons};
}
