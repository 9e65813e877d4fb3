//! A slice of doubles that starts on a cache line and is padded to whole cache lines.

use bytemuck::{Pod, Zeroable};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
};
use std::fmt::{self, Write};

/// Doubles in one cache line.
const LINE: usize = 8;

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([f64; LINE]);

/// Zeroed doubles, aligned to 64 bytes; dereferences to a slice of the requested length.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    lines: Vec<Line>,
    len: usize,
}

impl Buffer {
    /// A buffer of `len` zeros.
    pub fn zeros(len: usize) -> Self {
        Self { lines: vec![Line([0.0; LINE]); len.div_ceil(LINE)], len }
    }

    /// Makes the length at least `len`. Storage that is long enough is reused, so that a loop that
    /// requests the same lengths again allocates once. The contents after growing are unspecified.
    pub fn reserve(&mut self, len: usize) {
        if len > self.len {
            *self = Self::zeros(len);
        }
    }

    /// Makes the length at least `len` and preserves the contents; new numbers are 0.
    pub fn grow(&mut self, len: usize) {
        if len > self.len {
            self.lines.resize(len.div_ceil(LINE), Line([0.0; LINE]));
            self.len = len;
        }
    }
}

impl std::ops::Deref for Buffer {
    type Target = [f64];
    #[inline]
    fn deref(&self) -> &[f64] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl std::ops::DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

impl From<&[f64]> for Buffer {
    fn from(values: &[f64]) -> Self {
        let mut buffer = Self::zeros(values.len());
        buffer.copy_from_slice(values);
        buffer
    }
}

/// Hexadecimal digits of the bits of a double.
const DIGITS: usize = 16;

/// Text formats get the bits of all numbers as one text. Every value is then read back exactly,
/// including infinities and NaN, which not every text format can express. Binary formats get
/// numbers.
impl Serialize for Buffer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.collect_seq(&**self);
        }
        let mut text = String::with_capacity(DIGITS * self.len);
        for value in &**self {
            write!(text, "{:016x}", value.to_bits()).expect("a text takes what is written");
        }
        serializer.serialize_str(&text)
    }
}

/// Reads either form: behind an untagged enum, the kind of format is no longer known.
impl<'de> Deserialize<'de> for Buffer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Form)
    }
}

struct Form;

impl<'de> Visitor<'de> for Form {
    type Value = Buffer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers as groups of sixteen hexadecimal digits, or as a list")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Buffer, E> {
        let (groups, rest) = text.as_bytes().as_chunks::<DIGITS>();
        let refuse = || E::custom("numbers are not groups of sixteen hexadecimal digits");
        if !rest.is_empty() {
            return Err(refuse());
        }
        let mut buffer = Buffer::zeros(groups.len());
        for (value, group) in buffer.iter_mut().zip(groups) {
            let mut digits = group.iter().map(|digit| char::from(*digit).to_digit(16));
            let bits = digits.try_fold(0, |bits, digit| Some((bits << 4) | u64::from(digit?)));
            *value = f64::from_bits(bits.ok_or_else(refuse)?);
        }
        Ok(buffer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Buffer, A::Error> {
        let mut buffer = Buffer::default();
        while let Some(value) = items.next_element()? {
            let (line, place) = (buffer.len / LINE, buffer.len % LINE);
            if place == 0 {
                buffer.lines.push(Line([0.0; LINE]));
            }
            buffer.lines[line].0[place] = value;
            buffer.len += 1;
        }
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_a_file_bit_by_bit() {
        let values = [0.1, -0.0, f64::NEG_INFINITY, f64::NAN, 5e-324, f64::MAX, 1.0 / 3.0];
        let text = serde_json::to_string(&Buffer::from(&values[..])).unwrap();
        assert!(text.starts_with("\"3fb999999999999a8000000000000000fff0"), "{text}");
        let back: Buffer = serde_json::from_str(&text).unwrap();
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&values));
        for bad in ["\"3f\"", "\"3fb999999999999g\"", "\"+fb999999999999a\"", "7"] {
            assert!(serde_json::from_str::<Buffer>(bad).is_err(), "{bad}");
        }
    }
}
