use std::fmt;
use std::str::FromStr;

use crate::model::{Invalid, Text};

/// How a disk image is stored. These are the forms that Proxmox can import as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageFormat {
    /// Holds only what is written, so that it is by far the smaller one.
    #[default]
    Qcow2,
    Raw,
}

impl ImageFormat {
    /// The format of a file by its name.
    pub(super) fn of_file(name: &str) -> Result<Self, Invalid> {
        let extension = name.split_once('.').map_or("", |(_, extension)| extension);
        extension.parse().map_err(|_| refused(name, name))
    }
}

impl Text for ImageFormat {
    const WHAT: &'static str = "an image format that Proxmox can import: `qcow2` or `raw`";
    const PATTERN: &'static str = "^(qcow2|raw)$";
}

impl FromStr for ImageFormat {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "qcow2" => Ok(Self::Qcow2),
            "raw" => Ok(Self::Raw),
            other => Err(refused(text, other)),
        }
    }
}

/// Says why a format cannot be used and which one can.
fn refused(value: &str, name: &str) -> Invalid {
    let last = name.rsplit('.').next().unwrap_or(name);
    let why = match last {
        "xz" | "zst" | "gz" | "bz2" | "lzo" => "Proxmox does not decompress a disk image (and knows no xz at all)",
        "iso" => "an ISO is an installation medium: it has no disk that could be cloned",
        "vhd" | "vmdk" | "ova" => "it is made for another hypervisor",
        "efi" => "it is a kernel, not a disk",
        _ => "its name does not end in .qcow2 or .raw",
    };
    Invalid::new(value, ImageFormat::WHAT).because(why).hint("take the uncompressed disk image, `nocloud-amd64.qcow2`")
}

impl fmt::Display for ImageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Qcow2 => "qcow2",
            Self::Raw => "raw",
        })
    }
}
