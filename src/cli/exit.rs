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

impl Exit {
    pub const ALL: [Self; 7] =
        [Self::Done, Self::Failed, Self::WrongInput, Self::Partial, Self::Pending, Self::Unhealthy, Self::Interrupted];

    /// What the number means, for the manual.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done, or nothing to do",
            Self::Failed => "failed, and nothing succeeded; or declined",
            Self::WrongInput => "wrong usage or input; nothing was changed",
            Self::Partial => {
                "some nodes failed, were refused, are in conflict, were held back or timed out; `plan`: some would be; \
                 `destroy`: something stands in the way"
            }
            Self::Pending => "`plan --exit-code`: there is something to do",
            Self::Unhealthy => {
                "`status --exit-code`: a node is not healthy; `doctor`: something has to be mended first"
            }
            Self::Interrupted => "interrupted",
        }
    }
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
