use std::error::Error;

use crate::model::made_printable;

/// The longest piece of a peer's text that is kept.
const LONGEST: usize = 120;

/// A text of a peer, fit for a message: one line, bounded, without anything that steers a terminal.
pub(super) fn shown(text: &str) -> String {
    let line: String = text.trim().chars().take(LONGEST).map(|c| if c == '\n' { ' ' } else { c }).collect();
    made_printable(&line).into_owned()
}

/// The innermost cause of an error: the one that says what happened, rather than who noticed.
pub(super) fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    shown(&innermost.to_string())
}
