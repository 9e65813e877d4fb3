//! `adaann-mpi` with real ranks: the same bytes as without, and an orderly end whatever happens to one of them.
//!
//! `mpi/test` sets up what they need: MPIEXEC starts ranks, ADAANN is the program without MPI.

mod bytes;
mod failures;
mod place;
mod pools;
