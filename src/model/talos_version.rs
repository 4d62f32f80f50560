use std::fmt;
use std::str::FromStr;

use super::invalid::serialize_as_text;
use super::{Invalid, Text};

/// A Talos release such as 1.12.0 or 1.13.0-beta.1; a leading `v` is understood and dropped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TalosVersion {
    major: u32,
    minor: u32,
    patch: u32,
    pre_release: Option<Box<str>>,
}

impl TalosVersion {
    /// Major, minor and patch; a beta has those of the release that it precedes.
    pub fn numbers(&self) -> (u32, u32, u32) {
        (self.major, self.minor, self.patch)
    }

    /// Whether it belongs to this minor release or a later one; what led to a release counts to it.
    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl Text for TalosVersion {
    const WHAT: &'static str = "a Talos version like `1.12.0`";
    const PATTERN: &'static str =
        r"^v?[1-9][0-9]*\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-(alpha|beta|rc)\.(0|[1-9][0-9]*))?$";
}

impl FromStr for TalosVersion {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || Invalid::new(text, Self::WHAT);
        let (release, pre_release) = match text.strip_prefix('v').unwrap_or(text).split_once('-') {
            Some((release, pre_release)) => (release, Some(pre_release)),
            None => (text.strip_prefix('v').unwrap_or(text), None),
        };
        let numbers: Option<Vec<u32>> = release.split('.').map(number).collect();
        let numbers = numbers.ok_or_else(invalid)?;
        let &[major, minor, patch] = numbers.as_slice() else {
            let hint = if numbers.len() == 2 {
                format!("give all three numbers, for example `{release}.0`")
            } else {
                "give three numbers".to_owned()
            };
            return Err(invalid().because("a version has three numbers").hint(hint));
        };
        if major == 0 {
            return Err(invalid().because("Talos has no such release for nocloud"));
        }
        let known = pre_release.is_none_or(|text| {
            text.split_once('.')
                .is_some_and(|(stage, n)| matches!(stage, "alpha" | "beta" | "rc") && number(n).is_some())
        });
        if !known {
            return Err(invalid().because("after `-` only alpha.N, beta.N or rc.N may stand"));
        }
        Ok(Self { major, minor, patch, pre_release: pre_release.map(Box::from) })
    }
}

fn number(text: &str) -> Option<u32> {
    let digits =
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    digits.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for TalosVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        self.pre_release.iter().try_for_each(|pre_release| write!(f, "-{pre_release}"))
    }
}

serialize_as_text!(TalosVersion);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_three_numbers_and_maybe_a_stage() {
        #[track_caller]
        fn case(text: &str, shown: &str) {
            assert_eq!(text.parse::<TalosVersion>().unwrap().to_string(), shown);
        }
        case("1.12.0", "1.12.0");
        case("v1.12.0", "1.12.0");
        case("1.13.0-beta.1", "1.13.0-beta.1");
        for text in
            ["1.12", "1", "1.12.0.0", "latest", "1.12.x", "1.12.0-", "1.12.0-foo", "01.2.3", "vv1.2.3", "", "0.14.0"]
        {
            assert!(text.parse::<TalosVersion>().is_err(), "{text}");
        }
        let version: TalosVersion = "1.13.0-beta.1".parse().unwrap();
        assert!(version.is_at_least(1, 13) && version.is_at_least(1, 6) && !version.is_at_least(1, 14));
        assert_eq!(
            "v1.12".parse::<TalosVersion>().unwrap_err().suggestion(),
            Some("give all three numbers, for example `1.12.0`")
        );
    }
}
