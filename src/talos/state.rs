use std::fmt;

use serde::{Serialize, Serializer};

/// What is known about a node after one look at it.
///
/// ```text
///  unreachable ─► closed ─► starting ─► maintenance ─► (closed) ─► configured
///   power on       has its    no         waits for      takes it    asks for client
///                  address    certificate a machine                 certificates
///                             yet        configuration
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeState {
    /// Nobody answers at the address.
    Unreachable,
    /// Somebody has the address and refuses connections to Talos' port.
    Closed,
    /// Something listens, and it is no Talos.
    NotTalos,
    /// Talos, which is not ready yet or just changing.
    Starting,
    /// Talos in maintenance mode, ready for a machine configuration.
    Maintenance,
    /// Talos with a machine configuration.
    Configured,
    /// Talos, but another machine than the one that should be there. Nothing may be sent to it.
    WrongHost,
}

impl NodeState {
    pub const ALL: [Self; 7] = [
        Self::Unreachable,
        Self::Closed,
        Self::NotTalos,
        Self::Starting,
        Self::Maintenance,
        Self::Configured,
        Self::WrongHost,
    ];

    /// Whether somebody holds the address, whatever they answer.
    pub fn is_held(self) -> bool {
        self != Self::Unreachable
    }

    /// One word or two, for tables and programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Closed => "closed",
            Self::NotTalos => "not Talos",
            Self::Starting => "starting",
            Self::Maintenance => "maintenance",
            Self::Configured => "configured",
            Self::WrongHost => "wrong host",
        }
    }
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for NodeState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.as_str().replace(' ', "_").to_lowercase())
    }
}
