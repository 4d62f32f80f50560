use std::net::IpAddr;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::reader::{FromYaml, Reader};
use super::yaml::{Content, Yaml};
use crate::model::{ApiToken, Bounded, DiskSize, Invalid, MemoryMib, Text, TokenSecret, printable};

impl<T: Text> FromYaml for T {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parse(yaml, T::WHAT, str::parse)
    }

    fn schema() -> Value {
        // Editors see `7` as a number where we see a text.
        json!({ "type": ["string", "integer"], "pattern": T::PATTERN })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Numbers may be quoted: `"7"` is as good as `7`.
impl<const MIN: u32, const MAX: u32> FromYaml for Bounded<MIN, MAX> {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parse(yaml, &format!("a whole number from {MIN} to {MAX}"), str::parse)
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "integer", "minimum": MIN, "maximum": MAX },
            { "type": "string", "pattern": "^(0|[1-9][0-9]*)$" },
        ] })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl FromYaml for bool {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parse(yaml, "`true` or `false`", |text| match text {
            "true" | "True" | "TRUE" => Ok(true),
            "false" | "False" | "FALSE" => Ok(false),
            _ => {
                let invalid = Invalid::new(text, "`true` or `false`");
                Err(match text.to_ascii_lowercase().as_str() {
                    "yes" | "y" | "on" | "1" => invalid.hint("write `true`"),
                    "no" | "n" | "off" | "0" => invalid.hint("write `false`"),
                    _ => invalid,
                })
            }
        })
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "type": "boolean" }, { "enum": ["true", "True", "TRUE", "false", "False", "FALSE"] }] })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl FromYaml for IpAddr {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        const WHAT: &str = "an IP address like `192.168.1.10`";
        reader.parse(yaml, WHAT, |text| {
            text.parse().map_err(|_| {
                let invalid = Invalid::new(text, WHAT);
                match text.split_once('/') {
                    Some((address, _)) if address.parse::<Self>().is_ok() => {
                        invalid.because("no prefix length belongs here").hint(format!("write `{address}`"))
                    }
                    _ => invalid,
                }
            })
        })
    }

    fn schema() -> Value {
        json!({ "type": "string", "anyOf": [{ "format": "ipv4" }, { "format": "ipv6" }] })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl FromYaml for PathBuf {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parse(yaml, "a file name", |text| {
            let invalid = Invalid::new(text, "a file name");
            if text.is_empty() {
                Err(invalid.because("it is empty"))
            } else if !text.chars().all(printable) {
                Err(invalid.because("it has a character that cannot be shown"))
            } else {
                Ok(Self::from(text))
            }
        })
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

impl FromYaml for TokenSecret {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parse(yaml, "the secret of an API token", str::parse)
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }

    fn show(&self) -> String {
        "(hidden)".to_owned()
    }
}

impl FromYaml for ApiToken {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parse(yaml, "an API token", str::parse)
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }

    fn show(&self) -> String {
        format!("{} (secret hidden)", self.id)
    }
}

/// A list; a single value counts as a list of one.
impl<T: FromYaml> FromYaml for Vec<T> {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        match &yaml.content {
            Content::List(items) => {
                // Every item is read, so that every mistake is reported, before one of them spoils the list.
                let read: Vec<Option<T>> = items.iter().map(|item| T::read(item, reader)).collect();
                read.into_iter().collect()
            }
            _ => T::read(yaml, reader).map(|item| vec![item]),
        }
    }

    fn schema() -> Value {
        let item = T::schema();
        json!({ "anyOf": [{ "type": "array", "items": item }, item] })
    }

    fn show(&self) -> String {
        if self.is_empty() { "none".to_owned() } else { self.iter().map(T::show).collect::<Vec<_>>().join(", ") }
    }
}

/// A disk size with limits in GiB. In files a number without unit means GiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gib<const MIN: u32, const MAX: u32>(pub(super) DiskSize);

impl<const MIN: u32, const MAX: u32> FromYaml for Gib<MIN, MAX> {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        let what = format!("a disk size from {MIN} to {MAX} GiB");
        reader.parse(yaml, &what, |text| {
            let in_range = |size: DiskSize| (DiskSize::gib(MIN)..=DiskSize::gib(MAX)).contains(&size);
            let bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            if text.len() > 1 && text.starts_with('0') {
                return Err(Invalid::new(text, what.clone()).because("a leading zero means octal to some programs"));
            }
            let size = if bare { format!("{text}G").parse() } else { text.parse::<DiskSize>() };
            match size {
                Ok(size) if in_range(size) => Ok(Self(size)),
                Ok(_) => Err(Invalid::new(text, what.clone())),
                Err(error) if bare => {
                    Err(Invalid::new(text, what.clone()).because(error.why().unwrap_or("out of range").to_owned()))
                }
                Err(error) => Err(error),
            }
        })
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "integer", "minimum": MIN, "maximum": MAX },
            { "type": "string", "pattern": "^([1-9][0-9]*|[1-9][0-9]*[KMGT](iB)?)$" },
        ] })
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// A text that is looked at only if nothing stands above it: it belongs to somebody else.
#[derive(Clone, Debug)]
pub(super) struct Unchecked(pub(super) String);

impl FromYaml for Unchecked {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        reader.text(yaml, "a single value is needed").map(|text| Self(text.to_owned()))
    }

    fn schema() -> Value {
        json!({ "type": ["string", "number", "boolean"] })
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// A key of the family repositories that means nothing to us.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ignored;

impl FromYaml for Ignored {
    fn read(_: &Yaml, _: &mut Reader<'_>) -> Option<Self> {
        Some(Self)
    }

    fn schema() -> Value {
        json!(true)
    }

    fn show(&self) -> String {
        "(not used)".to_owned()
    }
}

/// Memory in MiB, with the advice that whoever writes `16G` needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory(pub(super) MemoryMib);

impl FromYaml for Memory {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        reader.parse(yaml, "memory in MiB", |text| {
            let number = text.trim_end_matches(['i', 'B', 'b']).strip_suffix(['G', 'g']);
            let mib = number.and_then(|gib| gib.trim_end().parse::<u32>().ok()).and_then(|gib| gib.checked_mul(1024));
            let mib = mib.and_then(MemoryMib::new);
            text.parse().map(Self).map_err(|invalid: Invalid| match mib {
                Some(mib) => invalid.because("memory is given in MiB").hint(format!("write `{mib}`")),
                None => invalid,
            })
        })
    }

    fn schema() -> Value {
        MemoryMib::schema()
    }

    fn show(&self) -> String {
        format!("{} MiB", self.0)
    }
}
