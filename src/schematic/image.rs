use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

use super::{FactoryUrl, ImageFormat};
use crate::model::{Invalid, SchematicId, TalosVersion, Template, TemplateMark, Text as _};

/// A Talos disk image for nocloud on amd64: what distinguishes one from the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Image {
    pub talos_version: TalosVersion,
    pub schematic_id: SchematicId,
    pub secureboot: bool,
}

const MIB: u64 = 1 << 20;

impl Image {
    /// Refuses versions that cannot work, with the one to take instead.
    pub fn check_version(version: &TalosVersion) -> Result<(), Invalid> {
        let invalid = || Invalid::new(&version.to_string(), TalosVersion::WHAT.replace("a Talos", "a usable Talos"));
        match version.numbers() {
            // siderolabs/talos#8625: it did not wait for the drive to appear.
            (1, 7, 0) => Err(invalid()
                .because("1.7.0 overlooks cloud-init's drive, so that nodes come up without their addresses")
                .hint("take 1.7.1 or later")),
            (major, minor, _) if (major, minor) < (1, 6) => Err(invalid()
                .because("the Image Factory has no disk image of it that Proxmox could import")
                .hint("take 1.6.0 or later")),
            _ => Ok(()),
        }
    }

    fn suffix(&self) -> &'static str {
        if self.secureboot { "-secureboot" } else { "" }
    }

    /// Where a factory has it.
    pub fn url(&self, factory: &FactoryUrl, format: ImageFormat) -> String {
        let Self { talos_version, schematic_id, .. } = self;
        format!("{factory}/image/{schematic_id}/v{talos_version}/nocloud-amd64{}.{format}", self.suffix())
    }

    /// The image that Talos is installed and upgraded with. Any other than that of the same platform would forget at
    /// its next start that it is a nocloud machine.
    pub fn installer(&self, factory: &FactoryUrl) -> String {
        let Self { talos_version, schematic_id, .. } = self;
        format!("{}/nocloud-installer{}/{schematic_id}:v{talos_version}", factory.registry(), self.suffix())
    }

    /// Its name on a storage. The whole schematic id is in it, so that a file of this name can be no other image.
    pub fn file_name(&self, format: ImageFormat) -> String {
        let Self { talos_version, schematic_id, .. } = self;
        format!("talos-{talos_version}-{schematic_id}-nocloud-amd64{}.{format}", self.suffix())
    }

    /// The name of a template made from it.
    pub fn template_name(&self) -> String {
        format!("talos-{}-{}{}", self.talos_version, self.schematic_id.short(), self.suffix())
    }

    /// Bytes of the disk in it, as far as the schematic asks for no other boot loader (talos:
    /// pkg/imager/profile/default.go).
    pub fn disk_bytes(&self) -> u64 {
        let (major, minor, _) = self.talos_version.numbers();
        let mebibytes = match ((major, minor).cmp(&(1, 10)), self.secureboot) {
            (Ordering::Less, _) | (Ordering::Equal, true) => 1246,
            (Ordering::Equal, false) => 2247,
            (Ordering::Greater, true) => 2246,
            (Ordering::Greater, false) => 4247,
        };
        mebibytes * MIB
    }

    /// No disk image of Talos was ever smaller.
    pub const SMALLEST_DISK: u64 = 1246 * MIB;

    pub fn mark(&self) -> TemplateMark {
        TemplateMark {
            talos_version: self.talos_version.clone(),
            schematic_id: self.schematic_id.clone(),
            secureboot: self.secureboot,
        }
    }

    /// The image that a node's template is made from; none if the template is only known by name.
    pub fn of_template(template: &Template) -> Option<Self> {
        match template {
            Template::Name(_) => None,
            Template::Image { talos_version, schematic_id, secureboot } => Some(Self {
                talos_version: talos_version.clone(),
                schematic_id: schematic_id.clone(),
                secureboot: *secureboot,
            }),
        }
    }
}

impl From<&TemplateMark> for Image {
    fn from(mark: &TemplateMark) -> Self {
        Self {
            talos_version: mark.talos_version.clone(),
            schematic_id: mark.schematic_id.clone(),
            secureboot: mark.secureboot,
        }
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secureboot = if self.secureboot { " secureboot" } else { "" };
        write!(f, "Talos {} {}{secureboot}", self.talos_version, self.schematic_id.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";

    fn image(version: &str, secureboot: bool) -> Image {
        Image { talos_version: version.parse().unwrap(), schematic_id: ID.parse().unwrap(), secureboot }
    }

    #[test]
    fn the_factory_finds_what_we_name() {
        let factory = FactoryUrl::default();
        let (plain, secure) = (image("v1.12.0", false), image("1.13.0-beta.1", true));
        assert_eq!(
            plain.url(&factory, ImageFormat::Qcow2),
            format!("https://factory.talos.dev/image/{ID}/v1.12.0/nocloud-amd64.qcow2")
        );
        assert_eq!(
            secure.url(&"http://127.0.0.1:8080/".parse().unwrap(), ImageFormat::Raw),
            format!("http://127.0.0.1:8080/image/{ID}/v1.13.0-beta.1/nocloud-amd64-secureboot.raw")
        );
        assert_eq!(plain.installer(&factory), format!("factory.talos.dev/nocloud-installer/{ID}:v1.12.0"));
        assert_eq!(
            secure.installer(&factory),
            format!("factory.talos.dev/nocloud-installer-secureboot/{ID}:v1.13.0-beta.1")
        );
        assert_eq!(secure.template_name(), "talos-1.13.0-beta.1-ce4c9805-secureboot");
    }

    #[test]
    fn disks_are_as_large_as_their_release_made_them() {
        #[track_caller]
        fn case(version: &str, plain: u64, secure: u64) {
            assert_eq!(image(version, false).disk_bytes(), plain);
            assert_eq!(image(version, true).disk_bytes(), secure);
        }
        case("1.9.6", 1_306_525_696, 1_306_525_696);
        case("1.10.0", 2_356_150_272, 1_306_525_696);
        case("1.12.0", 4_453_302_272, 2_355_101_696);
    }

    #[test]
    fn versions_that_cannot_work_are_refused_with_one_that_can() {
        let refused = |version: &str| Image::check_version(&version.parse().unwrap()).err();
        assert_eq!(refused("1.7.0").unwrap().suggestion(), Some("take 1.7.1 or later"));
        assert_eq!(refused("1.5.5").unwrap().suggestion(), Some("take 1.6.0 or later"));
        for version in ["1.6.0", "1.7.1", "1.12.0", "2.0.0"] {
            assert_eq!(refused(version), None);
        }
    }
}
