use std::collections::BTreeSet;

use super::definition::{changed_by_others, disk_bytes};
use super::look::{PlaceSeen, VmSeen};
use super::{Place, Settings, Source, Trouble};
use crate::model::{HostName, StorageId, VmId};
use crate::proxmox::answers::{Power, Storage, Volume};
use crate::proxmox::types::VolumeId;
use crate::schematic::Image;

/// What has to be done next where a template shall be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is there and right.
    Exists {
        host: HostName,
        vmid: VmId,
    },
    /// The storage has to take images first.
    EnableImport,
    /// The image has to come to the host.
    Fetch {
        /// Bytes that are free there.
        room: Option<u64>,
    },
    /// The image is there, the VM is not.
    Create {
        image: VolumeId,
        bytes: u64,
    },
    /// The VM is there as it was made, and no template yet.
    Convert {
        vmid: VmId,
        disk_bytes: u64,
        /// What it was made from, by its record.
        made_from: Box<str>,
    },
    /// This run made one that is not needed any more.
    RemoveTwin {
        vmid: VmId,
    },
    Refuse(Vec<Trouble>),
}

/// What this run knows because it did it.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The VMs that it made.
    pub(super) made: BTreeSet<VmId>,
    /// Whether the image's checksum was compared, if there is one.
    pub(super) verified: bool,
}

/// The first release whose storages take disk images for import (pve-storage 8.3.6).
const OLDEST: (u32, u32) = (8, 4);

/// Kinds of storages that hold files.
const OF_FILES: [&str; 6] = ["dir", "nfs", "cifs", "cephfs", "btrfs", "glusterfs"];

/// Decides by what is there. Reads its arguments and nothing else.
pub(super) fn decide(place: &Place, seen: &PlaceSeen, settings: &Settings, known: &Known) -> Verdict {
    let mark = place.image.mark();
    let of_image = seen.vms.iter().filter(|vm| vm.mark().as_ref() == Some(&mark));
    // A template on a host's own storage serves nobody but that host.
    let fits = |vm: &&VmSeen| !place.shared || vm.storage().as_ref() == Some(&place.storage);
    let (whole, rest): (Vec<&VmSeen>, Vec<&VmSeen>) = of_image.filter(fits).partition(|vm| vm.config.is_template());
    let begun: Vec<&VmSeen> = rest.into_iter().filter(|vm| vm.record().is_some()).collect();
    if let Some(twin) = twin(&whole, &begun, known) {
        return Verdict::RemoveTwin { vmid: twin.vmid };
    }
    match (whole.as_slice(), begun.as_slice()) {
        ([one], _) => right_or_not(place, one),
        ([], [one]) => continued(place, one),
        ([], []) => from_nothing(place, seen, settings, known),
        (several, _) if several.len() > 1 => Verdict::Refuse(vec![several_of(place, several, "templates")]),
        (_, several) => Verdict::Refuse(vec![several_of(place, several, "unfinished templates")]),
    }
}

/// One that this run made while another run made one too: the lower number stays.
fn twin<'v>(whole: &[&VmSeen], begun: &[&'v VmSeen], known: &Known) -> Option<&'v VmSeen> {
    let lowest = begun.iter().map(|vm| vm.vmid).min();
    let surplus = |vm: &&&VmSeen| known.made.contains(&vm.vmid) && (!whole.is_empty() || Some(vm.vmid) != lowest);
    begun.iter().find(surplus).copied()
}

fn several_of(place: &Place, several: &[&VmSeen], what: &str) -> Trouble {
    let ids: Vec<String> = several.iter().map(|vm| vm.vmid.to_string()).collect();
    let message = format!("there are {} {what} of {place}: {}", several.len(), ids.join(", "));
    Trouble::new(message, "keep one of them (`pvetalos template delete <vmid>` deletes those that it made)")
}

