//! Any bytes as a model file: read, complained about and printed, never with a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        adaann::model::exercise(text);
    }
});
