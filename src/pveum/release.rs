use std::fmt;

/// A release of Proxmox VE, as far as it has privileges of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Release {
    /// Proxmox VE 8
    #[value(name = "8")]
    Eight,
    /// Proxmox VE 9
    #[value(name = "9")]
    Nine,
}

impl Release {
    pub fn number(self) -> u8 {
        match self {
            Self::Eight => 8,
            Self::Nine => 9,
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}
