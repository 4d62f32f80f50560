use std::fmt;
use std::str::FromStr;

/// A value as Proxmox holds it: understood, or at least kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading<T> {
    Known(T),
    /// A text that breaks the grammar, as it was.
    Text(String),
}

impl<T: FromStr> Reading<T> {
    pub fn of(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Text(text.to_owned()), Self::Known)
    }
}

impl<T> Reading<T> {
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Text(_) => None,
        }
    }

    pub fn into_known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Text(_) => None,
        }
    }
}

impl<T: fmt::Display> fmt::Display for Reading<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}
