//! Arbitrary bytes as the output of an external program: its first line, then its replies.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    adaann::external::exercise(bytes);
});
