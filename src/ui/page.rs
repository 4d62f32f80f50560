use std::fmt::Write;

use crate::model::made_printable;

/// Text for people, with colours and broken into lines.
///
/// The colours are ours alone: whatever else goes in is made printable on its way, so that nothing from a file or a
/// server steers the terminal. The gate takes the colours out where they do not belong.
#[derive(Clone, Debug)]
pub struct Page {
    text: String,
    width: usize,
}

/// What a piece of text is about, by which it gets its colour. The words must do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Faint,
    /// Something comes into being, or is well.
    Good,
    /// Something becomes another.
    Change,
    /// Something is wrong.
    Bad,
    /// Something is not known, or is a question.
    Doubt,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\u{1b}[1m",
            Self::Faint => "\u{1b}[2m",
            Self::Good => "\u{1b}[32m",
            Self::Change => "\u{1b}[33m",
            Self::Bad => "\u{1b}[31m",
            Self::Doubt => "\u{1b}[36m",
        }
    }
}

const RESET: &str = "\u{1b}[0m";

impl Page {
    /// An empty page that is so many columns wide.
    pub fn new(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text with its colours.
    pub(super) fn painted(&self) -> &str {
        &self.text
    }

    /// The text without its colours.
    pub fn plain(&self) -> String {
        anstream::adapter::strip_str(&self.text).to_string()
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Adds a piece to the line.
    pub(super) fn put(&mut self, tone: Tone, text: &str) -> &mut Self {
        let text = made_printable(text);
        let end = if tone == Tone::Plain { "" } else { RESET };
        write!(self.text, "{}{text}{end}", tone.code()).expect("writing to a string never fails");
        self
    }

    pub(super) fn end_line(&mut self) -> &mut Self {
        self.text.push('\n');
        self
    }

    /// Adds an empty line, unless the page is empty.
    pub(super) fn gap(&mut self) -> &mut Self {
        if self.is_empty() { self } else { self.end_line() }
    }

    /// Adds lines that begin at a column; `first` stands before the first of them and the others leave it room.
    pub(super) fn paragraph(&mut self, column: usize, first: &str, tone: Tone, text: &str) -> &mut Self {
        let hanging = column + first.chars().count();
        for (index, line) in broken(text, self.width.saturating_sub(hanging)).enumerate() {
            let lead = if index == 0 { first } else { "" };
            self.put(Tone::Plain, &format!("{:column$}{lead:<1$}", "", hanging - column)).put(tone, &line).end_line();
        }
        self
    }
}

/// Breaks a text between its words. A word that is wider stands alone: it is something to be copied.
pub(super) fn broken(text: &str, width: usize) -> impl Iterator<Item = String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            let used = line.chars().count();
            if used > 0 && used + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_hang_below_their_beginning() {
        let mut page = Page::new(24);
        page.paragraph(2, "- ", Tone::Bad, "one two three four five a-word-that-is-much-too-long six");
        assert_eq!(page.plain(), "  - one two three four\n    five\n    a-word-that-is-much-too-long\n    six\n");
    }

    #[test]
    fn nothing_that_goes_in_brings_colours_of_its_own() {
        let mut page = Page::new(80);
        page.put(Tone::Good, "a\u{1b}[31mb").put(Tone::Plain, "\u{7}").end_line();
        assert_eq!(page.painted(), "\u{1b}[32ma\\u{1b}[31mb\u{1b}[0m\\u{7}\n");
        assert_eq!(page.plain(), "a\\u{1b}[31mb\\u{7}\n");
    }
}
