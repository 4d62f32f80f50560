//! Commands, flags, keys, variables, exit codes and links that the pages name.

use std::collections::BTreeSet;

use clap::Command;
use pvetalos::cli::{Exit, built_command};
use pvetalos::config::{Schema, schema};
use serde_json::Value;

use crate::markdown::{Document, documents, root};

/// Flags of other programs that stand alone in a sentence about them.
const FOREIGN_FLAGS: [&str; 4] = ["--privsep", "--propagate", "--append", "--protection"];

fn flags(command: &Command) -> BTreeSet<String> {
    command.get_arguments().filter_map(|arg| arg.get_long()).map(|long| format!("--{long}")).collect()
}

fn all_flags(command: &Command) -> BTreeSet<String> {
    command.get_subcommands().fold(flags(command), |all, inner| all.union(&all_flags(inner)).cloned().collect())
}

/// What is wrong with a line of shell or a piece of it, as far as it is about our program.
fn wrong_in(code: &str, program: &Command) -> Option<String> {
    // What stands behind a `#` is for reading.
    let code = code.split(" #").next().unwrap_or(code);
    let mut words = code.split_whitespace().map(|word| word.trim_matches(['`', '(', ')', '"', '$']));
    let first = words.clone().next()?;
    let is_inner = |name: &str| program.get_subcommands().any(|inner| inner.get_name() == name);
    // `provision --adopt` is short for the whole, if a flag shows that it is meant so.
    let is_short = is_inner(first) && code.contains(" --");
    if first.starts_with("--") && first.len() > 2 {
        let flag = first.split(['=', '[']).next().unwrap_or(first);
        let known = all_flags(program).contains(flag) || FOREIGN_FLAGS.contains(&flag);
        return (!known).then(|| format!("no command has a flag {flag}"));
    }
    if !is_short && !words.any(|word| word == "pvetalos" || word.ends_with("/pvetalos")) {
        return None;
    }
    let mut meant = program;
    for word in words.take_while(|word| !["|", "||", "&&", ";", "&", ">", "#", "do"].contains(word)) {
        let ends = word.ends_with(';');
        let word = word.trim_end_matches([';', ',', '.', ':']);
        if word.starts_with("--") && word.len() > 2 {
            let flag = word.split(['=', '[']).next().unwrap_or(word);
            if !flags(meant).contains(flag) && !flags(program).contains(flag) {
                return Some(format!("`{}` has no flag {flag}", meant.get_display_name().unwrap_or("pvetalos")));
            }
        } else if let Some(inner) = meant.find_subcommand(word) {
            meant = inner;
        } else if meant.has_subcommands() && word.starts_with(|c: char| c.is_ascii_lowercase()) {
            return Some(format!("`{}` has no command {word}", meant.get_display_name().unwrap_or("pvetalos")));
        }
        if ends {
            break;
        }
    }
    None
}

