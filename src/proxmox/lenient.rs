//! Proxmox is written in Perl, where a number is a string is a number, and a key without a value is left out. The same
//! field has come as `2`, `"2"` and `2.0` in different versions, and booleans as `1`, `"1"` and `true`.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};

/// A scalar of any kind, as text. Whole numbers have no fraction, booleans are `1` and `0`.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    some_text(deserializer)?.ok_or_else(|| de::Error::custom("a value is null"))
}

/// A scalar of any kind, as text; `null` is none.
pub(super) fn some_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    deserializer.deserialize_any(Scalar)
}

/// A whole number of any spelling; `null` and texts without a number are none, fractions are cut off.
pub(super) fn some_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = some_text(deserializer)?;
    Ok(text.as_deref().and_then(whole))
}

fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.split_once('.').map_or(text, |(whole, _)| whole);
    digits.parse().ok()
}

/// A boolean of any spelling. Absent, `null` and empty are false.
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let text = some_text(deserializer)?;
    Ok(text.is_some_and(|text| !matches!(text.as_str(), "" | "0" | "false" | "off" | "no")))
}

/// A value of the domain, written as a text or as a number.
pub(super) fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: fmt::Display>>(deserializer: D) -> Result<T, D::Error> {
    text(deserializer)?.parse().map_err(de::Error::custom)
}

/// A value of the domain; whatever is none is none.
pub(super) fn some_parsed<'de, D: Deserializer<'de>, T: FromStr>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(some_text(deserializer)?.and_then(|text| text.parse().ok()))
}

struct Scalar;

impl<'de> Visitor<'de> for Scalar {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number or a boolean")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Some(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Self::Value, E> {
        Ok(Some(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(u8::from(value).to_string()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::model::VmId;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Row {
        #[serde(deserialize_with = "some_number")]
        count: Option<u64>,
        #[serde(deserialize_with = "flag")]
        on: bool,
        #[serde(deserialize_with = "some_text")]
        name: Option<String>,
        #[serde(deserialize_with = "some_parsed")]
        vmid: Option<VmId>,
    }

    #[test]
    fn every_spelling_of_a_value_is_read() {
        let row = |text: &str| serde_json::from_str::<Row>(text).unwrap();
        let expected = Row { count: Some(2), on: true, name: Some("7".to_owned()), vmid: VmId::new(100) };
        assert_eq!(row(r#"{"count":2,"on":1,"name":"7","vmid":100}"#), expected);
        assert_eq!(row(r#"{"count":"2","on":"1","name":7,"vmid":"100"}"#), expected);
        assert_eq!(row(r#"{"count":2.0,"on":true,"name":7.0,"vmid":100.0}"#), expected);
        let nothing = Row::default();
        assert_eq!(row("{}"), nothing);
        assert_eq!(row(r#"{"count":null,"on":null,"name":null,"vmid":null}"#), nothing);
        assert_eq!(row(r#"{"count":"many","on":"0","vmid":"7"}"#), nothing);
    }

    #[test]
    fn a_list_is_no_scalar() {
        assert!(serde_json::from_str::<Row>(r#"{"count":[1]}"#).is_err());
        assert!(serde_json::from_str::<Row>(r#"{"name":{}}"#).is_err());
    }
}
