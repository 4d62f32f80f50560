//! The value formats of the API: what each of them accepts and the words with which the server refuses.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

use super::access::is_privilege;
use super::options::is_cpu_model;
use super::pattern::{is_digits, is_token_name, is_user};
use super::property::Properties;

/// How the text of a parameter is checked.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    One(Value),
    /// Values separated by commas, semicolons or white space.
    List(Value),
    /// One value, or nothing.
    Maybe(Value),
    Properties(&'static Properties),
}

impl Format {
    pub(crate) fn check(self, path: &str, text: &str) -> Result<(), String> {
        match self {
            Self::Maybe(_) if text.is_empty() => Ok(()),
            Self::One(value) | Self::Maybe(value) => value.check(text),
            Self::List(value) => split_list(text).try_for_each(|part| value.check(part)),
            Self::Properties(properties) => properties.check(path, text),
        }
    }
}

/// The parts of a list; the server takes three separators, mixed as one likes.
pub(crate) fn split_list(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', ' ', '\t', '\n', '\r', '\0']).filter(|part| !part.is_empty())
}

/// A format with a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Address,
    BootDevice,
    BootDisk,
    Bridge,
    Cidr,
    ConfigId,
    Content,
    CpuSet,
    DiskSize,
    DnsName,
    Email,
    Group,
    HotplugFeatures,
    Ipv4,
    Ipv4Config,
    Ipv6,
    Ipv6Config,
    Mac,
    Node,
    PhysBits,
    Pool,
    Privilege,
    Role,
    StartupOrder,
    StorageId,
    StoragePair,
    Tag,
    TaskStatus,
    TokenId,
    UrlEncoded,
    UserId,
    VmId,
    VolumeId,
    VolumeOrPath,
    VolumeOrDevice,
}

