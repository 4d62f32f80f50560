use std::collections::BTreeMap;

use super::format::parse_size;
use super::options::{DISKS, EFIDISK, IDE, SATA, SCSI, TPMSTATE, VIRTIO};
use super::pattern::is_digits;
use super::property::{Parsed, Properties};

/// The grammar of a drive's key; none if the key is no drive.
pub(crate) fn grammar(key: &str) -> Option<&'static Properties> {
    if !DISKS.contains(&key) {
        return None;
    }
    let families: [(&str, &'static Properties); 6] = [
        ("ide", &IDE),
        ("scsi", &SCSI),
        ("virtio", &VIRTIO),
        ("sata", &SATA),
        ("efidisk", &EFIDISK),
        ("tpmstate", &TPMSTATE),
    ];
    families.into_iter().find(|(name, _)| key.strip_prefix(name).is_some_and(is_digits)).map(|(_, grammar)| grammar)
}

pub(crate) fn is_drive(key: &str) -> bool {
    grammar(key).is_some()
}

pub(crate) fn is_unused(key: &str) -> bool {
    key.strip_prefix("unused").is_some_and(is_digits)
}

/// The drives of a configuration in the order in which Proxmox goes through them: by key, as text.
pub(crate) fn all(config: &BTreeMap<String, String>) -> Vec<(String, Parsed)> {
    config.iter().filter_map(|(key, value)| Some((key.clone(), grammar(key)?.parse(value).ok()?))).collect()
}

pub(crate) fn file(drive: &Parsed) -> &str {
    drive.get("file").map_or("", String::as_str)
}

/// A drive that is a cloud-init medium, by the name of its volume (`PVE/QemuServer/Drive.pm`).
pub(crate) fn is_cloudinit(drive: &Parsed) -> bool {
    let file = file(drive);
    let name = file.rsplit([':', '/']).next().unwrap_or(file);
    let name = name.split('.').next().unwrap_or(name);
    let bare = name.strip_prefix("vm-").and_then(|rest| rest.split_once('-')).map_or(name, |(_, rest)| rest);
    file.contains([':', '/']) && bare == "cloudinit"
}

pub(crate) fn is_cdrom(drive: &Parsed) -> bool {
    drive.get("media").is_some_and(|media| media == "cdrom")
}

/// What a drive's `file` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source<'f> {
    /// `local:32`: a new volume of so many bytes.
    New { storage: &'f str, bytes: u64 },
    /// `local:cloudinit`.
    CloudInit { storage: &'f str },
    /// A volume that is there.
    Volume { storage: &'f str, name: &'f str },
    /// `none`, `cdrom`, or a path.
    Other,
}

pub(crate) fn source(file: &str) -> Source<'_> {
    let Some((storage, rest)) = file.split_once(':') else {
        return Source::Other;
    };
    if file.starts_with('/') {
        return Source::Other;
    }
    if rest == "cloudinit" {
        return Source::CloudInit { storage };
    }
    let number = rest.split_once('.').map_or(is_digits(rest), |(whole, part)| is_digits(whole) && is_digits(part));
    if number && let Some(bytes) = parse_size(&format!("{rest}G")) {
        return Source::New { storage, bytes };
    }
    Source::Volume { storage, name: rest }
}

/// The devices of `boot: order=…`.
pub(crate) fn boot_order(config: &BTreeMap<String, String>) -> Vec<String> {
    let boot = config.get("boot").map_or("", String::as_str);
    let order = boot.split(',').find_map(|part| part.strip_prefix("order="));
    order.map_or_else(Vec::new, |order| order.split(';').filter(|part| !part.is_empty()).map(str::to_owned).collect())
}

/// The size of the disk that the VM boots from, which is what lists call its disk.
pub(crate) fn boot_disk_size(config: &BTreeMap<String, String>) -> u64 {
    let disk = |key: &str| {
        let drive = grammar(key)?.parse(config.get(key)?).ok()?;
        (!is_cdrom(&drive)).then(|| drive.get("size").and_then(|size| parse_size(size)).unwrap_or(0))
    };
    boot_order(config).iter().find_map(|key| disk(key)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_asks_for_is_told_by_its_form() {
        assert_eq!(source("local:32"), Source::New { storage: "local", bytes: 32 << 30 });
        assert_eq!(source("local-lvm:0.5"), Source::New { storage: "local-lvm", bytes: 1 << 29 });
        assert_eq!(source("local:cloudinit"), Source::CloudInit { storage: "local" });
        assert_eq!(
            source("local:100/vm-100-disk-0.raw"),
            Source::Volume { storage: "local", name: "100/vm-100-disk-0.raw" }
        );
        assert_eq!(source("none"), Source::Other);
    }

    #[test]
    fn a_cloud_init_drive_is_known_by_its_volume() {
        for (file, expected) in [
            ("local:105/vm-105-cloudinit.qcow2", true),
            ("local-lvm:vm-105-cloudinit", true),
            ("local:cloudinit", true),
            ("local:105/vm-105-disk-0.qcow2", false),
            ("none", false),
        ] {
            let drive = Parsed::from([("file".to_owned(), file.to_owned())]);
            assert_eq!(is_cloudinit(&drive), expected, "{file}");
        }
    }
}
