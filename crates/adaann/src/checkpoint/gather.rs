//! Collects the elements of a list: as bytes while all are numbers of one kind, as values
//! otherwise.

use super::value::{Kind, Numbers, Value};
use std::borrow::Cow;

/// A list that grows.
pub(super) struct Gathered {
    /// The announced number of elements.
    expected: usize,
    items: Items,
}

enum Items {
    None,
    Numbers(Alike),
    Values(Vec<Value<'static>>),
}

/// Elements of the same kind and shape.
struct Alike {
    kind: Kind,
    /// The shape of an element, empty for a number.
    inner: Vec<usize>,
    elements: usize,
    bytes: Vec<u8>,
}

impl Gathered {
    pub(super) fn new(expected: Option<usize>) -> Self {
        Self { expected: expected.unwrap_or(0), items: Items::None }
    }

    #[inline]
    pub(super) fn push(&mut self, value: Value<'static>) {
        if let Items::Numbers(alike) = &mut self.items
            && alike.takes(&value)
        {
            return;
        }
        self.push_another(value);
    }

    /// Pushes the first element, or one that differs from those before it.
    fn push_another(&mut self, value: Value<'static>) {
        self.items = match std::mem::replace(&mut self.items, Items::None) {
            Items::None => match Alike::begin(&value, self.expected) {
                Some(alike) => Items::Numbers(alike),
                None => Items::Values(vec![value]),
            },
            Items::Numbers(alike) => {
                let mut values = alike.into_values();
                values.push(value);
                Items::Values(values)
            }
            Items::Values(mut values) => {
                values.push(value);
                Items::Values(values)
            }
        };
    }

    pub(super) fn finish(self) -> Value<'static> {
        match self.items {
            Items::None => Value::List(Vec::new()),
            Items::Numbers(alike) => Value::Numbers(alike.into_numbers()),
            Items::Values(values) => Value::List(values),
        }
    }
}

impl Alike {
    /// Begins with a first element, if it is a number or a list of numbers.
    fn begin(first: &Value<'static>, expected: usize) -> Option<Self> {
        let (kind, inner) = match first {
            Value::Numbers(numbers) => (numbers.kind, numbers.shape.clone()),
            number => (number.kind()?, Vec::new()),
        };
        let mut alike = Self { kind, inner, elements: 0, bytes: Vec::new() };
        let each: usize = alike.inner.iter().product::<usize>() * kind.size();
        // Ignore a failure: a type may announce more elements than it has.
        let _ = alike.bytes.try_reserve_exact(expected.saturating_mul(each));
        alike.takes(first).then_some(alike)
    }

    /// Adds an element, if it is like the others.
    #[inline]
    fn takes(&mut self, value: &Value<'static>) -> bool {
        let bytes = &mut self.bytes;
        match (value, self.kind) {
            (Value::Numbers(numbers), kind) => {
                if numbers.kind != kind || numbers.shape != self.inner {
                    return false;
                }
                bytes.extend_from_slice(&numbers.bytes);
            }
            _ if !self.inner.is_empty() => return false,
            (Value::F64(x), Kind::F64) => bytes.extend_from_slice(&x.to_le_bytes()),
            (Value::F32(x), Kind::F32) => bytes.extend_from_slice(&x.to_le_bytes()),
            (Value::U64(x), Kind::U64) => bytes.extend_from_slice(&x.to_le_bytes()),
            (Value::I64(x), Kind::I64) => bytes.extend_from_slice(&x.to_le_bytes()),
            (Value::Bool(x), Kind::Bool) => bytes.push(u8::from(*x)),
            _ => return false,
        }
        self.elements += 1;
        true
    }

    fn into_numbers(self) -> Numbers<'static> {
        let shape = [&[self.elements], &self.inner[..]].concat();
        Numbers { kind: self.kind, shape, bytes: Cow::Owned(self.bytes) }
    }

    fn into_values(self) -> Vec<Value<'static>> {
        let element = |bytes: &[u8]| match &self.inner[..] {
            [] => self.kind.read(bytes),
            inner => Some(Value::Numbers(Numbers {
                kind: self.kind,
                shape: inner.to_vec(),
                bytes: Cow::Owned(bytes.to_vec()),
            })),
        };
        let step = self.bytes.len() / self.elements;
        self.bytes.chunks_exact(step).filter_map(element).collect()
    }
}
