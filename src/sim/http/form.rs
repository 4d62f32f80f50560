//! Form text as Proxmox reads it, oddities included (pve-http-server: `PVE/APIServer/AnyEvent.pm`).

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::sim::call::percent_decode;

/// A UPID keeps its colons, its `@` and its `!`, so that logs stay readable.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':').remove(b'@').remove(b'!');

/// One parameter. `None` is a key without a value, which Perl calls undefined.
pub(super) type Param = (String, Option<String>);

/// Reads a query string or a form body.
///
/// Pairs end at `&` **and** at `;`, and whatever follows a second raw `=` is lost: a client that does not
/// percent-encode `boot=order=scsi0;ide2` loses half of it here as it does there.
pub(super) fn parse(text: &str) -> Vec<Param> {
    text.split(['&', ';']).filter(|pair| !pair.is_empty()).map(parse_pair).collect()
}

fn parse_pair(pair: &str) -> Param {
    let mut parts = pair.split('=');
    let key = parts.next().unwrap_or_default();
    (unescape(key), parts.next().map(unescape))
}

fn unescape(text: &str) -> String {
    let spaced: Cow<'_, str> = if text.contains('+') { text.replace('+', " ").into() } else { text.into() };
    percent_decode(&spaced)
}

/// Encodes everything but what a path segment may hold as it is, so that decoding once gives `text` back.
pub(super) fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn case(text: &str, expected: &[(&str, Option<&str>)]) {
        let expected: Vec<Param> =
            expected.iter().map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned))).collect();
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn pairs_end_at_ampersands_and_at_semicolons() {
        case("a=1&b=2;c=3", &[("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]);
        case("&&a=1;;", &[("a", Some("1"))]);
        case("", &[]);
    }

    #[test]
    fn an_unescaped_boot_order_loses_its_tail() {
        case("boot=order=scsi0;ide2", &[("boot", Some("order")), ("ide2", None)]);
        case("boot=order%3Dscsi0%3Bide2", &[("boot", Some("order=scsi0;ide2"))]);
    }

    #[test]
    fn a_plus_is_a_space_unless_it_is_escaped() {
        case("name=a+b%2Bc", &[("name", Some("a b+c"))]);
    }

    #[test]
    fn an_empty_value_differs_from_no_value() {
        case("tags=&full", &[("tags", Some("")), ("full", None)]);
    }

    #[test]
    fn broken_escapes_stand_for_themselves() {
        case("a=100%&b=%zz&c=%4", &[("a", Some("100%")), ("b", Some("%zz")), ("c", Some("%4"))]);
        case("a=%FF", &[("a", Some("\u{FFFD}"))]);
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding(text in any::<String>()) {
            prop_assert_eq!(percent_decode(&percent_encode(&text)), text);
        }

        #[test]
        fn no_text_makes_the_reader_fail(text in any::<String>()) {
            prop_assert!(parse(&text).len() <= text.len());
        }
    }
}
