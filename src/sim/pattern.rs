//! The few regular expressions of the API that the simulator needs, each as a small function.
//!
//! There are about two dozen, all simple; writing them out saves a regular-expression engine in the program.

/// A named pattern. [`Pattern::regex`] is the expression that the API's schema has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    UserOrToken,
    TokenName,
    Url,
    Resize,
    Allocate,
    UploadFile,
    NumberRanges,
    MachineType,
    Wwn,
    Product,
    Vendor,
    BootDisk,
    ParallelPort,
    SerialPort,
    StartDate,
    GenerationId,
    Uuid,
    Base64,
    CpuFlags,
    HypervisorVendor,
    PciDevice,
    PciId,
    Mdev,
    RomFile,
    UsbHost,
    MemoryName,
    LegacyBoot,
    HostMtus,
    UserKeys,
}

impl Pattern {
    pub const ALL: &'static [Self] = &[
        Self::UserOrToken,
        Self::TokenName,
        Self::Url,
        Self::Resize,
        Self::Allocate,
        Self::UploadFile,
        Self::NumberRanges,
        Self::MachineType,
        Self::Wwn,
        Self::Product,
        Self::Vendor,
        Self::BootDisk,
        Self::ParallelPort,
        Self::SerialPort,
        Self::StartDate,
        Self::GenerationId,
        Self::Uuid,
        Self::Base64,
        Self::CpuFlags,
        Self::HypervisorVendor,
        Self::PciDevice,
        Self::PciId,
        Self::Mdev,
        Self::RomFile,
        Self::UsbHost,
        Self::MemoryName,
        Self::LegacyBoot,
        Self::HostMtus,
        Self::UserKeys,
    ];

    /// The expression in the API's own schema.
    pub fn regex(self) -> &'static str {
        match self {
            Self::UserOrToken => {
                r"(?^:^(?^:[^\s:/]+)\@(?^:[A-Za-z][A-Za-z0-9\.\-_]+)(?:!(?^:[A-Za-z][A-Za-z0-9\.\-_]+))?$)"
            }
            Self::TokenName => r"(?^:[A-Za-z][A-Za-z0-9\.\-_]+)",
            Self::Url => r"https?://.*",
            Self::Resize => r"\+?\d+(\.\d+)?[KMGT]?",
            Self::Allocate => r"\d+[MG]?",
            Self::UploadFile => r"/var/tmp/pveupload-[0-9a-f]+",
            Self::NumberRanges => r"(?^:\d+(?:-\d+)?(?:;\d+(?:-\d+)?)*)",
            Self::MachineType => {
                r"(pc|pc(-i440fx)?-\d+(\.\d+)+(\+pve\d+)?(\.pxe)?|q35|pc-q35-\d+(\.\d+)+(\+pve\d+)?(\.pxe)?|virt(?:-\d+(\.\d+)+)?(\+pve\d+)?)"
            }
            Self::Wwn => r"(?^:^(0x)[0-9a-fA-F]{16})",
            Self::Product => r"[A-Za-z0-9\-_\s]{,16}",
            Self::Vendor => r"[A-Za-z0-9\-_\s]{,8}",
            Self::BootDisk => r"(ide|sata|scsi|virtio)\d+",
            Self::ParallelPort => r"/dev/parport\d+|/dev/usb/lp\d+",
            Self::SerialPort => r"(/dev/[^,]+|socket)",
            Self::StartDate => r"(now|\d{4}-\d{1,2}-\d{1,2}(T\d{1,2}:\d{1,2}:\d{1,2})?)",
            Self::GenerationId => r"(?:[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}|[01])",
            Self::Uuid => r"[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}",
            Self::Base64 => r"[A-Za-z0-9+\/]+={0,2}",
            Self::CpuFlags => r"(?^u:(?^u:([+-])([a-zA-Z0-9\-_\.]+))(;(?^u:([+-])([a-zA-Z0-9\-_\.]+)))*)",
            Self::HypervisorVendor => r"(?^u:[a-zA-Z0-9]{1,12})",
            Self::PciDevice => {
                r"(?^:(?^:(?:[a-f0-9]{4,}:)?[a-f0-9]{2}:[a-f0-9]{2}(?:\.[a-f0-9])?)(;(?^:(?:[a-f0-9]{4,}:)?[a-f0-9]{2}:[a-f0-9]{2}(?:\.[a-f0-9])?))*)"
            }
            Self::PciId => r"(?^:^0x[0-9a-fA-F]{4}$)",
            Self::Mdev => r"[^/\.:]+",
            Self::RomFile => r"[^,;]+",
            Self::UsbHost => {
                r"(?^:(?:(?:(?^:(0x)?([0-9A-Fa-f]{4}):(0x)?([0-9A-Fa-f]{4})))|(?:(?^:(\d+)\-(\d+(\.\d+)*)))|[Ss][Pp][Ii][Cc][Ee]))"
            }
            Self::MemoryName => r"[a-zA-Z0-9\-]+",
            Self::LegacyBoot => r"[acdn]{1,4}",
            Self::HostMtus => r"net\d+=\d+(,net\d+=\d+)*",
            Self::UserKeys => r"[0-9a-zA-Z!=]{0,4096}",
        }
    }

    /// Whether the whole of `value` matches.
    pub fn matches(self, value: &str) -> bool {
        match self {
            Self::UserOrToken => {
                let (user, token) = value.split_once('!').map_or((value, None), |(user, token)| (user, Some(token)));
                is_user(user) && token.is_none_or(is_token_name)
            }
            Self::TokenName => is_token_name(value),
            // The dot of a regular expression takes no line break.
            Self::Url => {
                ["http://", "https://"].iter().any(|scheme| value.starts_with(scheme)) && !value.contains('\n')
            }
            Self::Resize => {
                let value = value.strip_prefix('+').unwrap_or(value);
                is_decimal(value.strip_suffix(['K', 'M', 'G', 'T']).unwrap_or(value))
            }
            Self::Allocate => is_digits(value.strip_suffix(['M', 'G']).unwrap_or(value)),
            Self::UploadFile => value
                .strip_prefix("/var/tmp/pveupload-")
                .is_some_and(|rest| every(rest, |b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))),
            Self::NumberRanges => value.split(';').all(|range| match range.split_once('-') {
                Some((first, last)) => is_digits(first) && is_digits(last),
                None => is_digits(range),
            }),
            Self::MachineType => is_machine(value),
            Self::Wwn => value.strip_prefix("0x").is_some_and(|hex| hex.len() == 16 && is_hex(hex)),
            Self::Product => value.len() <= 16 && is_label(value),
            Self::Vendor => value.len() <= 8 && is_label(value),
            Self::BootDisk => {
                ["ide", "sata", "scsi", "virtio"].iter().any(|bus| value.strip_prefix(bus).is_some_and(is_digits))
            }
            Self::ParallelPort => {
                ["/dev/parport", "/dev/usb/lp"].iter().any(|port| value.strip_prefix(port).is_some_and(is_digits))
            }
            Self::SerialPort => {
                value == "socket"
                    || value.strip_prefix("/dev/").is_some_and(|rest| !rest.is_empty() && !rest.contains(','))
            }
            Self::StartDate => value == "now" || is_date(value),
            Self::GenerationId => matches!(value, "0" | "1") || is_uuid(value),
            Self::Uuid => is_uuid(value),
            Self::Base64 => {
                let text = value.trim_end_matches('=');
                value.len() - text.len() <= 2 && every(text, |b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
            }
            Self::CpuFlags => value.split(';').all(|flag| {
                flag.strip_prefix(['+', '-'])
                    .is_some_and(|name| every(name, |b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)))
            }),
            Self::HypervisorVendor => value.len() <= 12 && every(value, |b| b.is_ascii_alphanumeric()),
            Self::PciDevice => value.split(';').all(is_pci_device),
            Self::PciId => value.strip_prefix("0x").is_some_and(|hex| hex.len() == 4 && is_hex(hex)),
            Self::Mdev => every(value, |b| !b"/.:".contains(&b)),
            Self::RomFile => every(value, |b| !b",;".contains(&b)),
            Self::UsbHost => is_usb_host(value),
            Self::MemoryName => every(value, |b| b.is_ascii_alphanumeric() || b == b'-'),
            Self::LegacyBoot => value.len() <= 4 && every(value, |b| b"acdn".contains(&b)),
            Self::HostMtus => value.split(',').all(|part| {
                part.strip_prefix("net")
                    .and_then(|rest| rest.split_once('='))
                    .is_some_and(|(index, mtu)| is_digits(index) && is_digits(mtu))
            }),
            Self::UserKeys => {
                value.len() <= 4096 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"!=".contains(&b))
            }
        }
    }
}

