use std::fmt::Display;
use std::sync::Arc;

use super::layer::Field;
use super::problem::{Place, Problem, Problems};
use super::source::{Source, Span};
use super::suggest::did_you_mean;
use super::yaml::{Content, Entry, Yaml};
use crate::model::{Invalid, Origin, Quoted, Setting};

/// A value as it stands in a file, and how editors are told about it.
pub(super) trait FromYaml: Sized {
    /// Reads it, or reports why that cannot be.
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self>;

    /// Its JSON Schema.
    fn schema() -> serde_json::Value;

    /// What `--explain` shows of it.
    fn show(&self) -> String;
}

/// Reads values of one file and reports what is wrong with them.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Arc<Source>,
    pub(super) problems: &'a mut Problems,
}

impl Reader<'_> {
    pub(super) fn place(&self, span: &Span, label: impl Into<String>) -> Place {
        Place::part(self.source, span.clone(), label)
    }

    pub(super) fn report(&mut self, problem: Problem) {
        self.problems.report(problem);
    }

    /// The text of a single value, or a report that it should be one.
    pub(super) fn text<'y>(&mut self, yaml: &'y Yaml, what: impl Display) -> Option<&'y str> {
        match &yaml.content {
            Content::Scalar { text, .. } => Some(text),
            Content::Null => {
                let problem = Problem::error(format!("a value is missing: {what}"));
                let place = self.place(&yaml.span, "nothing stands here");
                self.report(problem.at(place).hint("give a value or delete the line"));
                None
            }
            _ => {
                self.wrong_kind(yaml, what);
                None
            }
        }
    }

    /// Parses the text of a single value.
    pub(super) fn parse<T>(
        &mut self,
        yaml: &Yaml,
        what: &str,
        parse: impl Fn(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        let text = self.text(yaml, format_args!("{what} is needed"))?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(invalid) => {
                self.report(Problem::invalid(&invalid, |label| self.place(&yaml.span, label)));
                None
            }
        }
    }

    pub(super) fn wrong_kind(&mut self, yaml: &Yaml, needed: impl Display) {
        let found = yaml.describe();
        let place = self.place(&yaml.span, format!("this is {found}"));
        self.report(Problem::error(format!("{found} cannot stand here: {needed}")).at(place));
    }

    pub(super) fn origin(&self, span: &Span, key: &Arc<str>) -> Origin {
        let line = u32::try_from(self.source.line(span.start)).unwrap_or(u32::MAX);
        Origin::File { file: Arc::clone(self.source.name()), line, span: span.clone(), key: Arc::clone(key) }
    }
}

/// The entries of one mapping; each is taken once, and what is left at the end is unknown.
pub(super) struct Fields<'y> {
    entries: Vec<Option<&'y Entry>>,
    /// What `--explain` shows as the place: the section, or each key's own name where there is none.
    section: Option<Arc<str>>,
}

impl<'y> Fields<'y> {
    /// The entries of a mapping, or a report that it is none.
    pub(super) fn of(yaml: &'y Yaml, what: &str, section: Option<&str>, reader: &mut Reader<'_>) -> Option<Self> {
        match &yaml.content {
            Content::Map(entries) => {
                Some(Self { entries: entries.iter().map(Some).collect(), section: section.map(Arc::from) })
            }
            // A section whose lines are all commented out is the same as no section.
            Content::Null if section.is_some() => Some(Self { entries: Vec::new(), section: section.map(Arc::from) }),
            _ => {
                reader.wrong_kind(yaml, format_args!("{what} is a mapping of keys to values"));
                None
            }
        }
    }

    /// Takes the entry that has one of these names; two of them are reported.
    pub(super) fn entry(&mut self, names: &[&str], reader: &mut Reader<'_>) -> Option<&'y Entry> {
        let mut found: Option<&Entry> = None;
        for slot in &mut self.entries {
            let Some(entry) = slot.filter(|entry| names.contains(&entry.key.as_str())) else {
                continue;
            };
            *slot = None;
            match found {
                None => found = Some(entry),
                // What the mapping says itself wins over what it took in by `<<`.
                Some(first) if first.merged != entry.merged => found = Some(if first.merged { entry } else { first }),
                Some(first) => {
                    let problem = Problem::error(format!("`{}` and `{}` are the same setting", first.key, entry.key))
                        .at(reader.place(&entry.key_span, "given again"))
                        .at(reader.place(&first.key_span, "first given here"));
                    reader.report(problem.hint(format!("keep `{}`", names[0])));
                }
            }
        }
        found
    }

    /// Takes and reads the entry that has one of these names.
    pub(super) fn setting<T: FromYaml>(&mut self, names: &[&str], reader: &mut Reader<'_>) -> Field<T> {
        let Some(entry) = self.entry(names, reader) else {
            return Field::Absent;
        };
        // Nothing after a colon is reported at the key: there is nothing else to point at.
        let nothing = || Yaml { content: Content::Null, span: entry.key_span.clone() };
        let value = if entry.value.content == Content::Null { &nothing() } else { &entry.value };
        let key = self.section.clone().unwrap_or_else(|| Arc::from(entry.key.as_str()));
        match T::read(value, reader) {
            Some(read) => Field::Given(Setting::new(read, reader.origin(&value.span, &key))),
            None => Field::Wrong,
        }
    }

    /// Takes a nested mapping.
    pub(super) fn section(&mut self, name: &str, section: &str, reader: &mut Reader<'_>) -> Option<Self> {
        let entry = self.entry(&[name], reader)?;
        let fields = Fields::of(&entry.value, &format!("`{name}`"), Some(section), reader);
        if fields.is_none() {
            reader.problems.remember_meant(name);
        }
        fields
    }

    /// Every key that nobody took, with the word that was probably meant.
    pub(super) fn unknown<'k>(&self, known: &[&'k str]) -> Vec<(&'y Entry, Option<&'k str>)> {
        let left = self.entries.iter().flatten();
        left.map(|entry| (*entry, did_you_mean(&entry.key, known.iter().copied()))).collect()
    }

    /// Reports every key that nobody took, and returns what they were probably meant to be.
    pub(super) fn refuse_unknown<'k>(&self, what: &str, known: &[&'k str], reader: &mut Reader<'_>) -> Vec<&'k str> {
        let unknown = self.unknown(known);
        for (entry, meant) in &unknown {
            let place = reader.place(&entry.key_span, "unknown key");
            let problem = Problem::error(format!("{what} has no key {}", Quoted::new(&entry.key))).at(place);
            reader.report(problem.did_you_mean(*meant));
        }
        unknown.into_iter().filter_map(|(_, meant)| meant).collect()
    }
}
