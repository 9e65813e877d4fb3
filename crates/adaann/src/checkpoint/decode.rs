//! Decodes a tree of values into a state.

use super::{
    key,
    number::Number,
    trouble::Trouble,
    value::{Numbers, Value},
};
use serde::{
    de::{
        DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
        MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};
use std::{borrow::Cow, vec};

/// Decodes a state.
///
/// # Errors
/// If the values do not match the type: fields that the type does not have, missing fields, and values
/// of another type, each with its path.
pub(super) fn decode<T: DeserializeOwned>(value: Value<'_>) -> Result<T, Trouble> {
    T::deserialize(value)
}

impl Value<'_> {
    /// A description for a message.
    fn seen(&self) -> Unexpected<'_> {
        match self {
            Self::Nothing => Unexpected::Unit,
            Self::Some(_) => Unexpected::Option,
            Self::Bool(x) => Unexpected::Bool(*x),
            Self::I64(x) => Unexpected::Signed(*x),
            Self::U64(x) => Unexpected::Unsigned(*x),
            Self::F32(x) => Unexpected::Float(f64::from(*x)),
            Self::F64(x) => Unexpected::Float(*x),
            Self::Text(text) => Unexpected::Str(text),
            Self::Numbers(_) | Self::List(_) => Unexpected::Seq,
            Self::Map(_) => Unexpected::Map,
        }
    }
}

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Trouble;

    /// The same setting as in the encoder.
    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        match self {
            Self::F64(x) => visitor.visit_f64(x),
            Self::Nothing => visitor.visit_unit(),
            Self::Some(value) => visitor.visit_some(*value),
            Self::Bool(x) => visitor.visit_bool(x),
            Self::I64(x) => visitor.visit_i64(x),
            Self::U64(x) => visitor.visit_u64(x),
            Self::F32(x) => visitor.visit_f32(x),
            Self::Text(text) => visitor.visit_string(text),
            Self::Numbers(numbers) => {
                let mut items = Row { numbers: &numbers, step: numbers.step(), at: 0 };
                let found = visitor.visit_seq(&mut items)?;
                all_taken(items.at, numbers.shape[0])?;
                Ok(found)
            }
            Self::List(values) => {
                let len = values.len();
                let mut items = Items { values: values.into_iter(), at: 0 };
                let found = visitor.visit_seq(&mut items)?;
                all_taken(len - items.values.len(), len)?;
                Ok(found)
            }
            Self::Map(entries) => {
                let len = entries.len();
                let mut fields = Fields { entries: entries.into_iter(), value: None };
                let found = visitor.visit_map(&mut fields)?;
                all_taken(len - fields.entries.len(), len)?;
                Ok(found)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        match self {
            Self::Nothing => visitor.visit_none(),
            Self::Some(value) => visitor.visit_some(*value),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Trouble> {
        visitor.visit_newtype_struct(self)
    }

    /// Fields are read by name alone; their order does not matter.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Trouble> {
        match self {
            Self::Map(_) => self.deserialize_any(visitor),
            other => Err(Trouble::invalid_type(other.seen(), &visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Trouble> {
        match self {
            Self::Text(name) => visitor.visit_enum(Variant { name, held: None }),
            Self::Map(mut entries) if entries.len() == 1 => match entries.pop() {
                Some((name, held)) => visitor.visit_enum(Variant { name, held: Some(held) }),
                None => Err(Trouble::new("a variant without a name")),
            },
            other => Err(Trouble::invalid_type(other.seen(), &"a variant of an enum")),
        }
    }

    /// Structs call this for a field that they do not have. A state with unknown fields is refused,
    /// because it is not the state that was written.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Trouble> {
        Err(Trouble::new("unknown field"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier
    }
}

/// A tuple must take all elements.
fn all_taken(taken: usize, len: usize) -> Result<(), Trouble> {
    if taken == len {
        return Ok(());
    }
    Err(Trouble::new(format!("{len} values found, {taken} expected")))
}

/// The elements of a list of numbers.
struct Row<'n, 'a> {
    numbers: &'n Numbers<'a>,
    /// Bytes of an element.
    step: usize,
    at: usize,
}

impl<'de> SeqAccess<'de> for &mut Row<'_, '_> {
    type Error = Trouble;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Trouble> {
        if self.at == self.numbers.shape[0] {
            return Ok(None);
        }
        let bytes = &self.numbers.bytes[self.at * self.step..][..self.step];
        let numbers = self.numbers;
        let found = match &numbers.shape[1..] {
            [] => seed.deserialize(Number { kind: numbers.kind, bytes }),
            inner => seed.deserialize(Value::Numbers(Numbers {
                kind: numbers.kind,
                shape: inner.to_vec(),
                bytes: Cow::Borrowed(bytes),
            })),
        };
        let found = found.map_err(|error| error.within(self.at))?;
        self.at += 1;
        Ok(Some(found))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.numbers.shape[0] - self.at)
    }
}

/// The elements of a list of values.
struct Items<'a> {
    values: vec::IntoIter<Value<'a>>,
    at: usize,
}

impl<'de> SeqAccess<'de> for &mut Items<'_> {
    type Error = Trouble;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Trouble> {
        let Some(value) = self.values.next() else { return Ok(None) };
        let found = seed.deserialize(value).map_err(|error| error.within(self.at))?;
        self.at += 1;
        Ok(Some(found))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len())
    }
}

/// The entries of a map, or the fields of a struct.
struct Fields<'a> {
    entries: vec::IntoIter<(String, Value<'a>)>,
    /// The entry whose key was read and whose value was not.
    value: Option<(String, Value<'a>)>,
}

impl<'de> MapAccess<'de> for &mut Fields<'_> {
    type Error = Trouble;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Trouble> {
        let Some((name, value)) = self.entries.next() else { return Ok(None) };
        let key = key::decode(&name, seed)?;
        self.value = Some((name, value));
        Ok(Some(key))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Trouble> {
        let entry = self.value.take();
        let (name, value) = entry.ok_or_else(|| Trouble::new("a value was read before its key"))?;
        seed.deserialize(value).map_err(|error| error.within(name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A variant of an enum, with its content.
struct Variant<'a> {
    name: String,
    held: Option<Value<'a>>,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Trouble;
    type Variant = Held<'a>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Held<'a>), Trouble> {
        let name = self.name.clone();
        let variant = seed.deserialize(self.name.into_deserializer())?;
        Ok((variant, Held { name, value: self.held }))
    }
}

/// The content of a variant.
struct Held<'a> {
    name: String,
    value: Option<Value<'a>>,
}

impl<'a> Held<'a> {
    /// Passes the content to a reader, and adds the variant's name to its errors.
    fn read<T>(self, read: impl FnOnce(Value<'a>) -> Result<T, Trouble>) -> Result<T, Trouble> {
        match self.value {
            Some(value) => read(value).map_err(|error| error.within(self.name)),
            None => Err(Trouble::new("this variant needs content").within(self.name)),
        }
    }
}

impl<'de> VariantAccess<'de> for Held<'_> {
    type Error = Trouble;

    fn unit_variant(self) -> Result<(), Trouble> {
        match self.value {
            None => Ok(()),
            Some(_) => Err(Trouble::new("this variant has no content").within(self.name)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Trouble> {
        self.read(|value| seed.deserialize(value))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Trouble> {
        self.read(|value| match value {
            Value::Numbers(_) | Value::List(_) => value.deserialize_any(visitor),
            other => Err(Trouble::invalid_type(other.seen(), &visitor)),
        })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Trouble> {
        self.read(|value| match value {
            Value::Map(_) => value.deserialize_any(visitor),
            other => Err(Trouble::invalid_type(other.seen(), &visitor)),
        })
    }
}