/// Whether `text` has at least one byte and all are as wanted.
fn every(text: &str, wanted: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(wanted)
}

pub(crate) fn is_digits(text: &str) -> bool {
    every(text, |b| b.is_ascii_digit())
}

fn is_hex(text: &str) -> bool {
    every(text, |b| b.is_ascii_hexdigit())
}

fn is_decimal(text: &str) -> bool {
    match text.split_once('.') {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(text),
    }
}

fn is_label(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_ \t\r\n".contains(&b))
}

pub(crate) fn is_uuid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.split('-').all(is_hex)
}

/// `name@realm`.
pub(crate) fn is_user(text: &str) -> bool {
    let good_name = |name: &str| !name.is_empty() && !name.contains([':', '/']) && !name.contains(char::is_whitespace);
    text.rsplit_once('@').is_some_and(|(name, realm)| good_name(name) && is_token_name(realm))
}

/// The name of a token, and of a realm: they have the same rule.
pub(crate) fn is_token_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && text.len() > 1
        && bytes.all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
}

fn is_date(text: &str) -> bool {
    let numbers = |text: &str, separator, longest: [usize; 3], shortest: [usize; 3]| {
        let parts: Vec<&str> = text.split(separator).collect();
        parts.len() == 3
            && parts
                .iter()
                .enumerate()
                .all(|(index, part)| is_digits(part) && part.len() <= longest[index] && part.len() >= shortest[index])
    };
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    numbers(date, '-', [4, 2, 2], [4, 1, 1]) && time.is_none_or(|time| numbers(time, ':', [2, 2, 2], [1, 1, 1]))
}

