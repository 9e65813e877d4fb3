//! Is the approximation q right about p? An examination from draws and independent particles.

mod examination;
pub mod thresholds;
mod verdict;

pub use examination::{Examination, Mode, Particles, Settings, examine};
pub use verdict::{LACKING_RATIO, Reason, Trust, Verdict};
