//! What is made from code and committed: it must be what the code makes now.
//!
//! `UPDATE=1 cargo test --test generated` writes it anew.

use std::path::Path;

use clap_complete::Shell;
use pvetalos::cli::{command_reference, completion_script, manual_pages};
use pvetalos::config::{Schema, reference, schema};

#[track_caller]
fn is_current(file: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder can be made");
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

#[test]
fn the_command_reference_is_current() {
    is_current("docs/commands.md", &command_reference());
}

#[test]
fn the_completions_are_current() {
    let shells = [(Shell::Bash, "pvetalos.bash"), (Shell::Zsh, "_pvetalos"), (Shell::Fish, "pvetalos.fish")];
    for (shell, file) in shells {
        is_current(&format!("share/completions/{file}"), &completion_script(shell));
    }
}

/// One for every command, and none of a command that is gone.
#[test]
fn the_manual_pages_are_current() {
    let pages = manual_pages();
    for (file, page) in &pages {
        is_current(&format!("share/man/{file}"), page);
    }
    let folder = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("share/man")).expect("it is there");
    let committed = folder.map(|entry| entry.expect("it can be read").file_name().into_string().expect("it is UTF-8"));
    let gone: Vec<String> = committed.filter(|name| !pages.iter().any(|(file, _)| file == name)).collect();
    assert!(gone.is_empty(), "pages of commands that are gone: {gone:?}");
}

/// Compiled without a `protoc`, and committed so that building needs neither compiler nor plug-in.
#[test]
fn the_messages_of_talos_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let protos = ["cosi/resource.proto", "talos/machine.proto", "talos/storage.proto", "talos/definitions.proto"];
    let messages = protox::compile(protos, [root.join("proto")]).expect("the protos are valid");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    tonic_prost_build::configure()
        .out_dir(folder.path())
        .emit_rerun_if_changed(false)
        .build_transport(false)
        .compile_fds(messages)
        .expect("the protos can be compiled");
    for package in ["cosi.resource", "machine", "storage", "talos.resource.definitions"] {
        let made =
            std::fs::read_to_string(folder.path().join(format!("{package}.rs"))).expect("each package is a file");
        let name = package.rsplit('.').next().unwrap_or(package);
        is_current(&format!("src/talos/generated/{name}.rs"), &made);
    }
}
