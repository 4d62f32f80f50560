//! Texts of the server and errors, made fit for a message.

use std::error::Error;

/// The longest piece of a server's text that is kept.
const LONGEST: usize = 2000;

/// Without control characters, which could steer a terminal; on one line; bounded.
pub(super) fn clean(text: &str) -> String {
    let mut cleaned = String::new();
    for c in text.trim().chars().take(LONGEST) {
        match c {
            '\n' | '\r' | '\t' => {
                if !cleaned.ends_with(' ') {
                    cleaned.push(' ');
                }
            }
            c if c.is_control() || reorders(c) => cleaned.extend(c.escape_default()),
            c => cleaned.push(c),
        }
    }
    if text.trim().chars().nth(LONGEST).is_some() {
        cleaned.push('…');
    }
    cleaned
}

/// Marks that reorder text on the screen.
fn reorders(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// An error and its causes in one line.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\n\nc\u{202e}\n"), "a\\u{1b}[31mb c\\u{202e}");
        assert_eq!(clean(&"x".repeat(9999)).chars().count(), LONGEST + 1);
    }
}
