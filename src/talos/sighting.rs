use std::fmt;

use super::leaf::Leaf;
use super::said::Said;
use super::{Aspect, Check, NodeState, Target, Verdict};

/// What one look at a node showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    pub state: NodeState,
    /// What the state was told by, in words.
    pub evidence: String,
    /// The certificate that was shown.
    pub leaf: Option<Leaf>,
    /// What a node in maintenance said about itself.
    pub said: Option<Box<Said>>,
    pub checks: Vec<Check>,
    /// Whether the look ended on the way, so that it tells nothing of the node.
    pub no_way: bool,
}

/// Whether it is the machine that should be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// Something that only this machine has is equal, and nothing differs.
    Verified,
    /// Nothing speaks against it, nothing proves it.
    Unproven,
    /// It is another one.
    Another,
}

impl Sighting {
    pub(super) fn new(state: NodeState, evidence: impl Into<String>) -> Self {
        Self { state, evidence: evidence.into(), leaf: None, said: None, checks: Vec::new(), no_way: false }
    }

    pub(super) fn with_leaf(mut self, leaf: Leaf) -> Self {
        self.leaf = Some(leaf);
        self
    }

    pub(super) fn with_said(mut self, said: Said) -> Self {
        self.said = Some(Box::new(said));
        self
    }

    /// Adds the comparisons. One that shows another machine decides the state.
    pub(super) fn with_checks(mut self, checks: Vec<Check>) -> Self {
        self.checks = checks;
        let another: Vec<String> =
            self.identity_checks().filter(|check| check.differs()).map(ToString::to_string).collect();
        if !another.is_empty() {
            self.evidence = format!("{}, but another machine: {}", self.evidence, another.join("; "));
            self.state = NodeState::WrongHost;
        }
        self
    }

    fn identity_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.aspect.is_identity())
    }

    pub fn identity(&self) -> Identity {
        if self.identity_checks().any(Check::differs) {
            return Identity::Another;
        }
        // A name in a certificate is no proof: whoever configured the machine chose it.
        let proven = self
            .identity_checks()
            .any(|check| check.verdict == Verdict::Same && check.aspect != Aspect::CertificateName);
        if proven { Identity::Verified } else { Identity::Unproven }
    }

    /// What differs from what was asked for, on the right machine.
    pub fn findings(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.differs() && !check.aspect.is_identity())
    }

    /// The Talos version, if the node tells it, without the `v` in front.
    pub fn version(&self) -> Option<&str> {
        let version = self.said.as_ref()?.version.said()?;
        Some(version.strip_prefix('v').unwrap_or(version))
    }

    /// The command with which a user goes on from here.
    pub fn next_step(&self, target: &Target) -> Option<String> {
        let address = target.address;
        match self.state {
            NodeState::Maintenance => Some(format!("talosctl apply-config --insecure --nodes {address} --file FILE")),
            NodeState::Configured => Some(format!("talosctl health --endpoints {address} --nodes {address}")),
            _ => None,
        }
    }
}

/// The state in a line: `maintenance, Talos 1.13.9, identity verified`.
impl fmt::Display for Sighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)?;
        if let Some(version) = self.version() {
            write!(f, ", Talos {version}")?;
        }
        match (self.state, self.identity()) {
            (NodeState::Maintenance | NodeState::Configured, Identity::Verified) => f.write_str(", identity verified"),
            (NodeState::Maintenance | NodeState::Configured, _) => f.write_str(", identity unproven"),
            _ => write!(f, ": {}", self.evidence),
        }
    }
}
