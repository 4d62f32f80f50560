//! What a YAML parser of the factory's kind takes a word without quotes for.

/// What a plain word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainKind {
    Null,
    Bool,
    Integer,
    Float,
    Timestamp,
    /// A text, but older parsers see a boolean (`yes`), a number to the base of 60 (`1:20`) or a merge (`<<`) in it.
    OtherParsersMistakeIt,
    Text,
}

/// Tells what go-yaml takes a plain word for.
pub fn plain_kind(word: &str) -> PlainKind {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => return PlainKind::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => return PlainKind::Bool,
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf"
        | "-.INF" => return PlainKind::Float,
        "<<" | "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "n" | "N" | "no" | "No" | "NO" | "off"
        | "Off" | "OFF" => return PlainKind::OtherParsersMistakeIt,
        _ => {}
    }
    if !word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return PlainKind::Text;
    }
    // Underscores may stand in a number that begins with a digit or a sign, and nowhere else.
    let joined = if word.starts_with('.') { word.to_owned() } else { word.replace('_', "") };
    if is_timestamp(word) {
        PlainKind::Timestamp
    } else if is_integer(&joined) {
        PlainKind::Integer
    } else if is_float(&joined) {
        PlainKind::Float
    } else if is_sexagesimal(word) {
        PlainKind::OtherParsersMistakeIt
    } else {
        PlainKind::Text
    }
}

fn unsigned(word: &str) -> &str {
    word.strip_prefix(['+', '-']).unwrap_or(word)
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Decimal, or with `0x`, `0o`, `0b`, or with a leading zero for octal; what has more than 64 bits is a float.
fn is_integer(word: &str) -> bool {
    let lower = unsigned(word).to_ascii_lowercase();
    let (digits, base) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'o', ..] => (&lower[2..], 8),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    !digits.starts_with('+') && u64::from_str_radix(digits, base).is_ok()
}

fn is_float(word: &str) -> bool {
    let word = unsigned(word);
    let (mantissa, exponent) = match word.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (word, None),
    };
    let number = match mantissa.split_once('.') {
        None => all_digits(mantissa),
        Some(("", fraction)) => all_digits(fraction),
        Some((whole, fraction)) => all_digits(whole) && (fraction.is_empty() || all_digits(fraction)),
    };
    number && exponent.is_none_or(|exponent| all_digits(unsigned(exponent)))
}

/// `1:20`, `-1:20:30.5`.
fn is_sexagesimal(word: &str) -> bool {
    let word = unsigned(word);
    let (word, fraction) = word.split_once('.').unwrap_or((word, ""));
    let mut parts = word.split(':');
    let first = parts.next().unwrap_or_default();
    let digit_or_line = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let sixtieth = |part: &str| (1..=2).contains(&part.len()) && part.parse::<u8>().is_ok_and(|part| part < 60);
    let rest: Vec<&str> = parts.collect();
    first.starts_with(|c: char| c.is_ascii_digit())
        && digit_or_line(first)
        && digit_or_line(fraction)
        && !rest.is_empty()
        && rest.into_iter().all(|part| all_digits(part) && sixtieth(part))
}

/// `2024-01-31`, `2024-1-31T7:05:09.5Z`, `2024-01-31 07:05:09`.
fn is_timestamp(word: &str) -> bool {
    let (date, time) = match word.find(['T', 't', ' ']) {
        Some(at) => (&word[..at], Some((word.as_bytes()[at], &word[at + 1..]))),
        None => (word, None),
    };
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else {
        return false;
    };
    let small = |text: &str, range: std::ops::RangeInclusive<u32>| {
        (1..=2).contains(&text.len()) && all_digits(text) && text.parse().is_ok_and(|number| range.contains(&number))
    };
    let is_date = year.len() == 4 && all_digits(year) && small(month, 1..=12) && {
        let (year, month) = (year.parse().unwrap_or(0_u32), month.parse().unwrap_or(0_u32));
        small(day, 1..=days_of(year, month))
    };
    let is_time = |time: &str| {
        let parts: Vec<&str> = time.split(':').collect();
        let [hour, minute, second] = parts[..] else {
            return false;
        };
        let (second, fraction) = second.split_once('.').map_or((second, None), |(second, rest)| (second, Some(rest)));
        small(hour, 0..=23) && small(minute, 0..=59) && small(second, 0..=59) && fraction.is_none_or(all_digits)
    };
    let has_zone = |text: &str| {
        if let Some(time) = text.strip_suffix('Z') {
            return is_time(time);
        }
        text.rfind(['+', '-']).is_some_and(|at| {
            let zone = text[at + 1..].split_once(':');
            let is_zone = zone.is_some_and(|(hours, minutes)| {
                hours.len() == 2 && minutes.len() == 2 && small(hours, 0..=24) && small(minutes, 0..=60)
            });
            is_zone && is_time(&text[..at])
        })
    };
    is_date
        && match time {
            None => true,
            Some((b' ', time)) => is_time(time),
            Some((_, time)) => has_zone(time),
        }
}

fn days_of(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_the_factory_takes_them_for() {
        #[track_caller]
        fn case(kind: PlainKind, words: &[&str]) {
            for word in words {
                assert_eq!(plain_kind(word), kind, "{word}");
            }
        }
        case(PlainKind::Null, &["", "~", "null"]);
        case(PlainKind::Bool, &["true", "FALSE"]);
        case(
            PlainKind::Integer,
            &["0", "123", "-1", "+7", "0x1F", "0o17", "0b1", "010", "1_000", "18446744073709551615"],
        );
        case(PlainKind::Float, &["1.5", "1.", ".5", "-.5", "1e3", "09", "99999999999999999999", ".inf", "1_0.5"]);
        case(
            PlainKind::Timestamp,
            &["2024-01-01", "2024-2-29", "2024-01-01T7:05:09.5Z", "2024-01-01 07:05:09", "2024-01-01t07:05:09+01:00"],
        );
        case(PlainKind::OtherParsersMistakeIt, &["yes", "Off", "<<", "1:20", "-1:20:59.5"]);
        case(
            PlainKind::Text,
            &["-", "1.2.3.4", "2023-02-29", "2024-13-01", "0x", "0xg", "1:60", "_1", ".", "1e", "+-1", "-console"],
        );
    }
}
