//! A short hash of everything on which a result depends.

/// The hash by Fowler, Noll and Vo: the same on every machine and in every version of Rust.
///
/// ```
/// assert_eq!(adaann::tasks::fingerprint(b"foobar"), 0x8594_4171_f739_67e8);
/// ```
pub fn fingerprint(told: &[u8]) -> u64 {
    told.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fingerprint(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fingerprint(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
