use std::cmp::Ordering;
use std::str::FromStr;

use super::canonical::{Node, print};
use crate::model::{Invalid, SchematicId, Text, hexadecimal};

/// What an image has beyond plain Talos. Platform, architecture, version and secure boot are no part of it: one
/// schematic serves them all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schematic {
    /// Known to the Enterprise factory only.
    pub owner: String,
    pub overlay: Option<Overlay>,
    /// Anybody who reaches a node in maintenance mode can read it.
    pub embedded_machine_configuration: String,
    pub extra_kernel_args: Vec<String>,
    pub meta: Vec<MetaValue>,
    /// Like `siderolabs/qemu-guest-agent`; another order is another schematic.
    pub official_extensions: Vec<String>,
    pub bootloader: Option<Bootloader>,
    pub enroll_keys: Option<EnrollKeys>,
    pub include_well_known_certificates: bool,
    /// Bytes of a sector of the disk image; 0 is the usual.
    pub sector_size: u64,
}

/// What a single-board computer needs beside the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    pub image: String,
    pub name: String,
    pub options: Vec<(String, OptionValue)>,
}

/// A value among an overlay's options, which may be anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    Null,
    Bool(bool),
    Integer(i128),
    Text(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

/// A value that the image's META partition begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetaValue {
    pub key: u8,
    pub value: String,
}

/// A word out of a short list.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal, $pattern:literal, {$($variant:ident = $word:literal),+ $(,)?}) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($variant),+ }

        impl $name {
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Text for $name {
            const WHAT: &'static str = $what;
            const PATTERN: &'static str = $pattern;
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Invalid::new(text, Self::WHAT)),
                }
            }
        }
    };
}

words! {
    /// What starts the kernel.
    Bootloader,
    "a boot loader: `none`, `dual-boot`, `sd-boot` or `grub`",
    "^(none|dual-boot|sd-boot|grub)$",
    {None = "none", DualBoot = "dual-boot", SdBoot = "sd-boot", Grub = "grub"}
}

words! {
    /// When the firmware takes the image's own keys.
    EnrollKeys,
    "a time to enrol keys: `off`, `manual`, `if-safe` or `force`",
    "^(off|manual|if-safe|force)$",
    {Off = "off", Manual = "manual", IfSafe = "if-safe", Force = "force"}
}

impl Schematic {
    /// The SHA-256 of the canonical text: what the factory calls the schematic.
    pub fn id(&self) -> SchematicId {
        let digest = ring::digest::digest(&ring::digest::SHA256, self.canonical().as_bytes());
        hexadecimal(digest.as_ref()).parse().expect("a SHA-256 has 64 digits")
    }

    /// The text that the factory keeps (image-factory: pkg/schematic/schematic.go): keys in a fixed order, nothing that
    /// is empty but `customization` itself, no sorting of lists.
    pub fn canonical(&self) -> String {
        let mut root = Map::default();
        root.text("owner", &self.owner);
        if let Some(overlay) = &self.overlay {
            root.put("overlay", overlay_node(overlay));
        }
        root.put("customization", self.customization());
        print(&root.0)
    }

    fn customization(&self) -> Node {
        let mut customization = Map::default();
        customization.text("embeddedMachineConfiguration", &self.embedded_machine_configuration);
        customization.list("extraKernelArgs", self.extra_kernel_args.iter().cloned().map(Node::Text).collect());
        customization.list("meta", self.meta.iter().map(meta_node).collect());
        let mut extensions = Map::default();
        extensions.list("officialExtensions", self.official_extensions.iter().cloned().map(Node::Text).collect());
        customization.map("systemExtensions", extensions);
        // `none` is the factory's zero value, and zero values are empty.
        if let Some(bootloader) = self.bootloader.filter(|bootloader| *bootloader != Bootloader::None) {
            customization.text("bootloader", bootloader.as_str());
        }
        let mut secureboot = Map::default();
        secureboot.text("enrollKeys", self.enroll_keys.map_or("", EnrollKeys::as_str));
        if self.include_well_known_certificates {
            secureboot.put("includeWellKnownCertificates", Node::plain(true));
        }
        customization.map("secureboot", secureboot);
        let mut disk_image = Map::default();
        if self.sector_size > 0 {
            disk_image.put("sectorSize", Node::plain(self.sector_size));
        }
        customization.map("diskImage", disk_image);
        Node::Map(customization.0)
    }

    /// Whether the guest agent is in the image, so that Proxmox may ask it.
    pub fn has_guest_agent(&self) -> bool {
        self.official_extensions.iter().any(|name| name == "siderolabs/qemu-guest-agent")
    }
}

/// A mapping that leaves out what is empty.
#[derive(Default)]
struct Map(Vec<(String, Node)>);

impl Map {
    fn put(&mut self, key: &str, value: Node) {
        self.0.push((key.to_owned(), value));
    }

