//! HDF5's global heap: pieces of any length, which datasets point to by collection and number.

/// HDF5 reads at least this much of a collection.
const LEAST_COLLECTION: usize = 4096;
/// A collection is closed when another piece would make it longer; numbers within have 16 bits.
const FULL_COLLECTION: usize = 65536;
/// Of a collection, and of each piece in it.
const HEADER: usize = 16;

/// Collections one after another, from an address on.
pub(crate) struct Heap {
    /// Where in the file `bytes` begins.
    address: u64,
    bytes: Vec<u8>,
    /// Where in `bytes` the open collection begins.
    open: usize,
    /// How many pieces the open collection has.
    pieces: u16,
}

impl Heap {
    pub(crate) fn new(address: u64) -> Self {
        Self { address, bytes: Vec::new(), open: 0, pieces: 0 }
    }

    /// Stores `piece` and returns how a dataset refers to it: the number of elements, the address of
    /// the collection, and the number within. What is empty has its piece, too: without one, readers
    /// take a text for missing.
    pub(crate) fn insert(&mut self, elements: u32, piece: &[u8]) -> [u8; 16] {
        let padded = piece.len().next_multiple_of(8);
        if self.pieces > 0 && self.bytes.len() - self.open + HEADER + padded > FULL_COLLECTION {
            self.close();
        }
        if self.pieces == 0 {
            self.open = self.bytes.len();
            self.bytes.extend(*b"GCOL\x01\0\0\0");
            self.bytes.extend([0; 8]); // the size, when it is known
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

    /// All collections.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.pieces > 0 {
            self.close();
        }
        self.bytes
    }

    fn close(&mut self) {
        let used = self.bytes.len() - self.open;
        let size = used.max(LEAST_COLLECTION);
        // Free space is piece 0, its header included; less than a header is left as it is.
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
        self.bytes.extend([0; 6]); // no count of references, and reserved
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
