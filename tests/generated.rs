//! What is made from code and committed: it must be what the code makes now.
//!
//! `UPDATE=1 cargo test --test generated` writes it anew.

use std::path::Path;

use pvetalos::config::{Schema, reference, schema};

#[track_caller]
fn is_current(file: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, wanted).expect("the file can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == wanted, "{file} is stale: run `UPDATE=1 cargo test --test generated`");
}

#[test]
fn the_schema_of_nodes_yaml_is_current() {
    is_current("schema/nodes.schema.json", &format!("{:#}\n", schema(Schema::Nodes)));
}

#[test]
fn the_schema_of_pvetalos_yaml_is_current() {
    is_current("schema/pvetalos.schema.json", &format!("{:#}\n", schema(Schema::Settings)));
}

#[test]
fn the_configuration_reference_is_current() {
    is_current("docs/configuration.md", &reference());
}
