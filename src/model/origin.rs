use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::Role;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A place in a file.
    File {
        file: Arc<str>,
        /// Counted from 1.
        line: u32,
        /// The value's bytes in the file, for pointing at them.
        span: Range<u32>,
        /// The section or key as it is written there.
        key: Arc<str>,
    },
    Environment(Arc<str>),
    /// A flag, and what it names if that is worth telling.
    Flag(Arc<str>),
    /// Worked out from other values.
    Derived(&'static str),
    /// Ours, for nodes of one role only when it names one.
    BuiltIn(Option<Role>),
}

impl Origin {
    /// Whether the user gave the value, in whatever way.
    pub fn is_declared(&self) -> bool {
        !matches!(self, Self::Derived(_) | Self::BuiltIn(_))
    }

    /// The file that it came from, if it was one.
    pub fn file(&self) -> Option<&Arc<str>> {
        match self {
            Self::File { file, .. } => Some(file),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, key, .. } => write!(f, "{file}:{line} {key}"),
            Self::Environment(variable) => write!(f, "environment {variable}"),
            Self::Flag(flag) => f.write_str(flag),
            Self::Derived(from) => f.write_str(from),
            Self::BuiltIn(None) => f.write_str("built-in"),
            Self::BuiltIn(Some(role)) => write!(f, "built-in for a {role}"),
        }
    }
}

/// A value that knows where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    pub value: T,
    pub origin: Origin,
}

impl<T> Setting<T> {
    pub fn new(value: T, origin: Origin) -> Self {
        Self { value, origin }
    }

    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), origin: self.origin }
    }
}

impl<T: Serialize> Serialize for Setting<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}
