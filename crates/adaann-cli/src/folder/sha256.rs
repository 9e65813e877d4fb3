//! SHA-256 (FIPS 180-4), the digest of the files in an index.

/// The digest of the bytes added so far.
#[derive(Debug, Clone)]
pub(super) struct Sha256 {
    state: [u32; 8],
    /// Bytes of the incomplete last block.
    rest: Vec<u8>,
    len: u64,
}

const BLOCK: usize = 64;

/// The first 32 bits of the fractional parts of the square roots of the first primes.
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The same for the cube roots.
#[rustfmt::skip]
const ROUNDS: [u32; BLOCK] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

impl Sha256 {
    pub(super) fn new() -> Self {
        Self { state: START, rest: Vec::with_capacity(2 * BLOCK), len: 0 }
    }

    /// Adds bytes.
    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        self.len += bytes.len() as u64;
        if !self.rest.is_empty() {
            let missing = (BLOCK - self.rest.len()).min(bytes.len());
            self.rest.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.rest.len() < BLOCK {
                return;
            }
            let block = std::mem::take(&mut self.rest);
            self.mix(&block);
        }
        let mut blocks = bytes.chunks_exact(BLOCK);
        for block in &mut blocks {
            self.mix(block);
        }
        self.rest.extend_from_slice(blocks.remainder());
    }

    /// The digest in hexadecimal.
    pub(super) fn digest(mut self) -> String {
        let bits = 8 * self.len;
        let mut end = std::mem::take(&mut self.rest);
        end.push(0x80);
        while end.len() % BLOCK != BLOCK - 8 {
            end.push(0);
        }
        end.extend(bits.to_be_bytes());
        end.chunks_exact(BLOCK).for_each(|block| self.mix(block));
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }

    fn mix(&mut self, block: &[u8]) {
        let mut w = [0_u32; BLOCK];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for i in 16..BLOCK {
            let (a, b) = (w[i - 15], w[i - 2]);
            let low = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let high = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            w[i] = w[i - 16].wrapping_add(low).wrapping_add(w[i - 7]).wrapping_add(high);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
        for i in 0..BLOCK {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = e & f ^ !e & g;
            let first = h.wrapping_add(s1).wrapping_add(choice);
            let first = first.wrapping_add(ROUNDS[i]).wrapping_add(w[i]);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = a & b ^ a & c ^ b & c;
            let second = s0.wrapping_add(majority);
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(second));
        }
        for (state, mixed) in self.state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *state = state.wrapping_add(mixed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(bytes: &[u8], piece: usize) -> String {
        let mut hash = Sha256::new();
        bytes.chunks(piece).for_each(|piece| hash.add(piece));
        hash.digest()
    }

    /// The examples of FIPS 180-4.
    #[test]
    fn digests_are_the_published_ones() {
        let million = vec![b'a'; 1_000_000];
        for (bytes, expected) in [
            (&b""[..], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (&million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ] {
            for piece in [1, 63, 64, 65, 1_000] {
                assert_eq!(digest(bytes, piece), expected, "{piece}");
            }
        }
    }
}
