use std::fmt;
use std::str::FromStr;

use crate::model::{HostName, Quoted};

/// The name of a task: `UPID:pve1:0003A1B2:01C2D3E4:68A5F0C1:qmclone:9000:pvetalos@pve!ci:`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Upid {
    text: Box<str>,
    host: HostName,
    started: u64,
}

/// A text that names no task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not the name of a task")]
pub struct InvalidUpid(Quoted);

impl Upid {
    /// The host that the task runs on, and the only one that knows it.
    pub fn host(&self) -> &HostName {
        &self.host
    }

    /// When it began, in seconds since 1970 by the host's clock.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// What it does, such as `qmclone`.
    pub fn kind(&self) -> &str {
        self.field(5)
    }

    /// What it does it to: mostly a VMID, for a clone that of its template, perhaps nothing.
    pub fn id(&self) -> &str {
        self.field(6)
    }

    /// Who began it, the token's name included.
    pub fn user(&self) -> &str {
        self.field(7)
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn field(&self, number: usize) -> &str {
        self.text.split(':').nth(number).unwrap_or_default()
    }
}

impl FromStr for Upid {
    type Err = InvalidUpid;

    fn from_str(text: &str) -> Result<Self, InvalidUpid> {
        parse(text).ok_or_else(|| InvalidUpid(Quoted::new(text)))
    }
}

fn parse(text: &str) -> Option<Upid> {
    let fields: Vec<&str> = text.split(':').collect();
    let ["UPID", host, pid, pstart, started, kind, id, user, ""] = fields[..] else {
        return None;
    };
    let hex = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let plain = |text: &str| !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '/');
    let well_formed = hex(pid, 8..=8)
        && hex(pstart, 8..=9)
        && hex(started, 8..=8)
        && [kind, id, user].into_iter().all(plain)
        && !kind.is_empty()
        && !user.is_empty();
    well_formed.then_some(())?;
    Some(Upid { host: host.parse().ok()?, started: u64::from_str_radix(started, 16).ok()?, text: text.into() })
}

impl fmt::Display for Upid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CLONE: &str = "UPID:pve1:0003A1B2:01C2D3E4:68A5F0C1:qmclone:9000:pvetalos@pve!ci:";

    #[test]
    fn a_name_tells_where_when_what_and_who() {
        let upid: Upid = CLONE.parse().unwrap();
        assert_eq!(upid.to_string(), CLONE);
        assert_eq!((upid.host().as_str(), upid.started()), ("pve1", 1_755_705_537));
        assert_eq!((upid.kind(), upid.id(), upid.user()), ("qmclone", "9000", "pvetalos@pve!ci"));
        assert!(CLONE.replace(":9000:", "::").parse::<Upid>().is_ok());
        assert!(CLONE.replace("01C2D3E4", "101C2D3E4").parse::<Upid>().is_ok());
    }

    #[test]
    fn what_is_malformed_is_no_name() {
        for (from, to) in [
            ("UPID", "UPIX"),
            ("pve1", "pve_1"),
            ("pve1", ""),
            ("0003A1B2", "+003A1B2"),
            ("0003A1B2", "3A1B2"),
            ("68A5F0C1", "68A5F0CX"),
            (":qmclone:", "::"),
            ("9000", "90/00"),
            ("ci:", "ci"),
            ("ci:", "ci::"),
            ("ci", "c i"),
        ] {
            let text = CLONE.replace(from, to);
            assert!(text.parse::<Upid>().is_err(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_panics_and_every_name_is_kept(text in "(UPID|[A-Z]{0,5})(:[0-9A-Fa-f]{0,9}|:[a-z@!.-]{0,6}){0,9}:?|\\PC*") {
            if let Ok(upid) = text.parse::<Upid>() {
                prop_assert_eq!(upid.to_string(), text);
            }
        }
    }
}
