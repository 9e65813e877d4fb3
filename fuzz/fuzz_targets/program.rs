//! Any bytes as what an outside program writes: its first line, then answers.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    adaann::external::exercise(bytes);
});
