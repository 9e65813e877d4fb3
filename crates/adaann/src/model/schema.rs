//! The model file's JSON Schema, for editors that complete keys and underline mistakes.

use super::file::keys::{FILE, Form, Key, Keys};
use serde_json::{Map, Value, json};

/// A JSON Schema (draft 2020-12) of the model file.
///
/// `fit` has the properties of the table of that name, each a flag with the schema of its value;
/// other flags are allowed there, too.
///
/// ```
/// let schema = adaann::model::schema(serde_json::Map::new());
/// assert!(schema["properties"]["parameters"]["description"].is_string());
/// ```
pub fn schema(fit: Map<String, Value>) -> Value {
    let mut schema = table(&FILE);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("A model for adaann");
    schema["properties"]["fit"]["properties"] = Value::Object(fit);
    schema["required"] = json!(["parameters"]);
    schema
}

fn table(keys: &Keys) -> Value {
    let property = |key: &Key| {
        let mut schema = form(&key.form);
        schema["description"] = json!(key.about);
        (key.name.to_owned(), schema)
    };
    let mut schema = json!({ "type": "object" });
    if !keys.known.is_empty() {
        schema["properties"] = keys.known.iter().map(property).collect();
    }
    schema["additionalProperties"] = keys.others.map_or(json!(false), form);
    if !keys.required.is_empty() {
        schema["required"] = json!(keys.required);
    }
    schema
}

fn form(form: &Form) -> Value {
    match form {
        Form::Text => json!({ "type": "string" }),
        Form::Formula => formula(),
        Form::Value => json!({ "anyOf": [{ "type": "number" }, formula()] }),
        Form::Size => json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, formula()] }),
        Form::Number | Form::Cell => json!({ "type": "number" }),
        Form::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Form::Count => json!({ "type": "integer", "minimum": 1 }),
        Form::Boolean => json!({ "type": "boolean" }),
        Form::Choice(words) => json!({ "enum": words }),
        Form::List(element) => json!({ "type": "array", "items": self::form(element) }),
        Form::Table(keys) => table(keys),
        Form::Either(forms) => {
            json!({ "anyOf": forms.iter().map(self::form).collect::<Vec<_>>() })
        }
    }
}

/// A formula is not empty; what is inside is not for a schema to say.
fn formula() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::file::examples;
    use std::collections::BTreeSet;

    /// All paths of keys in a schema; `*` is a name of the writer's choice.
    fn paths(schema: &Value, path: &str, all: &mut BTreeSet<String>) {
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            all.insert(format!("{path}{key}"));
            paths(inner, &format!("{path}{key}."), all);
        }
        if schema["additionalProperties"].is_object() {
            all.insert(format!("{path}*"));
            paths(&schema["additionalProperties"], &format!("{path}*."), all);
        }
        for inner in schema["anyOf"].as_array().into_iter().flatten() {
            paths(inner, path, all);
        }
    }

    /// Whether a schema allows a value; the paths of all keys on the way are noted.
    fn allows(schema: &Value, value: &Value, path: &str, used: &mut BTreeSet<String>) -> bool {
        if let Some(forms) = schema["anyOf"].as_array() {
            return forms.iter().any(|form| allows(form, value, path, used));
        }
        if let Some(words) = schema["enum"].as_array() {
            return words.contains(value);
        }
        let least = schema["minimum"].as_f64().unwrap_or(f64::NEG_INFINITY);
        let above = schema["exclusiveMinimum"].as_f64().unwrap_or(f64::NEG_INFINITY);
        let number = value.as_f64().is_some_and(|value| value >= least && value > above);
        match schema["type"].as_str() {
            Some("string") => value
                .as_str()
                .is_some_and(|text| text.len() as u64 >= schema["minLength"].as_u64().unwrap_or(0)),
            Some("number") => number,
            Some("integer") => number && value.is_i64(),
            Some("boolean") => value.is_boolean(),
            Some("array") => value.as_array().is_some_and(|values| {
                values.iter().all(|value| allows(&schema["items"], value, path, used))
            }),
            Some("object") => value.as_object().is_some_and(|entries| {
                let required = schema["required"].as_array().into_iter().flatten();
                let mut required = required.filter_map(Value::as_str);
                required.all(|key| entries.contains_key(key))
                    && entries.iter().all(|(key, value)| entry(schema, key, value, path, used))
            }),
            other => panic!("{other:?} is no type"),
        }
    }

    fn entry(
        schema: &Value,
        key: &str,
        value: &Value,
        path: &str,
        used: &mut BTreeSet<String>,
    ) -> bool {
        let known = schema["properties"].get(key);
        let others = &schema["additionalProperties"];
        let path = format!("{path}{}", if known.is_some() { key } else { "*" });
        used.insert(path.clone());
        let form = known.unwrap_or(others);
        form.is_object() && allows(form, value, &format!("{path}."), used)
    }

    #[test]
    fn schema_and_reader_know_the_same_keys() {
        let schema = schema(Map::new());
        let (mut known, mut used) = (BTreeSet::new(), BTreeSet::new());
        paths(&schema, "", &mut known);
        for text in examples() {
            // JSON has no infinities; `file::tests` reads these examples as they are.
            let text = text.replace("nan", "1").replace("-inf", "-1");
            let example: Value = toml::from_str(&text).unwrap();
            assert!(allows(&schema, &example, "", &mut used), "{text}");
        }
        assert_eq!(known, used);
    }

    #[test]
    fn mistakes_are_not_allowed() {
        let schema = schema(Map::new());
        let first = examples()[0].replace("nan", "1").replace("-inf", "-1");
        for (from, to) in [
            ("title", "titel"),
            ("size = 3", "size = 0"),
            ("size = 3", "size = 1.5"),
            ("\"ordered\"", "\"orderd\""),
            ("step = 0.05", "step = 0"),
            (", rate = 1 }", " }"),
            ("[parameters]", "[others]"),
            ("z = {}", "z = 3"),
            ("\"-a^2\"", "\"\""),
        ] {
            assert!(first.contains(from), "{from}");
            let example: Value = toml::from_str(&first.replacen(from, to, 1)).unwrap();
            assert!(!allows(&schema, &example, "", &mut BTreeSet::new()), "{to}");
        }
    }

    #[test]
    fn flags_are_filled_in() {
        let mut fit = Map::new();
        fit.insert("tau".to_owned(), json!({ "type": "number" }));
        let schema = schema(fit);
        assert_eq!(schema["properties"]["fit"]["properties"]["tau"]["type"], "number");
        assert!(schema["properties"]["fit"]["additionalProperties"].is_object());
    }
}
