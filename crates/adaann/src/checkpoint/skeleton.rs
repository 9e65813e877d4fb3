//! A tree of values as JSON, in which long lists of numbers are names of tensors.
//!
//! An object with a single key that begins with `$` is a mark: `{"$tensor": "particles.z"}` is a list
//! stored elsewhere, `{"$f64": "0x7ff0000000000000"}` a number that JSON cannot represent, `{"$some":
//! null}` a `Some(None)`. A key of the state itself that begins with `$` gets another `$`.

use super::value::{DEPTH, Numbers, Value};
use serde::{
    Deserializer, Serialize,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use std::{collections::BTreeMap, fmt};

/// Lists of at most this many numbers are part of the JSON.
const SHORT: usize = 8;

/// The name of the tensor if the whole state is a list of numbers.
const ROOT: &str = "$";

/// The JSON of a value, and the lists that it names.
pub(super) fn write<'v>(value: &'v Value<'_>) -> (String, Vec<(String, &'v Numbers<'v>)>) {
    let mut writing = Writing { text: Vec::new(), path: Vec::new(), tensors: Vec::new() };
    writing.value(value);
    // serde_json writes only UTF-8.
    (String::from_utf8_lossy(&writing.text).into_owned(), writing.tensors)
}

struct Writing<'v> {
    text: Vec<u8>,
    path: Vec<String>,
    tensors: Vec<(String, &'v Numbers<'v>)>,
}

impl<'v> Writing<'v> {
    fn value(&mut self, value: &'v Value<'_>) {
        match value {
            Value::Nothing => self.plain(&()),
            Value::Some(inner) => {
                self.text.extend_from_slice(b"{\"$some\":");
                self.value(inner);
                self.text.push(b'}');
            }
            Value::Numbers(numbers) if numbers.count() > SHORT => {
                let name = if self.path.is_empty() { ROOT.into() } else { self.path.join(".") };
                self.mark("$tensor", &name);
                self.tensors.push((name, numbers));
            }
            Value::Numbers(numbers) => self.short(numbers),
            Value::List(values) => self.list(values.iter().enumerate(), |writing, (i, value)| {
                writing.path.push(i.to_string());
                writing.value(value);
                writing.path.pop();
            }),
            Value::Map(entries) => {
                self.text.push(b'{');
                for (i, (key, value)) in entries.iter().enumerate() {
                    if i > 0 {
                        self.text.push(b',');
                    }
                    self.plain(&marked(key));
                    self.text.push(b':');
                    self.path.push(segment(key));
                    self.value(value);
                    self.path.pop();
                }
                self.text.push(b'}');
            }
            Value::Text(text) => self.plain(text),
            scalar => self.scalar(scalar),
        }
    }

    fn scalar(&mut self, value: &Value<'_>) {
        match value {
            Value::Bool(x) => self.plain(x),
            Value::I64(x) => self.plain(x),
            Value::U64(x) => self.plain(x),
            Value::F64(x) if x.is_finite() => self.plain(x),
            Value::F64(x) => self.mark("$f64", &format!("{:#018x}", x.to_bits())),
            Value::F32(x) if x.is_finite() => self.plain(&f64::from(*x)),
            Value::F32(x) => self.mark("$f32", &format!("{:#010x}", x.to_bits())),
            _ => self.plain(&()),
        }
    }

    /// A short list of numbers, or of such lists.
    fn short(&mut self, numbers: &Numbers<'_>) {
        let elements = numbers.bytes.chunks_exact(numbers.step());
        self.list(
            elements.filter_map(|bytes| numbers.element(bytes)),
            |writing, value| match &value {
                Value::Numbers(inner) => writing.short(inner),
                scalar => writing.scalar(scalar),
            },
        );
    }

    fn list<T>(&mut self, items: impl Iterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.text.push(b'[');
        for (i, item) in items.enumerate() {
            if i > 0 {
                self.text.push(b',');
            }
            write(self, item);
        }
        self.text.push(b']');
    }

    fn mark(&mut self, mark: &str, text: &str) {
        self.text.push(b'{');
        self.plain(&mark);
        self.text.push(b':');
        self.plain(&text);
        self.text.push(b'}');
    }

    fn plain(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut self.text, value).expect("plain data serialise");
    }
}

/// A key as written in the JSON.
fn marked(key: &str) -> String {
    if key.starts_with('$') { format!("${key}") } else { key.to_owned() }
}

