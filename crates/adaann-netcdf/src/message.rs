//! The encodings of header messages: types, shapes, layouts, links and attributes.

/// The undefined address.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// The storage type of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Type {
    F64,
    I64,
    I32,
    /// The type that netCDF uses for the scale of a dimension without coordinate, which has no values.
    F32,
    /// ASCII of this length, including the final NUL.
    Ascii(u32),
    /// UTF-8 of any length, in the heap.
    Text,
    /// Any number of object references, in the heap.
    References,
    /// An object reference and the index of one of its dimensions.
    BackReference,
}

impl Type {
    /// The size of a value in the data of the object, in bytes.
    pub(crate) fn size(self) -> u32 {
        match self {
            Self::F64 | Self::I64 => 8,
            Self::I32 | Self::F32 => 4,
            Self::Ascii(length) => length,
            Self::Text | Self::References | Self::BackReference => 16,
        }
    }

    /// The datatype message.
    pub(crate) fn encode(self) -> Vec<u8> {
        let size = self.size();
        match self {
            Self::F64 => float(size, 52, 11),
            Self::F32 => float(size, 23, 8),
            Self::I64 | Self::I32 => integer(size, true),
            // Ends with NUL, ASCII.
            Self::Ascii(_) => head(1, 3, [0, 0, 0], size),
            // A text: ends with NUL, UTF-8; its elements are bytes.
            Self::Text => [head(1, 9, [1, 1, 0], size), integer(1, false)].concat(),
            Self::References => [head(1, 9, [0, 0, 0], size), reference()].concat(),
            Self::BackReference => [
                head(3, 6, [2, 0, 0], size),
                [&b"dataset\0\x00"[..], &reference()].concat(),
                [&b"dimension\0\x08"[..], &integer(4, false)].concat(),
            ]
            .concat(),
        }
    }
}

fn head(version: u8, class: u8, bits: [u8; 3], size: u32) -> Vec<u8> {
    let mut bytes = vec![version << 4 | class];
    bytes.extend(bits);
    bytes.extend(size.to_le_bytes());
    bytes
}

fn integer(size: u32, signed: bool) -> Vec<u8> {
    let mut bytes = head(1, 0, [u8::from(signed) << 3, 0, 0], size);
    bytes.extend([0, 0]); // the first bit
    bytes.extend((8 * size as u16).to_le_bytes());
    bytes
}

/// Little-endian IEEE: sign, exponent, mantissa with an implied first bit.
fn float(size: u32, mantissa: u8, exponent: u8) -> Vec<u8> {
    let bits = 8 * size as u16;
    let mut bytes = head(1, 1, [2 << 4, bits as u8 - 1, 0], size);
    bytes.extend([0, 0]); // the first bit
    bytes.extend(bits.to_le_bytes());
    bytes.extend([mantissa, exponent, 0, mantissa]);
    bytes.extend(((1_u32 << (exponent - 1)) - 1).to_le_bytes());
    bytes
}

fn reference() -> Vec<u8> {
    head(1, 7, [0, 0, 0], 8)
}

/// The number of values along each dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Scalar,
    Simple(Vec<u64>),
}

impl Shape {
    /// The dataspace message.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (kind, lengths) = match self {
            Self::Scalar => (0, &[][..]),
            Self::Simple(lengths) => (1, &lengths[..]),
        };
        // No maximal lengths, so they equal the lengths.
        let mut bytes = vec![2, lengths.len() as u8, 0, kind];
        bytes.extend(lengths.iter().flat_map(|length| length.to_le_bytes()));
        bytes
    }
}

/// The layout message of contiguous values.
pub(crate) fn contiguous(address: u64, size: u64) -> Vec<u8> {
    let mut bytes = vec![3, 1];
    bytes.extend(address.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes
}

/// The fill value message: no fill value, and space allocated when values were written.
pub(crate) fn no_fill_value() -> Vec<u8> {
    vec![3, 2 | 2 << 2]
}

/// The link message to an object. `order` is the index of the link in the group.
pub(crate) fn link(name: &str, order: u64, address: u64) -> Vec<u8> {
    // Two bytes for the length of the name; creation order and character set are present.
    let mut bytes = vec![1, 1 | 1 << 2 | 1 << 4];
    bytes.extend(order.to_le_bytes());
    bytes.push(1); // UTF-8
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes.extend(address.to_le_bytes());
    bytes
}

/// The link info message: creation order is tracked and indexed, all links are in the header.
pub(crate) fn link_info(links: u64) -> Vec<u8> {
    [&[0, 3][..], &links.to_le_bytes(), &[0xff; 24]].concat()
}

/// The attribute info message, with the same properties for attributes.
pub(crate) fn attribute_info(attributes: u16) -> Vec<u8> {
    [&[0, 3][..], &attributes.to_le_bytes(), &[0xff; 24]].concat()
}

/// The attribute message.
pub(crate) fn attribute(name: &str, kind: Type, shape: &Shape, values: &[u8]) -> Vec<u8> {
    let (kind, shape) = (kind.encode(), shape.encode());
    let mut bytes = vec![3, 0];
    for length in [name.len() + 1, kind.len(), shape.len()] {
        bytes.extend((length as u16).to_le_bytes());
    }
    bytes.push(1); // UTF-8
    bytes.extend(name.as_bytes());
    bytes.push(0);
    bytes.extend(kind);
    bytes.extend(shape);
    bytes.extend(values);
    bytes
}
