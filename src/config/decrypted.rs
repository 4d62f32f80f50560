//! What came out of a SOPS file.

use std::fmt;
use std::str::FromStr;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The values of a SOPS file that are ours. The others were passed over and never kept.
#[derive(Clone, Debug, Deserialize)]
pub struct Decrypted {
    #[serde(default, rename = "proxmox_api_token_id")]
    pub(super) token_id: Value,
    #[serde(default, rename = "proxmox_api_token_secret")]
    pub(super) token_secret: Value,
    #[serde(default, rename = "proxmox_api_token")]
    pub(super) token: Value,
}

/// One decrypted value.
#[derive(Clone, Debug, Default)]
pub(super) enum Value {
    Text(SecretString),
    /// A number, a list, nothing: whatever is no text.
    #[default]
    Other,
}

impl Decrypted {
    /// Reads what `sops` printed. What is wrong with it is not told: the reason could repeat a part of it.
    pub(super) fn from_json(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}

impl Value {
    /// The value that the text stands for; none if it is no text. Blanks around it come from the way it was written.
    pub(super) fn parse<T: FromStr>(&self) -> Result<Option<T>, T::Err> {
        match self {
            Self::Text(text) => text.expose_secret().trim().parse().map(Some),
            Self::Other => Ok(None),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(SecretString::from(text)))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TokenId;

    #[test]
    fn only_texts_are_values_and_blanks_around_them_do_not_count() {
        #[track_caller]
        fn case(json: &str, id: Option<&str>) {
            let decrypted = Decrypted::from_json(json.as_bytes()).expect("it is read");
            let parsed = decrypted.token_id.parse::<TokenId>().expect("no wrong id");
            assert_eq!(parsed.as_ref().map(TokenId::as_str), id, "{json}");
        }
        case(r#"{"cf_account_id": "x", "proxmox_api_token_id": "root@pam!ci"}"#, Some("root@pam!ci"));
        case(r#"{"proxmox_api_token_id": "root@pam!ci\n"}"#, Some("root@pam!ci"));
        case(r#"{"proxmox_api_token_id": 12}"#, None);
        case(r#"{"proxmox_api_token_id": -1.5}"#, None);
        case(r#"{"proxmox_api_token_id": [["a"], {}]}"#, None);
        case(r#"{"proxmox_api_token_id": {"a": "b"}}"#, None);
        case(r#"{"proxmox_api_token_id": null}"#, None);
        case("{}", None);
    }

    #[test]
    fn what_is_not_an_object_is_not_read() {
        for json in ["", "x", "[", "\"root@pam!ci\"", r#"{"proxmox_api_token_id": "a"#, "proxmox_api_token_id: a"] {
            assert!(Decrypted::from_json(json.as_bytes()).is_none(), "{json}");
        }
    }

    #[test]
    fn nothing_of_it_shows_in_its_debug_text() {
        let decrypted = Decrypted::from_json(br#"{"proxmox_api_token": "root@pam!ci=hunter2"}"#).expect("it is read");
        assert!(!format!("{decrypted:?}").contains("hunter2"));
    }
}
