//! Holds the simulator's table of parameters against the API's own schema, as Proxmox VE 9.2 generates it.
//!
//! The fixture has the parameters of the calls that the simulator answers. `PVETALOS_API_SCHEMA=FILE` takes another one
//! of the same shape, for example that of a newer Proxmox VE. `src/proxmox/calls/schema.rs` does the same for the client.

#![expect(clippy::unwrap_used, reason = "a test ends where its assumptions do")]

use std::collections::{BTreeMap, BTreeSet};

use pvetalos::sim::format::Format;
use pvetalos::sim::param::Param;
use pvetalos::sim::pattern::Pattern;
use pvetalos::sim::route::ROUTES;
use serde_json::{Map, Value};

/// Parameters that the real API has and the simulator leaves out: storage kinds that it does not have.
const LEFT_OUT: &[&str] = &["PUT /storage/{storage}"];

struct Schema {
    paths: Value,
    formats: Map<String, Value>,
    mistakes: Vec<String>,
}

impl Schema {
    fn load() -> Self {
        let text = match std::env::var("PVETALOS_API_SCHEMA") {
            Ok(file) => std::fs::read_to_string(file).unwrap(),
            Err(_) => include_str!("fixtures/pve/api-schema.json").to_owned(),
        };
        let schema: Value = serde_json::from_str(&text).unwrap();
        Self {
            paths: schema["paths"].clone(),
            formats: schema["formats"].as_object().unwrap().clone(),
            mistakes: Vec::new(),
        }
    }

    fn parameters(&self, path: &str, method: &str) -> Map<String, Value> {
        self.paths[path][method]["parameters"]["properties"].as_object().cloned().unwrap_or_default()
    }

    fn compare(&mut self, place: &str, own: &[&[Param]], theirs: &Map<String, Value>, complete: bool) {
        let own: BTreeMap<String, &Param> =
            own.iter().flat_map(|group| group.iter()).map(|param| (schema_name(param), param)).collect();
        for (name, param) in &own {
            match theirs.get(name) {
                Some(theirs) => self.compare_one(&format!("{place} {name}"), param, theirs),
                None => self.mistakes.push(format!("{place}: `{name}` is not in the schema")),
            }
        }
        let known: BTreeSet<&String> = own.keys().collect();
        for name in theirs.keys().filter(|name| complete && !known.contains(name)) {
            self.mistakes.push(format!("{place}: `{name}` is missing"));
        }
    }

    fn compare_one(&mut self, place: &str, own: &Param, theirs: &Value) {
        let mut differ = |what: &str, own: Value, theirs: &Value| {
            if own != *theirs {
                self.mistakes.push(format!("{place}: {what} is {own} instead of {theirs}"));
            }
        };
        if let Some(alias) = own.alias {
            differ("alias", alias.into(), &theirs["alias"]);
            differ("key alias", own.key_alias.map_or(Value::Null, Into::into), &theirs["keyAlias"]);
            return;
        }
        differ("type", own.kind.word().into(), &theirs["type"]);
        let text = |text: Option<&str>| text.map_or(Value::Null, Into::into);
        let flag = |value: &Value| Value::Bool(matches!(value, Value::Bool(true)) || value == &Value::from(1));
        differ("optional", own.optional.into(), &flag(&theirs["optional"]));
        differ("default key", own.default_key.into(), &flag(&theirs["default_key"]));
        differ("requires", text(own.requires), &theirs["requires"]);
        differ("minimum", own.minimum.map_or(Value::Null, Into::into), &theirs["minimum"]);
        differ("maximum", own.maximum.map_or(Value::Null, Into::into), &theirs["maximum"]);
        differ("shortest", own.min_length.map_or(Value::Null, Into::into), &theirs["minLength"]);
        differ("longest", own.max_length.map_or(Value::Null, Into::into), &theirs["maxLength"]);
        differ("pattern", text(own.pattern.map(Pattern::regex)), &theirs["pattern"]);
        let words = if own.words.is_empty() { Value::Null } else { own.words.to_vec().into() };
        differ("words", words, &theirs["enum"]);
        self.compare_format(place, own.format, &theirs["format"]);
    }

    fn compare_format(&mut self, place: &str, own: Option<Format>, theirs: &Value) {
        let name = |suffix: &str, value: pvetalos::sim::format::Value| Value::from(format!("{}{suffix}", value.name()));
        let expected = match own {
            None => Value::Null,
            Some(Format::One(value)) => name("", value),
            Some(Format::List(value)) => name("-list", value),
            Some(Format::Maybe(value)) => name("-opt", value),
            Some(Format::Properties(properties)) => {
                let hash = match theirs {
                    Value::String(name) => self.formats.get(name).cloned().unwrap_or_default(),
                    other => other.clone(),
                };
                let keys = hash["properties"].as_object().cloned().unwrap_or_default();
                return self.compare(place, properties.groups, &keys, true);
            }
        };
        if expected != *theirs {
            self.mistakes.push(format!("{place}: format is {expected} instead of {theirs}"));
        }
    }
}

/// The schema writes a family of numbered keys with its range.
fn schema_name(param: &Param) -> String {
    match param.family {
        0 => param.name.to_owned(),
        count => format!("{}[0..{}]", param.name, count - 1),
    }
}

#[test]
fn every_parameter_is_what_the_api_declares() {
    let mut schema = Schema::load();
    for route in ROUTES {
        let method = route.method.to_string();
        let place = format!("{method} {}", route.path);
        let theirs = schema.parameters(route.path, &method);
        if schema.paths[route.path].get(&method).is_none() {
            schema.mistakes.push(format!("{place} is not in the schema"));
            continue;
        }
        schema.compare(&place, route.params, &theirs, !LEFT_OUT.contains(&place.as_str()));
    }
    let mistakes = schema.mistakes;
    assert!(mistakes.is_empty(), "{} mistakes:\n{}", mistakes.len(), mistakes.join("\n"));
}
