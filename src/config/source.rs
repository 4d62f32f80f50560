use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::model::{printable, secret_in};

/// The bytes of a value in its source.
pub(super) type Span = Range<u32>;

/// A text that was read, able to show its lines without showing a secret.
pub struct Source {
    name: Arc<str>,
    text: String,
    line_starts: Vec<usize>,
    /// A file that mostly holds settings of other programs: of lines with other keys only the key is shown.
    shown_keys: Option<Vec<&'static str>>,
    /// A file of secrets: lines end behind their key.
    only_keys: bool,
    /// The values of keys that sound like secrets, once the text was taken apart.
    secrets: OnceLock<Vec<Span>>,
}

impl fmt::Debug for Source {
    /// The name only: the text may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.name).finish()
    }
}

/// One line of a source, or a part of it, fit for showing, with the part to point at.
#[derive(Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    pub text: String,
    /// The bytes of `text` to underline.
    pub marked: Range<usize>,
    /// Whether the line is too long to be shown whole, so that `text` does not begin where the line does.
    pub cut: bool,
}

/// Words that make a key's value nobody's business.
const SECRET_WORDS: &[&str] = &["secret", "token", "password", "passwd", "credential", "private", "apikey", "api_key"];

/// What stands for each character of a secret. One for one, so that columns stay right.
const MASK: char = '•';

/// Longer lines are shown in part.
const LONGEST_LINE: usize = 240;

impl Source {
    pub(super) fn new(name: &str, text: String) -> Self {
        let bytes = text.as_bytes();
        // Old line ends, a carriage return alone, count as well.
        let ends_line = |at: &usize| bytes[*at] == b'\n' || (bytes[*at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        let line_starts = std::iter::once(0).chain((0..bytes.len()).filter(ends_line).map(|at| at + 1)).collect();
        Self { name: name.into(), text, line_starts, shown_keys: None, only_keys: false, secrets: OnceLock::new() }
    }

    /// Shows only lines with these keys, and of all others only the key.
    pub(super) fn showing_only(mut self, keys: Vec<&'static str>) -> Self {
        self.shown_keys = Some(keys);
        self
    }

    /// Shows no value at all, not even masked: of an encrypted file it would be a line of noise.
    pub(super) fn showing_no_values(mut self) -> Self {
        self.only_keys = true;
        self
    }

    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Tells where secrets are, as far as the text could be taken apart.
    pub(super) fn hide(&self, secrets: Vec<Span>) {
        // A text is taken apart once; a second time would find the same.
        self.secrets.get_or_init(|| secrets);
    }

    /// The number of the line that holds this byte, counted from 1.
    pub(super) fn line(&self, at: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= at as usize)
    }

    /// Line and column of the beginning of a span, both counted from 1.
    pub fn position(&self, span: &Span) -> (usize, usize) {
        let (line, bounds, at) = self.locate(span);
        (line, self.text[bounds.start..at.min(bounds.end)].chars().count() + 1)
    }

    /// The line that a span begins in, its bytes, and where in the text the span begins.
    fn locate(&self, span: &Span) -> (usize, Range<usize>, usize) {
        let mut at = self.text.floor_char_boundary(span.start as usize);
        // The end of the text is no line of its own when the last line is complete.
        if at > 0 && at == self.text.len() && self.text.ends_with(['\n', '\r']) {
            at -= 1;
        }
        let line = self.line(u32::try_from(at).unwrap_or(u32::MAX));
        let start = self.line_starts[line - 1];
        let end = self.line_starts.get(line).copied().unwrap_or(self.text.len());
        let whole = self.text[start..end].trim_end_matches(['\n', '\r']);
        (line, start..start + whole.len(), at)
    }

    /// The first line of a span, with what would betray a secret taken out.
    pub fn excerpt(&self, span: &Span) -> Excerpt {
        let (line, mut bounds, at) = self.locate(span);
        if self.only_keys {
            bounds.end = bounds.start + key_of(&self.text[bounds.clone()]).map_or(0, |(_, value)| value);
        }
        let from = at.clamp(bounds.start, bounds.end);
        let column = self.text[bounds.start..from].chars().count() + 1;
        let to = self.text.floor_char_boundary((span.end as usize).clamp(from, bounds.end));
        let cut = bounds.len() > LONGEST_LINE;
        let window = if cut {
            let start = self.text.floor_char_boundary(from.saturating_sub(LONGEST_LINE / 3).max(bounds.start));
            start..self.text.floor_char_boundary((start + LONGEST_LINE).min(bounds.end))
        } else {
            bounds.clone()
        };
        let hidden = self.hidden(&bounds, &window, &(from..to));
        let mut text = String::with_capacity(window.len());
        let mut marked = 0..0;
        for (offset, c) in self.text[window.clone()].char_indices() {
            let offset = window.start + offset;
            if offset <= from {
                marked.start = text.len();
            }
            text.push(match c {
                _ if !c.is_whitespace() && hidden.iter().any(|hidden| hidden.contains(&offset)) => MASK,
                '\t' => c,
                c if printable(c) => c,
                _ => char::REPLACEMENT_CHARACTER,
            });
            if offset < to {
                marked.end = text.len();
            }
        }
        if from >= window.end {
            marked.start = text.len();
        }
        marked.end = marked.end.max(marked.start);
        Excerpt { line, column, text, marked, cut }
    }

    /// What of a window must not be shown.
    fn hidden(&self, line: &Range<usize>, window: &Range<usize>, marked: &Range<usize>) -> Vec<Range<usize>> {
        let mut hidden: Vec<Range<usize>> = Vec::new();
        // A secret may begin a little before the window.
        let before = self.text.floor_char_boundary(window.start.saturating_sub(80).max(line.start));
        hidden.extend(suspicious(&self.text[before..window.end]).map(|at| before + at..window.end));
        match self.secrets.get() {
            Some(secrets) => hidden.extend(secrets.iter().map(|span| span.start as usize..span.end as usize)),
            // What was not taken apart may be anything when its beginning is out of sight.
            None if before > line.start => hidden.push(window.clone()),
            None => {}
        }
        if let Some(shown) = &self.shown_keys {
            let key = key_of(&self.text[line.clone()]);
            let ours = key.is_some_and(|(key, _)| shown.contains(&key));
            let key_end = line.start + key.map_or(0, |(_, value)| value);
            hidden.push(key_end..if ours { marked.start.max(key_end) } else { window.end });
            hidden.push(marked.end.max(key_end)..window.end);
        }
        hidden
    }
}

/// Whether a key's value is nobody's business.
pub(super) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| key.contains(word))
}

