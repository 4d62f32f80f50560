//! What simulated hosts can download: an Image Factory of their own, and whatever else a world names.
//!
//! No bytes are ever moved. An image is its two sizes and a checksum, all of which follow from its URL.

use std::collections::BTreeSet;

use ring::digest::{SHA256, SHA512, digest};
use serde::{Deserialize, Serialize};

use super::world::World;
use crate::model::{SchematicId, TalosVersion, hexadecimal};
use crate::schematic::Image;

/// An Image Factory that has every nocloud image of the releases that it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Factory {
    /// What its URLs begin with.
    url: String,
    /// Where else it can be reached.
    also: BTreeSet<String>,
    /// The releases that it knows, as in `1.12.0`; those since 1.6 if it says nothing.
    versions: Option<BTreeSet<String>>,
    /// The schematics that were registered; any if it says nothing.
    schematics: Option<BTreeSet<String>>,
}

impl Default for Factory {
    fn default() -> Self {
        Self { url: "https://factory.talos.dev/".to_owned(), also: BTreeSet::new(), versions: None, schematics: None }
    }
}

/// What is behind a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    File {
        /// Bytes of the file.
        size: u64,
        /// Bytes of the disk in it.
        virtual_size: u64,
    },
    /// A server that says no.
    Refusal(&'static str),
    /// Nobody.
    Nobody,
}

const NOT_FOUND: &str = "404 Not Found";
const BAD_REQUEST: &str = "400 Bad Request";
const MIB: u64 = 1 << 20;

impl Factory {
    fn answer(&self, url: &str) -> Option<Behind> {
        let below = |beginning: &String| url.strip_prefix(beginning.trim_end_matches('/'))?.strip_prefix('/');
        let path = std::iter::once(&self.url).chain(&self.also).find_map(below)?;
        let parts: Vec<&str> = path.split('/').collect();
        let ["image", schematic, version, file] = parts[..] else {
            return Some(Behind::Refusal(NOT_FOUND));
        };
        let (Ok(schematic_id), Ok(talos_version)) = (schematic.parse::<SchematicId>(), version.parse::<TalosVersion>())
        else {
            return Some(Behind::Refusal(BAD_REQUEST));
        };
        let registered = self.schematics.as_ref().is_none_or(|known| known.contains(schematic_id.as_str()));
        if !registered || !self.knows(&talos_version) {
            return Some(Behind::Refusal(NOT_FOUND));
        }
        let Some((name, extension)) = file.split_once('.') else {
            return Some(Behind::Refusal(BAD_REQUEST));
        };
        let secureboot = match name {
            "nocloud-amd64" => false,
            "nocloud-amd64-secureboot" => true,
            _ => return Some(Behind::Refusal(BAD_REQUEST)),
        };
        let virtual_size = Image { talos_version: talos_version.clone(), schematic_id, secureboot }.disk_bytes();
        // Each release is a little larger than the one before, and every schematic has a size of its own.
        let (_, minor, third) = talos_version.numbers();
        let grown = u64::from(minor) * 4 * MIB + u64::from(third) * MIB / 4;
        let own = u64::from(digest(&SHA256, schematic.as_bytes()).as_ref()[0]) * 4096;
        let size = match extension {
            "qcow2" => 64 * MIB + grown + own,
            "raw" => virtual_size,
            "raw.xz" | "raw.zst" | "raw.gz" | "iso" => 48 * MIB + grown + own,
            _ => return Some(Behind::Refusal(BAD_REQUEST)),
        };
        Some(Behind::File { size, virtual_size })
    }

    fn knows(&self, version: &TalosVersion) -> bool {
        if let Some(versions) = &self.versions {
            return versions.contains(&version.to_string());
        }
        let (major, minor, patch) = version.numbers();
        major == 1 && (6..=13).contains(&minor) && patch <= 12 && !version.to_string().contains('-')
    }
}

impl World {
    /// What a host finds that downloads this.
    pub(crate) fn behind(&self, url: &str) -> Behind {
        if let Some((_, file)) = self.downloads.iter().find(|(prefix, _)| url.starts_with(prefix.as_str())) {
            return Behind::File { size: file.size, virtual_size: file.virtual_size };
        }
        self.factory.as_ref().and_then(|factory| factory.answer(url)).unwrap_or(Behind::Nobody)
    }

    /// The same in the factory alone, wherever it is.
    pub(crate) fn in_factory(&self, path: &str) -> Behind {
        let url = |factory: &Factory| format!("{}{path}", factory.url.trim_end_matches('/'));
        self.factory.as_ref().and_then(|factory| factory.answer(&url(factory))).unwrap_or(Behind::Nobody)
    }

    /// Lets hosts reach the factory at another address, too.
    pub(crate) fn serve_factory_at(&mut self, url: &str) {
        if let Some(factory) = &mut self.factory {
            factory.also.insert(url.to_owned());
        }
    }

    /// Lets the factory build images of a schematic.
    pub(crate) fn register_schematic(&mut self, id: &SchematicId) {
        if let Some(schematics) = self.factory.as_mut().and_then(|factory| factory.schematics.as_mut()) {
            schematics.insert(id.to_string());
        }
    }

    /// The checksum of what is behind a URL, for whoever wants to ask for it.
    pub fn checksum_behind(url: &str) -> String {
        checksum("sha256", url).unwrap_or_default()
    }
}

/// The checksum of a file that came from somewhere.
pub(crate) fn checksum(algorithm: &str, origin: &str) -> Option<String> {
    let algorithm = match algorithm {
        "sha256" => &SHA256,
        "sha512" => &SHA512,
        _ => return None,
    };
    Some(hexadecimal(digest(algorithm, origin.as_bytes()).as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";

    #[test]
    fn a_factory_has_what_was_released_and_nothing_else() {
        let answer = |path: &str| Factory::default().answer(&format!("https://factory.talos.dev/{path}"));
        let file = |path: &str| match answer(&format!("image/{ID}/{path}")) {
            Some(Behind::File { size, virtual_size }) => (size, virtual_size),
            other => panic!("{path}: {other:?}"),
        };
        let (size, disk) = file("v1.12.0/nocloud-amd64.qcow2");
        assert!(size < 128 * MIB);
        assert_eq!(disk, 4247 * MIB);
        assert!(file("v1.12.1/nocloud-amd64.qcow2").0 > size);
        assert_eq!(file("1.10.0/nocloud-amd64-secureboot.raw"), (1246 * MIB, 1246 * MIB));
        for (path, text) in [
            (format!("image/{ID}/v1.99.0/nocloud-amd64.qcow2"), NOT_FOUND),
            (format!("image/{ID}/v1.12.0/metal-amd64.qcow2"), BAD_REQUEST),
            (format!("image/{ID}/latest/nocloud-amd64.qcow2"), BAD_REQUEST),
            ("image/x/v1.12.0/nocloud-amd64.qcow2".to_owned(), BAD_REQUEST),
            ("versions".to_owned(), NOT_FOUND),
        ] {
            assert_eq!(answer(&path), Some(Behind::Refusal(text)), "{path}");
        }
        assert_eq!(Factory::default().answer("https://example.org/x"), None);
        assert_eq!(Factory::default().answer("https://factory.talos.dev.example.org/x"), None);
    }
}
