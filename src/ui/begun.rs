use std::fmt::Write;

use serde_json::{Value, json};

use super::json::FORMAT_VERSION;
use crate::init::{Beginning, FileStep, Step};

/// How a repository began: what was found, what was written, and what to do next.
pub fn begun_text(beginning: &Beginning) -> String {
    let mut text = format!("{}\n\n", beginning.found.told());
    let width = beginning.files.iter().map(|step| step.file.len()).max().unwrap_or(0);
    for FileStep { file, step, about } in &beginning.files {
        writeln!(text, "{:<8} {file:<width$}  {about}", word(step)).expect("writing to a string never fails");
    }
    text.push_str("\nnext:\n");
    for next in &beginning.next {
        writeln!(text, "  {}", next.replace('\n', "\n  ")).expect("writing to a string never fails");
    }
    text
}

/// The same for programs.
pub fn begun_json(beginning: &Beginning) -> Value {
    let files: Vec<Value> = beginning
        .files
        .iter()
        .map(|FileStep { file, step, about }| json!({ "file": file, "state": word(step), "about": about }))
        .collect();
    json!({ "format_version": FORMAT_VERSION, "found": beginning.found, "files": files, "next": beginning.next })
}

fn word(step: &Step) -> &'static str {
    match step {
        Step::Write(_) => "written",
        Step::Append(_) => "extended",
        Step::Keep => "kept",
    }
}
