//! Nothing is built here. Cargo compiles the build dependencies of a package that has such a file, and theirs makes the
//! derive macros the same as those of the Python package: the engine is then compiled once for both.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
