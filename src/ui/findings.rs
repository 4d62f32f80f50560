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
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    writeln!(text, "\n{right} ok, {}, {}", plural(doubtful, "warning"), plural(wrong, "error"))
        .expect("writing to a string never fails");
    text
}

/// The same for programs.
pub fn findings_json(findings: &[Finding]) -> Value {
    let healthy = findings.iter().all(|finding| finding.state != State::Error);
    json!({ "format_version": FORMAT_VERSION, "healthy": healthy, "findings": findings })
}
