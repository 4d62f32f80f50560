use std::fmt::Write;

use serde_json::{Value, json};

use super::json::FORMAT_VERSION;
use crate::preflight::{Finding, State};

/// Findings as lines, each with its fix, and a last line that counts.
pub fn findings_text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { state, message, fix } in findings {
        let word = match state {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Error => "error",
        };
        writeln!(text, "{word:<8} {message}").expect("writing to a string never fails");
        if let Some(fix) = fix {
            writeln!(text, "         fix: {fix}").expect("writing to a string never fails");
        }
    }
    let count = |state| findings.iter().filter(|finding| finding.state == state).count();
    let (right, doubtful, wrong) = (count(State::Ok), count(State::Warning), count(State::Error));
    writeln!(text, "\n{right} ok, {doubtful} warnings, {wrong} errors").expect("writing to a string never fails");
    text
}

/// The same for programs.
pub fn findings_json(findings: &[Finding]) -> Value {
    let healthy = findings.iter().all(|finding| finding.state != State::Error);
    json!({ "format_version": FORMAT_VERSION, "healthy": healthy, "findings": findings })
}
