//! `adaann-mpi` with real ranks: the same bytes as without MPI, and a clean exit if a rank fails.
//!
//! `mpi/test` sets the variables that the tests need: MPIEXEC starts ranks, and ADAANN is the program without MPI.

mod bytes;
mod failures;
mod place;
mod pools;
