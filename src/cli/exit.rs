use std::io;
use std::process::ExitCode;

/// How a run ended, for scripts. The numbers are a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, or nothing to do.
    Done = 0,
    /// Failed and nothing succeeded, or declined.
    Failed = 1,
    /// Wrong usage or input; nothing was changed.
    WrongInput = 2,
    /// Some nodes failed, were refused, are in conflict, or timed out.
    Partial = 3,
    /// `plan --exit-code`: changes are pending.
    Pending = 4,
    /// `status --exit-code` and `doctor`: not healthy.
    Unhealthy = 5,
    /// Interrupted.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command ends before its end.
#[derive(Debug)]
pub(super) enum Ended {
    /// What there is to say about it has been shown.
    With(Exit),
    /// The output cannot be written.
    Unwritable(io::Error),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Unwritable(error)
    }
}
