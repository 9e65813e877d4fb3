//! Internals shared by the project's own crates, tests and benchmarks, without any promise of
//! stability.

/// Lanes, kernels and their mathematics.
pub mod simd {
    pub use crate::simd::{
        F32, F64, Kernel, Lane, LogProduct, Math, Special, dispatch, dispatch_on,
    };
}

/// Atomic file writes.
pub mod file {
    pub use crate::file::{read, read_regular, write, write_with};
}

/// Untrusted text without terminal control characters.
pub mod visible {
    pub use crate::visible::{line, lines};
}

/// Suggestions for misspelt names.
pub mod suggest {
    pub use crate::suggest::nearest;
}

/// Counter-based random numbers.
pub mod rng {
    pub use crate::rng::{Purpose, Stream};
}

/// Densities written by hand over lanes.
pub mod hand {
    pub use crate::target::hand::{Bimodal, Mixture2d, TwoMoons};
}
