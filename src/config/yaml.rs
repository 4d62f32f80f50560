//! YAML text as a tree in which every key and value knows its place.
//!
//! The tree keeps plain scalars as they are written: whether `no` is a word and `0101` a number is for the key to say,
//! not for the parser.

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, ScanError};

use super::problem::{Place, Problem, Problems};
use super::source::{Source, Span, is_secret};
use crate::model::Quoted;

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Yaml {
    pub(super) content: Content,
    pub(super) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Null,
    Scalar {
        text: String,
        /// Written without quotes.
        plain: bool,
    },
    List(Vec<Yaml>),
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) value: Yaml,
    /// It came by `<<`, so that an own key of another name for the same setting wins.
    pub(super) merged: bool,
}

impl Yaml {
    /// What it is, in words for a message.
    pub(super) fn describe(&self) -> &'static str {
        match self.content {
            Content::Null => "an empty value",
            Content::Scalar { .. } => "a single value",
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }

    /// How many values it is made of.
    fn size(&self) -> usize {
        1 + match &self.content {
            Content::Null | Content::Scalar { .. } => 0,
            Content::List(items) => items.iter().map(Self::size).sum(),
            Content::Map(entries) => entries.iter().map(|entry| 1 + entry.value.size()).sum(),
        }
    }
}

/// Deeper than any file of ours; the tree is walked recursively, so that it must have a limit.
const DEEPEST: usize = 48;

/// How many values aliases may add: a few lines of YAML can ask for billions.
const MOST_COPIES: usize = 100_000;

/// Reads the one document of `source`. Problems are reported; what is usable in spite of them is returned.
///
/// An empty document is [`Content::Null`]. Nothing is returned when the text is no YAML.
pub(super) fn parse(source: &Arc<Source>, problems: &mut Problems) -> Option<Yaml> {
    let mut composer = Composer::new(source, problems);
    let read = Parser::new_from_str(source.text()).try_for_each(|event| match event {
        Ok((event, span)) => {
            let span = span.byte_range().map_or(0..0, |range| offset(range.start)..offset(range.end));
            composer.take(event, span)
        }
        Err(error) => {
            composer.refuse(&error);
            STOP
        }
    });
    source.hide(composer.secrets());
    read.is_continue().then(|| composer.root.unwrap_or(Yaml { content: Content::Null, span: 0..0 }))
}

/// Files are limited to far less than 4 GiB before they come here.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A list or mapping whose end has not come yet.
struct Open {
    anchor: usize,
    start: Span,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Yaml>),
    Map { entries: Vec<Entry>, places: HashMap<String, Span>, key: Option<(String, Span)> },
}

struct Composer<'a> {
    source: &'a Arc<Source>,
    problems: &'a mut Problems,
    open: Vec<Open>,
    anchors: HashMap<usize, Yaml>,
    copies: usize,
    root: Option<Yaml>,
    documents: usize,
    /// The values of keys that sound like secrets.
    secrets: Vec<Span>,
}

type Flow = std::ops::ControlFlow<()>;
const GO_ON: Flow = Flow::Continue(());
const STOP: Flow = Flow::Break(());

impl<'a> Composer<'a> {
    fn new(source: &'a Arc<Source>, problems: &'a mut Problems) -> Self {
        Self {
            source,
            problems,
            open: Vec::new(),
            anchors: HashMap::new(),
            copies: 0,
            root: None,
            documents: 0,
            secrets: Vec::new(),
        }
    }

    /// Where secrets are. Behind a key whose value did not end, everything may be one.
    fn secrets(&mut self) -> Vec<Span> {
        let open = self.open.iter().filter_map(|open| match &open.kind {
            OpenKind::Map { key: Some((key, span)), .. } if is_secret(key) => Some(span.end..u32::MAX),
            _ => None,
        });
        self.secrets.drain(..).chain(open).collect()
    }

    fn place(&self, span: Span, label: &str) -> Place {
        Place::part(self.source, span, label)
    }

