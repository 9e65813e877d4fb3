//! Object headers, version 2, and the superblock.

use crate::{checksum::lookup3, message};

pub(crate) const SUPERBLOCK: u64 = 48;

/// The superblock of a file that ends at `end`.
pub(crate) fn superblock(root: u64, end: u64) -> Vec<u8> {
    let mut bytes = b"\x89HDF\r\n\x1a\n".to_vec();
    bytes.extend([2, 8, 8, 0]); // version 2; addresses and lengths of eight bytes; not open for writing
    for address in [0, message::NOWHERE, end, root] {
        bytes.extend(address.to_le_bytes());
    }
    seal(bytes)
}

/// A header under construction: one message after another.
#[derive(Default)]
pub(crate) struct Header {
    messages: Vec<u8>,
    attributes: u16,
}

impl Header {
    pub(crate) fn dataspace(&mut self, bytes: &[u8]) {
        self.push(0x01, 0, 0, bytes);
    }

    pub(crate) fn link_info(&mut self, bytes: &[u8]) {
        self.push(0x02, 0, 0, bytes);
    }

    /// Marks the type as constant, which HDF5 requires for datasets.
    pub(crate) fn datatype(&mut self, bytes: &[u8]) {
        self.push(0x03, 1, 0, bytes);
    }

    pub(crate) fn fill_value(&mut self, bytes: &[u8]) {
        self.push(0x05, 1, 0, bytes);
    }

    pub(crate) fn link(&mut self, bytes: &[u8]) {
        self.push(0x06, 0, 0, bytes);
    }

    pub(crate) fn layout(&mut self, bytes: &[u8]) {
        self.push(0x08, 0, 0, bytes);
    }

    pub(crate) fn group_info(&mut self) {
        self.push(0x0a, 1, 0, &[0, 0]);
    }

    pub(crate) fn attribute(&mut self, bytes: &[u8]) {
        self.push(0x0c, 0, self.attributes, bytes);
        self.attributes += 1;
    }

    fn push(&mut self, kind: u8, flags: u8, order: u16, bytes: &[u8]) {
        self.messages.push(kind);
        self.messages.extend((bytes.len() as u16).to_le_bytes());
        self.messages.push(flags);
        self.messages.extend(order.to_le_bytes());
        self.messages.extend(bytes);
    }

    /// The bytes of the header in the file.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.push(0x15, 0, 0, &message::attribute_info(self.attributes));
        // Four bytes for the size; the creation order of attributes is tracked and indexed.
        let mut bytes = b"OHDR\x02".to_vec();
        bytes.push(2 | 1 << 2 | 1 << 3);
        bytes.extend((self.messages.len() as u32).to_le_bytes());
        bytes.extend(self.messages);
        seal(bytes)
    }
}

fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = lookup3(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}
