//! Is the approximation q right about p? An examination from draws and independent particles.

mod examination;
mod verdict;

pub use examination::{Coordinate, Examination, Mode, Particles, QUANTILES, Settings, examine};
pub use verdict::{LACKING_RATIO, Reason, Trust, Verdict};
