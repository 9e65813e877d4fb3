//! Encodes anything that serde can serialise as a tree of values.

use super::{
    gather::Gathered,
    key,
    trouble::Trouble,
    value::{DEPTH, Value},
};
use serde::ser::{self, Serialize, Serializer};

/// Encodes a state.
///
/// # Errors
/// If it nests deeper than [`DEPTH`], has integers of 128 bits, or maps whose keys are not texts.
pub(super) fn encode<T: Serialize + ?Sized>(state: &T) -> Result<Value<'static>, Trouble> {
    state.serialize(Encoder { depth: 0 })
}

/// Encodes a value at a given depth.
#[derive(Clone, Copy)]
struct Encoder {
    depth: usize,
}

impl Encoder {
    /// The encoder for the next level.
    fn inside(self) -> Result<Self, Trouble> {
        if self.depth >= DEPTH {
            return Err(Trouble::new(format!("nests deeper than {DEPTH} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

/// A variant of an enum with content: a map with one entry.
fn tagged(variant: &str, value: Value<'static>) -> Value<'static> {
    Value::Map(vec![(variant.to_owned(), value)])
}

type Encoded = Result<Value<'static>, Trouble>;

impl Serializer for Encoder {
    type Ok = Value<'static>;
    type Error = Trouble;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Map;
    type SerializeStruct = Map;
    type SerializeStructVariant = Map;

    /// Types with a binary form use it: numbers are written as numbers, not as texts.
    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn serialize_bool(self, x: bool) -> Encoded {
        Ok(Value::Bool(x))
    }
    #[inline]
    fn serialize_i8(self, x: i8) -> Encoded {
        Ok(Value::I64(x.into()))
    }
    #[inline]
    fn serialize_i16(self, x: i16) -> Encoded {
        Ok(Value::I64(x.into()))
    }
    #[inline]
    fn serialize_i32(self, x: i32) -> Encoded {
        Ok(Value::I64(x.into()))
    }
    #[inline]
    fn serialize_i64(self, x: i64) -> Encoded {
        Ok(Value::I64(x))
    }
    #[inline]
    fn serialize_u8(self, x: u8) -> Encoded {
        Ok(Value::U64(x.into()))
    }
    #[inline]
    fn serialize_u16(self, x: u16) -> Encoded {
        Ok(Value::U64(x.into()))
    }
    #[inline]
    fn serialize_u32(self, x: u32) -> Encoded {
        Ok(Value::U64(x.into()))
    }
    #[inline]
    fn serialize_u64(self, x: u64) -> Encoded {
        Ok(Value::U64(x))
    }
    #[inline]
    fn serialize_f32(self, x: f32) -> Encoded {
        Ok(Value::F32(x))
    }
    #[inline]
    fn serialize_f64(self, x: f64) -> Encoded {
        Ok(Value::F64(x))
    }
    fn serialize_char(self, c: char) -> Encoded {
        Ok(Value::Text(c.into()))
    }
    fn serialize_str(self, text: &str) -> Encoded {
        Ok(Value::Text(text.to_owned()))
    }
    fn serialize_bytes(self, bytes: &[u8]) -> Encoded {
        bytes.serialize(self)
    }
    fn serialize_none(self) -> Encoded {
        Ok(Value::Nothing)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Encoded {
        Ok(match value.serialize(self.inside()?)? {
            nothing @ (Value::Nothing | Value::Some(_)) => Value::Some(Box::new(nothing)),
            value => value,
        })
    }
    fn serialize_unit(self) -> Encoded {
        Ok(Value::Nothing)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Encoded {
        Ok(Value::Nothing)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Encoded {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Encoded {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Encoded {
        let value = value.serialize(self.inside()?).map_err(|e| e.within(variant))?;
        Ok(tagged(variant, value))
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<List, Trouble> {
        Ok(List { variant: None, inside: self.inside()?, index: 0, items: Gathered::new(len) })
    }
    fn serialize_tuple(self, len: usize) -> Result<List, Trouble> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<List, Trouble> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<List, Trouble> {
        let list = self.inside()?.serialize_seq(Some(len))?;
        Ok(List { variant: Some(variant), ..list })
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Map, Trouble> {
        let mut entries = Vec::new();
        // Ignore a failure: a type may announce more entries than it has.
        let _ = entries.try_reserve(len.unwrap_or(0));
        Ok(Map { variant: None, inside: self.inside()?, key: None, entries })
    }
    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Map, Trouble> {
        self.serialize_map(Some(len))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Map, Trouble> {
        let map = self.inside()?.serialize_map(Some(len))?;
        Ok(Map { variant: Some(variant), ..map })
    }
}

/// A list, tuple or tuple variant that is being encoded.
struct List {
    variant: Option<&'static str>,
    inside: Encoder,
    index: usize,
    items: Gathered,
}

impl List {
    #[inline]
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
        match value.serialize(self.inside) {
            Ok(value) => self.items.push(value),
            Err(error) => return Err(error.within(self.index)),
        }
        self.index += 1;
        Ok(())
    }

    fn finish(self) -> Encoded {
        let list = self.items.finish();
        Ok(match self.variant {
            Some(variant) => tagged(variant, list),
            None => list,
        })
    }
}

/// The four list traits differ only in the name of one method.
macro_rules! list {
    ($($name:ident, $push:ident;)*) => {$(
        impl ser::$name for List {
            type Ok = Value<'static>;
            type Error = Trouble;
            #[inline]
            fn $push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
                self.push(value)
            }
            fn end(self) -> Encoded {
                self.finish()
            }
        }
    )*};
}

list! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

/// A map, struct or struct variant that is being encoded.
struct Map {
    variant: Option<&'static str>,
    inside: Encoder,
    key: Option<String>,
    entries: Vec<(String, Value<'static>)>,
}

impl Map {
    fn push<T: Serialize + ?Sized>(&mut self, key: String, value: &T) -> Result<(), Trouble> {
        match value.serialize(self.inside) {
            Ok(value) => self.entries.push((key, value)),
            Err(error) => return Err(error.within(key)),
        }
        Ok(())
    }

    fn finish(self) -> Encoded {
        let map = Value::Map(self.entries);
        Ok(match self.variant {
            Some(variant) => tagged(variant, map),
            None => map,
        })
    }
}

impl ser::SerializeMap for Map {
    type Ok = Value<'static>;
    type Error = Trouble;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Trouble> {
        self.key = Some(key::encode(key)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Trouble> {
        let key = self.key.take().ok_or_else(|| Trouble::new("a map value without a key"))?;
        self.push(key, value)
    }
    fn end(self) -> Encoded {
        self.finish()
    }
}

impl ser::SerializeStruct for Map {
    type Ok = Value<'static>;
    type Error = Trouble;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Trouble> {
        self.push(key.to_owned(), value)
    }
    fn end(self) -> Encoded {
        self.finish()
    }
}

impl ser::SerializeStructVariant for Map {
    type Ok = Value<'static>;
    type Error = Trouble;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Trouble> {
        self.push(key.to_owned(), value)
    }
    fn end(self) -> Encoded {
        self.finish()
    }
}