fn right_or_not(place: &Place, vm: &VmSeen) -> Verdict {
    let VmSeen { host, vmid, .. } = vm;
    let refuse = |message: String, fix: String| Verdict::Refuse(vec![Trouble::new(message, fix)]);
    let Some(storage) = vm.storage() else {
        let fix = format!("delete it (`pvetalos template delete {vmid}`) and run this again");
        return refuse(format!("template {vmid} on {host} has no system disk at scsi0"), fix);
    };
    if place.linked && storage != place.storage {
        let message =
            format!("template {vmid} on {host} is on {storage}, and linked clones on {} need it there", place.storage);
        return refuse(message, format!("let those nodes be full clones, or give them the storage {storage}"));
    }
    Verdict::Exists { host: host.clone(), vmid: *vmid }
}

fn continued(place: &Place, vm: &VmSeen) -> Verdict {
    let VmSeen { host, vmid, config, power } = vm;
    let refuse = |message: String, fix: String| Verdict::Refuse(vec![Trouble::new(message, fix)]);
    let by_hand =
        || format!("look at it; if nobody needs it, `pvetalos template delete {vmid}` or `qm destroy {vmid}`");
    if let Some(lock) = config.lock() {
        let fix = format!(
            "wait for the `{lock}` task to end; if none is running, run `qm unlock {vmid}` on {host}, because no API \
             token can"
        );
        return refuse(format!("VM {vmid} on {host}, an unfinished template, is locked ({lock})"), fix);
    }
    if *power != Power::Stopped {
        let message = format!("VM {vmid} on {host}, an unfinished template, is {power}");
        return refuse(message, by_hand());
    }
    if let Some(change) = changed_by_others(place, *vmid, config) {
        let message = format!("VM {vmid} on {host}, an unfinished template, was changed by somebody: {change}");
        return refuse(message, by_hand());
    }
    match disk_bytes(config) {
        Some(disk_bytes) => {
            let made_from = vm.record().map(|record| record.image).unwrap_or_default();
            Verdict::Convert { vmid: *vmid, disk_bytes, made_from }
        }
        None => refuse(format!("VM {vmid} on {host}, an unfinished template, has no system disk"), by_hand()),
    }
}

fn from_nothing(place: &Place, seen: &PlaceSeen, settings: &Settings, known: &Known) -> Verdict {
    let mut troubles = Vec::new();
    if !seen.version.is_at_least(OLDEST.0, OLDEST.1) {
        let fix = "upgrade to 8.4 or later; or make a template by hand, as the Talos documentation describes it, and \
                   name it as `talos_template`";
        let message = format!("Proxmox VE {} cannot import disk images by its API", seen.version.version);
        troubles.push(Trouble::new(message, fix));
    }
    troubles.extend(no_disks(place, seen).err());
    let images = images(seen, &settings.image_storage);
    let images = match images {
        Ok(images) => Some(images),
        Err(trouble) => {
            troubles.push(trouble);
            None
        }
    };
    let import_is_off = images.is_some_and(|images| !images.content.contains("import"));
    if import_is_off && !settings.enable_import {
        troubles.push(import_is_needed(settings, images));
    }
    let Some(images) = images.filter(|_| troubles.is_empty()) else {
        return Verdict::Refuse(troubles);
    };
    if import_is_off {
        return Verdict::EnableImport;
    }
    with_import(place, seen, settings, known, images)
}

fn with_import(place: &Place, seen: &PlaceSeen, settings: &Settings, known: &Known, images: &Storage) -> Verdict {
    let Some((image, bytes)) = file(place, seen, settings) else {
        return Verdict::Fetch { room: images.available };
    };
    if let Source::File(local) = &settings.source
        && bytes != local.bytes
    {
        let message = format!("{image} has {bytes} bytes, and {} has {}", local.path.display(), local.bytes);
        let fix = format!(
            "an earlier upload was probably cut off, and a new one would overwrite it without asking: look at it, then \
             delete it with `pvesm free {image}` on {}",
            seen.host
        );
        return Verdict::Refuse(vec![Trouble::new(message, fix)]);
    }
    if settings.source.checksum().is_some() && !known.verified {
        return Verdict::Fetch { room: images.available };
    }
    let disks = seen.storages.iter().find(|storage| storage.name == place.storage);
    if let Some(available) = disks.and_then(|disks| disks.available).filter(|available| *available < bytes) {
        return Verdict::Refuse(vec![no_room(&place.storage, &seen.host, bytes, available)]);
    }
    Verdict::Create { image, bytes }
}

