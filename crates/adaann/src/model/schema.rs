//! The JSON Schema of a model file, for editors that complete keys and underline mistakes.

use super::file::keys::{FILE, Form, Key, Keys};
use super::output::Output;
use crate::answer;
use crate::fit::overlay::{self, Names, Overlay, Table};
use serde_json::{Map, Value, json};

/// A JSON Schema (draft 2020-12) of the model file.
///
/// ```
/// let schema = adaann::model::schema();
/// assert!(schema["properties"]["parameters"]["description"].is_string());
/// assert_eq!(schema["properties"]["fit"]["properties"]["tau"]["type"], "number");
/// ```
pub fn schema() -> Value {
    let mut schema = table(&FILE);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("A model for adaann");
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
        Form::Switch => json!({ "type": "boolean" }),
        Form::Count => json!({ "type": "integer", "minimum": 1 }),
        Form::Choice(words) => {
            // Underscores are read as hyphens.
            let other = words.iter().filter(|word| word.contains('-')).map(|w| w.replace('-', "_"));
            let all: Vec<_> = words.iter().map(|&word| word.to_owned()).chain(other).collect();
            json!({ "enum": all })
        }
        Form::List(element) => json!({ "type": "array", "items": self::form(element) }),
        Form::Table(keys) => table(keys),
        Form::Settings => {
            let mut properties = settings::<answer::Overlay>();
            properties.extend(settings::<Overlay>());
            properties.extend(settings::<Output>());
            json!({ "type": "object", "properties": properties, "additionalProperties": false })
        }
        Form::Either(forms) => {
            json!({ "anyOf": forms.iter().map(self::form).collect::<Vec<_>>() })
        }
    }
}

/// A schema of each setting of a table.
fn settings<T: Table>() -> Map<String, Value> {
    let property = |setting: &overlay::Setting<T>| {
        let mut schema = setting_form(&setting.form);
        schema["description"] = json!(setting.about());
        (setting.name.to_owned(), schema)
    };
    T::TABLE.iter().map(property).collect()
}

fn setting_form(form: &overlay::Form) -> Value {
    let names = |all: Names| all.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let list = |of: &str| json!({ "type": "array", "items": { "type": of } });
    match form {
        overlay::Form::Switch => json!({ "type": "boolean" }),
        overlay::Form::Count => json!({ "type": "integer", "minimum": 0 }),
        overlay::Form::Number => json!({ "type": "number" }),
        overlay::Form::NumberOr(words) => {
            json!({ "anyOf": [{ "type": "number" }, { "enum": names(words) }] })
        }
        overlay::Form::Numbers => json!({ "anyOf": [{ "type": "number" }, list("number")] }),
        overlay::Form::Name(all) => json!({ "enum": names(all) }),
        overlay::Form::Coordinates(all) => {
            json!({ "anyOf": [{ "enum": names(all) }, { "type": "integer" }, list("integer")] })
        }
        overlay::Form::Joined(all) => json!({ "type": "string", "examples": names(all) }),
        overlay::Form::Text => json!({ "type": "string" }),
    }
}

/// A formula must not be empty; the schema does not check its contents.
fn formula() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::file::examples;
    use std::collections::BTreeSet;

    /// All key paths in a schema; `*` stands for a name that the user chooses.
    fn paths(schema: &Value, path: &str, all: &mut BTreeSet<String>) {
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            all.insert(format!("{path}{key}"));
            paths(inner, &format!("{path}{key}."), all);
        }
        if schema["additionalProperties"].is_object() {
            all.insert(format!("{path}*"));
            paths(&schema["additionalProperties"], &format!("{path}*."), all);
        }
        if schema["items"].is_object() {
            paths(&schema["items"], path, all);
        }
        for inner in schema["anyOf"].as_array().into_iter().flatten() {
            paths(inner, path, all);
        }
        if schema["items"].is_object() {
            paths(&schema["items"], path, all);
        }
    }

    /// Does a schema allow a value? The paths of all keys on the way are recorded.
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
        let schema = schema();
        let (mut known, mut used) = (BTreeSet::new(), BTreeSet::new());
        paths(&schema, "", &mut known);
        for text in examples() {
            // JSON has no infinities; `file::tests` reads these examples as they are.
            let text = text.replace("nan", "1").replace("-inf", "-1");
            let example: Value = toml::from_str(&text).unwrap();
            assert!(allows(&schema, &example, "", &mut used), "{text}");
        }
        // The settings are checked by their own tables.
        known.retain(|path| !path.starts_with("fit."));
        used.retain(|path| !path.starts_with("fit."));
        assert_eq!(known, used);
    }

    #[test]
    fn mistakes_are_not_allowed() {
        let schema = schema();
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
    fn settings_have_their_types() {
        let schema = schema();
        let fit = &schema["properties"]["fit"];
        for (text, is_allowed) in [
            ("tau = 0.1", true),
            ("tau = \"0.1\"", false),
            ("layers = 3", true),
            ("layers = 2.5", false),
            ("t0 = \"auto\"", true),
            ("t0 = \"soon\"", false),
            ("base-sd = [1, 2]", true),
            ("base-sd = [\"1\"]", false),
            ("flow = \"linear+spline\"", true),
            ("path = \"pow\"", false),
            ("mask = [0, 2]", true),
            ("quiet = true", true),
            ("quiet = 1", false),
            ("base_sd = 1", false),
        ] {
            let entries: Value = toml::from_str(text).unwrap();
            assert_eq!(allows(fit, &entries, "", &mut BTreeSet::new()), is_allowed, "{text}");
        }
    }
}
