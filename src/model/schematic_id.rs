use std::borrow::Cow;

use super::invalid::checked_text;

checked_text! {
    /// The identity of an Image Factory schematic: a SHA-256 in lower-case hexadecimal.
    SchematicId,
    "a schematic id, 64 hexadecimal digits",
    "^[0-9a-f]{64}$",
    |text| {
        let hexadecimal = text.bytes().all(|b| b.is_ascii_hexdigit());
        if text.is_empty() {
            Err("it is empty")
        } else if !hexadecimal {
            Err("it has a character that is no hexadecimal digit")
        } else if text.len() != 64 {
            Err("it does not have 64 digits")
        } else if text.bytes().any(|b| b.is_ascii_uppercase()) {
            Err("it must be in lower case")
        } else {
            Ok(Cow::Borrowed(text))
        }
    }
}

impl SchematicId {
    /// Enough of it to tell schematics apart on a screen.
    pub fn short(&self) -> &str {
        &self.as_str()[..8]
    }
}
