//! The reference page of every command and flag, made from what the parser itself knows.

use std::fmt::Write;

use clap::{Arg, Command};

use super::args::built_command;
use super::exit::Exit;

const INTRODUCTION: &str = "# Command reference

<!-- Made from the program's own help; `UPDATE=1 cargo test --test generated` writes it anew. -->

`pvetalos --help` prints a short form of this page, `pvetalos COMMAND --help` a part of it, and `pvetalos man` a manual page.
";

/// Every command with its flags, the flags of all commands and the exit codes, as Markdown.
pub fn command_reference() -> String {
    let program = built_command();
    let mut page = INTRODUCTION.to_owned();
    add(&mut page, "\n## For every command\n");
    table(&mut page, program.get_arguments().filter(|arg| arg.is_global_set()));
    for command in program.get_subcommands() {
        section(&mut page, command, "pvetalos");
    }
    add(&mut page, "\n## Exit codes\n\n| code | meaning |\n|---|---|");
    for exit in Exit::ALL {
        add(&mut page, &format!("| {} | {} |", exit as u8, exit.meaning()));
    }
    page
}

fn add(page: &mut String, line: &str) {
    writeln!(page, "{line}").expect("writing to a string never fails");
}

fn section(page: &mut String, command: &Command, parent: &str) {
    let name = format!("{parent} {}", command.get_name());
    let level = "#".repeat(name.split(' ').count());
    add(page, &format!("\n{level} {name}\n"));
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    // Its first line has no full stop, because it is a heading elsewhere.
    let about =
        about.split_once("\n\n").map_or_else(|| format!("{about}."), |(first, rest)| format!("{first}.\n\n{rest}"));
    add(page, &about);
    let own = || {
        command
            .get_arguments()
            .filter(|arg| !arg.is_global_set() && arg.get_id() != "help" && arg.get_id() != "version")
    };
    if own().next().is_some() {
        add(page, "");
        table(page, own());
    }
    for inner in command.get_subcommands() {
        section(page, inner, &name);
    }
}

fn table<'a>(page: &mut String, args: impl Iterator<Item = &'a Arg>) {
    add(page, "| argument | meaning |\n|---|---|");
    for arg in args {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        add(page, &format!("| `{}` | {}{} |", shown(arg), help.replace('|', "\\|"), values(arg)));
    }
}

/// How an argument is written.
fn shown(arg: &Arg) -> String {
    let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
    let value = value.map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let Some(long) = arg.get_long() else {
        return value.unwrap_or_default();
    };
    let short = arg.get_short().map_or(String::new(), |short| format!("-{short}, "));
    let optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
    match value {
        Some(value) if optional => format!("{short}--{long}[={value}]"),
        Some(value) => format!("{short}--{long} {value}"),
        None => format!("{short}--{long}"),
    }
}

/// The values that an argument can have, and the one that it has without being given.
fn values(arg: &Arg) -> String {
    if !arg.get_action().takes_values() {
        return String::new();
    }
    let possible: Vec<String> =
        arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    let default: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let mut text = String::new();
    if !possible.is_empty() {
        write!(text, ": {}", possible.join(", ")).expect("writing to a string never fails");
    }
    if !default.is_empty() {
        write!(text, " [default: {}]", default.join(" ")).expect("writing to a string never fails");
    }
    text
}
