use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::model::secret_in;

/// The bytes of a value in its source.
pub(super) type Span = Range<u32>;

/// A text that was read, able to show its lines without showing a secret.
pub struct Source {
    name: Arc<str>,
    text: String,
    line_starts: Vec<usize>,
    /// A file that mostly holds settings of other programs: only lines with these keys are shown whole.
    shown_keys: Option<Vec<&'static str>>,
}

impl fmt::Debug for Source {
    /// The name only: the text may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.name).finish()
    }
}

/// One line of a source, fit for showing, with the part to point at.
#[derive(Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    pub text: String,
    /// The bytes of `text` to underline.
    pub marked: Range<usize>,
}

/// Words that make a key's value nobody's business.
const SECRET_WORDS: &[&str] = &["secret", "token", "password", "passwd", "credential", "private", "apikey", "api_key"];

/// What stands where a secret stood.
const MASK: &str = "(hidden)";

impl Source {
    pub(super) fn new(name: &str, text: String) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(breaks).collect();
        Self { name: name.into(), text, line_starts, shown_keys: None }
    }

    /// Shows only lines with these keys, and of all others only the key.
    pub(super) fn showing_only(mut self, keys: Vec<&'static str>) -> Self {
        self.shown_keys = Some(keys);
        self
    }

    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The number of the line that holds this byte, counted from 1.
    pub(super) fn line(&self, at: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= at as usize)
    }

    /// The first line of a span, with what would betray a secret taken out.
    pub fn excerpt(&self, span: &Span) -> Excerpt {
        let mut at = self.text.floor_char_boundary(span.start as usize);
        // The end of the text is no line of its own when the last line is complete.
        if at > 0 && at == self.text.len() && self.text.ends_with('\n') {
            at -= 1;
        }
        let line = self.line(u32::try_from(at).unwrap_or(u32::MAX));
        let start = self.line_starts[line - 1];
        let whole = self.text[start..].lines().next().unwrap_or_default();
        let column = self.text[start..at.min(start + whole.len())].chars().count() + 1;
        let from = (at - start).min(whole.len());
        let to = (span.end as usize).saturating_sub(start).clamp(from, whole.len());
        let marked = from..whole.floor_char_boundary(to);

        let (shown, cut) = self.without_secret(whole);
        let marked = marked.start.min(cut)..marked.end.min(if marked.start >= cut { cut } else { shown.len() });
        Excerpt { line, column, text: shown, marked }
    }

    /// The line as it may be shown, and the byte from which on it is no longer the original.
    fn without_secret(&self, line: &str) -> (String, usize) {
        let hide_from = |at: usize| (format!("{}{MASK}", &line[..at]), at);
        let key = key_of(line);
        if let Some(shown) = &self.shown_keys {
            return match key {
                Some((key, _)) if shown.contains(&key) && secret_in(line).is_none() => (line.to_owned(), line.len()),
                Some((_, value)) if line[value..].trim().is_empty() => (line.to_owned(), line.len()),
                Some((_, value)) => hide_from(value),
                None if line.trim().is_empty() => (line.to_owned(), line.len()),
                None => hide_from(line.len() - line.trim_start().len()),
            };
        }
        // A word of warning hides everything behind it; flow mappings put several keys on a line.
        let lower = line.to_ascii_lowercase();
        let word = SECRET_WORDS.iter().filter_map(|word| lower.find(word)).min();
        let value = word.and_then(|at| line[at..].find([':', '=']).map(|separator| at + separator + 1));
        let value = value.filter(|value| !line[*value..].trim().is_empty());
        match value.into_iter().chain(secret_in(line)).min() {
            Some(at) => hide_from(at),
            None => (line.to_owned(), line.len()),
        }
    }
}

/// The key of a block mapping's line, and where its value begins.
fn key_of(line: &str) -> Option<(&str, usize)> {
    let colon = line.find(": ").or_else(|| line.trim_end().strip_suffix(':').map(str::len))?;
    let key = line[..colon].trim_start().trim_start_matches("- ").trim().trim_matches(['"', '\'']);
    let word = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    word.then_some((key, colon + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(source: &Source, part: &str) -> Excerpt {
        let start = source.text().find(part).unwrap();
        source.excerpt(&(u32::try_from(start).unwrap()..u32::try_from(start + part.len()).unwrap()))
    }

    #[test]
    fn the_place_is_counted_in_lines_and_characters() {
        let source = Source::new("nodes.yaml", "a: 1\nnäme: cp-1\n".to_owned());
        assert_eq!(
            excerpt(&source, "cp-1"),
            Excerpt { line: 2, column: 7, text: "näme: cp-1".to_owned(), marked: 7..11 }
        );
    }

    #[test]
    fn carriage_returns_are_not_shown() {
        let source = Source::new("nodes.yaml", "a: 1\r\nb: 2\r\n".to_owned());
        assert_eq!(excerpt(&source, "2").text, "b: 2");
    }

    #[test]
    fn a_line_about_a_secret_shows_only_its_key() {
        let source = Source::new("nodes.yaml", "proxmox: {token_secret: hunter2, node: pve}\n".to_owned());
        let shown = excerpt(&source, "hunter2");
        assert_eq!((shown.text.as_str(), shown.marked), ("proxmox: {token_secret:(hidden)", 23..23));
        let source = Source::new("nodes.yaml", "X_PASSWORD: hunter2".to_owned());
        assert!(!excerpt(&source, "X_").text.contains("hunter2"));
    }

    #[test]
    fn of_other_programs_lines_only_the_key_is_shown() {
        let text = "node_cidr: 10.0.0.0/24\ncloudflare_x: hunter2\n  hunter3\n".to_owned();
        let source = Source::new("cluster.yaml", text).showing_only(vec!["node_cidr"]);
        assert_eq!(excerpt(&source, "10.0").text, "node_cidr: 10.0.0.0/24");
        assert_eq!(excerpt(&source, "hunter2").text, "cloudflare_x:(hidden)");
        assert_eq!(excerpt(&source, "hunter3").text, "  (hidden)");
    }

    #[test]
    fn the_end_of_the_text_belongs_to_its_last_line() {
        let source = Source::new("nodes.yaml", "nodes: [\n".to_owned());
        assert_eq!(source.excerpt(&(9..9)).line, 1);
        assert_eq!(Source::new("nodes.yaml", String::new()).excerpt(&(0..0)).line, 1);
    }
}
