use std::collections::BTreeMap;

use serde::Deserialize;

use crate::proxmox::lenient;

/// `GET /access/permissions`: the privileges on each path, and whether they hold for what is below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Permissions(BTreeMap<String, BTreeMap<String, Propagates>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct Propagates(#[serde(deserialize_with = "lenient::flag")] bool);

impl Permissions {
    /// Whether a privilege is listed for exactly this path.
    pub fn has(&self, path: &str, privilege: &str) -> bool {
        self.0.get(path).is_some_and(|privileges| privileges.contains_key(privilege))
    }

    /// Whether a privilege is listed for exactly this path and holds for everything below it.
    pub fn has_below(&self, path: &str, privilege: &str) -> bool {
        self.0.get(path).and_then(|privileges| privileges.get(privilege)).is_some_and(|propagates| propagates.0)
    }

    /// Whether nothing at all is allowed, as for a token with privilege separation and no entry of its own.
    pub fn is_empty(&self) -> bool {
        self.0.values().all(BTreeMap::is_empty)
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The privileges on exactly this path.
    pub fn on(&self, path: &str) -> impl Iterator<Item = &str> {
        self.0.get(path).into_iter().flat_map(|privileges| privileges.keys().map(String::as_str))
    }
}

/// What was asked path by path, in one.
impl FromIterator<Self> for Permissions {
    fn from_iter<I: IntoIterator<Item = Self>>(answers: I) -> Self {
        Self(answers.into_iter().flat_map(|answer| answer.0).collect())
    }
}
