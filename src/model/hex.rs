//! Bytes written as pairs of hexadecimal digits, as MAC addresses and fingerprints are.

use std::fmt;

/// The byte of one pair; `from_str_radix` alone would take a sign for a digit.
pub(super) fn pair(text: &str) -> Option<u8> {
    let two_digits = text.len() == 2 && text.bytes().all(|b| b.is_ascii_hexdigit());
    two_digits.then(|| u8::from_str_radix(text, 16).ok()).flatten()
}

/// Writes upper-case pairs with colons in between.
pub(super) fn write_pairs(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for (index, byte) in bytes.iter().enumerate() {
        let colon = if index == 0 { "" } else { ":" };
        write!(f, "{colon}{byte:02X}")?;
    }
    Ok(())
}
