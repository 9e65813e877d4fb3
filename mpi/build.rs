//! An empty build script, which makes Cargo compile the build dependencies. With them the derive macros have the same
//! features as in the Python package, so the engine is compiled only once for both.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