    fn report(&mut self, span: Span, message: String, label: &str, hint: Option<&str>) {
        let problem = Problem::error(message).at(self.place(span, label));
        self.problems.report(Problem { hint: hint.map(str::to_owned), ..problem });
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Flow {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let hint = Some("keep one document in this file");
                    self.report(span, "the file holds several YAML documents".to_owned(), "a second one begins", hint);
                    return STOP;
                }
                GO_ON
            }
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none();
                let null = plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                if self.awaits_key() {
                    return self.key(text.into_owned(), null, span);
                }
                let content = if null { Content::Null } else { Content::Scalar { text: text.into_owned(), plain } };
                self.value(Yaml { content, span }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.begin(OpenKind::List(Vec::new()), anchor, span),
            Event::MappingStart(_, anchor, _) => {
                self.begin(OpenKind::Map { entries: Vec::new(), places: HashMap::new(), key: None }, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(&span),
            Event::Alias(anchor) => self.alias(anchor, span),
            _ => GO_ON,
        }
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { kind: OpenKind::Map { key: None, .. }, .. }))
    }

    fn key(&mut self, text: String, null: bool, span: Span) -> Flow {
        if null {
            self.report(span, "a key is missing before the colon".to_owned(), "no key", None);
            return STOP;
        }
        if let Some(Open { kind: OpenKind::Map { key, .. }, .. }) = self.open.last_mut() {
            *key = Some((text, span));
        }
        GO_ON
    }

    fn begin(&mut self, kind: OpenKind, anchor: usize, span: Span) -> Flow {
        if self.awaits_key() {
            self.report(span, "a key is a list or a mapping".to_owned(), "a single word is needed here", None);
            return STOP;
        }
        if self.open.len() >= DEEPEST {
            let message = format!("the file is nested more than {DEEPEST} levels deep");
            self.report(span, message, "too deep", None);
            return STOP;
        }
        self.open.push(Open { anchor, start: span, kind });
        GO_ON
    }

    fn end(&mut self, end: &Span) -> Flow {
        let Some(Open { anchor, start, kind }) = self.open.pop() else {
            return GO_ON;
        };
        let content = match kind {
            OpenKind::List(items) => Content::List(items),
            OpenKind::Map { entries, .. } => Content::Map(self.merge(entries)),
        };
        self.value(Yaml { content, span: start.start..end.end.max(start.end) }, anchor)
    }

    /// Carries out `<<`: the mappings it names give what the mapping itself does not say.
    fn merge(&mut self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let Some(at) = entries.iter().position(|entry| entry.key == "<<") else {
            return entries;
        };
        let merged = entries.remove(at);
        let sources = match merged.value.content {
            Content::List(items) => items,
            _ => vec![merged.value],
        };
        for source in sources {
            match source.content {
                Content::Map(given) => {
                    for entry in given {
                        if entries.iter().all(|own| own.key != entry.key) {
                            entries.push(Entry { merged: true, ..entry });
                        }
                    }
                }
                _ => self.report(source.span, "`<<` takes a mapping".to_owned(), "no mapping", None),
            }
        }
        entries
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Flow {
        if self.awaits_key() {
            self.report(span, "an alias stands for a key".to_owned(), "a single word is needed here", None);
            return STOP;
        }
        let Some(target) = self.anchors.get(&anchor) else {
            self.report(span, "an alias refers to the value that it is part of".to_owned(), "endless", None);
            return STOP;
        };
        self.copies = self.copies.saturating_add(target.size());
        if self.copies > MOST_COPIES {
            let message = format!("aliases make the file more than {MOST_COPIES} values larger than it is written");
            self.report(span, message, "here the limit is passed", None);
            return STOP;
        }
        let copy = target.clone();
        self.value(copy, 0)
    }

    fn value(&mut self, value: Yaml, anchor: usize) -> Flow {
        if anchor != 0 {
            // The copy that is kept counts too, so that anchors within anchors cannot grow without limit.
            self.copies = self.copies.saturating_add(value.size());
            if self.copies > MOST_COPIES {
                let message = format!("anchors and aliases hold more than {MOST_COPIES} values");
                self.report(value.span, message, "here the limit is passed", None);
                return STOP;
            }
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(value),
            Some(OpenKind::List(items)) => items.push(value),
            Some(OpenKind::Map { entries, places, key }) => {
                let Some((key, key_span)) = key.take() else {
                    return GO_ON;
                };
                if is_secret(&key) {
                    self.secrets.push(value.span.clone());
                }
                if let Some(first) = places.get(&key) {
                    let (first, message) = (first.clone(), format!("the key {} is given twice", Quoted::new(&key)));
                    let problem = Problem::error(message)
                        .at(self.place(key_span, "given again"))
                        .at(self.place(first, "first given here"))
                        .hint("keep one of the two");
                    self.problems.report(problem);
                } else {
                    places.insert(key.clone(), key_span.clone());
                    entries.push(Entry { key, key_span, value, merged: false });
                }
            }
        }
        GO_ON
    }

    fn refuse(&mut self, error: &ScanError) {
        let at = error.marker().byte_offset().unwrap_or_default();
        let info = error.info();
        // The parser gives the beginning of what the tab is in, which may be lines before it.
        let tab = if info.contains("tab") { tab_in_indent(self.source.text(), at) } else { None };
        let hint = tab.map(|_| "indent with spaces; YAML does not take tabs for that");
        let at = offset(tab.unwrap_or(at));
        self.report(at..at + 1, format!("this is not YAML: {info}"), "here", hint);
    }
}

