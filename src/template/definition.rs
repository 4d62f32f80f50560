//! The VM that becomes a template: what it is made with, and whether it is still that.

use super::Place;
use crate::model::{TemplateRecord, VmId};
use crate::proxmox::answers::VmConfig;
use crate::proxmox::calls::{ConfigChange, PlainKey};
use crate::proxmox::types::{DiskSlot, Drive, DriveSource, EfiDisk, EfiType, Properties, VolumeId};

/// The slot of the system disk, which nodes boot from.
pub(super) fn system_disk() -> DiskSlot {
    "scsi0".parse().expect("scsi0 is a slot")
}

fn cloud_init_drive() -> DiskSlot {
    "ide2".parse().expect("ide2 is a slot")
}

/// Everything that is set when the VM is made.
///
/// It has no network card: a clone gets its own anyway, and whoever clones would need a right to the template's bridge.
/// It has no TPM either, whose state a clone would inherit.
pub(super) fn definition(place: &Place, image: &VolumeId, record: &TemplateRecord) -> ConfigChange {
    let mut config = ConfigChange::default();
    let storage = || place.storage.clone();
    config
        .set(PlainKey::Name, place.image.template_name())
        .set(PlainKey::Description, format!("{}. Never start it: clones would not boot.\n\n{record}", place.image))
        .set(PlainKey::OsType, "l26")
        .set(PlainKey::Machine, "q35")
        .set(PlainKey::Bios, "ovmf")
        // Proxmox's own default lacks what Talos insists on (x86-64-v2).
        .set(PlainKey::Cpu, "host")
        .set(PlainKey::Cores, 2)
        .set(PlainKey::Memory, 2048)
        .set(PlainKey::Balloon, 0)
        .set(PlainKey::ScsiController, "virtio-scsi-pci")
        .set(PlainKey::Serial, "socket")
        .set(PlainKey::CloudInitType, "nocloud")
        .set(PlainKey::Boot, "order=scsi0");
    if place.agent {
        config.set(PlainKey::Agent, "enabled=1");
    }
    // With Microsoft's keys in it a kernel that is signed by Talos does not boot, secure boot or not.
    config.set_efi_disk(&EfiDisk {
        source: DriveSource::Allocate { storage: storage(), size: crate::model::DiskSize::gib(1) },
        size: None,
        kind: Some(EfiType::FourMegabytes),
        pre_enrolled_keys: Some(false).into(),
        unmanaged: Properties::default(),
    });
    let mut disk = Drive::new(DriveSource::Import { storage: storage() });
    disk.unmanaged.set("import-from", image);
    (disk.discard, disk.ssd) = (true.into(), true.into());
    config.set_drive(system_disk(), &disk);
    let mut cloud_init = Drive::new(DriveSource::CloudInit { storage: storage() });
    cloud_init.cdrom = true.into();
    config.set_drive(cloud_init_drive(), &cloud_init);
    config
}

/// The options that a VM of ours has before it becomes a template: those that we set and those that Proxmox adds.
const EXPECTED: [&str; 24] = [
    "agent",
    "balloon",
    "bios",
    "boot",
    "citype",
    "cores",
    "cpu",
    "description",
    "digest",
    "efidisk0",
    "ide2",
    "lock",
    "machine",
    "memory",
    "meta",
    "name",
    "ostype",
    "scsi0",
    "scsihw",
    "serial0",
    "smbios1",
    "template",
    "vga",
    "vmgenid",
];

/// What somebody did to a VM of ours that is not a template yet; nothing if it is as it was made.
pub(super) fn changed_by_others(place: &Place, vmid: VmId, config: &VmConfig) -> Option<String> {
    if let Some((key, _)) = config.iter().find(|(key, _)| !EXPECTED.contains(key)) {
        return Some(format!("it has `{key}`"));
    }
    if config.name() != Some(place.image.template_name().as_str()) {
        return Some(format!("its name is {}", config.name().unwrap_or("gone")));
    }
    let foreign = config.volumes().find(|(_, volume)| volume.owner() != Some(vmid));
    if let Some((slot, volume)) = foreign {
        return Some(format!("its {slot} is {volume}"));
    }
    let has_disk = config.drive(system_disk()).is_some_and(|drive| {
        drive.known().is_some_and(|drive| drive.size.is_some() && drive.source.volume().is_some())
    });
    (!has_disk).then(|| "it has no system disk".to_owned())
}

/// Bytes of the system disk.
pub(super) fn disk_bytes(config: &VmConfig) -> Option<u64> {
    config.drive(system_disk())?.known()?.size.map(crate::model::DiskSize::bytes)
}

/// The volume of the system disk.
pub(super) fn system_volume(config: &VmConfig) -> Option<VolumeId> {
    config.drive(system_disk())?.known()?.source.volume().cloned()
}
