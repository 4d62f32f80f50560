use serde::Deserialize;
use serde_json::Value;

use crate::proxmox::text::clean;

/// A piece of a task's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPage {
    pub lines: Vec<LogLine>,
    /// How many lines the whole log had when this was read.
    pub total: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Counted from 1.
    pub number: u64,
    pub text: String,
}

impl LogPage {
    /// The lines that are there. A log that cannot be opened is an object in PVE 8 and a made-up line in PVE 9.
    pub(in crate::proxmox) fn of(data: &Value, total: Option<u64>) -> Self {
        #[derive(Deserialize)]
        struct Line {
            #[serde(default, deserialize_with = "crate::proxmox::lenient::some_number")]
            n: Option<u64>,
            #[serde(default, deserialize_with = "crate::proxmox::lenient::some_text")]
            t: Option<String>,
        }
        let rows = data.as_array().map(Vec::as_slice).unwrap_or_default();
        let lines: Vec<LogLine> = rows
            .iter()
            .filter_map(|row| Line::deserialize(row).ok())
            .filter_map(|line| Some(LogLine { number: line.n?, text: clean(&line.t?) }))
            .filter(|line| {
                !matches!(line.text.as_str(), "no content" | "unable to open file - No such file or directory")
            })
            .collect();
        let last = lines.last().map_or(0, |line| line.number);
        Self { total: total.unwrap_or(last), lines }
    }

    /// What went wrong without failing the task.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| line.text.strip_prefix("WARN: "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_log_that_is_not_there_has_no_lines() {
        let made_up = json!([{"n": 1, "t": "unable to open file - No such file or directory"}]);
        assert_eq!(LogPage::of(&made_up, Some(1)).lines, []);
        assert_eq!(LogPage::of(&json!({"n": 1, "t": "x"}), None).lines, []);
        assert_eq!(LogPage::of(&json!([{"n": 1, "t": "no content"}]), Some(1)).lines, []);
    }

    #[test]
    fn warnings_are_found() {
        let page = LogPage::of(&json!([{"n": 1, "t": "a"}, {"n": "2", "t": "WARN: b"}, {"t": "c"}, 7]), None);
        assert_eq!((page.warnings().collect::<Vec<_>>(), page.total), (vec!["b"], 2));
    }
}
