//! What the API says about a parameter, and how a value is checked against it.
//!
//! The order of the checks and every text are those of `PVE/JSONSchema.pm` in pve-common: type, format, pattern,
//! length, limits, words. All wrong parameters of a call are reported in one answer.

use std::collections::BTreeMap;

use super::format::Format;
use super::pattern::Pattern;

/// What kind of scalar a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Boolean,
    Integer,
    Number,
    Text,
}

impl Kind {
    /// The word that the API's schema uses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Text => "string",
        }
    }
}

/// One parameter of a call, or one key of a property string.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub name: &'static str,
    /// How many numbered keys the name stands for (`net0` … `net31`); 0 for a plain name.
    pub family: u16,
    pub kind: Kind,
    pub optional: bool,
    /// Whether a property string may give it without `key=`.
    pub default_key: bool,
    /// The key that this one is another name for.
    pub alias: Option<&'static str>,
    /// The key that takes this one's *name* for its value: `virtio=MAC` means `model=virtio,macaddr=MAC`.
    pub key_alias: Option<&'static str>,
    /// Another parameter that must be there too.
    pub requires: Option<&'static str>,
    pub minimum: Option<i64>,
    pub maximum: Option<i64>,
    pub min_length: Option<usize>,
    pub max_length: Option<usize>,
    pub pattern: Option<Pattern>,
    pub words: &'static [&'static str],
    pub format: Option<Format>,
}

/// A parameter that must be given.
pub(crate) const fn required(name: &'static str, kind: Kind) -> Param {
    Param {
        name,
        family: 0,
        kind,
        optional: false,
        default_key: false,
        alias: None,
        key_alias: None,
        requires: None,
        minimum: None,
        maximum: None,
        min_length: None,
        max_length: None,
        pattern: None,
        words: &[],
        format: None,
    }
}

/// A boolean that may be left out.
pub(crate) const fn boolean(name: &'static str) -> Param {
    required(name, Kind::Boolean).optional()
}

/// A whole number that may be left out.
pub(crate) const fn integer(name: &'static str) -> Param {
    required(name, Kind::Integer).optional()
}

/// A number that may be left out.
pub(crate) const fn number(name: &'static str) -> Param {
    required(name, Kind::Number).optional()
}

/// A text that may be left out.
pub(crate) const fn text(name: &'static str) -> Param {
    required(name, Kind::Text).optional()
}

/// A key that is only another name for `key`.
pub(crate) const fn alias(name: &'static str, key: &'static str) -> Param {
    let mut param = text(name);
    param.alias = Some(key);
    param
}

impl Param {
    pub(crate) const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    pub(crate) const fn needed(mut self) -> Self {
        self.optional = false;
        self
    }

    pub(crate) const fn family(mut self, count: u16) -> Self {
        self.family = count;
        self
    }

    pub(crate) const fn default_key(mut self) -> Self {
        self.default_key = true;
        self
    }

    pub(crate) const fn names(mut self, key: &'static str) -> Self {
        self.key_alias = Some(key);
        self
    }

    pub(crate) const fn requires(mut self, other: &'static str) -> Self {
        self.requires = Some(other);
        self
    }

    pub(crate) const fn min(mut self, minimum: i64) -> Self {
        self.minimum = Some(minimum);
        self
    }

    pub(crate) const fn max(mut self, maximum: i64) -> Self {
        self.maximum = Some(maximum);
        self
    }

    pub(crate) const fn longest(mut self, length: usize) -> Self {
        self.max_length = Some(length);
        self
    }

    pub(crate) const fn shortest(mut self, length: usize) -> Self {
        self.min_length = Some(length);
        self
    }

    pub(crate) const fn pattern(mut self, pattern: Pattern) -> Self {
        self.pattern = Some(pattern);
        self
    }

