//! Recorded expressions.
