//! Distributes work to other processes: pieces of batches and whole trials, computed by any free
//! rank.
//!
//! One process, rank 0, runs the algorithm. It puts requests into a [`Queue`]; a transport carries
//! each to a free rank and returns the reply. [`Shared`] is a target that splits batches into such
//! requests by their length alone, and assembles the replies by their index. Timing decides which
//! rank computes a piece, but does not affect any result. Sums are computed at rank 0, in the same
//! order as without ranks.
//!
//! ```
//! use adaann::{Batch, Program, ranks::{Answering, Queue, Shared}, target::{Evaluation, Target}};
//! use std::{sync::Arc, thread};
//!
//! let target: Arc<dyn Target> = Arc::new(Program::record(1, |z| -0.5 * z[0].square()));
//! let queue = Arc::new(Queue::default());
//! // A rank: here a thread, elsewhere a process behind a transport.
//! let (rank, questions) = (Answering::new(target.clone()), queue.clone());
//! thread::spawn(move || {
//!     while let Some(request) = questions.wait_for_request() {
//!         let answer = rank.answer(request.question());
//!         request.answer(answer);
//!     }
//! });
//! let shared = Shared::new(target, queue.clone(), 7);
//! let mut found = Evaluation::zeros(1, 2);
//! shared.evaluate(&Batch::from_points(1, &[[1.0], [2.0]]), None, &mut found)?;
//! assert_eq!(found.log_likelihood[..2], [-0.5, -2.0]);
//! queue.close();
//! # Ok::<(), adaann::Error>(())
//! ```

mod answering;
mod evaluation;
mod queue;
mod shared;

pub use answering::Answering;
pub use evaluation::subject_of;
pub use queue::{Answers, Dropped, Queue, Request, Word};
pub use shared::Shared;
