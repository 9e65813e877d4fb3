//! Arbitrary bytes as a model file: reading, reporting errors and printing must not panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        adaann::model::exercise(text);
    }
});
