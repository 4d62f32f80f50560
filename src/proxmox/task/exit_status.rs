use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use crate::proxmox::refusal::RefusalKind;
use crate::proxmox::text::clean;

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    Ok,
    /// It was done, and this many lines of its log begin with `WARN:`.
    Warnings(u32),
    /// It failed, and this is why.
    Failed(String),
    /// Its worker was killed, so nobody knows what was done.
    Unexpected,
}

impl ExitStatus {
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Ok | Self::Warnings(_))
    }

    /// What the failure means, as far as its text is a known one.
    pub fn kind(&self) -> Option<RefusalKind> {
        match self {
            Self::Failed(text) => RefusalKind::of_text(text),
            _ => None,
        }
    }
}

impl FromStr for ExitStatus {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let warnings = text.strip_prefix("WARNINGS: ").and_then(|count| count.trim().parse().ok());
        Ok(match (text.trim(), warnings) {
            ("OK", _) => Self::Ok,
            (_, Some(count)) => Self::Warnings(count),
            ("unexpected status", _) => Self::Unexpected,
            (text, _) => Self::Failed(clean(text)),
        })
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("OK"),
            Self::Warnings(count) => write!(f, "WARNINGS: {count}"),
            Self::Failed(text) => f.write_str(text),
            Self::Unexpected => f.write_str("unexpected status"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_a_success_and_an_unknown_end_is_none() {
        #[track_caller]
        fn case(text: &str, expected: &ExitStatus, success: bool) {
            let Ok(status) = text.parse::<ExitStatus>();
            assert_eq!((&status, status.is_success(), status.to_string().as_str()), (expected, success, text));
        }
        case("OK", &ExitStatus::Ok, true);
        case("WARNINGS: 2", &ExitStatus::Warnings(2), true);
        case("unexpected status", &ExitStatus::Unexpected, false);
        case("WARNINGS: many", &ExitStatus::Failed("WARNINGS: many".to_owned()), false);
        case("received interrupt", &ExitStatus::Failed("received interrupt".to_owned()), false);
    }

    #[test]
    fn a_failure_says_what_it_means() {
        #[track_caller]
        fn case(text: &str, expected: Option<&RefusalKind>) {
            assert_eq!(ExitStatus::Failed(text.to_owned()).kind().as_ref(), expected);
        }
        case(
            "clone failed: can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout",
            Some(&RefusalKind::Busy),
        );
        case("VM 105 already running", Some(&RefusalKind::AlreadyRunning));
        case("unable to create VM 100: config file already exists", Some(&RefusalKind::Exists));
        case(
            "403 Permission check failed (/storage/local, Datastore.AllocateSpace)",
            Some(&RefusalKind::Forbidden {
                path: Some("/storage/local".to_owned()),
                privileges: vec!["Datastore.AllocateSpace".to_owned()],
            }),
        );
        case("the moon is in the wrong phase", None);
    }
}