/// The image where it is looked for, and how many bytes it has.
pub(super) fn file(place: &Place, seen: &PlaceSeen, settings: &Settings) -> Option<(VolumeId, u64)> {
    let name = format!("import/{}", settings.source.file_name(&place.image));
    let named = |volume: &Volume| {
        let id = volume.id.known().filter(|id| id.name() == name)?;
        Some((id.clone(), volume.size.unwrap_or(0)))
    };
    seen.images.iter().find_map(named)
}

/// A storage without room for what has to go there.
pub(super) fn no_room(storage: &StorageId, host: &HostName, needed: u64, available: u64) -> Trouble {
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let message = format!(
        "storage {storage} on {host} has {} MiB free, and {} MiB are needed",
        available >> 20,
        mebibytes(needed)
    );
    Trouble::new(message, "free some room there, or use another storage")
}

fn no_disks(place: &Place, seen: &PlaceSeen) -> Result<(), Trouble> {
    let (name, host) = (&place.storage, &seen.host);
    let storage = active(seen, name)?;
    if storage.content.contains("images") {
        return Ok(());
    }
    let content: Vec<&str> = storage.content.iter().map(String::as_str).chain(["images"]).collect();
    let fix = format!("pvesm set {name} --content {}", content.join(","));
    Err(Trouble::new(format!("storage {name} on {host} does not take disk images"), fix))
}

fn active<'s>(seen: &'s PlaceSeen, name: &StorageId) -> Result<&'s Storage, Trouble> {
    let host = &seen.host;
    let Some(storage) = seen.storages.iter().find(|storage| storage.name == *name) else {
        let fix = "check its name, and that the token may see it (Datastore.Audit)";
        return Err(Trouble::new(format!("there is no storage {name} on {host}"), fix));
    };
    if !storage.enabled || !storage.active {
        let fix = format!("enable it for this host (`pvesm set {name} --disable 0`, and look at its list of nodes)");
        return Err(Trouble::new(format!("storage {name} is not active on {host}"), fix));
    }
    Ok(storage)
}

/// The storage that images go to.
fn images<'s>(seen: &'s PlaceSeen, name: &StorageId) -> Result<&'s Storage, Trouble> {
    let storage = active(seen, name)?;
    let kind = storage.kind.as_deref().unwrap_or("dir");
    if OF_FILES.contains(&kind) {
        return Ok(storage);
    }
    let of_files = |storage: &&Storage| storage.kind.as_deref().is_some_and(|kind| OF_FILES.contains(&kind));
    let others: Vec<&str> = seen.storages.iter().filter(of_files).map(|storage| storage.name.as_str()).collect();
    let fix = format!("use a storage of files as `image_storage` ({})", others.join(", "));
    Err(Trouble::new(format!("storage {name} on {} is of type {kind}, which holds no files", seen.host), fix))
}

fn import_is_needed(settings: &Settings, images: Option<&Storage>) -> Trouble {
    let storage = &settings.image_storage;
    let content: Vec<&str> =
        images.into_iter().flat_map(|images| &images.content).map(String::as_str).chain(["import"]).collect();
    let fix = format!(
        "run it with --enable-import, or as root on a host `pvesm set {storage} --content {}`",
        content.join(",")
    );
    Trouble::new(format!("storage {storage} does not take disk images for import, as is usual for a new one"), fix)
}

