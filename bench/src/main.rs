//! Measurements of `adaann`.

mod programs;

fn main() {
    programs::run();
}
