//! Routines that are compiled on first use.

use crate::program::{Prepared, Room};
use std::sync::OnceLock;

/// A routine that is compiled when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Lazy(OnceLock<Prepared>);

impl Lazy {
    /// The routine, and the thread's memory for it.
    #[inline]
    pub(super) fn get<'r>(
        &self,
        room: &'r mut Option<Room>,
        compile: impl FnOnce() -> Prepared,
    ) -> (&Prepared, &'r mut Room) {
        let prepared = self.0.get_or_init(compile);
        (prepared, room.get_or_insert_with(|| prepared.routine.room()))
    }
}
