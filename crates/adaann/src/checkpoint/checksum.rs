//! XXH64: a 64-bit checksum in which every byte and its position matter, at the speed of memory.
//!
//! Y. Collet, "xxHash: extremely fast non-cryptographic hash algorithm". It detects damage, not
//! forgery.

const P1: u64 = 0x9e37_79b1_85eb_ca87;
const P2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const P3: u64 = 0x1656_67b1_9e37_79f9;
const P4: u64 = 0x85eb_ca77_c2b2_ae63;
const P5: u64 = 0x27d4_eb2f_1656_67c5;

/// Bytes mixed in at a time.
const STRIPE: usize = 32;

/// The checksum of bytes that arrive in pieces.
#[derive(Debug, Clone)]
pub(super) struct Checksum {
    lanes: [u64; 4],
    /// The bytes since the last complete stripe.
    rest: [u8; STRIPE],
    filled: usize,
    length: u64,
}

impl Checksum {
    pub(super) fn new() -> Self {
        let lanes = [P1.wrapping_add(P2), P2, 0, 0u64.wrapping_sub(P1)];
        Self { lanes, rest: [0; STRIPE], filled: 0, length: 0 }
    }

    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        if self.filled > 0 {
            let taken = bytes.len().min(STRIPE - self.filled);
            self.rest[self.filled..][..taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled < STRIPE {
                return;
            }
            mix(&mut self.lanes, &self.rest);
            self.filled = 0;
        }
        let (stripes, rest) = bytes.as_chunks::<STRIPE>();
        for stripe in stripes {
            mix(&mut self.lanes, stripe);
        }
        self.rest[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    pub(super) fn value(&self) -> u64 {
        let mut hash = if self.length < STRIPE as u64 {
            P5
        } else {
            let [a, b, c, d] = self.lanes;
            let turned = [a.rotate_left(1), b.rotate_left(7), c.rotate_left(12), d.rotate_left(18)];
            let sum = turned.into_iter().fold(0, u64::wrapping_add);
            self.lanes
                .into_iter()
                .fold(sum, |hash, lane| (hash ^ round(0, lane)).wrapping_mul(P1).wrapping_add(P4))
        };
        hash = hash.wrapping_add(self.length);
        let (words, rest) = self.rest[..self.filled].as_chunks::<8>();
        for word in words {
            hash ^= round(0, u64::from_le_bytes(*word));
            hash = hash.rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
        }
        let (halves, rest) = rest.as_chunks::<4>();
        for half in halves {
            hash ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(P1);
            hash = hash.rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
        }
        for byte in rest {
            hash ^= u64::from(*byte).wrapping_mul(P5);
            hash = hash.rotate_left(11).wrapping_mul(P1);
        }
        hash = (hash ^ (hash >> 33)).wrapping_mul(P2);
        hash = (hash ^ (hash >> 29)).wrapping_mul(P3);
        hash ^ (hash >> 32)
    }
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

fn mix(lanes: &mut [u64; 4], stripe: &[u8; STRIPE]) {
    let (words, _) = stripe.as_chunks::<8>();
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane = round(*lane, u64::from_le_bytes(*word));
    }
}

/// The checksum of a slice.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::new();
    sum.add(bytes);
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_published_ones() {
        assert_eq!(checksum(b""), 0xef46_db37_51d8_e999);
        assert_eq!(checksum(b"a"), 0xd24e_c4f1_a98c_6e5b);
        assert_eq!(checksum(b"abc"), 0x44bc_2cf5_ad77_0999);
        let long = b"Nobody inspects the spammish repetition";
        assert_eq!(checksum(long), 0xfbce_a83c_8a37_8bf1);
    }

    #[test]
    fn pieces_do_not_matter() {
        let bytes: Vec<u8> = (0..200u8).collect();
        for first in 0..bytes.len() {
            for second in [first, (first + 7).min(200), (first + 40).min(200)] {
                let mut sum = Checksum::new();
                sum.add(&bytes[..first]);
                sum.add(&bytes[first..second]);
                sum.add(&bytes[second..]);
                assert_eq!(sum.value(), checksum(&bytes), "{first}, {second}");
            }
        }
    }
}
