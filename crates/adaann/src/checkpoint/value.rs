//! A state as a tree of values, whose long lists of numbers are bytes.

use std::borrow::Cow;

/// The maximum depth of values. Readers recurse, so a file must not determine the depth;
/// serde_json's own limit is 128, and the marks of a skeleton need some of it.
pub(super) const DEPTH: usize = 120;

/// A node of a state; `'a` is the lifetime of the file that its numbers refer to.
#[derive(Debug, Clone)]
pub(super) enum Value<'a> {
    /// `None`, or `()`.
    Nothing,
    /// A `Some` whose content would otherwise be read as `None`.
    Some(Box<Value<'a>>),
    Bool(bool),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
    Text(String),
    Numbers(Numbers<'a>),
    List(Vec<Value<'a>>),
    /// Also structs, and variants of enums with content: their name maps to the content.
    Map(Vec<(String, Value<'a>)>),
}

impl Value<'_> {
    /// The same value with its own copy of the numbers, independent of the file.
    pub(super) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Nothing => Value::Nothing,
            Self::Some(value) => Value::Some(Box::new(value.into_owned())),
            Self::Bool(value) => Value::Bool(value),
            Self::I64(value) => Value::I64(value),
            Self::U64(value) => Value::U64(value),
            Self::F32(value) => Value::F32(value),
            Self::F64(value) => Value::F64(value),
            Self::Text(text) => Value::Text(text),
            Self::Numbers(Numbers { kind, shape, bytes }) => {
                Value::Numbers(Numbers { kind, shape, bytes: Cow::Owned(bytes.into_owned()) })
            }
            Self::List(values) => Value::List(values.into_iter().map(Value::into_owned).collect()),
            Self::Map(values) => Value::Map(
                values.into_iter().map(|(name, value)| (name, value.into_owned())).collect(),
            ),
        }
    }

    /// The kind of number, if it is a number.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Self::Bool(_) => Some(Kind::Bool),
            Self::I64(_) => Some(Kind::I64),
            Self::U64(_) => Some(Kind::U64),
            Self::F32(_) => Some(Kind::F32),
            Self::F64(_) => Some(Kind::F64),
            _ => None,
        }
    }
}

/// Numbers that a tensor can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    I64,
    U64,
    F32,
    F64,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Bool, Self::I64, Self::U64, Self::F32, Self::F64];

    /// Bytes of one number.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Its name in safetensors files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bool => "BOOL",
            Self::I64 => "I64",
            Self::U64 => "U64",
            Self::F32 => "F32",
            Self::F64 => "F64",
        }
    }

    /// The kind with this name.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The number in these bytes; none if their length is wrong, or they are not a valid boolean.
    #[inline]
    pub(super) fn read(self, bytes: &[u8]) -> Option<Value<'static>> {
        Some(match self {
            Self::Bool => match bytes {
                [0] => Value::Bool(false),
                [1] => Value::Bool(true),
                _ => return None,
            },
            Self::I64 => Value::I64(i64::from_le_bytes(bytes.try_into().ok()?)),
            Self::U64 => Value::U64(u64::from_le_bytes(bytes.try_into().ok()?)),
            Self::F32 => Value::F32(f32::from_le_bytes(bytes.try_into().ok()?)),
            Self::F64 => Value::F64(f64::from_le_bytes(bytes.try_into().ok()?)),
        })
    }
}

/// A list of numbers of one kind, or of lists of equal length, as little-endian bytes. It is never
/// empty, in any dimension.
#[derive(Debug, Clone)]
pub(super) struct Numbers<'a> {
    pub(super) kind: Kind,
    /// The shape of the tensor, the outer list first.
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Cow<'a, [u8]>,
}

impl Numbers<'_> {
    /// The number of elements over all dimensions.
    pub(super) fn count(&self) -> usize {
        self.bytes.len() / self.kind.size()
    }

    /// Bytes of one element of the outer list.
    pub(super) fn step(&self) -> usize {
        self.bytes.len() / self.shape[0].max(1)
    }

    /// An element of the outer list from its bytes: a number, or a list.
    pub(super) fn element<'b>(&self, bytes: &'b [u8]) -> Option<Value<'b>> {
        match &self.shape[1..] {
            [] => self.kind.read(bytes),
            inner => Some(Value::Numbers(Numbers {
                kind: self.kind,
                shape: inner.to_vec(),
                bytes: Cow::Borrowed(bytes),
            })),
        }
    }
}