/// Where a line begins to hold what may be a secret: behind a word of warning, or because it looks like one.
pub(super) fn suspicious(line: &str) -> Option<usize> {
    let lower = line.to_ascii_lowercase();
    let word = SECRET_WORDS.iter().filter_map(|word| lower.find(word)).min();
    let value = word.and_then(|at| line[at..].find([':', '=']).map(|separator| at + separator + 1));
    value.into_iter().chain(secret_in(line)).min()
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

    fn nodes(text: &str) -> Source {
        Source::new("nodes.yaml", text.to_owned())
    }

    #[test]
    fn the_place_is_counted_in_lines_and_characters() {
        let shown = excerpt(&nodes("a: 1\nnäme: cp-1\n"), "cp-1");
        assert_eq!((shown.line, shown.column, &shown.text[shown.marked]), (2, 7, "cp-1"));
    }

    #[test]
    fn every_kind_of_line_end_ends_a_line() {
        for ends in ["\n", "\r\n", "\r"] {
            let shown = excerpt(&nodes(&format!("a: 1{ends}b: 2{ends}")), "2");
            assert_eq!((shown.line, shown.text.as_str()), (2, "b: 2"));
        }
    }

    #[test]
    fn a_line_about_a_secret_shows_only_its_key() {
        let shown = excerpt(&nodes("proxmox: {token_secret: hunter2, node: pve}\n"), "hunter2");
        assert_eq!(shown.text, "proxmox: {token_secret: •••••••• ••••• ••••");
        assert_eq!((shown.column, shown.marked.start), (25, "proxmox: {token_secret: ".len()));
        assert!(!excerpt(&nodes("X_PASSWORD: hunter2"), "X_").text.contains("hunter2"));
        assert!(!excerpt(&nodes("endpoint: root:hunter2@pve"), "root").text.contains("hunter2"));
        assert!(!excerpt(&nodes("x: a # password: hunter2"), "a").text.contains("hunter2"));
    }

    #[test]
    fn a_secret_on_a_line_of_its_own_is_known_by_its_key() {
        let source = nodes("proxmox: {token_secret:\n  hunter2, nod: x}");
        source.hide(std::iter::once(26..33).collect());
        assert_eq!(excerpt(&source, "nod").text, "  •••••••, nod: x}");
    }

    #[test]
    fn of_other_programs_lines_only_the_key_is_shown() {
        let text = "node_cidr: 10.0.0.0/24 # hunter2\ncloudflare_x: hunter2\n  hunter3\n".to_owned();
        let source = Source::new("cluster.yaml", text).showing_only(vec!["node_cidr"]);
        let shown = |part: &str| excerpt(&source, part).text;
        assert_eq!(shown("10.0.0.0/24"), "node_cidr: 10.0.0.0/24 • •••••••");
        assert_eq!(shown("cloudflare_x"), "cloudflare_x: •••••••");
        assert_eq!(shown("hunter3"), "  •••••••");
    }

    #[test]
    fn of_a_file_of_secrets_no_value_is_shown() {
        let text = "token: hunter2\nhunter2\n- hunter2: hunter3\n{a: hunter2}\n";
        let source = Source::new("secrets.sops.yaml", text.to_owned()).showing_no_values();
        let shown = |part: &str| excerpt(&source, part).text;
        assert_eq!([shown("token"), shown("hunter2"), shown("hunter2\n-")], ["token:", "token:", ""]);
        assert_eq!([shown("hunter3"), shown("{a")], ["- hunter2:", ""]);
    }

    #[test]
    fn the_end_of_the_text_belongs_to_its_last_line() {
        assert_eq!(nodes("nodes: [\n").excerpt(&(9..9)).line, 1);
        assert_eq!(nodes("").excerpt(&(0..0)).line, 1);
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_place() {
        let source = nodes(&format!("{}HERE{}", "x".repeat(5000), "y".repeat(5000)));
        source.hide(Vec::new());
        let shown = excerpt(&source, "HERE");
        assert_eq!((&shown.text[shown.marked], shown.column, shown.cut), ("HERE", 5001, true));
        assert!(shown.text.len() <= LONGEST_LINE);
    }

    #[test]
    fn nothing_that_steers_a_terminal_is_shown() {
        assert_eq!(excerpt(&nodes("a: \u{1b}[2J\u{9b}\u{202e}b"), "a").text, "a: \u{fffd}[2J\u{fffd}\u{fffd}b");
    }
}
