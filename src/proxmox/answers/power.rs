use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Whether a VM runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Power {
    Running,
    Stopped,
    /// Anything else, such as `unknown` in the cluster's list or `paused`.
    Other(String),
}

impl FromStr for Power {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "running" => Self::Running,
            "stopped" => Self::Stopped,
            other => Self::Other(other.to_owned()),
        })
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Other(text) => text,
        })
    }
}