#[test]
fn every_command_and_flag_that_is_named_exists() {
    let program = built_command();
    let mut wrong = Vec::new();
    for document in documents() {
        let lines = document.blocks.iter().filter(|block| ["sh", "console"].contains(&block.language.as_str()));
        let lines = lines.flat_map(|block| {
            let commands = block.text.lines().enumerate();
            let is_typed = |line: &str| block.language == "sh" || line.starts_with("$ ");
            commands
                .filter(move |(_, line)| is_typed(line))
                .map(|(index, line)| (block.line + index, line.trim_start_matches("$ ")))
        });
        for (line, code) in lines.chain(document.code()) {
            wrong.extend(wrong_in(code, &program).map(|why| format!("{}:{line}: {why}: {code}", document.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_does_not_exist_is_found_out() {
    let program = built_command();
    for wrong in [
        "pvetalos provison",
        "pvetalos plan --yes",
        "--no-such-flag",
        "pvetalos template make",
        "provision --talosctl",
        "echo x | pvetalos output --talosctrl",
    ] {
        assert!(wrong_in(wrong, &program).is_some(), "{wrong}");
    }
    for right in
        ["pvetalos plan --exit-code; echo $?", "talosctl --nodes x --foo", "provision", "pvetalos COMMAND --help"]
    {
        assert_eq!(wrong_in(right, &program), None);
    }
}

#[test]
fn every_command_is_in_the_readme_and_every_flag_in_the_reference() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("it can be read");
    let reference = std::fs::read_to_string(root().join("docs/commands.md")).expect("it can be read");
    let program = built_command();
    for inner in program.get_subcommands() {
        let name = format!("pvetalos {}", inner.get_name());
        assert!(readme.contains(&name), "README.md does not name `{name}`");
        assert!(reference.contains(&format!("# {name}\n")), "docs/commands.md does not have {name}");
    }
    for flag in all_flags(&program).iter().filter(|flag| !["--help", "--version"].contains(&flag.as_str())) {
        assert!(reference.contains(flag.as_str()), "docs/commands.md does not have {flag}");
    }
}

#[test]
fn every_exit_code_has_its_line() {
    for page in ["README.md", "docs/commands.md"] {
        let text = std::fs::read_to_string(root().join(page)).expect("it can be read");
        let (_, section) = text.split_once("## Exit codes").expect("there is such a section");
        let section = section.split("\n#").next().unwrap_or(section);
        let rows: Vec<&str> =
            section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| code")).collect();
        let wanted: Vec<String> =
            Exit::ALL.iter().map(|exit| format!("| {} | {} |", *exit as u8, exit.meaning())).collect();
        let told: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
        for row in wanted {
            assert!(told.contains(&row), "{page} lacks: {row}");
        }
        assert_eq!(rows.len(), Exit::ALL.len(), "{page} has codes that do not exist");
    }
}

/// Variables of the environment, which begin with one of our words.
fn variables(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
    let ours = words.filter(|word| word.starts_with("PVETALOS_") || word.starts_with("PROXMOX_"));
    ours.filter(|word| word.len() > 9).map(str::to_owned).collect()
}

/// The text of every file below a folder.
fn texts(folder: &str) -> String {
    fn collect(path: &std::path::Path, all: &mut String) {
        for entry in std::fs::read_dir(path).expect("a folder of ours can be read") {
            let path = entry.expect("a folder of ours can be read").path();
            if path.is_dir() {
                collect(&path, all);
            } else {
                all.push_str(&std::fs::read_to_string(path).unwrap_or_default());
                all.push('\n');
            }
        }
    }
    let mut all = String::new();
    collect(&root().join(folder), &mut all);
    all
}

#[test]
fn every_variable_that_is_named_exists_and_every_one_that_exists_is_named() {
    let (source, tasks) = (texts("src"), texts("taskfiles"));
    let mut known = variables(&source);
    known.extend(variables(&tasks));
    // Every variable of Proxmox has a twin that names a file.
    known.extend(known.clone().iter().map(|name| format!("{name}_FILE")));
    let mut named = BTreeSet::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document.path).expect("it can be read");
        let unknown: Vec<String> = variables(&text).difference(&known).cloned().collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", document.name);
        named.extend(variables(&text));
    }
    let for_tests = ["PVETALOS_API_SCHEMA", "PVETALOS_RECORDINGS"];
    let is_told = |name: &String| named.contains(name.trim_end_matches("_FILE")) || for_tests.contains(&name.as_str());
    let unnamed: Vec<String> = variables(&source).difference(&named).filter(|name| !is_told(name)).cloned().collect();
    assert!(unnamed.is_empty(), "in no page: {unnamed:?}");
}

fn property_names(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                names.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| property_names(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| property_names(item, names)),
        _ => {}
    }
}

/// Names of other programs that look like keys.
const FOREIGN_KEYS: [&str; 1] = ["proxmox_kvm"];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The name that a variant of an enum has in a file.
fn in_snake_case(word: &str) -> String {
    let mut name = String::new();
    for (index, c) in word.chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

fn is_key_like(word: &str) -> bool {
    word.contains('_')
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !word.ends_with('_')
}

/// Words of code in sentences that look like keys are keys, or at least words of the program. The page about moving names
/// those of other tools.
#[test]
fn every_key_that_is_named_exists() {
    let mut known = BTreeSet::new();
    property_names(&schema(Schema::Nodes), &mut known);
    property_names(&schema(Schema::Settings), &mut known);
    let source = texts("src");
    known.extend(words(&source).map(in_snake_case));
    known.extend(FOREIGN_KEYS.map(str::to_owned));
    let mut wrong = Vec::new();
    for document in documents().iter().filter(|document| document.name != "docs/migration.md") {
        for (line, code) in document.code() {
            let unknown = words(code).filter(|word| is_key_like(word) && !known.contains(*word));
            wrong.extend(unknown.map(|word| format!("{}:{line}: {word}", document.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_key_has_its_line_in_the_reference() {
    let reference = std::fs::read_to_string(root().join("docs/configuration.md")).expect("it can be read");
    let mut names = BTreeSet::new();
    property_names(&schema(Schema::Nodes), &mut names);
    property_names(&schema(Schema::Settings), &mut names);
    let told: BTreeSet<&str> = words(&reference).collect();
    let missing: Vec<&String> = names.iter().filter(|name| !told.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    for document in documents() {
        for (line, link) in document.links().filter(|(_, link)| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if file.is_empty() { document.path.clone() } else { document.path.with_file_name(file) };
            if !path.exists() {
                wrong.push(format!("{}:{line}: there is no {link}", document.name));
            } else if !anchor.is_empty() && !Document::read(path).anchors().iter().any(|known| known == anchor) {
                wrong.push(format!("{}:{line}: there is no heading {link}", document.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
