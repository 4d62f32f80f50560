//! Answers that a client cannot read.

use serde::Deserialize;
use serde_json::{Value, json};

/// What a middle box, a full disk or another program on the port makes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Malformed {
    /// The JSON text ends in the middle.
    Truncated,
    /// A page for people, as from a reverse proxy.
    Html,
    /// Well-formed, but of a kind that nobody expects.
    WrongType,
}

impl Malformed {
    pub(in crate::sim) fn spoil(self, body: &[u8]) -> Vec<u8> {
        match self {
            Self::Truncated => body[..body.len() / 2].to_vec(),
            Self::Html => b"<!DOCTYPE html>\n<html><body><h1>Under maintenance</h1></body></html>\n".to_vec(),
            Self::WrongType => wrong_type(body).to_string().into_bytes(),
        }
    }
}

fn wrong_type(body: &[u8]) -> Value {
    let data =
        serde_json::from_slice(body).ok().and_then(|mut envelope: Value| envelope.get_mut("data").map(Value::take));
    let other = match data {
        Some(Value::Object(_)) => json!(["surprise"]),
        Some(Value::Array(_)) => json!({"surprise": 1}),
        Some(Value::String(_)) => json!({"surprise": [1, 2, 3]}),
        _ => json!("surprise"),
    };
    json!({ "data": other })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spoilt_answer_is_never_the_one_expected() {
        let body = br#"{"data":[{"vmid":100}]}"#;
        assert!(serde_json::from_slice::<Value>(&Malformed::Truncated.spoil(body)).is_err());
        assert!(serde_json::from_slice::<Value>(&Malformed::Html.spoil(body)).is_err());
        assert_eq!(Malformed::WrongType.spoil(body), br#"{"data":{"surprise":1}}"#);
        assert_eq!(Malformed::WrongType.spoil(b""), br#"{"data":"surprise"}"#);
    }
}
