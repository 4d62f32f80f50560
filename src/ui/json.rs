use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::config::{Loaded, Place, Problem, Severity};

/// The version of the documents that programs read; it changes when a field goes or changes its meaning.
pub(super) const FORMAT_VERSION: u32 = 1;

/// What `validate -o json` prints: the resolved cluster, or only the problems.
pub fn cluster_json(loaded: &Loaded, explain: bool) -> Value {
    let mut document = Map::new();
    document.insert("format_version".to_owned(), json!(FORMAT_VERSION));
    document.insert("valid".to_owned(), json!(loaded.cluster.is_some()));
    document.insert("problems".to_owned(), loaded.problems.iter().map(problem_json).collect());
    if let Some(cluster) = &loaded.cluster {
        let cluster = serde_json::to_value(cluster).expect("the model has string keys and no failing serializer");
        if let Value::Object(cluster) = cluster {
            document.extend(cluster);
        }
        if explain {
            document.insert("explain".to_owned(), json!(loaded.explained));
        }
    }
    Value::Object(document)
}

/// A value as a document: its fields behind the version.
pub(super) fn versioned(value: &impl Serialize) -> Value {
    let mut document = Map::new();
    document.insert("format_version".to_owned(), json!(FORMAT_VERSION));
    let value = serde_json::to_value(value).expect("our values have string keys and no failing serializer");
    if let Value::Object(fields) = value {
        document.extend(fields);
    }
    Value::Object(document)
}

/// A document the way people like to read it.
pub fn pretty(document: &Value) -> String {
    format!("{document:#}")
}

/// One problem, with its places.
fn problem_json(problem: &Problem) -> Value {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let places: Vec<Value> = problem.places.iter().map(place_json).collect();
    json!({ "severity": severity, "message": problem.message, "places": places, "hint": problem.hint })
}

fn place_json(place: &Place) -> Value {
    match place {
        Place::Named(name) => json!({ "file": name }),
        Place::Part { source, span, label } => {
            let (line, column) = source.position(span);
            json!({ "file": **source.name(), "line": line, "column": column, "label": label })
        }
    }
}
