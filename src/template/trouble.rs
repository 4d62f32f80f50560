use serde::Serialize;

use crate::proxmox::task::TaskError;
use crate::proxmox::{ProxmoxError, with_causes};

/// Why something cannot be done, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    pub message: String,
    pub fix: String,
}

impl Trouble {
    pub fn new(message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { message: message.into(), fix: fix.into() }
    }
}

impl From<ProxmoxError> for Trouble {
    fn from(error: ProxmoxError) -> Self {
        Self::new(error.with_causes(), error.hint())
    }
}

impl From<TaskError> for Trouble {
    fn from(error: TaskError) -> Self {
        Self::new(with_causes(&error), error.hint())
    }
}
