//! What a real server answered when its HTTP layer had something to say. The other recordings are replayed against the
//! state machine; these are the exchanges that never get there, or get there in another form.

use pvetalos::sim::{Clock, Simulator, Waits, World};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::{Answer, Served, quick_manners};

#[derive(Debug, Deserialize)]
struct Recording {
    name: String,
    method: String,
    path: String,
    authorization: Option<String>,
    content_type: Option<String>,
    body: Option<String>,
    note: Option<String>,
    status: u16,
    reason: String,
    answer: Value,
}

/// In this order: the first two change what the others ask about.
const REPLAYED: &[&str] = &[
    "298-json-body-types",
    "299-json-body-false",
    "300-json-body-broken",
    "301-json-body-array",
    "302-json-body-null",
    "303-text-plain-body",
    "425-delete-parameters-in-body",
    "460-method-patch",
    "461-wrong-method-post-version",
    "462-wrong-method-delete-config",
    "463-head",
    "464-options",
    "465-unknown-query-parameter-get",
    "467-double-slash",
    "470-no-auth",
    "471-bad-token-secret",
    "472-unknown-token-id",
    "473-unknown-user",
    "474-malformed-token",
    "475-bearer",
    "476-expired-token",
    "477-no-auth-unknown-path",
    "478-bad-token-secret-on-post",
    "672-body-600k",
    "691-accept-gzip",
];

impl Recording {
    /// The headers are not recorded where they hold a wrong secret; the note says what they were.
    fn authorization(&self) -> Option<&str> {
        Some(match self.note.as_deref() {
            Some("well-formed token id with a wrong secret" | "wrong secret on a POST") => {
                "PVEAPIToken=automation@pve!talos=wrong"
            }
            Some("unknown token name") => "PVEAPIToken=automation@pve!unknown=<secret>",
            Some("unknown user") => "PVEAPIToken=nobody@pve!talos=<secret>",
            Some("malformed token string") => "PVEAPIToken=nonsense",
            Some("Bearer scheme") => "Bearer <secret>",
            _ => self.authorization.as_deref()?,
        })
    }

    fn body(&self) -> String {
        let body = self.body.clone().unwrap_or_default();
        body.replace("<600000 times the letter x>", &"x".repeat(600_000))
    }

    async fn replay(&self, served: &Served) -> Answer {
        let (method, path, body) = (&self.method, &self.path, self.body());
        let mut request = format!("{method} /api2/json{path} HTTP/1.1\r\nHost: localhost\r\n");
        let content_type = self.content_type.clone().or_else(|| {
            let form = "application/x-www-form-urlencoded".to_owned();
            self.body.is_some().then_some(form)
        });
        for (name, value) in [("Authorization", self.authorization()), ("Content-Type", content_type.as_deref())] {
            if let Some(value) = value {
                request.extend([name, ": ", value, "\r\n"]);
            }
        }
        let mut connection = served.connect().await;
        connection.send(&format!("{request}Content-Length: {}\r\n\r\n{body}", body.len())).await;
        connection.answer().await
    }
}

fn world() -> World {
    World::from_json(&json!({
        "hosts": {"pve": {}},
        "templates": {"9000": {}},
        "vms": {"100": {}, "101": {}},
        "tokens": {
            "automation@pve!talos": {"secret": "<secret>"},
            "automation@pve!expired": {"secret": "<secret>", "expire": 1},
        },
    }))
    .expect("a world")
}

#[tokio::test]
async fn what_the_http_layer_says_is_what_a_real_one_said() {
    let recordings: Vec<Recording> = include_str!("../fixtures/pve/recordings.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a recording"))
        .collect();
    let waits = Waits { refused_login: std::time::Duration::from_millis(1), ..Waits::default() };
    let simulator = Simulator::with(world(), Clock::default(), waits);
    let served = Served::of(simulator, "PVEAPIToken=automation@pve!talos=<secret>", quick_manners()).await;
    for name in REPLAYED {
        let recording = recordings.iter().find(|recording| recording.name == *name).expect("a recorded exchange");
        let answer = recording.replay(&served).await;
        assert_eq!((answer.status, answer.reason.as_str()), (recording.status, recording.reason.as_str()), "{name}");
        match &recording.answer {
            Value::String(text) => {
                assert_eq!((answer.body.as_str(), answer.header("Content-Type")), (text.as_str(), None), "{name}");
            }
            expected => {
                assert_eq!(answer.json(), *expected, "{name}");
                assert_eq!(answer.header("Content-Type"), Some("application/json;charset=UTF-8"), "{name}");
            }
        }
        let connection = if recording.status >= 400 { "close" } else { "Keep-Alive" };
        assert_eq!(answer.header("Connection"), Some(connection), "{name}");
    }
}
