use std::path::Path;

use serde_json::{Value, json};

use super::json::FORMAT_VERSION;
use crate::schematic::{Image, Schematic};

/// Schematics with what they are called and what that was computed from.
pub fn schematics_json(schematics: &[(&Path, Schematic)]) -> Value {
    let entry = |(file, schematic): &(&Path, Schematic)| json!({ "file": file.display().to_string(), "id": schematic.id(), "canonical": schematic.canonical() });
    json!({ "format_version": FORMAT_VERSION, "schematics": schematics.iter().map(entry).collect::<Vec<_>>() })
}

/// An image with where it is.
pub fn schematic_json(image: &Image, more: Value) -> Value {
    let mut document = json!({ "format_version": FORMAT_VERSION });
    for part in [json!(image), more] {
        if let (Some(document), Value::Object(part)) = (document.as_object_mut(), part) {
            document.extend(part);
        }
    }
    document
}
