//! What draws of an approximation say about the density itself.

pub mod modes;
