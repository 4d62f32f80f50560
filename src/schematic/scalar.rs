//! How go-yaml writes a text: plain, in either kind of quotes, or as a block of lines.

use std::fmt::Write;

use super::resolve::{PlainKind, plain_kind};

/// A text as it stands in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scalar<'t> {
    Line(String),
    Block { header: String, lines: Vec<&'t str> },
}

impl Scalar<'_> {
    /// The text of one that was asked for as a key, which is never a block.
    pub(super) fn on_one_line(self) -> String {
        match self {
            Self::Line(line) => line,
            Self::Block { lines, .. } => double_quoted(&lines.join("\n")),
        }
    }
}

/// Chooses the style. A key has to stay on its line.
pub(super) fn scalar(text: &str, is_key: bool) -> Scalar<'_> {
    let fitness = Fitness::of(text);
    if text.contains('\n') {
        let worth_a_block = text.len() >= 2 && text.chars().any(|c| !c.is_whitespace());
        let block = worth_a_block && fitness.block && !is_key;
        return if block { block_of(text) } else { Scalar::Line(double_quoted(text)) };
    }
    Scalar::Line(match plain_kind(text) {
        PlainKind::Null | PlainKind::Bool | PlainKind::Integer | PlainKind::Float | PlainKind::Timestamp => {
            double_quoted(text)
        }
        PlainKind::OtherParsersMistakeIt => single_quoted(text),
        PlainKind::Text if fitness.plain => text.to_owned(),
        PlainKind::Text if fitness.single_quotes => single_quoted(text),
        PlainKind::Text => double_quoted(text),
    })
}

/// Which styles can carry a text and give it back unharmed.
struct Fitness {
    plain: bool,
    single_quotes: bool,
    block: bool,
}

impl Fitness {
    /// The rules of libyaml's emitter, outside of `[…]` and `{…}`.
    fn of(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let is_blank = |at: usize| characters.get(at).is_none_or(|c| matches!(c, ' ' | '\t') || is_break(*c));
        let mut marks = text.starts_with("---") || text.starts_with("...");
        let (mut tab, mut special, mut breaks) = (false, false, false);
        let (mut space_before_break, mut break_before_space) = (false, false);
        for (at, c) in characters.iter().copied().enumerate() {
            marks |= match c {
                '#' => at == 0 || is_blank(at - 1),
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => at == 0,
                '?' | '-' => at == 0 && is_blank(1),
                ':' => is_blank(at + 1),
                _ => false,
            };
            let before = at.checked_sub(1).map(|before| characters[before]);
            tab |= c == '\t';
            special |= c != '\t' && !is_printable(c);
            breaks |= is_break(c);
            space_before_break |= is_break(c) && before == Some(' ');
            break_before_space |= c == ' ' && before.is_some_and(is_break);
        }
        let edge = |c: Option<&char>| c.is_some_and(|c| *c == ' ' || is_break(*c));
        let ends_in_space = characters.last() == Some(&' ');
        let quotable = !space_before_break && !special && !tab;
        Self {
            plain: quotable && !breaks && !marks && !edge(characters.first()) && !edge(characters.last()),
            single_quotes: quotable && !break_before_space,
            block: !ends_in_space && !space_before_break && !special,
        }
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What the emitter writes as it is; it takes characters beyond the first plane for unprintable.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\0' => quoted.push_str("\\0"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            '\u{1b}' => quoted.push_str("\\e"),
            '\u{85}' => quoted.push_str("\\N"),
            '\u{2028}' => quoted.push_str("\\L"),
            '\u{2029}' => quoted.push_str("\\P"),
            c if is_printable(c) => quoted.push(c),
            c => push_escaped(&mut quoted, u32::from(c)),
        }
    }
    quoted.push('"');
    quoted
}

fn push_escaped(quoted: &mut String, code: u32) {
    let written = match code {
        0..=0xff => write!(quoted, "\\x{code:02X}"),
        0x100..=0xffff => write!(quoted, "\\u{code:04X}"),
        _ => write!(quoted, "\\U{code:08X}"),
    };
    written.expect("writing to a string never fails");
}

/// Lines as they are, below a header that says how they begin and end.
fn block_of(text: &str) -> Scalar<'_> {
    let hint = if text.starts_with([' ', '\n']) { "4" } else { "" };
    let (body, chomping) = match text.strip_suffix('\n') {
        None => (text, "-"),
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => (rest, "+"),
        Some(rest) => (rest, ""),
    };
    Scalar::Block { header: format!("|{hint}{chomping}"), lines: body.split('\n').collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_only_where_yaml_needs_it() {
        #[track_caller]
        fn case(text: &str, written: &str) {
            assert_eq!(scalar(text, false), Scalar::Line(written.to_owned()));
        }
        for plain in ["-console", "a,b", "ip=1::2:3", "a#b", "é", "_1", "0x"] {
            case(plain, plain);
        }
        for double in ["123", "true", "null", "~", "0x10", "1e3", "2024-01-01", "1_000", ".5", "", "-0", ".inf"] {
            case(double, &format!("\"{double}\""));
        }
        for single in
            ["a: b", "a #b", "#x", "*x", "&x", "!x", "%x", "@x", "`x", "{x", "[x", "? x", " x", "x ", "- x", "x:"]
        {
            case(single, &format!("'{single}'"));
        }
        for single in ["<<", "yes", "No", "on", "OFF", "y", "N", "1:20"] {
            case(single, &format!("'{single}'"));
        }
        case("'x", "'''x'");
        case("\"x", "'\"x'");
        case("a\tb", "\"a\\tb\"");
        case("a\u{1b}b", "\"a\\eb\"");
        case("\u{1f600}", "\"\\U0001F600\"");
        case("\n", "\"\\n\"");
    }

    #[test]
    fn several_lines_are_a_block() {
        #[track_caller]
        fn case(text: &str, header: &str, lines: &[&str]) {
            assert_eq!(scalar(text, false), Scalar::Block { header: header.to_owned(), lines: lines.to_vec() });
        }
        case("a\nb", "|-", &["a", "b"]);
        case("a\n\nb\n", "|", &["a", "", "b"]);
        case("a\n\n", "|+", &["a", ""]);
        case(" a\nb", "|4-", &[" a", "b"]);
        assert_eq!(scalar("a \nb", false), Scalar::Line("\"a \\nb\"".to_owned()));
        assert_eq!(scalar("a\nb", true), Scalar::Line("\"a\\nb\"".to_owned()));
    }
}
