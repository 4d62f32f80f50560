//! When two answers are the same.
//!
//! Status, reason, error texts, keys, types and values must be equal. Not compared by value are what differs between any
//! two runs — numbers of processes, times, digests, generated MACs and ids, load and space of a host — and the order of
//! lists, which the real server does not keep either.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::recording::{Recording, percent_decode};

/// What recorded names are called in the replayed world, and which texts were sent by the client.
pub(crate) struct Words {
    names: BTreeMap<String, String>,
    sent: String,
}

/// Numbers whose value is chance.
const CHANCE: &[&str] = &[
    "pid",
    "pstart",
    "starttime",
    "endtime",
    "ctime",
    "snaptime",
    "uptime",
    "cpu",
    "mem",
    "used",
    "avail",
    "free",
    "available",
    "used_fraction",
    "netin",
    "netout",
    "total",
    "wait",
    "idle",
    "pressurecpufull",
    "pressurecpusome",
    "pressureiofull",
    "pressureiosome",
    "pressurememoryfull",
    "pressurememorysome",
];

/// Numbers that belong to a host or a storage.
const OF_HOSTS: &[&str] = &["disk", "maxdisk", "maxmem", "maxcpu"];

impl Words {
    pub(crate) fn new(recordings: &[Recording]) -> Self {
        let sent = recordings.iter().map(|recording| {
            let body = recording.body.clone().unwrap_or_default().replace('+', " ");
            percent_decode(&body) + "\n"
        });
        Self { names: BTreeMap::new(), sent: sent.collect() }
    }

    /// Puts the simulator's names in place of the recorded ones.
    pub(crate) fn translate(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (recorded, own)| text.replace(recorded.as_str(), own))
    }

    /// Takes note of one name.
    pub(crate) fn name(&mut self, recorded: &str, own: &Value) {
        self.names.insert(recorded.to_owned(), own.as_str().unwrap().to_owned());
    }

    /// Takes note of UPIDs and digests that stand at the same place in both answers.
    pub(crate) fn learn(&mut self, recorded: &Value, own: &Value) {
        match (recorded, own) {
            (Value::Object(recorded), Value::Object(own)) => {
                for (key, value) in recorded {
                    if let Some(other) = own.get(key) {
                        self.learn(value, other);
                    }
                }
                if recorded.get("key") == Some(&json!("digest")) {
                    self.learn(&recorded["value"], &own["value"]);
                }
            }
            (Value::Array(recorded), Value::Array(own)) => {
                let digest = |rows: &[Value]| rows.iter().find(|row| row["key"] == "digest").cloned();
                if let (Some(recorded), Some(own)) = (digest(recorded), digest(own)) {
                    self.learn(&recorded["value"], &own["value"]);
                }
            }
            (Value::String(recorded), Value::String(own)) => {
                let is_digest = |text: &str| text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
                let upid = |text: &str| text.starts_with("UPID:");
                if recorded != own && ((is_digest(recorded) && is_digest(own)) || (upid(recorded) && upid(own))) {
                    self.names.insert(recorded.clone(), own.clone());
                }
            }
            _ => {}
        }
    }

    pub(crate) fn compare(&self, recording: &Recording, reason: &str, body: &Value) -> Result<(), String> {
        let expected = self.normal_text(&recording.reason);
        let reason = self.normal_text(reason);
        if reason != expected {
            return Err(format!("reason\n    {reason}\n    instead of\n    {expected}"));
        }
        let (own, expected) = (self.view(recording, body), self.view(recording, &recording.answer));
        if own == expected { Ok(()) } else { Err(format!("body\n    {}", differences(&own, &expected).join("\n    "))) }
    }

    /// The part of an answer that counts.
    fn view(&self, recording: &Recording, body: &Value) -> Value {
        let path = recording.path.split('?').next().unwrap_or_default();
        if path.ends_with("/log") {
            return self.log(body);
        }
        if recording.is_compared_by_shape() { shape(body) } else { self.normal(body, "", body) }
    }

    /// A log as lines with how often each stands there in a row.
    fn log(&self, body: &Value) -> Value {
        let lines: Vec<String> = match (body.get("log"), body.get("data")) {
            (Some(Value::Array(runs)), _) => runs
                .iter()
                .flat_map(|run| {
                    let count = run[1].as_u64().unwrap() - run[0].as_u64().unwrap() + 1;
                    let text = run[2].as_str().unwrap().to_owned();
                    (0..count).map(move |_| text.clone())
                })
                .collect(),
            (_, Some(Value::Array(rows))) => {
                rows.iter().map(|row| short_progress(row["t"].as_str().unwrap())).collect()
            }
            _ => return self.normal(body, "", body),
        };
        let mut runs: Vec<(String, u32)> = Vec::new();
        for line in lines {
            let line = self.normal_text(&line);
            match runs.last_mut() {
                Some((last, count)) if *last == line => *count += 1,
                _ => runs.push((line, 1)),
            }
        }
        if runs.iter().any(|(line, _)| line == "TASK OK") {
            return json!({ "log": runs, "total": body["total"] });
        }
        // How far a copy got until somebody looked, or ended it, is chance.
        for (_, count) in runs.iter_mut().filter(|(line, _)| line.starts_with("transferred ")) {
            *count = 1;
        }
        json!({ "log": runs, "total": "<number>" })
    }

    fn normal(&self, value: &Value, key: &str, parent: &Value) -> Value {
        match value {
            Value::Object(object) => {
                let sorted: BTreeMap<String, Value> =
                    object.iter().map(|(key, inner)| (key.clone(), self.normal(inner, key, value))).collect();
                Value::Object(sorted.into_iter().collect())
            }
            Value::Array(rows) => {
                let mut rows: Vec<Value> = rows.iter().map(|row| self.normal(row, key, value)).collect();
                rows.sort_by_key(ToString::to_string);
                Value::Array(rows)
            }
            Value::Number(_) => {
                let kind = parent.get("type").and_then(Value::as_str).unwrap_or_default();
                let of_host = matches!(kind, "node" | "storage") && OF_HOSTS.contains(&key);
                let of_tap = matches!(key, "netin" | "netout");
                if CHANCE.contains(&key) || of_host || of_tap { json!("<number>") } else { value.clone() }
            }
            Value::String(text) if key == "content" && !text.contains(' ') => {
                let parts: BTreeSet<&str> = text.split(',').collect();
                json!(parts)
            }
            Value::String(_) if matches!(key, "ssl_fingerprint" | "value") && parent.get("full-tokenid").is_some() => {
                json!("<text>")
            }
            Value::String(_) if key == "ssl_fingerprint" => json!("<text>"),
            Value::String(text) => Value::String(self.normal_text(text)),
            other => other.clone(),
        }
    }

    /// A text without what is chance: generated MACs and ids, UPIDs, digests, times.
    fn normal_text(&self, text: &str) -> String {
        let text = self.translate(text);
        let mut out = String::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let Some((length, word)) = self.chance_at(rest) else {
                let first = rest.chars().next().unwrap();
                out.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            };
            out.push_str(word);
            rest = &rest[length..];
        }
        out
    }

    /// What stands at the beginning of `rest` that would be different next time.
    fn chance_at(&self, rest: &str) -> Option<(usize, &'static str)> {
        let take = |length: usize| rest.get(..length);
        let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
        if rest.starts_with("UPID:") {
            let end = rest.match_indices(':').nth(7).map(|(index, _)| index + 1)?;
            return Some((end, "<upid>"));
        }
        if let Some(tail) = rest.strip_prefix("pveupload-") {
            let length = tail.bytes().take_while(u8::is_ascii_hexdigit).count();
            return Some(("pveupload-".len() + length, "<upload>"));
        }
        if let Some(tail) = rest.strip_prefix("ctime=") {
            let length = tail.bytes().take_while(u8::is_ascii_digit).count();
            return Some(("ctime=".len() + length, "ctime=<time>"));
        }
        if let Some(tail) = rest.strip_prefix("--20")
            && let Some(end) = tail.find("--")
        {
            return Some((4 + end + 2, "<date>"));
        }
        if let Some(word) = take(36)
            && word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
            && hex(&word.replace('-', ""))
            && !self.sent.contains(word)
        {
            return Some((36, "<uuid>"));
        }
        if let Some(word) = take(17)
            && word.split(':').count() == 6
            && word.split(':').all(|pair| pair.len() == 2 && hex(pair))
            && !self.sent.contains(word)
        {
            return Some((17, "<mac>"));
        }
        if let Some(word) = take(40)
            && hex(word)
        {
            return Some((40, "<digest>"));
        }
        None
    }
}

