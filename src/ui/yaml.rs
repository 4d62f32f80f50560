use std::fmt::Write;

use serde_json::Value;

/// A document as YAML in block style.
///
/// Reading YAML needs a parser; writing what JSON can hold needs only care with strings.
pub fn to_yaml(document: &Value) -> String {
    let mut text = String::new();
    block(&mut text, document, 0);
    text
}

fn block(text: &mut String, value: &Value, indent: usize) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                write!(text, "{pad}{}:", scalar(&Value::String(key.clone()))).expect("writing to a string never fails");
                nested(text, value, indent + 2);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let start = text.len();
                block(text, item, indent + 2);
                // The first line of an item begins with its dash.
                text.replace_range(start..start + indent + 2, &format!("{pad}- "));
            }
        }
        other => writeln!(text, "{pad}{}", scalar(other)).expect("writing to a string never fails"),
    }
}

fn nested(text: &mut String, value: &Value, indent: usize) {
    let empty = match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    };
    if empty {
        writeln!(text, " {}", scalar(value)).expect("writing to a string never fails");
    } else {
        text.push('\n');
        block(text, value, indent);
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        // A JSON string, number, `null`, `[]` or `{}` is YAML as it is.
        other => other.to_string(),
    }
}

/// Whether a text reads as itself without quotes, in YAML 1.1 as well as 1.2.
fn is_plain(text: &str) -> bool {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_-./@!".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "null" | "nan" | "inf"
    );
    begins && !word && text.chars().all(safe)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_documents_are_indented_and_strings_quoted_where_needed() {
        let document = json!({
            "name": "home", "off": "off", "mac": "BC:24:11:00:00:01", "n": "0101", "none": null, "empty": [], "e": {},
            "nodes": [{ "a": 1, "b": ["x", ["y"]] }, { "c": { "d": "two words" } }],
        });
        assert_eq!(
            to_yaml(&document),
            "name: home\n\"off\": \"off\"\nmac: \"BC:24:11:00:00:01\"\n\"n\": \"0101\"\nnone: null\nempty: []\ne: {}\nnodes:\n  - a: 1\n    b:\n      - x\n      - - \"y\"\n  - c:\n      d: \"two words\"\n"
        );
    }
}