impl Value {
    /// The name in the API's schema, without `-list` and `-opt`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::BootDevice => "pve-qm-bootdev",
            Self::BootDisk => "pve-qm-bootdisk",
            Self::Bridge => "pve-bridge-id",
            Self::Cidr => "CIDR",
            Self::ConfigId => "pve-configid",
            Self::Content => "pve-storage-content",
            Self::CpuSet => "pve-cpuset",
            Self::DiskSize => "disk-size",
            Self::DnsName => "dns-name",
            Self::Email => "email",
            Self::Group => "pve-groupid",
            Self::HotplugFeatures => "pve-hotplug-features",
            Self::Ipv4 => "ipv4",
            Self::Ipv4Config => "pve-ipv4-config",
            Self::Ipv6 => "ipv6",
            Self::Ipv6Config => "pve-ipv6-config",
            Self::Mac => "mac-addr",
            Self::Node => "pve-node",
            Self::PhysBits => "pve-phys-bits",
            Self::Pool => "pve-poolid",
            Self::Privilege => "pve-priv",
            Self::Role => "pve-roleid",
            Self::StartupOrder => "pve-startup-order",
            Self::StorageId => "pve-storage-id",
            Self::StoragePair => "storage-pair",
            Self::Tag => "pve-tag",
            Self::TaskStatus => "pve-task-status-type",
            Self::TokenId => "pve-tokenid",
            Self::UrlEncoded => "urlencoded",
            Self::UserId => "pve-userid",
            Self::VmId => "pve-vmid",
            Self::VolumeId => "pve-volume-id",
            Self::VolumeOrPath => "pve-volume-id-or-absolute-path",
            Self::VolumeOrDevice => "pve-volume-id-or-qm-path",
        }
    }

    pub(crate) fn check(self, text: &str) -> Result<(), String> {
        if self.accepts(text) { Ok(()) } else { Err(self.refusal(text)) }
    }

    fn accepts(self, text: &str) -> bool {
        match self {
            Self::Address => is_ip(text) || is_dns_name(text),
            Self::BootDevice => is_boot_device(text),
            Self::BootDisk => ["ide", "sata", "scsi", "virtio", "efidisk", "tpmstate"]
                .iter()
                .any(|bus| text.strip_prefix(bus).is_some_and(is_digits)),
            Self::Bridge => !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)),
            Self::Cidr => is_cidr::<Ipv4Addr>(text, 1..=32) || is_cidr::<Ipv6Addr>(text, 1..=128),
            Self::ConfigId => is_config_id(text),
            Self::Content => is_content(text),
            Self::CpuSet | Self::HotplugFeatures if text.is_empty() => false,
            Self::CpuSet => text.split(',').all(|range| range.split('-').all(is_digits)),
            Self::HotplugFeatures => {
                matches!(text, "0" | "1")
                    || split_list(text)
                        .all(|word| matches!(word, "network" | "disk" | "cpu" | "memory" | "usb" | "cloudinit"))
            }
            Self::DiskSize => parse_size(text).is_some(),
            Self::DnsName => is_dns_name(text),
            Self::Email => text.split_once('@').is_some_and(|(name, domain)| !name.is_empty() && !domain.is_empty()),
            Self::Group | Self::Role => is_plain_name(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Ipv4Config => matches!(text, "dhcp" | "manual") || is_cidr::<Ipv4Addr>(text, 8..=32),
            Self::Ipv6Config => matches!(text, "auto" | "dhcp" | "manual") || is_cidr::<Ipv6Addr>(text, 8..=128),
            Self::Mac => is_unicast_mac(text),
            Self::Node => is_node(text),
            Self::PhysBits => text == "host" || text.parse::<u32>().is_ok_and(|bits| (8..=64).contains(&bits)),
            Self::Pool => is_pool(text),
            Self::Privilege => is_privilege(text),
            Self::StartupOrder => is_startup_order(text),
            Self::StorageId => is_storage_id(text),
            Self::StoragePair => text == "1" || text.split(':').all(is_storage_id),
            Self::Tag => is_tag(text),
            Self::TaskStatus => matches!(text, "unknown" | "ok" | "error" | "warning"),
            Self::TokenId => text.split_once('!').is_some_and(|(user, token)| is_user(user) && is_token_name(token)),
            Self::UrlEncoded => is_url_encoded(text),
            Self::UserId => is_user(text),
            Self::VmId => is_vm_id(text),
            Self::VolumeId => is_volume_id(text),
            Self::VolumeOrPath => text.starts_with('/') || is_volume_id(text),
            Self::VolumeOrDevice => matches!(text, "none" | "cdrom") || text.starts_with('/') || is_volume_id(text),
        }
    }

    fn refusal(self, text: &str) -> String {
        match self {
            Self::Address => "value does not look like a valid IP address or DNS name\n".to_owned(),
            Self::BootDevice => format!("invalid boot device '{text}'\n"),
            Self::BootDisk => format!("invalid boot disk '{text}'\n"),
            Self::Bridge => format!("invalid bridge ID '{text}'\n"),
            Self::Cidr => "value does not look like a valid CIDR network\n".to_owned(),
            Self::ConfigId => format!("invalid configuration ID '{text}'\n"),
            Self::Content => format!("invalid content type '{text}'\n"),
            Self::CpuSet => "unable to parse cpuset option\n".to_owned(),
            Self::DiskSize => format!("value does not look like a valid disk size: {text}\n"),
            Self::DnsName => "value does not look like a valid DNS name\n".to_owned(),
            Self::Email => "value does not look like a valid email address\n".to_owned(),
            Self::Group => format!("group name '{text}' contains invalid characters\n"),
            Self::HotplugFeatures => "unable to parse hotplug option\n".to_owned(),
            Self::Ipv4 => "value does not look like a valid IPv4 address\n".to_owned(),
            Self::Ipv4Config => "value does not look like a valid ipv4 network configuration\n".to_owned(),
            Self::Ipv6 => "value does not look like a valid IPv6 address\n".to_owned(),
            Self::Ipv6Config => "value does not look like a valid ipv6 network configuration\n".to_owned(),
            Self::Mac => "value does not look like a valid unicast MAC address\n".to_owned(),
            Self::Node => "value does not look like a valid node name\n".to_owned(),
            Self::PhysBits => "value must be an integer between 8 and 64 or 'host'\n".to_owned(),
            Self::Pool => format!("pool name '{text}' contains invalid characters\n"),
            Self::Privilege => format!("invalid privilege '{text}'\n"),
            Self::Role => format!("role name '{text}' contains invalid characters\n"),
            Self::StartupOrder => "unable to parse startup options\n".to_owned(),
            Self::StorageId => format!("storage ID '{text}' contains illegal characters\n"),
            Self::StoragePair => format!("invalid storage mapping '{text}'\n"),
            Self::Tag => "invalid characters in tag\n".to_owned(),
            Self::TaskStatus => format!("invalid task status type '{text}'\n"),
            Self::TokenId => format!("value '{text}' does not look like a valid token ID\n"),
            Self::UrlEncoded => format!("invalid urlencoded string: {text}\n"),
            Self::UserId => format!("value '{text}' does not look like a valid user name\n"),
            Self::VmId => "value does not look like a valid VM ID\n".to_owned(),
            Self::VolumeId | Self::VolumeOrPath | Self::VolumeOrDevice => {
                format!("unable to parse volume ID '{text}'\n")
            }
        }
    }
}

