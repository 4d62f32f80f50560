//! Parameters on the wire.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but RFC 3986's unreserved characters is escaped. Proxmox splits a form at `;` as well as at `&`, loses
/// what follows a second `=`, and takes `+` for a space (pve-http-server: src/PVE/APIServer/AnyEvent.pm).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The parameters as a query string or a form body.
pub(super) fn encode(params: &[(String, String)]) -> String {
    let pairs = params.iter().map(|(name, value)| format!("{}={}", escape(name), escape(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// One part of a path, or one half of a parameter.
pub(super) fn escape(text: &str) -> impl std::fmt::Display {
    utf8_percent_encode(text, ESCAPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_would_split_a_form_is_escaped() {
        let params =
            [("boot".to_owned(), "order=scsi0;ide2".to_owned()), ("description".to_owned(), "a+b & ü\n%".to_owned())];
        assert_eq!(encode(&params), "boot=order%3Dscsi0%3Bide2&description=a%2Bb%20%26%20%C3%BC%0A%25");
        assert_eq!(encode(&[]), "");
    }
}
