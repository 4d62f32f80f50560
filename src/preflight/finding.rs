use serde::Serialize;

/// How one thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As it should be.
    Ok,
    /// It will do, or it could not be seen.
    Warning,
    /// It has to be mended first.
    Error,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub state: State,
    /// How it stands, in one line.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Finding {
    pub(super) fn ok(message: impl Into<String>) -> Self {
        Self { state: State::Ok, message: message.into(), fix: None }
    }

    pub(super) fn warning(message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: State::Warning, message: message.into(), fix: Some(fix.into()) }
    }

    /// Something that has to be mended first, and how.
    pub fn error(message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: State::Error, message: message.into(), fix: Some(fix.into()) }
    }
}