fn is_ip(text: &str) -> bool {
    text.parse::<std::net::IpAddr>().is_ok()
}

fn is_cidr<Address: std::str::FromStr>(text: &str, lengths: RangeInclusive<u8>) -> bool {
    let Some((address, length)) = text.split_once('/').filter(|(_, length)| is_digits(length)) else {
        return false;
    };
    length.parse().is_ok_and(|length| lengths.contains(&length)) && address.parse::<Address>().is_ok()
}

/// Labels of letters, digits and dashes; the dash neither first nor last.
pub(crate) fn is_dns_name(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.split('.').all(label)
}

fn is_boot_device(text: &str) -> bool {
    let buses = [("ide", 4), ("scsi", 31), ("virtio", 16), ("sata", 6), ("net", 32), ("usb", 14), ("hostpci", 16)];
    buses.iter().any(|(bus, count)| {
        text.strip_prefix(bus)
            .filter(|number| is_digits(number))
            .and_then(|number| number.parse::<u32>().ok())
            .is_some_and(|number| number < *count)
    })
}

fn is_config_id(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

pub(crate) fn is_content(text: &str) -> bool {
    matches!(text, "images" | "rootdir" | "vztmpl" | "iso" | "backup" | "snippets" | "none" | "import")
}

fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
}

fn is_pool(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').collect();
    parts.len() <= 3 && parts.iter().all(|part| is_plain_name(part))
}

pub(crate) fn is_unicast_mac(text: &str) -> bool {
    let pairs: Vec<&str> = text.split(':').collect();
    let pair = |pair: &&str| pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit());
    // The lowest bit of the first byte marks a group address.
    let unicast = |first: &str| u8::from_str_radix(first, 16).is_ok_and(|byte| byte & 1 == 0);
    pairs.len() == 6 && pairs.iter().all(pair) && unicast(pairs[0])
}

fn is_node(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_startup_order(text: &str) -> bool {
    text.split(',').all(|part| match part.split_once('=') {
        Some(("order" | "up" | "down", number)) => is_digits(number),
        Some(_) => false,
        None => is_digits(part),
    })
}

pub(crate) fn is_storage_id(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
}

fn is_tag(text: &str) -> bool {
    let first = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(first) && text.chars().all(|c| first(c) || "-+.".contains(c))
}

fn is_url_encoded(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let escape = byte == b'%'
            && bytes.next().is_some_and(|b| b.is_ascii_hexdigit())
            && bytes.next().is_some_and(|b| b.is_ascii_hexdigit());
        if !escape && !byte.is_ascii_alphanumeric() && !b"-_.~/".contains(&byte) {
            return false;
        }
    }
    true
}