/// A key as written in the names of tensors. Two paths must never give the same name: dots separate
/// keys, `$` marks names that are not paths, and `__metadata__` is reserved by the format.
fn segment(key: &str) -> String {
    let escaped = key.replace('~', "~0").replace('.', "~1");
    if key == "__metadata__" { format!("~{key}") } else { marked(&escaped) }
}

/// Lists of numbers by name.
pub(super) type Tensors<'a> = BTreeMap<String, Numbers<'a>>;

/// Reads a value. Every list may be used only once: otherwise a text that names one many times could
/// request any amount of memory.
///
/// # Errors
/// If the text is not a skeleton, or its names do not match the lists.
pub(super) fn read<'a>(text: &str, mut tensors: Tensors<'a>) -> Result<Value<'a>, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let reading = Reading { tensors: &mut tensors, depth: 0 };
    let value = reading.deserialize(&mut json).map_err(|error| error.to_string())?;
    json.end().map_err(|error| error.to_string())?;
    match tensors.into_keys().next() {
        Some(name) => Err(format!("the tensor '{name}' is unused")),
        None => Ok(value),
    }
}

/// Reads one value.
struct Reading<'t, 'a> {
    tensors: &'t mut Tensors<'a>,
    depth: usize,
}

impl<'a> Reading<'_, 'a> {
    /// The reader for the next level.
    fn inside<E: Error>(&mut self) -> Result<Reading<'_, 'a>, E> {
        if self.depth >= DEPTH {
            return Err(E::custom(format!("nests deeper than {DEPTH} levels")));
        }
        Ok(Reading { tensors: self.tensors, depth: self.depth + 1 })
    }

    fn tensor<E: Error>(&mut self, name: &str) -> Result<Value<'a>, E> {
        let numbers = self.tensors.remove(name);
        let numbers = numbers.ok_or_else(|| E::custom(format!("there is no tensor '{name}'")))?;
        if self.depth + numbers.shape.len() > DEPTH {
            return Err(E::custom(format!("'{name}' nests deeper than {DEPTH} levels")));
        }
        Ok(Value::Numbers(numbers))
    }
}

impl<'de, 'a> DeserializeSeed<'de> for Reading<'_, 'a> {
    type Value = Value<'a>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'a>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, 'a> Visitor<'de> for Reading<'_, 'a> {
    type Value = Value<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a state")
    }

    fn visit_unit<E>(self) -> Result<Value<'a>, E> {
        Ok(Value::Nothing)
    }
    fn visit_bool<E>(self, x: bool) -> Result<Value<'a>, E> {
        Ok(Value::Bool(x))
    }
    fn visit_i64<E>(self, x: i64) -> Result<Value<'a>, E> {
        Ok(Value::I64(x))
    }
    fn visit_u64<E>(self, x: u64) -> Result<Value<'a>, E> {
        Ok(Value::U64(x))
    }
    fn visit_f64<E>(self, x: f64) -> Result<Value<'a>, E> {
        Ok(Value::F64(x))
    }
    fn visit_str<E>(self, text: &str) -> Result<Value<'a>, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value<'a>, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self.inside()?)? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value<'a>, A::Error> {
        let mut entries = Vec::new();
        while let Some(mut key) = map.next_key::<String>()? {
            if key.starts_with("$$") {
                key.remove(0);
            } else if key.starts_with('$') {
                let value = match key.as_str() {
                    "$tensor" => self.tensor(&map.next_value::<String>()?)?,
                    "$f64" => Value::F64(f64::from_bits(bits(&map.next_value::<String>()?, 16)?)),
                    "$f32" => {
                        let bits = bits(&map.next_value::<String>()?, 8)?;
                        let bits = u32::try_from(bits).map_err(A::Error::custom)?;
                        Value::F32(f32::from_bits(bits))
                    }
                    "$some" => Value::Some(Box::new(map.next_value_seed(self.inside()?)?)),
                    _ => return Err(A::Error::custom(format!("'{key}' is not a mark"))),
                };
                if !entries.is_empty() || map.next_key::<String>()?.is_some() {
                    return Err(A::Error::custom(format!("'{key}' is not the only key")));
                }
                return Ok(value);
            }
            entries.push((key, map.next_value_seed(self.inside()?)?));
        }
        Ok(Value::Map(entries))
    }
}

/// The bits given by this many hexadecimal digits.
fn bits<E: Error>(text: &str, digits: usize) -> Result<u64, E> {
    let hexadecimal = text
        .strip_prefix("0x")
        .filter(|rest| rest.len() == digits && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    hexadecimal
        .and_then(|rest| u64::from_str_radix(rest, 16).ok())
        .ok_or_else(|| E::custom(format!("'{text}' is not 0x and {digits} hexadecimal digits")))
}
