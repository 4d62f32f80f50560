//! Durations as people write them: `5ms`, `1.5s`, `2m`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error as _};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration like `5ms`, `1.5s` or `2m`")]
pub struct InvalidDuration(String);

/// Reads a number with its unit: `ms`, `s`, `m` or `h`. A bare `0` needs no unit, any other number does.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidDuration> {
    let invalid = || InvalidDuration(text.to_owned());
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| invalid())?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        "" if text == "0" => 0.0,
        _ => return Err(invalid()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| invalid())
}

/// For `#[serde(deserialize_with = …)]`.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    parse_duration(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        for (text, milliseconds) in [("5ms", 5), ("1.5s", 1500), ("2m", 120_000), ("1h", 3_600_000), ("0", 0)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)));
        }
        for text in ["", "5", "ms", "-5s", "5 s", "1e3s", "1.2.3s", "99999999999999999999h"] {
            assert_eq!(parse_duration(text), Err(InvalidDuration(text.to_owned())));
        }
    }
}
