use std::collections::BTreeMap;

use pvetalos::proxmox::request::{Method, Request};
use serde::Deserialize;
use serde_json::Value;

use crate::compare::Words;

/// One recorded exchange.
#[derive(Debug, Deserialize)]
pub(crate) struct Recording {
    pub(crate) name: String,
    /// Seconds since the first one, when the answer came.
    pub(crate) at: f64,
    /// Seconds that the answer took.
    pub(crate) took: f64,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) status: u16,
    pub(crate) reason: String,
    pub(crate) answer: Value,
}

pub(crate) fn all() -> Vec<Recording> {
    let lines = include_str!("../fixtures/pve/recordings.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Recording {
    /// Whether this is the status of a task that is over.
    pub(crate) fn is_ended_task(&self) -> bool {
        self.path.contains("/tasks/") && self.answer["data"]["status"] == "stopped"
    }

    /// Whether its values are those of the machine or of the moment, so that only keys and types can be the same.
    pub(crate) fn is_compared_by_shape(&self) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        let fleeting = path.ends_with("/nodes/pve/status") || path.contains("/agent/") || path.ends_with("/tasks");
        fleeting && self.status == 200
    }

    pub(crate) fn method(&self) -> Option<Method> {
        match self.method.as_str() {
            "GET" => Some(Method::Get),
            "POST" => Some(Method::Post),
            "PUT" => Some(Method::Put),
            "DELETE" => Some(Method::Delete),
            _ => None,
        }
    }

    /// The request with the simulator's names in it.
    pub(crate) fn request(&self, words: &Words) -> Request {
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let mut params = decode(query);
        match (self.content_type.as_deref(), &self.body) {
            (None, Some(body)) => params.extend(decode(body)),
            (Some("application/json"), Some(body)) => {
                let object: BTreeMap<String, Value> = serde_json::from_str(body).unwrap();
                params.extend(object.into_iter().map(|(key, value)| (key, scalar(&value))));
            }
            (_, None) | (Some(_), Some(_)) => {}
        }
        for (_, value) in &mut params {
            *value = words.translate(value);
            if let Some(count) = value.strip_suffix(" times the letter x>").and_then(|text| text.strip_prefix('<')) {
                *value = "x".repeat(count.parse().unwrap());
            }
        }
        let path = words.translate(&percent_decode(path)).replace('!', "%21").replace('@', "%40");
        // A volume's own slashes are part of its name.
        let path = match path.split_once("/content/") {
            Some((before, volume)) => format!("{before}/content/{}", volume.replace('/', "%2F")),
            None => path,
        };
        Request { method: self.method().unwrap(), path, params }
    }

    /// Content, name and size of a file that was sent along.
    pub(crate) fn upload(&self) -> Option<(String, String, u64)> {
        let rest = self.body.as_deref()?.strip_prefix("multipart: content=")?;
        let (content, rest) = rest.split_once(", filename=")?;
        let (file, size) = rest.split_once(" (")?;
        let size = size.trim_end_matches(" bytes)").parse().ok()?;
        Some((content.to_owned(), file.to_owned(), size))
    }

    /// The header as it was sent, as far as it is recorded.
    pub(crate) fn authorization(&self, secrets: &BTreeMap<String, String>) -> Option<String> {
        let recorded = self.authorization.as_deref().or_else(|| {
            // The tokens of the recorded user were made by the operator.
            self.name.starts_with("805-").then_some("PVEAPIToken=root@pam!rig=<secret>")
        })?;
        if recorded == "<see note>" {
            return Some(from_note(self.note.as_deref().unwrap_or_default()));
        }
        let id = recorded.trim_start_matches("PVEAPIToken=").trim_end_matches("=<secret>");
        let secret = secrets.get(id).map_or("<secret>", String::as_str);
        Some(format!("PVEAPIToken={id}={secret}"))
    }
}

/// Headers that were not recorded, from what was noted about them.
fn from_note(note: &str) -> String {
    let token = "PVEAPIToken=automation@pve!";
    match note {
        note if note.contains("wrong secret") => format!("{token}talos=wrong"),
        note if note.contains("malformed") => "PVEAPIToken=nonsense".to_owned(),
        note if note.to_lowercase().contains("bearer") => "Bearer abc".to_owned(),
        note if note.contains("unknown user") || note.contains("user") => {
            "PVEAPIToken=nobody@pve!x=<secret>".to_owned()
        }
        _ => format!("{token}unknown=<secret>"),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Bool(flag) => u8::from(*flag).to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn decode(form: &str) -> Vec<(String, String)> {
    form.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (percent_decode(key), percent_decode(&value.replace('+', " ")))
        })
        .collect()
}

pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escape = (*first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|pair| std::str::from_utf8(pair).ok())
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        bytes.push(escape.unwrap_or(*first));
        rest = if escape.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).unwrap()
}
