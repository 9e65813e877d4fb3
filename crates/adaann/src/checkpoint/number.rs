//! Deserialises a number of a list in place: most of a state is such numbers.

use super::{
    trouble::Trouble,
    value::{Kind, Value},
};
use serde::{
    de::{Deserializer, Visitor},
    forward_to_deserialize_any,
};

/// A number as its bytes.
#[derive(Clone, Copy)]
pub(super) struct Number<'b> {
    pub(super) kind: Kind,
    pub(super) bytes: &'b [u8],
}

impl<'de> Deserializer<'de> for Number<'_> {
    type Error = Trouble;

    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        match self.kind.read(self.bytes) {
            Some(Value::F64(x)) => visitor.visit_f64(x),
            Some(Value::F32(x)) => visitor.visit_f32(x),
            Some(Value::U64(x)) => visitor.visit_u64(x),
            Some(Value::I64(x)) => visitor.visit_i64(x),
            Some(Value::Bool(x)) => visitor.visit_bool(x),
            _ => Err(Trouble::new(format!("{:?} is not a {}", self.bytes, self.kind.name()))),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Trouble> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
