use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::world::World;

/// A lock that vanishes with the process holding it, unlike the `lock:` line of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum LockName {
    /// `/var/lock/qemu-server/lock-<id>.conf` of a host.
    Vm { host: String, id: u32 },
    /// One per storage: on its host if it is local, in the whole cluster if it is shared.
    Storage { host: Option<String>, id: String },
}

impl From<LockName> for String {
    fn from(name: LockName) -> Self {
        match name {
            LockName::Vm { host, id } => format!("vm/{host}/{id}"),
            LockName::Storage { host, id } => format!("storage/{}/{id}", host.unwrap_or_default()),
        }
    }
}

impl TryFrom<String> for LockName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let parts: Vec<&str> = text.split('/').collect();
        let name = match parts.as_slice() {
            ["vm", host, id] => id.parse().ok().map(|id| Self::Vm { host: (*host).to_owned(), id }),
            ["storage", host, id] => {
                let host = (!host.is_empty()).then(|| (*host).to_owned());
                Some(Self::Storage { host, id: (*id).to_owned() })
            }
            _ => None,
        };
        name.ok_or_else(|| format!("`{text}` is not the name of a lock"))
    }
}

impl LockName {
    /// What someone is told who waited in vain.
    pub(crate) fn timeout(&self) -> String {
        match self {
            Self::Vm { id, .. } => format!("can't lock file '/var/lock/qemu-server/lock-{id}.conf' - got timeout"),
            Self::Storage { host: Some(_), id } => {
                format!("can't lock file '/var/lock/pve-manager/pve-storage-{id}' - got timeout")
            }
            Self::Storage { host: None, id } => format!("cfs-lock 'storage-{id}' error: got lock request timeout"),
        }
    }
}

/// How a lock is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    Shared,
    Exclusive,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Holders {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exclusive: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    shared: BTreeSet<u64>,
}

/// Who holds what; holders are the numbers of workers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Flocks(BTreeMap<LockName, Holders>);

impl Flocks {
    pub(crate) fn is_free(&self, name: &LockName, mode: Mode, worker: u64) -> bool {
        let Some(holders) = self.0.get(name) else {
            return true;
        };
        let alone = holders.exclusive.is_none_or(|holder| holder == worker);
        match mode {
            Mode::Shared => alone,
            Mode::Exclusive => alone && holders.shared.iter().all(|holder| *holder == worker),
        }
    }

    pub(crate) fn hold(&mut self, name: &LockName, mode: Mode, worker: u64) {
        let holders = self.0.entry(name.clone()).or_default();
        match mode {
            Mode::Shared => {
                holders.shared.insert(worker);
            }
            Mode::Exclusive => holders.exclusive = Some(worker),
        }
    }

    pub(crate) fn release(&mut self, name: &LockName, worker: u64) {
        if let Some(holders) = self.0.get_mut(name) {
            holders.shared.remove(&worker);
            holders.exclusive = holders.exclusive.filter(|holder| *holder != worker);
            if holders.exclusive.is_none() && holders.shared.is_empty() {
                self.0.remove(name);
            }
        }
    }

    pub(crate) fn release_all(&mut self, worker: u64) {
        let names: Vec<LockName> = self.0.keys().cloned().collect();
        for name in names {
            self.release(&name, worker);
        }
    }
}

impl World {
    pub(crate) fn vm_lock(host: &str, id: u32) -> LockName {
        LockName::Vm { host: host.to_owned(), id }
    }

    pub(crate) fn storage_lock(&self, host: &str, storage: &str) -> LockName {
        let shared = self.storages.get(storage).is_some_and(|storage| storage.shared);
        LockName::Storage { host: (!shared).then(|| host.to_owned()), id: storage.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_and_a_writer_is_alone() {
        let (mut flocks, name) = (Flocks::default(), LockName::Vm { host: "pve".to_owned(), id: 9000 });
        flocks.hold(&name, Mode::Shared, 1);
        assert!(flocks.is_free(&name, Mode::Shared, 2));
        assert!(!flocks.is_free(&name, Mode::Exclusive, 2));
        flocks.hold(&name, Mode::Shared, 2);
        flocks.release_all(1);
        assert!(flocks.is_free(&name, Mode::Exclusive, 2));
        assert!(!flocks.is_free(&name, Mode::Exclusive, 3));
        assert_eq!(LockName::try_from(String::from(name.clone())), Ok(name));
    }
}