/// The first tab from this byte's line on that stands in an indentation.
fn tab_in_indent(text: &str, at: usize) -> Option<usize> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let mut from = start;
    text[start..].split_inclusive('\n').find_map(|line| {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let tab = line[..indent].find('\t').map(|tab| from + tab);
        from += line.len();
        tab
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree in a short notation, and the messages.
    fn parsed(text: &str) -> (String, Vec<String>) {
        let source = Arc::new(Source::new("test.yaml", text.to_owned()));
        let mut problems = Problems::default();
        let tree = parse(&source, &mut problems).map_or("no tree".to_owned(), |tree| short(&tree));
        (tree, problems.into_sorted().into_iter().map(|problem| problem.message).collect())
    }

    fn short(yaml: &Yaml) -> String {
        match &yaml.content {
            Content::Null => "~".to_owned(),
            Content::Scalar { text, .. } => format!("{text:?}"),
            Content::List(items) => format!("[{}]", items.iter().map(short).collect::<Vec<_>>().join(" ")),
            Content::Map(entries) => {
                let entries: Vec<String> = entries.iter().map(|e| format!("{}={}", e.key, short(&e.value))).collect();
                format!("{{{}}}", entries.join(" "))
            }
        }
    }

    #[track_caller]
    fn case(text: &str, tree: &str) {
        assert_eq!(parsed(text), (tree.to_owned(), vec![]));
    }

    #[track_caller]
    fn refused(text: &str, message: &str) {
        assert_eq!(parsed(text), ("no tree".to_owned(), vec![message.to_owned()]));
    }

    #[test]
    fn plain_scalars_stay_as_written() {
        case("a: no\nb: 0101\nc: 1e3\nd: '7'\ne:\nf: ~\ng: \"\"", r#"{a="no" b="0101" c="1e3" d="7" e=~ f=~ g=""}"#);
    }

    #[test]
    fn anchors_and_merge_keys_work() {
        case("a: &x {b: '1', c: '2'}\nd: {<<: *x, b: '3'}", r#"{a={b="1" c="2"} d={b="3" c="2"}}"#);
        case("a: &x [p]\nb: *x", r#"{a=["p"] b=["p"]}"#);
        case(
            "x: &x {k: '1'}\ny: &y {k: '2', l: '3'}\nz: {<<: [*x, *y]}",
            r#"{x={k="1"} y={k="2" l="3"} z={k="1" l="3"}}"#,
        );
    }

    #[test]
    fn line_ends_of_windows_are_taken() {
        case("a: b\r\nc:\r\n  - d\r\n", r#"{a="b" c=["d"]}"#);
    }

    #[test]
    fn an_empty_text_is_nothing() {
        case("", "~");
        case("# only a comment\n", "~");
        case("---\n", "~");
    }

    #[test]
    fn a_key_given_twice_is_reported_and_the_first_counts() {
        let (tree, messages) = parsed("a: 1\nb: 2\na: 3\nb: 4");
        assert_eq!(tree, r#"{a="1" b="2"}"#);
        assert_eq!(messages, ["the key `a` is given twice", "the key `b` is given twice"]);
    }

    #[test]
    fn what_cannot_be_a_tree_of_ours_is_refused() {
        refused("a: 1\n---\nb: 2", "the file holds several YAML documents");
        refused("? [a]\n: b", "a key is a list or a mapping");
        refused("&x [*x]", "an alias refers to the value that it is part of");
        refused(&format!("{}{}", "[".repeat(60), "]".repeat(60)), "the file is nested more than 48 levels deep");
    }

    #[test]
    fn aliases_cannot_blow_a_file_up() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let last = level - 1;
            let line = vec![format!("*a{last}"); 10].join(", ");
            bomb = format!("{bomb}a{level}: &a{level} [{line}]\n");
        }
        let (tree, messages) = parsed(&bomb);
        assert_eq!(tree, "no tree");
        assert!(messages[0].contains("more than 100000 values"), "{messages:?}");
    }
}
