//! Measurements of `adaann`.

fn main() {}
