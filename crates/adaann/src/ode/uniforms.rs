//! Numbers that all samples of a step share, by their places: those of the method, then those of the stretch.

/// Of a fixed step: its time and its length.
pub(super) const TIME: u32 = 0;
pub(super) const LENGTH: u32 = 1;

/// Of an adaptive step: the time at which to land.
pub(super) const END: u32 = 0;

/// Of the start: when it is, and how long the way from there is.
pub(super) const START: u32 = 0;
pub(super) const SPAN: u32 = 1;

/// The first of those that rates know on a stretch of the way.
pub(super) const STRETCH: u32 = 2;