/// A version with at least one dot, perhaps with `+pveN` behind it.
fn is_machine_version(text: &str) -> bool {
    let (version, pve) = text.split_once("+pve").map_or((text, None), |(version, pve)| (version, Some(pve)));
    version.contains('.') && version.split('.').all(is_digits) && pve.is_none_or(is_digits)
}

fn is_machine(text: &str) -> bool {
    if matches!(text, "pc" | "q35" | "virt") || text.strip_prefix("virt+pve").is_some_and(is_digits) {
        return true;
    }
    if let Some(version) = text.strip_prefix("virt-") {
        return is_machine_version(version);
    }
    let text = text.strip_suffix(".pxe").unwrap_or(text);
    ["pc-i440fx-", "pc-q35-", "pc-"].iter().any(|kind| text.strip_prefix(kind).is_some_and(is_machine_version))
}

fn is_pci_device(text: &str) -> bool {
    let lower = |text: &str| every(text, |b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let (slot, function) = text.split_once('.').map_or((text, None), |(slot, function)| (slot, Some(function)));
    let parts: Vec<&str> = slot.split(':').collect();
    let good = match parts.as_slice() {
        [bus, device] => bus.len() == 2 && device.len() == 2,
        [domain, bus, device] => domain.len() >= 4 && bus.len() == 2 && device.len() == 2,
        _ => false,
    };
    good && parts.iter().all(|part| lower(part))
        && function.is_none_or(|function| function.len() == 1 && lower(function))
}

fn is_usb_host(text: &str) -> bool {
    let id = |text: &str| {
        let hex = text.strip_prefix("0x").unwrap_or(text);
        hex.len() == 4 && is_hex(hex)
    };
    text.eq_ignore_ascii_case("spice")
        || text.split_once(':').is_some_and(|(vendor, product)| id(vendor) && id(product))
        || text.split_once('-').is_some_and(|(bus, port)| is_digits(bus) && port.split('.').all(is_digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_what_their_expressions_take() {
        #[track_caller]
        fn case(pattern: Pattern, good: &[&str], bad: &[&str]) {
            for text in good {
                assert!(pattern.matches(text), "{pattern:?} {text}");
            }
            for text in bad {
                assert!(!pattern.matches(text), "{pattern:?} {text}");
            }
        }
        case(Pattern::Resize, &["+1G", "3500M", "4", "+0", "1.5G"], &["5GB", "-1G", "", "+", "1.G", "G"]);
        case(
            Pattern::MachineType,
            &["q35", "pc", "pc-q35-99.0", "pc-i440fx-8.1+pve0", "virt"],
            &["q36", "pc-q35-9", ""],
        );
        case(Pattern::SerialPort, &["socket", "/dev/ttyS0"], &["sockets", "/dev/", "/dev/a,b"]);
        case(Pattern::UserOrToken, &["root@pam", "a@pve!b1"], &["root", "a@pve!", "a b@pve", "a@pve!1b"]);
        case(Pattern::Url, &["https://x/y", "http://"], &["ftp://x", "https:/x"]);
        case(Pattern::Wwn, &["0x5000c500a0b1c2d3"], &["5000c500a0b1c2d3", "0x5"]);
        case(Pattern::StartDate, &["now", "2026-1-2", "2026-11-12T1:02:3"], &["today", "26-1-2", "2026-1-2T"]);
    }
}
