use std::fmt::Display;

use super::scalar::{Scalar, scalar};

/// A document to be written the way go-yaml writes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A number, a boolean or nothing: never in quotes.
    Plain(String),
    Text(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Node {
    pub(super) fn plain(value: impl Display) -> Self {
        Self::Plain(value.to_string())
    }
}

const STEP: usize = 4;

/// A mapping as a whole document.
pub(super) fn print(entries: &[(String, Node)]) -> String {
    let mut text = String::new();
    print_map(&mut text, entries, 0, false);
    text
}

/// What hangs below a key is aligned to the next multiple of the step, also when the key itself is not.
fn below(indent: usize) -> usize {
    (indent + STEP) / STEP * STEP
}

/// What hangs in an item of a list is aligned to what follows the dash.
const DASH: usize = 2;

fn print_map(text: &mut String, entries: &[(String, Node)], indent: usize, on_this_line: bool) {
    for (index, (key, value)) in entries.iter().enumerate() {
        if index > 0 || !on_this_line {
            text.extend(std::iter::repeat_n(' ', indent));
        }
        text.push_str(&scalar(key, true).on_one_line());
        text.push(':');
        match value {
            Node::List(items) if !items.is_empty() => {
                text.push('\n');
                print_list(text, items, below(indent), false);
            }
            Node::Map(entries) if !entries.is_empty() => {
                text.push('\n');
                print_map(text, entries, below(indent), false);
            }
            other => print_short(text, other, below(indent)),
        }
    }
}

fn print_list(text: &mut String, items: &[Node], indent: usize, on_this_line: bool) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 || !on_this_line {
            text.extend(std::iter::repeat_n(' ', indent));
        }
        text.push('-');
        match item {
            Node::List(items) if !items.is_empty() => {
                text.push(' ');
                print_list(text, items, indent + DASH, true);
            }
            Node::Map(entries) if !entries.is_empty() => {
                text.push(' ');
                print_map(text, entries, indent + DASH, true);
            }
            other => print_short(text, other, indent + DASH),
        }
    }
}

/// What begins on the line that it belongs to.
fn print_short(text: &mut String, node: &Node, indent: usize) {
    text.push(' ');
    match node {
        Node::Plain(value) => text.push_str(value),
        Node::List(_) => text.push_str("[]"),
        Node::Map(_) => text.push_str("{}"),
        Node::Text(value) => match scalar(value, false) {
            Scalar::Line(line) => text.push_str(&line),
            Scalar::Block { header, lines } => {
                text.push_str(&header);
                for line in lines {
                    text.push('\n');
                    if !line.is_empty() {
                        text.extend(std::iter::repeat_n(' ', indent));
                        text.push_str(line);
                    }
                }
            }
        },
    }
    text.push('\n');
}
