use std::fmt;

use super::{FactoryUrl, Image, ImageFormat};
use crate::model::{Invalid, SchematicId, TalosVersion};

/// Where an image is fetched from, and what form it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageUrl {
    text: String,
    format: ImageFormat,
}

const WHAT: &str = "the URL of a Talos disk image that Proxmox can import";

impl ImageUrl {
    pub fn of_factory(image: &Image, factory: &FactoryUrl, format: ImageFormat) -> Self {
        Self { text: image.url(factory, format), format }
    }

    /// A URL that somebody gave for an image, if nothing in it says that it is another one.
    pub fn given(text: &str, image: &Image) -> Result<Self, Invalid> {
        let invalid = || Invalid::new(text, WHAT);
        // The rules for who may be trusted are the factory's.
        let address = text.parse::<FactoryUrl>().map_err(|error| {
            let why = error.why().unwrap_or("it is no URL").to_owned();
            invalid().because(why).hint(error.suggestion().unwrap_or("begin it with `https://`").to_owned())
        })?;
        let mut parts: Vec<&str> = address.registry().split('/').skip(1).collect();
        let name = parts.pop().unwrap_or_default();
        let format = Self::format_of(name, image)?;
        for part in parts {
            if let Ok(id) = part.parse::<SchematicId>()
                && id != image.schematic_id
            {
                let hint = format!("give the URL of schematic {}", image.schematic_id);
                return Err(invalid().because("it is an image of another schematic").hint(hint));
            }
            if let Ok(version) = part.parse::<TalosVersion>()
                && version != image.talos_version
            {
                let hint = format!("give the URL of v{}, or another --talos-version", image.talos_version);
                return Err(invalid().because(format!("it is an image of Talos {version}")).hint(hint));
            }
        }
        Ok(Self { text: text.to_owned(), format })
    }

    /// The format of an image by its file name, unless the name says that it is no image for a Proxmox VM.
    pub fn format_of(name: &str, image: &Image) -> Result<ImageFormat, Invalid> {
        let format = ImageFormat::of_file(name)?;
        let invalid = || Invalid::new(name, "the name of a Talos disk image for Proxmox");
        let right = format!("take nocloud-amd64{}.{format}", if image.secureboot { "-secureboot" } else { "" });
        let word = |word: &str| name.split(['-', '.', '_']).any(|part| part == word);
        if word("metal") {
            let why = "a metal image never reads what Proxmox tells a VM, so that it comes up without its address";
            return Err(invalid().because(why).hint(right));
        }
        if word("arm64") {
            return Err(invalid().because("it is for ARM processors").hint(right));
        }
        // Images that are not named as the factory names them say nothing about secure boot.
        if word("nocloud") && word("secureboot") != image.secureboot {
            let why =
                if image.secureboot { "it is not signed for secure boot" } else { "it is the one for secure boot" };
            return Err(invalid().because(why).hint(right));
        }
        Ok(format)
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn format(&self) -> ImageFormat {
        self.format
    }
}

impl fmt::Display for ImageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";

    fn image(secureboot: bool) -> Image {
        Image { talos_version: "1.12.0".parse().unwrap(), schematic_id: ID.parse().unwrap(), secureboot }
    }

    #[test]
    fn an_image_that_could_not_boot_is_refused_by_its_name() {
        #[track_caller]
        fn case(name: &str, why: &str) {
            let url = format!("https://mirror.example.com/talos/{name}");
            let refused = ImageUrl::given(&url, &image(false)).unwrap_err();
            assert!(refused.why().unwrap_or_default().contains(why), "{refused:?}");
            assert!(refused.suggestion().is_some());
        }
        case("metal-amd64.qcow2", "a metal image");
        case("nocloud-amd64.iso", "an ISO");
        case("nocloud-amd64.raw.xz", "does not decompress");
        case("nocloud-amd64.raw.zst", "does not decompress");
        case("nocloud-arm64.qcow2", "ARM");
        case("nocloud-amd64-secureboot.qcow2", "secure boot");
        case("nocloud-amd64.ova", "another hypervisor");
        case("nocloud-amd64", "does not end in");
        case("v1.11.0/nocloud-amd64.qcow2", "an image of Talos 1.11.0");
        case(&format!("{}/nocloud-amd64.qcow2", ID.replace('c', "d")), "another schematic");
        assert!(ImageUrl::given("http://mirror.example.com/nocloud-amd64.qcow2", &image(false)).is_err());
        assert!(ImageUrl::given("https://mirror.example.com/nocloud-amd64.qcow2", &image(true)).is_err());
    }

    #[test]
    fn mirrors_may_name_their_files_as_they_like() {
        let given = |text: &str| ImageUrl::given(text, &image(false)).map(|url| url.format());
        assert_eq!(given("https://mirror.example.com/talos.raw"), Ok(ImageFormat::Raw));
        let full = format!("https://mirror.example.com/image/{ID}/v1.12.0/nocloud-amd64.qcow2");
        assert_eq!(given(&full), Ok(ImageFormat::Qcow2));
    }
}
