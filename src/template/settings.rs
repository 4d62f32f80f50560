use std::str::FromStr;

use super::LocalImage;
use crate::model::{Cluster, Invalid, StorageId, Text, TokenId, VmId};
use crate::proxmox::calls::{Checksum, ChecksumAlgorithm};
use crate::proxmox::task::Pace;
use crate::schematic::{FactoryUrl, Image, ImageFormat, ImageUrl};

/// How templates are made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The storage that images are brought to.
    pub image_storage: StorageId,
    pub source: Source,
    /// Whether that storage may be told to take images, if it does not yet.
    pub enable_import: bool,
    /// Where the search for a free VMID begins.
    pub first_vmid: VmId,
    /// Ours, by which tasks that an earlier run began are known.
    pub token: TokenId,
    /// How often to look at tasks.
    pub pace: Pace,
}

impl Settings {
    /// Templates are counted from here, out of the way of people's VMs.
    pub const FIRST_VMID: VmId = VmId::nearest(9000);

    /// The usual way: images of the public factory, brought to the cluster's storage for images.
    pub fn of_cluster(cluster: &Cluster, token: &TokenId) -> Self {
        Self {
            image_storage: cluster.proxmox.image_storage.value.clone(),
            source: Source::Factory { factory: FactoryUrl::default(), format: ImageFormat::default(), checksum: None },
            enable_import: false,
            first_vmid: Self::FIRST_VMID,
            token: token.clone(),
            pace: Pace::default(),
        }
    }
}

/// Where images come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// The hosts fetch them from a factory.
    Factory { factory: FactoryUrl, format: ImageFormat, checksum: Option<ImageChecksum> },
    /// The hosts fetch the one that is needed from elsewhere.
    Url { url: ImageUrl, checksum: Option<ImageChecksum> },
    /// A file of this machine is sent to them.
    File(LocalImage),
}

impl Source {
    /// The image's name on a storage. It tells which image it is, and of a file that was sent also which file.
    pub(super) fn file_name(&self, image: &Image) -> String {
        match self {
            Self::Factory { format, .. } => image.file_name(*format),
            Self::Url { url, .. } => image.file_name(url.format()),
            Self::File(file) => {
                let name = image.file_name(file.format);
                let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, "raw"));
                format!("{stem}-upload-{}.{extension}", &file.sha256[..16])
            }
        }
    }

    /// What the template's record says about where it came from.
    pub(super) fn describe(&self, image: &Image) -> String {
        match self {
            Self::Factory { factory, format, .. } => image.url(factory, *format),
            Self::Url { url, .. } => url.to_string(),
            Self::File(file) => format!("upload:sha256:{}", file.sha256),
        }
    }

    pub(super) fn checksum(&self) -> Option<Checksum<'_>> {
        match self {
            Self::Factory { checksum, .. } | Self::Url { checksum, .. } => {
                checksum.as_ref().map(ImageChecksum::for_request)
            }
            Self::File(_) => None,
        }
    }
}

/// The checksum that an image has to have, as `sha256:…` or `sha512:…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageChecksum {
    algorithm: ChecksumAlgorithm,
    digest: String,
}

impl ImageChecksum {
    fn for_request(&self) -> Checksum<'_> {
        Checksum { algorithm: self.algorithm, digest: &self.digest }
    }
}

impl std::fmt::Display for ImageChecksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.algorithm, self.digest)
    }
}

impl Text for ImageChecksum {
    const WHAT: &'static str = "a checksum like `sha256:…`";
    const PATTERN: &'static str = "^(sha256:[0-9a-fA-F]{64}|sha512:[0-9a-fA-F]{128})$";
}

impl FromStr for ImageChecksum {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new(text, Self::WHAT);
        let (algorithm, length, digest) = match text.split_once(':') {
            Some(("sha256", digest)) => (ChecksumAlgorithm::Sha256, 64, digest),
            Some(("sha512", digest)) => (ChecksumAlgorithm::Sha512, 128, digest),
            _ => return Err(invalid().because("it does not begin with `sha256:` or `sha512:`")),
        };
        if digest.len() != length || !digest.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(invalid().because(format!("{length} hexadecimal digits are needed")));
        }
        Ok(Self { algorithm, digest: digest.to_ascii_lowercase() })
    }
}