fn is_vm_id(text: &str) -> bool {
    is_digits(text) && (3..=9).contains(&text.len()) && !text.starts_with('0')
}

fn is_volume_id(text: &str) -> bool {
    text.split_once(':').is_some_and(|(storage, name)| is_storage_id(storage) && !name.is_empty())
}

/// A size in the server's own notation: a number with or without K, M, G, T; without one it is bytes.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let unit = units.iter().find(|(letter, _)| text.ends_with(*letter));
    let (number, shift) = unit.map_or((text, 0), |(letter, shift)| (text.trim_end_matches(*letter), *shift));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if !is_digits(whole) || !(fraction.is_empty() || is_digits(fraction)) || number.ends_with('.') {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let bytes = whole.checked_mul(1 << shift)?;
    let fraction: f64 = format!("0.{fraction}0").parse().ok()?;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a fraction of a unit"
    )]
    let rest = (fraction * (1_u64 << shift) as f64) as u64;
    bytes.checked_add(rest)
}

/// A size in the largest unit that divides it exactly (`PVE/JSONSchema.pm: format_size`).
pub(crate) fn print_size(bytes: u64) -> String {
    let mut number = bytes;
    for unit in ["", "K", "M", "G"] {
        if number == 0 || !number.is_multiple_of(1024) {
            return format!("{number}{unit}");
        }
        number /= 1024;
    }
    format!("{number}T")
}

/// A CPU model that QEMU or the administrator has defined.
pub(crate) fn check_cpu_model(text: &str) -> Result<(), String> {
    let model = text.split(',').find_map(|part| match part.split_once('=') {
        None => Some(part),
        Some(("cputype", model)) => Some(model),
        Some(_) => None,
    });
    match model {
        Some(model) if !model.starts_with("custom-") && !is_cpu_model(model) => {
            Err(format!("Built-in cputype '{model}' is not defined (missing 'custom-' prefix?)\n"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_accept_and_refuse_as_the_server_does() {
        #[track_caller]
        fn case(value: Value, good: &[&str], bad: &[&str]) {
            for text in good {
                assert_eq!(value.check(text), Ok(()), "{text}");
            }
            for text in bad {
                assert!(value.check(text).is_err(), "{value:?} {text}");
            }
        }
        case(Value::DnsName, &["cp-1", "CP-1.Lab", "1a"], &["cp_1", "", "-a", "a-", "a..b"]);
        case(Value::Tag, &["talos.dev_x-1+y", "_a"], &["-bad", "a=b", "tälos", ""]);
        case(
            Value::Mac,
            &["BC:24:11:00:00:01", "bc:24:11:00:00:0a"],
            &["01:00:5E:00:00:01", "BC-24-11-00-00-01", "zz"],
        );
        case(Value::Ipv4Config, &["10.0.0.3/24", "dhcp"], &["10.0.0.3", "10.0.0.300/24", "10.0.0.3/7", "10.0.0.3/+24"]);
        case(Value::VmId, &["100", "999999999"], &["99", "0100", "1000000000", "abc"]);
        case(Value::UrlEncoded, &["ssh%20a", ""], &["ssh a", "a%2", "a@b"]);
        case(Value::StorageId, &["local", "local-lvm"], &["l", "-x", "a b"]);
        case(Value::Pool, &["talos", "a/b/c"], &["a/b/c/d", "a//b", ""]);
    }

    #[test]
    fn sizes_read_and_print_in_binary_units() {
        for (text, bytes, printed) in [
            ("1G", 1 << 30, "1G"),
            ("528K", 540_672, "528K"),
            ("3500M", 3500 << 20, "3500M"),
            ("4", 4, "4"),
            ("1.5G", 3 << 29, "1536M"),
        ] {
            assert_eq!((parse_size(text), print_size(bytes)), (Some(bytes), printed.to_owned()));
        }
        assert_eq!(
            (parse_size("5GB"), parse_size(""), parse_size("-1G"), print_size(0)),
            (None, None, None, "0".to_owned())
        );
    }
}