    fn text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.put(key, Node::Text(value.to_owned()));
        }
    }

    fn list(&mut self, key: &str, items: Vec<Node>) {
        if !items.is_empty() {
            self.put(key, Node::List(items));
        }
    }

    fn map(&mut self, key: &str, entries: Self) {
        if !entries.0.is_empty() {
            self.put(key, Node::Map(entries.0));
        }
    }
}

fn overlay_node(overlay: &Overlay) -> Node {
    let mut map = Map::default();
    map.text("image", &overlay.image);
    map.text("name", &overlay.name);
    map.map("options", Map(sorted(&overlay.options)));
    Node::Map(map.0)
}

fn meta_node(meta: &MetaValue) -> Node {
    Node::Map(vec![("key".to_owned(), Node::plain(meta.key)), ("value".to_owned(), Node::Text(meta.value.clone()))])
}

fn option_node(value: &OptionValue) -> Node {
    match value {
        OptionValue::Null => Node::plain("null"),
        OptionValue::Bool(flag) => Node::plain(flag),
        OptionValue::Integer(number) => Node::plain(number),
        OptionValue::Text(text) => Node::Text(text.clone()),
        OptionValue::List(items) => Node::List(items.iter().map(option_node).collect()),
        OptionValue::Map(entries) => Node::Map(sorted(entries)),
    }
}

fn sorted(entries: &[(String, OptionValue)]) -> Vec<(String, Node)> {
    let mut entries: Vec<&(String, OptionValue)> = entries.iter().collect();
    entries.sort_by(|(a, _), (b, _)| natural_order(a, b));
    entries.into_iter().map(|(key, value)| (key.clone(), option_node(value))).collect()
}

