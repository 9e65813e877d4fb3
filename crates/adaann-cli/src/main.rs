//! The `adaann` command.

fn main() {}