/// Whether a disk came out as large as it should be: a word of warning, or why it cannot be right.
///
/// Only what was made from the very file at hand can be held against it; an earlier run may have had another source.
pub(super) fn judge_disk(
    image: &Image,
    source: &Source,
    made_from: &str,
    disk_bytes: u64,
) -> Result<Option<String>, Trouble> {
    /// Storages round up to whole extents.
    const ROUNDING: u64 = 64 << 20;
    let within = |expected: u64| (expected..=expected.saturating_add(ROUNDING)).contains(&disk_bytes);
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let wrong = |expected: u64| {
        let message = format!(
            "the imported disk has {} MiB, and that of {image} has {} MiB",
            mebibytes(disk_bytes),
            mebibytes(expected)
        );
        Trouble::new(message, "delete the image from its storage and let it be fetched again")
    };
    match source {
        Source::File(local) if made_from == source.describe(image) => {
            if within(local.disk_bytes) {
                Ok(None)
            } else {
                Err(wrong(local.disk_bytes))
            }
        }
        _ if disk_bytes < Image::SMALLEST_DISK => Err(wrong(image.disk_bytes())),
        _ if within(image.disk_bytes()) => Ok(None),
        // A schematic may ask for another boot loader, and a release may change its mind.
        _ => Ok(Some(format!(
            "the disk of {image} has {} MiB, which is not the usual {} MiB of that release",
            mebibytes(disk_bytes),
            mebibytes(image.disk_bytes())
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::TemplateRecord;
    use crate::schematic::{FactoryUrl, ImageFormat};

    const ID: &str = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";

    fn place() -> Place {
        Place {
            image: Image {
                talos_version: "1.12.0".parse().unwrap(),
                schematic_id: ID.parse().unwrap(),
                secureboot: false,
            },
            storage: "local-lvm".parse().unwrap(),
            hosts: vec!["pve1".parse().unwrap()],
            shared: false,
            pool: None,
            linked: false,
            agent: true,
        }
    }

    fn settings(enable_import: bool) -> Settings {
        Settings {
            image_storage: "local".parse().unwrap(),
            source: Source::Factory { factory: FactoryUrl::default(), format: ImageFormat::Qcow2, checksum: None },
            enable_import,
            first_vmid: Settings::FIRST_VMID,
            token: "root@pam!ci".parse().unwrap(),
            pace: crate::proxmox::task::Pace::default(),
        }
    }

    /// A VM with our record for `recorded`, changed in `more`.
    fn vm(vmid: u32, recorded: u32, more: &Value) -> VmSeen {
        let record = TemplateRecord {
            mark: place().image.mark(),
            vmid: VmId::nearest(recorded),
            image: "https://example.org/x".into(),
            bytes: 7,
        };
        let mut config = json!({
            "name": "talos-1.12.0-ce4c9805",
            "description": format!("Talos\n\n{record}"),
            "scsi0": format!("local-lvm:vm-{vmid}-disk-1,size=4248M"),
        });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        VmSeen {
            host: "pve1".parse().unwrap(),
            vmid: VmId::nearest(vmid),
            power: Power::Stopped,
            config: serde_json::from_value(config).unwrap(),
        }
    }

    fn seen(vms: Vec<VmSeen>, content: &str, images: Value) -> PlaceSeen {
        let storages = json!([
            {"storage": "local", "type": "dir", "content": content, "enabled": 1, "active": 1, "avail": 1 << 30},
            {"storage": "local-lvm", "type": "lvmthin", "content": "images", "enabled": 1, "active": 1, "avail": 1 << 30},
        ]);
        PlaceSeen {
            version: serde_json::from_value(json!({"version": "9.2.11"})).unwrap(),
            host: "pve1".parse().unwrap(),
            vms,
            storages: serde_json::from_value(storages).unwrap(),
            images: serde_json::from_value(images).unwrap(),
        }
    }

    #[test]
    fn what_is_there_decides_what_is_done_next() {
        #[track_caller]
        fn case(vms: Vec<VmSeen>, made: &[u32], expected: &str) {
            let known = Known { made: made.iter().map(|vmid| VmId::nearest(*vmid)).collect(), verified: false };
            let verdict = decide(&place(), &seen(vms, "import", json!([])), &settings(false), &known);
            let shown = match verdict {
                Verdict::Exists { vmid, .. } => format!("{vmid} exists"),
                Verdict::EnableImport => "enable import".to_owned(),
                Verdict::Fetch { .. } => "fetch".to_owned(),
                Verdict::Create { image, .. } => format!("create from {image}"),
                Verdict::Convert { vmid, .. } => format!("convert {vmid}"),
                Verdict::RemoveTwin { vmid } => format!("remove {vmid}"),
                Verdict::Refuse(troubles) => troubles[0].message.clone(),
            };
            assert_eq!(shown, expected);
        }
        let template = || json!({"template": 1});
        case(vec![], &[], "fetch");
        case(vec![vm(9000, 9000, &template())], &[], "9000 exists");
        case(vec![vm(9000, 9000, &json!({}))], &[], "convert 9000");
        // A copy has the number of its original, a mark by hand none; neither is ours to finish, but a template will do.
        case(vec![vm(105, 9000, &json!({}))], &[], "fetch");
        case(vec![vm(105, 9000, &template())], &[], "105 exists");
        case(vec![vm(9000, 9000, &json!({"description": "mine"}))], &[], "fetch");
        case(
            vec![vm(9000, 9000, &json!({"lock": "create"}))],
            &[],
            "VM 9000 on pve1, an unfinished template, is locked (create)",
        );
        case(
            vec![vm(9000, 9000, &json!({"net0": "virtio"}))],
            &[],
            "VM 9000 on pve1, an unfinished template, was changed by somebody: it has `net0`",
        );
        case(
            vec![vm(9000, 9000, &json!({"name": "x"}))],
            &[],
            "VM 9000 on pve1, an unfinished template, was changed by somebody: its name is x",
        );
        let running = VmSeen { power: Power::Running, ..vm(9000, 9000, &json!({})) };
        case(vec![running], &[], "VM 9000 on pve1, an unfinished template, is running");
        let foreign = json!({"scsi0": "local-lvm:vm-100-disk-0,size=4248M"});
        case(
            vec![vm(9000, 9000, &foreign)],
            &[],
            "VM 9000 on pve1, an unfinished template, was changed by somebody: its scsi0 is local-lvm:vm-100-disk-0",
        );
        // Twins: whoever made the higher number takes it away again; nobody touches what another run made.
        let twins = || vec![vm(9000, 9000, &json!({})), vm(9001, 9001, &json!({}))];
        case(twins(), &[9001], "remove 9001");
        case(twins(), &[9000], "there are 2 unfinished templates of Talos 1.12.0 ce4c9805 on pve1: 9000, 9001");
        case(vec![vm(9000, 9000, &template()), vm(9001, 9001, &json!({}))], &[9001], "remove 9001");
        case(vec![vm(9000, 9000, &template()), vm(9001, 9001, &json!({}))], &[], "9000 exists");
        case(
            vec![vm(9000, 9000, &template()), vm(9001, 9001, &template())],
            &[],
            "there are 2 templates of Talos 1.12.0 ce4c9805 on pve1: 9000, 9001",
        );
    }

    #[test]
    fn an_image_that_is_there_is_used_and_storages_are_asked_first() {
        let name = place().image.file_name(ImageFormat::Qcow2);
        let image = json!([{"volid": format!("local:import/{name}"), "size": 100}]);
        let decided = |seen: &PlaceSeen, settings: &Settings| decide(&place(), seen, settings, &Known::default());
        let verdict = decided(&seen(vec![], "import", image.clone()), &settings(false));
        assert!(matches!(verdict, Verdict::Create { bytes: 100, .. }), "{verdict:?}");
        assert_eq!(decided(&seen(vec![], "iso", json!([])), &settings(true)), Verdict::EnableImport);
        let verdict = decided(&seen(vec![], "iso", json!([])), &settings(false));
        assert!(
            matches!(&verdict, Verdict::Refuse(troubles) if troubles[0].fix.contains("--enable-import")),
            "{verdict:?}"
        );
        let large = json!([{"volid": format!("local:import/{name}"), "size": 2_u64 << 30}]);
        let verdict = decided(&seen(vec![], "import", large), &settings(false));
        assert!(
            matches!(&verdict, Verdict::Refuse(troubles) if troubles[0].message.contains("1024 MiB free, and 2048 MiB")),
            "{verdict:?}"
        );
        let mut other = settings(false);
        other.image_storage = "local-lvm".parse().unwrap();
        let verdict = decided(&seen(vec![], "import", image), &other);
        assert!(matches!(&verdict, Verdict::Refuse(troubles) if troubles[0].fix.contains("(local)")), "{verdict:?}");
    }
}
