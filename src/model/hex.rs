//! Bytes written as pairs of hexadecimal digits, as MAC addresses and fingerprints are.

use std::fmt;

/// The byte of one pair; `from_str_radix` alone would take a sign for a digit.
pub(super) fn pair(text: &str) -> Option<u8> {
    let two_digits = text.len() == 2 && text.bytes().all(|b| b.is_ascii_hexdigit());
    two_digits.then(|| u8::from_str_radix(text, 16).ok()).flatten()
}

/// Lower-case digits with nothing in between, as checksums are written.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |four_bits: u8| char::from_digit(u32::from(four_bits), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Writes upper-case pairs with colons in between.
pub(super) fn write_pairs(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    for (index, byte) in bytes.iter().enumerate() {
        let colon = if index == 0 { "" } else { ":" };
        write!(f, "{colon}{byte:02X}")?;
    }
    Ok(())
}