    pub(crate) const fn one_of(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    pub(crate) const fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Whether `key` is this parameter, or one of the family.
    pub(crate) fn is(&self, key: &str) -> bool {
        if self.family == 0 {
            return self.name == key;
        }
        // A leading zero makes another key: there is no `net01`.
        let number = key.strip_prefix(self.name).filter(|rest| *rest == "0" || !rest.starts_with('0'));
        let digits = number.filter(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
        digits.and_then(|rest| rest.parse::<u16>().ok()).is_some_and(|number| number < self.family)
    }

    /// Checks one value; the text says what is wrong with it. `path` is how a nested message names it.
    pub(crate) fn check(&self, path: &str, value: &str) -> Result<(), String> {
        let mistyped = || format!("type check ('{}') failed - got '{value}'", self.kind.word());
        match self.kind {
            Kind::Boolean if !matches!(value, "0" | "1") => return Err(mistyped()),
            Kind::Integer if !is_integer(value) => return Err(mistyped()),
            Kind::Number if !is_number(value) => return Err(mistyped()),
            _ => {}
        }
        if let Some(format) = self.format {
            format.check(path, value).map_err(|text| format!("invalid format - {text}"))?;
        }
        if self.pattern.is_some_and(|pattern| !pattern.matches(value)) {
            return Err("value does not match the regex pattern".to_owned());
        }
        let length = value.chars().count();
        if let Some(longest) = self.max_length.filter(|longest| length > *longest) {
            return Err(format!("value may only be {longest} characters long"));
        }
        if let Some(shortest) = self.min_length.filter(|shortest| length < *shortest) {
            return Err(format!("value must be at least {shortest} characters long"));
        }
        if let Some(number) = value.parse::<f64>().ok().filter(|_| is_number(value)) {
            if let Some(maximum) = self.maximum.filter(|maximum| number > as_number(*maximum)) {
                return Err(format!("value must have a maximum value of {maximum}"));
            }
            if let Some(minimum) = self.minimum.filter(|minimum| number < as_number(*minimum)) {
                return Err(format!("value must have a minimum value of {minimum}"));
            }
        }
        if !self.words.is_empty() && !self.words.contains(&value) {
            let words = self.words.join(", ");
            return Err(format!("value '{value}' does not have a value in the enumeration '{words}'"));
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "the limits of the API are far below 2^52")]
fn as_number(limit: i64) -> f64 {
    limit as f64
}

fn is_integer(value: &str) -> bool {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_number(value: &str) -> bool {
    let rest = value.strip_prefix(['+', '-']).unwrap_or(value);
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, "0"));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()) && !rest.is_empty()
}

/// What is said of a parameter that the call does not have.
const UNKNOWN: &str = "property is not defined in schema and the schema does not allow additional properties";

/// What is wrong for a release before 9: the parameters, and the key of a network card, that came with it.
pub(crate) fn newer_than_eight(values: &BTreeMap<String, String>) -> Errors {
    let mut errors = Errors::new();
    for (key, value) in values {
        let is_card = key.strip_prefix("net").is_some_and(|rest| rest.parse::<u8>().is_ok());
        if matches!(key.as_str(), "ha-managed" | "import-working-storage") {
            errors.insert(key.clone(), UNKNOWN.to_owned());
        } else if is_card && value.split(',').any(|part| part.starts_with("host-tunnel=")) {
            let text = format!("invalid format - format error\n{key}.host-tunnel: {UNKNOWN}\n");
            errors.insert(key.clone(), text);
        }
    }
    errors
}

/// The names of all wrong parameters, each with what is wrong.
pub(crate) type Errors = BTreeMap<String, String>;

/// Several texts for one name are joined by a backslash and an `n`, as the server does it.
pub(crate) fn add_error(errors: &mut Errors, name: String, text: &str) {
    errors
        .entry(name)
        .and_modify(|all| {
            all.push_str("\\n");
            all.push_str(text);
        })
        .or_insert_with(|| text.to_owned());
}

/// Checks a whole set of values; `prefix` is empty at the top and the parameter's name inside a property string.
pub(crate) fn check_all(params: &[&[Param]], prefix: &str, values: &BTreeMap<String, String>) -> Errors {
    let mut errors = Errors::new();
    let path = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    let all = || params.iter().flat_map(|group| group.iter());
    for param in all() {
        let missing = !param.optional && param.alias.is_none() && param.family == 0 && !values.contains_key(param.name);
        if missing {
            add_error(&mut errors, path(param.name), "property is missing and it is not optional");
        }
    }
    for (key, value) in values {
        let Some(param) = all().find(|param| param.is(key)) else {
            add_error(&mut errors, path(key), UNKNOWN);
            continue;
        };
        if let Err(text) = param.check(&path(key), value) {
            add_error(&mut errors, path(key), &text);
        }
        if let Some(other) = param.requires.filter(|other| !values.contains_key(*other)) {
            let text = format!("missing property required by '{}'", path(key));
            add_error(&mut errors, path(other), &text);
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_ends_at_its_last_number() {
        let net = text("net").family(32);
        assert!(net.is("net0") && net.is("net31"));
        for key in ["net32", "net", "net-1", "net01", "net+1", "nets", "net99999999999"] {
            assert!(!net.is(key), "{key}");
        }
    }

    #[test]
    fn all_mistakes_are_named_at_once() {
        let params: &[&[Param]] = &[&[integer("cores").min(1), required("vmid", Kind::Integer), boolean("onboot")]];
        let values = [("cores", "0"), ("onboot", "yes"), ("frobnicate", "1")];
        let values = values.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let errors: Vec<_> = check_all(params, "", &values).into_values().collect();
        assert_eq!(
            errors,
            [
                "value must have a minimum value of 1",
                "property is not defined in schema and the schema does not allow additional properties",
                "type check ('boolean') failed - got 'yes'",
                "property is missing and it is not optional",
            ]
        );
    }
}
