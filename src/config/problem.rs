use std::collections::HashSet;
use std::sync::Arc;

use super::source::{Source, Span};
use crate::model::{Invalid, Origin};

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing can be done before it is mended.
    Error,
    /// It may be meant, but it often is not.
    Warning,
    /// Worth knowing.
    Note,
}

/// Something wrong or doubtful in the input.
#[derive(Clone, Debug)]
pub struct Problem {
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where; the first place is the one that counts. None when the input as a whole is meant.
    pub places: Vec<Place>,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Where a problem is.
#[derive(Clone, Debug)]
pub enum Place {
    /// A part of a file, and what to say about it there.
    Part { source: Arc<Source>, span: Span, label: String },
    /// A file as a whole, an environment variable, a flag.
    Named(String),
}

impl Place {
    pub(super) fn part(source: &Arc<Source>, span: Span, label: impl Into<String>) -> Self {
        Self::Part { source: Arc::clone(source), span, label: label.into() }
    }
}

impl Problem {
    pub(super) fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self { severity, message: message.into(), places: Vec::new(), hint: None }
    }

    pub(super) fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    pub(super) fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    /// A value that is not what it should be; where it stands is for the caller to say.
    pub(super) fn invalid(invalid: &Invalid, place: impl FnOnce(String) -> Place) -> Self {
        let label = invalid.why().unwrap_or_default().to_owned();
        let (place, reason) = match place(label) {
            named @ Place::Named(_) => (named, invalid.why()),
            part @ Place::Part { .. } => (part, None),
        };
        let message = reason.map_or_else(|| invalid.to_string(), |why| format!("{invalid}: {why}"));
        Self { hint: invalid.suggestion().map(str::to_owned), ..Self::error(message) }.at(place)
    }

    fn is_same(&self, other: &Self) -> bool {
        let same_place = |(own, other): (&Place, &Place)| match (own, other) {
            (Place::Part { source: a, span: x, .. }, Place::Part { source: b, span: y, .. }) => {
                Arc::ptr_eq(a, b) && x == y
            }
            (Place::Named(a), Place::Named(b)) => a == b,
            _ => false,
        };
        self.message == other.message
            && self.places.len() == other.places.len()
            && self.places.iter().zip(&other.places).all(same_place)
    }

    pub(super) fn at(mut self, place: Place) -> Self {
        self.places.push(place);
        self
    }

    /// Proposes the word that was probably meant.
    pub(super) fn did_you_mean(self, meant: Option<&str>) -> Self {
        match meant {
            Some(meant) => self.hint(format!("did you mean `{meant}`?")),
            None => self,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// All problems found so far, and the sources that they point into.
#[derive(Clone, Debug, Default)]
pub(super) struct Problems {
    sources: Vec<Arc<Source>>,
    list: Vec<Problem>,
    /// Known words that unknown ones were probably meant to be: what they name is misspelt, not missing.
    meant: HashSet<String>,
    /// How many were found beyond those that anybody would read.
    more: usize,
}

/// Nobody mends more mistakes than this before the next run.
const MOST: usize = 1000;

impl Problems {
    pub(super) fn add_source(&mut self, source: Arc<Source>) {
        self.sources.push(source);
    }

    /// Keeps a problem; the same one again, as through an alias, is not worth a second word.
    pub(super) fn report(&mut self, problem: Problem) {
        if self.list.iter().rev().take(MOST).any(|known| known.is_same(&problem)) {
            return;
        }
        if self.list.len() < MOST { self.list.push(problem) } else { self.more += 1 }
    }

    /// Remembers what an unknown word was probably meant to be.
    pub(super) fn remember_meant(&mut self, word: &str) {
        self.meant.insert(word.to_owned());
    }

    /// Whether one of these words is there, but misspelt or of the wrong kind.
    pub(super) fn is_meant(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.meant.contains(*word))
    }

    pub(super) fn has_errors(&self) -> bool {
        self.list.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// The place where a value came from.
    pub(super) fn place(&self, origin: &Origin, label: impl Into<String>) -> Place {
        if let Origin::File { file, span, .. } = origin
            && let Some(source) = self.sources.iter().find(|source| source.name() == file)
        {
            return Place::part(source, span.clone(), label);
        }
        Place::Named(origin.to_string())
    }

    /// In the order in which a reader of the files meets them; errors before the rest.
    pub(super) fn into_sorted(mut self) -> Vec<Problem> {
        let rank = |place: Option<&Place>| match place {
            Some(Place::Part { source, span, .. }) => {
                let file = self.sources.iter().position(|known| Arc::ptr_eq(known, source));
                (1, file.unwrap_or(usize::MAX), span.start)
            }
            _ => (0, 0, 0),
        };
        self.list.sort_by_key(|problem| (problem.severity, rank(problem.places.first())));
        if self.more > 0 {
            self.list.push(Problem::error(format!("{} more problems are not shown", self.more)));
        }
        self.list
    }
}