/// `transferred 12.7 MiB of 1.0 GiB (1.24%)` without the progress.
fn short_progress(line: &str) -> String {
    match line.strip_prefix("transferred ").and_then(|rest| rest.split_once(" of ")) {
        Some((_, rest)) => format!("transferred … of {}", rest.split(" (").next().unwrap_or(rest)),
        None => line.to_owned(),
    }
}

/// Keys and types alone; the rows of a list count once per shape.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let sorted: BTreeMap<String, Value> =
                object.iter().map(|(key, value)| (key.clone(), shape(value))).collect();
            Value::Object(Map::from_iter(sorted))
        }
        Value::Array(rows) => {
            let shapes: BTreeMap<String, Value> =
                rows.iter().map(shape).map(|shape| (shape.to_string(), shape)).collect();
            Value::Array(shapes.into_values().collect())
        }
        Value::String(_) => json!("text"),
        Value::Number(_) => json!("number"),
        Value::Bool(_) => json!("boolean"),
        Value::Null => Value::Null,
    }
}

/// Where two answers differ, a line each.
fn differences(own: &Value, expected: &Value) -> Vec<String> {
    fn walk(path: &str, own: &Value, expected: &Value, lines: &mut Vec<String>) {
        match (own, expected) {
            (Value::Object(left), Value::Object(right)) => {
                for key in left.keys().chain(right.keys()).collect::<BTreeSet<_>>() {
                    let path = format!("{path}.{key}");
                    match (left.get(key), right.get(key)) {
                        (Some(left), Some(right)) => walk(&path, left, right, lines),
                        (Some(left), None) => lines.push(format!("{path}: {left} is too much")),
                        (None, Some(right)) => lines.push(format!("{path}: {right} is missing")),
                        (None, None) => {}
                    }
                }
            }
            (Value::Array(left), Value::Array(right)) => {
                for row in left.iter().filter(|row| !right.contains(row)) {
                    lines.push(format!("{path}[]: {row} is too much"));
                }
                for row in right.iter().filter(|row| !left.contains(row)) {
                    lines.push(format!("{path}[]: {row} is missing"));
                }
                if left.len() != right.len() {
                    lines.push(format!("{path}: {} rows instead of {}", left.len(), right.len()));
                }
            }
            (left, right) if left != right => lines.push(format!("{path}: {left} instead of {right}")),
            _ => {}
        }
    }
    let mut lines = Vec::new();
    walk("", own, expected, &mut lines);
    lines
}
