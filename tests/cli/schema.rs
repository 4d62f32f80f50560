use std::path::Path;

use pvetalos::config::parse_document;
use serde_json::Value;

use crate::harness::Workdir;

fn schema(file: &str) -> jsonschema::Validator {
    let run = Workdir::new().run(["schema", file]);
    let schema: Value = serde_json::from_str(&run.stdout).expect("a schema is JSON");
    jsonschema::validator_for(&schema).expect("it is a valid schema")
}

/// The files of this name in examples/.
fn examples(name: &str) -> Vec<std::path::PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = std::fs::read_dir(root.join("examples")).expect("there are examples");
    folders
        .map(|entry| entry.expect("an example can be looked at").path().join(name))
        .filter(|path| path.exists())
        .collect()
}

/// The right files of the tests, as far as they are a nodes.yaml as it is.
fn valid_fixtures() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/fixtures/valid");
    let files = std::fs::read_dir(folder).expect("there are fixtures").map(|entry| entry.expect("a fixture").path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "yaml")).collect()
}

fn yaml(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a file can be read");
    parse_document("file", &text).expect("it is YAML")
}

#[test]
fn the_sample_and_every_example_fit_their_schema() {
    let (nodes, settings) = (schema("nodes"), schema("settings"));
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("nodes.sample.yaml");
    for path in examples("nodes.yaml").iter().chain([&sample]) {
        let errors: Vec<String> = nodes.iter_errors(&yaml(path)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
    for path in valid_fixtures() {
        let errors: Vec<String> = nodes.iter_errors(&yaml(&path)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
    for path in examples("pvetalos.yaml") {
        let errors: Vec<String> = settings.iter_errors(&yaml(&path)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
}

#[test]
fn an_editor_sees_unknown_keys_wrong_values_and_what_is_missing() {
    let nodes = schema("nodes");
    let wrong = |text: &str| {
        let value = parse_document::<Value>("file", text).expect("it is YAML");
        assert!(!nodes.is_valid(&value), "{text}");
    };
    let node = "name: a, address: 10.0.0.1, controller: true, mac_addr: 'bc:24:11:00:00:01'";
    assert!(nodes.is_valid(&parse_document::<Value>("file", &format!("nodes: [{{{node}}}]")).expect("it is YAML")));
    wrong("nodes: []");
    wrong("{}");
    wrong(&format!("nodes: [{{{node}, mac: x}}]"));
    wrong(&format!("nodes: [{{{node}, vm_cores: 0}}]"));
    wrong(&format!("nodes: [{{{node}, vm_id: 99}}]"));
    wrong("nodes: [{name: a, address: 10.0.0.1, controller: 7, mac_addr: 'bc:24:11:00:00:01'}]");
    wrong("nodes: [{name: a, address: 10.0.0.1, controller: true, mac_addr: 'bd:24:11:00:00:01'}]");
    wrong(&format!("nodes: [{{{node}}}]\nproxmox: {{nod: x}}"));
}
