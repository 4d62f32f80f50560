use serde_json::{Map, Value, json};

use super::keys::{ClusterLayer, NodeLayer, VmLayer};
use super::layer::{Key, Layer, Scope};

/// The files that have a schema. cluster.yaml belongs to its repository, and so does its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Schema {
    /// nodes.yaml
    Nodes,
    /// pvetalos.yaml
    Settings,
}

/// The JSON Schema of a file, made of the same table that the reader uses.
pub fn schema(file: Schema) -> Value {
    let (title, nodes) = match file {
        Schema::Nodes => ("nodes.yaml of pvetalos", node_list()),
        Schema::Settings => ("pvetalos.yaml", node_overlays()),
    };
    let mut properties = Map::new();
    for scope in [Scope::Own, Scope::Top] {
        add::<ClusterLayer>(&mut properties, scope);
        add::<VmLayer>(&mut properties, scope);
    }
    for (section, scope) in [("proxmox", Scope::Proxmox), ("network", Scope::Network)] {
        let mut keys = Map::new();
        add::<ClusterLayer>(&mut keys, scope);
        add::<VmLayer>(&mut keys, scope);
        properties.insert(section.to_owned(), or_nothing(closed(keys, &[])));
    }
    let mut defaults = properties_of::<VmLayer>(Scope::Vm);
    defaults.insert("controller".to_owned(), or_nothing(mapping::<VmLayer>(Scope::Vm, &[])));
    defaults.insert("worker".to_owned(), or_nothing(mapping::<VmLayer>(Scope::Vm, &[])));
    properties.insert("defaults".to_owned(), or_nothing(closed(defaults, &[])));
    for map in super::read::VM_MAPS {
        let open = json!({ "type": "object", "properties": properties_of::<VmLayer>(Scope::Vm) });
        properties.insert(map.to_owned(), or_nothing(open));
    }
    properties.insert("nodes".to_owned(), nodes);
    let required: &[&str] = if file == Schema::Nodes { &["nodes"] } else { &[] };
    let body = closed(properties, required);
    let body = if file == Schema::Settings { or_nothing(body) } else { body };
    let mut whole = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "title": title });
    for (key, value) in body.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    whole
}

/// A section whose lines are all commented out is allowed.
fn or_nothing(mut mapping: Value) -> Value {
    mapping["type"] = json!(["object", "null"]);
    mapping
}

fn node_list() -> Value {
    let mut node = properties_of::<NodeLayer>(Scope::Node);
    add::<VmLayer>(&mut node, Scope::Vm);
    json!({ "type": "array", "minItems": 1, "items": closed(node, &["name"]) })
}

fn node_overlays() -> Value {
    let mut node = properties_of::<NodeLayer>(Scope::Overlay);
    add::<VmLayer>(&mut node, Scope::Vm);
    json!({
        "description": "Settings of single nodes, by name; they stand above nodes.yaml.",
        "type": ["object", "null"],
        "additionalProperties": or_nothing(closed(node, &[])),
    })
}

/// A mapping with exactly the keys of a layer.
pub(super) fn mapping<L: Layer>(scope: Scope, required: &[&str]) -> Value {
    closed(properties_of::<L>(scope), required)
}

fn properties_of<L: Layer>(scope: Scope) -> Map<String, Value> {
    let mut properties = Map::new();
    add::<L>(&mut properties, scope);
    properties
}

fn add<L: Layer>(properties: &mut Map<String, Value>, scope: Scope) {
    for key in L::KEYS {
        for name in key.names(scope) {
            properties.insert((*name).to_owned(), property(key, scope, name));
        }
    }
}

fn property(key: &Key, scope: Scope, name: &str) -> Value {
    let usual = key.names(scope).first().copied().unwrap_or(name);
    let doc = key.doc.trim();
    let description = if usual == name { doc.to_owned() } else { format!("Same as `{usual}`. {doc}") };
    match (key.schema)() {
        Value::Object(shape) => {
            let mut property = Map::from_iter([("description".to_owned(), Value::String(description))]);
            property.extend(shape);
            Value::Object(property)
        }
        _ => json!({ "description": description }),
    }
}

fn closed(properties: Map<String, Value>, required: &[&str]) -> Value {
    let mut mapping = Map::new();
    mapping.insert("type".to_owned(), json!("object"));
    mapping.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        mapping.insert("required".to_owned(), json!(required));
    }
    mapping.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(mapping)
}
