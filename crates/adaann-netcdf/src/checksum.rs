//! Bob Jenkins' lookup3, the checksum of HDF5 metadata.

/// The checksum of `bytes`, as HDF5 stores it.
pub(crate) fn lookup3(bytes: &[u8]) -> u32 {
    // The length enters modulo 2^32, as in C.
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [start; 3];
    let mut rest = bytes;
    // The last 1 to 12 bytes are mixed differently, so the loop omits them.
    while rest.len() > 12 {
        add(&mut state, &rest[..12]);
        mix(&mut state);
        rest = &rest[12..];
    }
    if !rest.is_empty() {
        add(&mut state, rest);
        finish(&mut state);
    }
    state[2]
}

/// Adds up to twelve bytes, little-endian and padded with zeros, to the three words.
fn add(state: &mut [u32; 3], bytes: &[u8]) {
    for (i, &byte) in bytes.iter().enumerate() {
        let word = &mut state[i / 4];
        *word = word.wrapping_add(u32::from(byte) << (8 * (i % 4)));
    }
}

fn mix([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: &mut u32, z: u32, turn| {
        *x = x.wrapping_sub(*y) ^ y.rotate_left(turn);
        *y = y.wrapping_add(z);
    };
    step(a, c, *b, 4);
    step(b, a, *c, 6);
    step(c, b, *a, 8);
    step(a, c, *b, 16);
    step(b, a, *c, 19);
    step(c, b, *a, 4);
}

fn finish([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: u32, turn| *x = (*x ^ y).wrapping_sub(y.rotate_left(turn));
    step(c, *b, 14);
    step(a, *c, 11);
    step(b, *a, 25);
    step(c, *b, 16);
    step(a, *c, 4);
    step(b, *a, 14);
    step(c, *b, 24);
}

#[cfg(test)]
mod tests {
    use super::lookup3;

    #[test]
    fn published_values() {
        // From the self-test of lookup3.c.
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }

    #[test]
    fn every_byte_counts() {
        for length in 1..40 {
            let bytes: Vec<u8> = (0..length).map(|i| i * 6 + 1).collect();
            for changed in 0..bytes.len() {
                let mut other = bytes.clone();
                other[changed] ^= 0x10;
                assert_ne!(lookup3(&bytes), lookup3(&other), "byte {changed} of {length}");
            }
        }
    }
}
