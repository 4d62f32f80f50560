use std::io;

use serde_json::{Value, json};

use super::gate::Ui;
use super::json::FORMAT_VERSION;
use super::yaml::to_yaml;

/// A result that comes bit by bit, for programs: a document for everything that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Documents {
    /// One JSON object a line.
    Json,
    /// One YAML document after the other.
    Yaml,
}

impl Documents {
    pub(super) fn print(self, ui: &mut Ui, document: &Value) -> io::Result<()> {
        match self {
            Self::Json => ui.print(&document.to_string()),
            Self::Yaml => ui.print(&format!("---\n{}", to_yaml(document))),
        }
    }

    /// The first document: what is going to be done.
    pub fn print_plan(self, ui: &mut Ui, plan: Value) -> io::Result<()> {
        let mut document = json!({ "event": "plan" });
        if let (Value::Object(document), Value::Object(plan)) = (&mut document, plan) {
            document.extend(plan);
        }
        self.print(ui, &document)
    }

    /// The last document: what came of it, and the code that the program ends with.
    pub fn print_result(self, ui: &mut Ui, outcomes: &[crate::apply::Outcome], exit: u8) -> io::Result<()> {
        let document = json!({
            "event": "result", "format_version": FORMAT_VERSION, "exit_code": exit, "outcomes": outcomes,
        });
        self.print(ui, &document)
    }
}
