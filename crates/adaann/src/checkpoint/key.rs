//! Keys of maps as texts: texts, integers, booleans and names of variants.

use super::trouble::Trouble;
use serde::{
    Serialize,
    de::{self, Deserializer, IntoDeserializer, Visitor, value::StringDeserializer},
    forward_to_deserialize_any,
};

/// The text of a key.
///
/// # Errors
/// If it is not a text, an integer, a boolean or a variant without content.
pub(super) fn encode<T: Serialize + ?Sized>(key: &T) -> Result<String, Trouble> {
    // As a JSON value a key shows its type, and only some types can be keys.
    match serde_json::to_value(key) {
        Ok(serde_json::Value::String(text)) => Ok(text),
        Ok(serde_json::Value::Bool(x)) => Ok(x.to_string()),
        Ok(serde_json::Value::Number(x)) if !x.is_f64() => Ok(x.to_string()),
        _ => Err(Trouble::new("a map whose keys are neither texts nor integers")),
    }
}

/// A key, to be decoded to its original type.
pub(super) struct Key(pub(super) String);

/// Parses integers and booleans from their texts. Any other text goes to the visitor, whose error
/// says what it expected.
macro_rules! parsed {
    ($($method:ident => $visit:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
            match self.0.parse() {
                Ok(x) => visitor.$visit(x),
                Err(_) => visitor.visit_string(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Key {
    type Error = Trouble;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_string(self.0)
    }

    parsed! {
        deserialize_bool => visit_bool;
        deserialize_i8 => visit_i8;
        deserialize_i16 => visit_i16;
        deserialize_i32 => visit_i32;
        deserialize_i64 => visit_i64;
        deserialize_u8 => visit_u8;
        deserialize_u16 => visit_u16;
        deserialize_u32 => visit_u32;
        deserialize_u64 => visit_u64;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Trouble> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Trouble> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Trouble> {
        let text: StringDeserializer<Trouble> = self.0.into_deserializer();
        text.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

/// Decodes the key with a seed.
pub(super) fn decode<'de, K: de::DeserializeSeed<'de>>(
    key: &str,
    seed: K,
) -> Result<K::Value, Trouble> {
    seed.deserialize(Key(key.to_owned()))
}
