//! The global heap of HDF5: pieces of any length, which datasets reference by collection and number.

/// The minimal size of a collection in HDF5.
const LEAST_COLLECTION: usize = 4096;
/// A collection is closed before another piece makes it longer than this. Piece numbers have 16 bits.
const FULL_COLLECTION: usize = 65536;
/// The size of the header of a collection, and of each piece in it.
const HEADER: usize = 16;

/// Consecutive collections, starting at an address.
pub(crate) struct Heap {
    /// The address of `bytes` in the file.
    address: u64,
    bytes: Vec<u8>,
    /// The start of the open collection in `bytes`.
    open: usize,
    /// The number of pieces in the open collection.
    pieces: u16,
}

impl Heap {
    pub(crate) fn new(address: u64) -> Self {
        Self { address, bytes: Vec::new(), open: 0, pieces: 0 }
    }

    /// Stores `piece` and returns the reference for datasets: the number of elements, the address of the
    /// collection, and the number within it. Empty texts also get a piece, because readers treat a text without one
    /// as missing.
    pub(crate) fn insert(&mut self, elements: u32, piece: &[u8]) -> [u8; 16] {
        let padded = piece.len().next_multiple_of(8);
        if self.pieces > 0 && self.bytes.len() - self.open + HEADER + padded > FULL_COLLECTION {
            self.close();
        }
        if self.pieces == 0 {
            self.open = self.bytes.len();
            self.bytes.extend(*b"GCOL\x01\0\0\0");
            self.bytes.extend([0; 8]); // the size, filled in later
        }
        self.pieces += 1;
        self.piece_header(self.pieces, piece.len());
        self.bytes.extend(piece);
        self.bytes.resize(self.bytes.len() + padded - piece.len(), 0);
        let mut reference = [0; 16];
        reference[..4].copy_from_slice(&elements.to_le_bytes());
        reference[4..12].copy_from_slice(&(self.address + self.open as u64).to_le_bytes());
        reference[12..14].copy_from_slice(&self.pieces.to_le_bytes());
        reference
    }

    /// The bytes of all collections.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.pieces > 0 {
            self.close();
        }
        self.bytes
    }

    fn close(&mut self) {
        let used = self.bytes.len() - self.open;
        let size = used.max(LEAST_COLLECTION);
        // Free space is piece 0, including its header. Smaller gaps stay unused.
        if size - used >= HEADER {
            self.piece_header(0, size - used);
        }
        self.bytes.resize(self.open + size, 0);
        let place = self.open + 8;
        self.bytes[place..place + 8].copy_from_slice(&(size as u64).to_le_bytes());
        self.pieces = 0;
    }

    fn piece_header(&mut self, number: u16, length: usize) {
        self.bytes.extend(number.to_le_bytes());
        self.bytes.extend([0; 6]); // no reference count, and reserved bytes
        self.bytes.extend((length as u64).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8]) -> u64 {
        bytes.iter().rev().fold(0, |sum, &byte| sum * 256 + u64::from(byte))
    }

    #[test]
    fn pieces_are_where_references_say() {
        let start = 48;
        let texts: Vec<Vec<u8>> = (0..4000).map(|i| vec![b'a' + (i % 26) as u8; i % 40]).collect();
        let mut heap = Heap::new(start);
        let references: Vec<_> =
            texts.iter().map(|text| heap.insert(text.len() as u32, text)).collect();
        let bytes = heap.finish();
        for (text, reference) in texts.iter().zip(references) {
            assert_eq!(number(&reference[..4]), text.len() as u64);
            let collection = &bytes[(number(&reference[4..12]) - start) as usize..];
            assert_eq!(&collection[..8], b"GCOL\x01\0\0\0");
            let mut rest = &collection[HEADER..number(&collection[8..16]) as usize];
            while rest[..2] != reference[12..14] {
                rest = &rest[HEADER + number(&rest[8..16]).next_multiple_of(8) as usize..];
            }
            assert_eq!(&rest[HEADER..HEADER + text.len()], text);
        }
    }

    #[test]
    fn collections_are_whole() {
        // A piece of 4032 bytes leaves 32 bytes of the smallest collection, 4056 leave 8.
        for length in [1, 4032, 4056, 4064, 4072, 65504, 70000] {
            let mut heap = Heap::new(0);
            heap.insert(1, &vec![1; length]);
            heap.insert(1, &[2; 9]);
            let bytes = heap.finish();
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let size = number(&rest[8..16]) as usize;
                assert!(size >= LEAST_COLLECTION && size.is_multiple_of(8), "{size} for {length}");
                rest = &rest[size..];
            }
        }
    }
}
