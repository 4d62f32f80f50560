use std::fmt;
use std::str::FromStr;

use super::drive::source_and_options;
use super::{DriveSource, Properties, PropertyError};
use crate::model::DiskSize;

/// The value of `tpmstate0`. The version is chosen once and cannot change.
#[derive(Clone, Debug)]
pub struct TpmState {
    pub source: DriveSource,
    pub size: Option<DiskSize>,
    /// Proxmox takes `v1.2` for granted where nothing is written.
    pub version: Option<TpmVersion>,
    pub unmanaged: Properties,
}

impl TpmState {
    /// The version in effect.
    pub fn effective_version(&self) -> TpmVersion {
        self.version.unwrap_or(TpmVersion::V1_2)
    }
}

/// Talos needs the newer one for its disk encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TpmVersion {
    V1_2,
    V2_0,
}

impl FromStr for TpmVersion {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "v1.2" => Ok(Self::V1_2),
            "v2.0" => Ok(Self::V2_0),
            _ => Err(()),
        }
    }
}

impl fmt::Display for TpmVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_2 => "v1.2",
            Self::V2_0 => "v2.0",
        })
    }
}

impl PartialEq for TpmState {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
            && self.size == other.size
            && self.effective_version() == other.effective_version()
            && self.unmanaged == other.unmanaged
    }
}

impl Eq for TpmState {}

impl FromStr for TpmState {
    type Err = PropertyError;

    fn from_str(text: &str) -> Result<Self, PropertyError> {
        let (source, mut keys) = source_and_options(text)?;
        Ok(Self { source, size: keys.take_as("size"), version: keys.take_as("version"), unmanaged: keys })
    }
}

impl fmt::Display for TpmState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut keys = self.unmanaged.clone();
        keys.set_some("size", self.size);
        keys.set_some("version", self.version);
        keys.print_default("file", &self.source, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritten_version_is_the_old_one() {
        let state: TpmState = "local:120/vm-120-disk-2.raw,size=4M,version=v2.0".parse().unwrap();
        assert_eq!(state.effective_version(), TpmVersion::V2_0);
        assert_eq!(state.to_string(), "local:120/vm-120-disk-2.raw,size=4M,version=v2.0");
        assert_eq!("local:1".parse::<TpmState>().unwrap(), "local:1,version=v1.2".parse().unwrap());
    }
}