/// The order that go-yaml gives to the keys of a map: numbers inside them count as numbers, and a letter comes after
/// everything else, except directly behind a digit, where it comes first.
fn natural_order(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (Some(first), Some(second)) = (a.get(same), b.get(same)) else {
        return a.len().cmp(&b.len());
    };
    match (first.is_alphabetic(), second.is_alphabetic()) {
        (true, true) => return first.cmp(second),
        (false, false) => {}
        (first_is_letter, _) => {
            let after_digit = same > 0 && a[same - 1].is_ascii_digit();
            return if first_is_letter == after_digit { Ordering::Less } else { Ordering::Greater };
        }
    }
    let digits = |text: &[char]| text[same..].iter().take_while(|c| c.is_ascii_digit()).collect::<String>();
    // A zero within a longer number is a digit of that number, not its beginning.
    let inside = (*first == '0' || *second == '0')
        && a[..same].iter().rev().take_while(|c| c.is_ascii_digit()).any(|digit| *digit != '0');
    let number = |digits: &str| format!("{}{digits}", u8::from(inside)).parse::<u128>().unwrap_or(u128::MAX);
    let (first_digits, second_digits) = (digits(&a), digits(&b));
    number(&first_digits)
        .cmp(&number(&second_digits))
        .then(first_digits.len().cmp(&second_digits.len()))
        .then(first.cmp(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extensions(names: &[&str]) -> Schematic {
        let official_extensions = names.iter().map(|name| format!("siderolabs/{name}")).collect();
        Schematic { official_extensions, ..Schematic::default() }
    }

    fn arguments(arguments: &[&str]) -> Schematic {
        Schematic { extra_kernel_args: texts(arguments), ..Schematic::default() }
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn meta(value: &str) -> Schematic {
        Schematic { meta: vec![MetaValue { key: 10, value: value.to_owned() }], ..Schematic::default() }
    }

    fn overlay(image: &str, name: &str) -> Overlay {
        Overlay { image: image.to_owned(), name: name.to_owned(), options: Vec::new() }
    }

    #[test]
    fn published_ids_come_out_right() {
        #[track_caller]
        fn case(schematic: &Schematic, id: &str) {
            assert_eq!(schematic.id().as_str(), id, "{}", schematic.canonical());
        }
        let nothing = Schematic::default();
        case(&nothing, "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba");
        case(&extensions(&["qemu-guest-agent"]), "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515");
        case(&extensions(&["gvisor"]), "d9ff89777e246792e7642abd3220a616afb4e49822382e4213a2e528ab826fe5");
        case(
            &extensions(&["iscsi-tools", "qemu-guest-agent", "util-linux-tools"]),
            "88d1f7a5c4f1d3aba7df787c448c1d3d008ed29cfb34af53fa0df4336a56040b",
        );
        case(
            &extensions(&["qemu-guest-agent", "util-linux-tools"]),
            "a7bcadbc1b6d03c0e687be3a5d9789ef7113362a6a1a038653dfd16283a92b6b",
        );
        case(
            &extensions(&["iscsi-tools", "util-linux-tools"]),
            "613e1592b2da41ae5e265e8789429f22e121aab91cb4deb6bc3c0b6262961245",
        );
        case(
            &extensions(&["iscsi-tools", "qemu-guest-agent"]),
            "dc7b152cb3ea99b821fcb7340ce7168313ce393d663740b791c36f6e95fc8586",
        );
        case(
            &extensions(&["amd-ucode", "gvisor", "gasket-driver"]),
            "51ff3e49313773332729a5c04e57af0dbe2e6d3f65ff638e6d4c3a05065fefff",
        );
        let extra_kernel_args = texts(&["net.ifnames=0"]);
        case(
            &Schematic { extra_kernel_args: extra_kernel_args.clone(), ..extensions(&["gvisor", "intel-ucode"]) },
            "b8e8fbbe1b520989e6c52c8dc8303070cb42095997e76e812fa8892393e1d176",
        );
        case(
            &Schematic { extra_kernel_args, ..extensions(&["qemu-guest-agent"]) },
            "f683308f6e49ec36d715bd41c90d800910552d8cbc015c8363ec350594535fa1",
        );
        case(&arguments(&["noapic", "nolapic"]), "9cba8e32753f91a16c1837ab8abf356af021706ef284aef07380780177d9a06c");
        case(&arguments(&["nolapic", "nomodeset"]), "e0fb1129bbbdfb5d002e94af4cdce712a8370e850950a33a242d4c3f178c532d");
        case(&meta("foo"), "d308a2a5ee2277bed5fbaa104fcbc8d59122abfa737df987a95b4ca763459a7f");
        case(
            &meta(r#"{"externalIPs":["1.2.3.4"]}"#),
            "fe866116408a5a13dab7d5003eb57a00954ea81ebeec3fbbcd1a6d4462a00036",
        );
        case(
            &Schematic { bootloader: Some(Bootloader::Grub), ..nothing.clone() },
            "39d496b2cbdb6265d3b714514c5334bf010f1b4d31b23b9e38c80fb2f3ad7ecb",
        );
        case(
            &Schematic { bootloader: Some(Bootloader::SdBoot), ..nothing.clone() },
            "9ed5fecdacb36b5c5427b87d409f1065cfb2df69b0f71c58b868d9d466d8dab3",
        );
        case(
            &Schematic { include_well_known_certificates: true, ..nothing.clone() },
            "fa8e05f142a851d3ee568eb0a8e5841eaf6b0ebc8df9a63df16ac5ed2c04f3e6",
        );
        case(
            &Schematic { sector_size: 4096, ..nothing.clone() },
            "92833e9ddd9bb9e11b2464fa5525429f01866306d52ebd882ee08d7918f6d1ea",
        );
        case(
            &Schematic { overlay: Some(overlay("siderolabs/sbc-raspberrypi", "rpi_generic")), ..nothing },
            "ee21ef4a5ef808a9b7484cc0dda0f25075021691c8c09a276591eedb638ea1f9",
        );
        case(
            &Schematic {
                overlay: Some(overlay("siderolabs/sbc-raspberrypi", "rpi_generic")),
                ..extensions(&["iscsi-tools"])
            },
            "f47e6cd2634c7a96988861031bcc4144468a1e3aef82cca4f5b5ca3fffef778a",
        );
    }

    #[test]
    fn the_canonical_text_has_four_spaces_a_step() {
        let schematic = Schematic {
            overlay: Some(Overlay {
                options: vec![
                    ("b".to_owned(), OptionValue::List(vec![OptionValue::Integer(16), OptionValue::Null])),
                    ("a10".to_owned(), OptionValue::Bool(true)),
                    ("a9".to_owned(), OptionValue::Map(Vec::new())),
                ],
                ..overlay("siderolabs/sbc", "x")
            }),
            embedded_machine_configuration: "version: v1alpha1\nmachine: {}\n".to_owned(),
            enroll_keys: Some(EnrollKeys::Off),
            ..meta("two\nlines")
        };
        let expected = "\
overlay:
    image: siderolabs/sbc
    name: x
    options:
        a9: {}
        a10: true
        b:
            - 16
            - null
customization:
    embeddedMachineConfiguration: |
        version: v1alpha1
        machine: {}
    meta:
        - key: 10
          value: |-
            two
            lines
    secureboot:
        enrollKeys: 'off'
";
        assert_eq!(schematic.canonical(), expected);
        assert_eq!(Schematic::default().canonical(), "customization: {}\n");
    }

    #[test]
    fn option_keys_are_in_natural_order() {
        let mut keys = ["b", "a10", "a9", "a", "A", "a1b", "a01", "1", "_", "a-b", "ab"];
        keys.sort_by(|a, b| natural_order(a, b));
        assert_eq!(keys, ["_", "1", "A", "a", "a-b", "a1b", "a01", "a9", "a10", "ab", "b"]);
    }
}
