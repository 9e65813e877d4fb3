//! Numbers that all samples of a step share, by position: those of the method, then those of the
//! stretch.

/// Of a fixed step: its time and its length.
pub(super) const TIME: u32 = 0;
pub(super) const LENGTH: u32 = 1;

/// Of an adaptive step: the landing time.
pub(super) const END: u32 = 0;

/// Of the start: its time, and the distance to the end.
pub(super) const START: u32 = 0;
pub(super) const SPAN: u32 = 1;

/// The first of the numbers that rates use on a stretch.
pub(super) const STRETCH: u32 = 2;
