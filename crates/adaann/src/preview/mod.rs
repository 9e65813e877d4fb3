//! A look at a posterior before it is fitted: typical points, and what the data determines there.
//!
//! Draws from a wide prior are poor points at which to judge a likelihood: most lie where the posterior has no
//! mass, and the steepest of them dominate. [`typical`] climbs to a peak first and draws from the Gaussian of
//! its curvature. At these points [`unsaid`] finds, in units of the posterior, what the likelihood leaves to
//! the prior.
//!
//! ```
//! use adaann::{Program, flow::Base, preview, target::Unconstrained};
//!
//! // Of the second coordinate only the first term knows, which stands for a prior.
//! let target = Program::record(2, |x| -0.5 * (x[0].square() + x[1].square()) - 50.0 * (x[0] - 1.0).square());
//! let target = Unconstrained::new(&target)?;
//! let typical = preview::typical(&target, &Base::standard(2), &preview::Effort::default())?.expect("a peak");
//! assert!((typical.sd[0] - 101_f64.powf(-0.5)).abs() < 1e-6 && (typical.sd[1] - 1.0).abs() < 1e-6);
//! # Ok::<(), adaann::Error>(())
//! ```

mod typical;
mod unsaid;

pub use typical::{Effort, Typical, typical};
pub use unsaid::{Unsaid, unsaid};
