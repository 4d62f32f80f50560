//! Storages and the volumes on them: names, formats, sizes and room, by the kind of storage.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::world::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Dir,
    LvmThin,
    ZfsPool,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dir => "dir",
            Self::LvmThin => "lvmthin",
            Self::ZfsPool => "zfspool",
        }
    }

    /// Sizes are rounded up to whole extents or blocks.
    fn granularity(self) -> u64 {
        match self {
            Self::Dir => 1,
            Self::LvmThin => 4 << 20,
            Self::ZfsPool => 1 << 20,
        }
    }

    pub(crate) fn round(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.granularity()).saturating_mul(self.granularity())
    }

    /// The format that a volume gets; block storages know only one.
    pub(crate) fn format(self, wanted: Option<&str>) -> &str {
        match (self, wanted) {
            (Self::Dir, Some(format @ ("raw" | "qcow2" | "vmdk"))) => format,
            _ => "raw",
        }
    }
}

/// One storage, with what lies on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Storage {
    pub(crate) kind: Kind,
    /// Where a directory is, or which group of volumes.
    pub(crate) path: String,
    pub(crate) content: BTreeSet<String>,
    pub(crate) shared: bool,
    /// The hosts that have it; none means all.
    pub(crate) hosts: Option<BTreeSet<String>>,
    pub(crate) enabled: bool,
    /// Bytes.
    pub(crate) capacity: u64,
    /// Bytes that something else takes.
    pub(crate) occupied: u64,
    /// Volumes by host (or `*` if all share them) and name.
    pub(crate) volumes: BTreeMap<String, BTreeMap<String, Volume>>,
}

/// What lies on a storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Volume {
    /// Bytes of the disk.
    pub(crate) size: u64,
    /// Bytes that are really taken.
    pub(crate) used: u64,
    pub(crate) format: String,
    /// Unix time.
    pub(crate) ctime: u64,
    pub(crate) content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<u32>,
    /// The volume that this one is linked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    /// The URL that it came from, which stands for its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<String>,
}

impl Storage {
    pub(crate) fn place<'h>(&self, host: &'h str) -> &'h str {
        if self.shared { "*" } else { host }
    }

    pub(crate) fn is_on(&self, host: &str) -> bool {
        self.hosts.as_ref().is_none_or(|hosts| hosts.contains(host))
    }

    pub(crate) fn on(&self, host: &str) -> impl Iterator<Item = (&String, &Volume)> {
        self.volumes.get(self.place(host)).into_iter().flatten()
    }

    pub(crate) fn volume(&self, host: &str, name: &str) -> Option<&Volume> {
        self.volumes.get(self.place(host))?.get(name)
    }

    pub(crate) fn used(&self, host: &str) -> u64 {
        self.on(host).map(|(_, volume)| volume.used).fold(self.occupied, u64::saturating_add)
    }

    /// The name of a volume with that file name.
    pub(crate) fn volume_name(&self, id: u32, file: &str, format: &str) -> String {
        match self.kind {
            Kind::Dir => format!("{id}/{file}.{format}"),
            Kind::LvmThin | Kind::ZfsPool => file.to_owned(),
        }
    }

    /// The first number that no volume of this VM has, whatever its format (`Plugin.pm: get_next_vm_diskname`).
    fn free_number(&self, host: &str, id: u32) -> u32 {
        let taken: BTreeSet<u32> = self
            .on(host)
            .filter_map(|(name, _)| {
                let file = file_name(name);
                let rest = ["vm", "base"].iter().find_map(|kind| file.strip_prefix(&format!("{kind}-{id}-disk-")))?;
                rest.split('.').next()?.parse().ok()
            })
            .collect();
        (0..u32::MAX).find(|number| !taken.contains(number)).unwrap_or(0)
    }

    /// Where the volume is for a program on the host.
    pub(crate) fn file_path(&self, name: &str) -> String {
        let last = file_name(name);
        match self.kind {
            Kind::Dir => match name.split_once('/') {
                Some(("iso", file)) => format!("{}/template/iso/{file}", self.path),
                Some(("vztmpl", file)) => format!("{}/template/cache/{file}", self.path),
                Some((kind @ ("import" | "snippets"), file)) => format!("{}/{kind}/{file}", self.path),
                // A linked volume's name holds its base's in front.
                _ => {
                    let mut parts = name.rsplit('/');
                    let (file, folder) = (parts.next().unwrap_or(last), parts.next().unwrap_or(""));
                    format!("{}/images/{folder}/{file}", self.path)
                }
            },
            Kind::LvmThin => format!("/dev/{}/{last}", self.path),
            Kind::ZfsPool => format!("/dev/zvol/{}/{last}", self.path),
        }
    }
}

/// The last part of a volume's name.
pub(crate) fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// What a new volume is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'w> {
    pub(crate) storage: &'w str,
    pub(crate) id: u32,
    pub(crate) format: Option<&'w str>,
    pub(crate) bytes: u64,
    /// A file name instead of the next number.
    pub(crate) name: Option<&'w str>,
    /// Bytes that are written to it at once.
    pub(crate) written: u64,
}

/// A volume that has just been made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) volid: String,
    pub(crate) bytes: u64,
    /// What the storage says about it in the log.
    pub(crate) log: Vec<String>,
}

/// What the file system itself takes for a file of so many bytes.
fn overhead(format: &str, bytes: u64) -> u64 {
    match format {
        "qcow2" => 262_144 + bytes / 4096,
        _ => 4096,
    }
}

impl World {
    /// The storage if it exists, is enabled and is there on the host.
    pub(crate) fn storage_on(&self, host: &str, id: &str) -> Result<&Storage, String> {
        let storage = self.storages.get(id).ok_or_else(|| format!("storage '{id}' does not exist"))?;
        if !storage.enabled {
            return Err(format!("storage '{id}' is disabled"));
        }
        if !storage.is_on(host) {
            return Err(format!("storage '{id}' is not available on node '{host}'"));
        }
        Ok(storage)
    }

    /// The volume behind a volume id.
    pub(crate) fn volume(&self, host: &str, volid: &str) -> Option<&Volume> {
        let (storage, name) = volid.split_once(':')?;
        self.storages.get(storage)?.volume(host, name)
    }

    /// Makes a volume.
    pub(crate) fn allocate(&mut self, host: &str, wanted: Wanted<'_>) -> Result<Made, String> {
        let now = self.unix_time();
        let storage = self.storage_on(host, wanted.storage)?;
        let format = storage.kind.format(wanted.format).to_owned();
        let file = match wanted.name {
            Some(name) => name.to_owned(),
            None => format!("vm-{}-disk-{}", wanted.id, storage.free_number(host, wanted.id)),
        };
        let name = storage.volume_name(wanted.id, &file, &format);
        let path = storage.file_path(&name);
        if storage.volume(host, &name).is_some() {
            return Err(match storage.kind {
                Kind::Dir => format!("disk image '{path}' already exists"),
                Kind::LvmThin => {
                    format!(
                        "lvcreate '{}/{name}' error:   Logical Volume \"{name}\" already exists in volume group \"{}\"",
                        storage.path, storage.path
                    )
                }
                Kind::ZfsPool => format!("zfs error: cannot create '{}/{name}': dataset already exists", storage.path),
            });
        }
        let bytes = storage.kind.round(wanted.bytes);
        let used = wanted.written.saturating_add(overhead(&format, bytes)).min(bytes.max(262_144));
        if storage.used(host).saturating_add(used) > storage.capacity {
            return Err(no_room(storage, &path));
        }
        let log = match (storage.kind, format.as_str()) {
            (Kind::Dir, "raw") => vec![format!("Formatting '{path}', fmt=raw size={bytes} preallocation=off")],
            (Kind::Dir, format) => vec![format!(
                "Formatting '{path}', fmt={format} cluster_size=65536 extended_l2=off preallocation=metadata compression_type=zlib size={bytes} lazy_refcounts=off refcount_bits=16"
            )],
            (Kind::LvmThin, _) => vec![format!("  Logical volume \"{name}\" created.")],
            (Kind::ZfsPool, _) => Vec::new(),
        };
        let volid = format!("{}:{name}", wanted.storage);
        let volume = Volume {
            size: bytes,
            used,
            format,
            ctime: now,
            content: "images".to_owned(),
            owner: Some(wanted.id),
            parent: None,
            origin: None,
        };
        self.insert_volume(host, wanted.storage, name, volume);
        Ok(Made { volid, bytes, log })
    }

    /// Makes a volume that shares its beginning with a template's.
    pub(crate) fn link(&mut self, host: &str, base: &str, id: u32) -> Result<Made, String> {
        let now = self.unix_time();
        let (storage_id, base_name) =
            base.split_once(':').ok_or_else(|| format!("unable to parse volume ID '{base}'"))?;
        let storage = self.storage_on(host, storage_id)?;
        let parent = storage.volume(host, base_name).ok_or_else(|| format!("volume '{base}' does not exist"))?.clone();
        let file = format!("vm-{id}-disk-{}", storage.free_number(host, id));
        let (name, log, shown) = match storage.kind {
            Kind::Dir => {
                let own = storage.volume_name(id, &file, "qcow2");
                let log = vec![
                    format!("clone {base_name}: images, {file}.qcow2, {id} to {file}.qcow2 (base=../{base_name})"),
                    format!(
                        "Formatting '{}', fmt=qcow2 cluster_size=131072 extended_l2=on preallocation=metadata compression_type=zlib size={} backing_file=../{base_name} backing_fmt={} lazy_refcounts=off refcount_bits=16",
                        storage.file_path(&own),
                        parent.size,
                        parent.format
                    ),
                ];
                (format!("{base_name}/{own}"), log, Some(format!("../{base_name}")))
            }
            Kind::ZfsPool => (format!("{base_name}/{file}"), Vec::new(), Some(base_name.to_owned())),
            // The parent of a thin volume shows nowhere in its name.
            Kind::LvmThin => (file.clone(), vec![format!("  Logical volume \"{file}\" created.")], None),
        };
        let format = if storage.kind == Kind::Dir { "qcow2" } else { "raw" }.to_owned();
        let volid = format!("{storage_id}:{name}");
        let volume = Volume {
            size: parent.size,
            used: overhead(&format, parent.size),
            format,
            ctime: now,
            content: "images".to_owned(),
            owner: Some(id),
            parent: shown,
            origin: None,
        };
        let storage_id = storage_id.to_owned();
        self.insert_volume(host, &storage_id, name, volume);
        Ok(Made { volid, bytes: parent.size, log })
    }

    pub(crate) fn insert_volume(&mut self, host: &str, storage: &str, name: String, volume: Volume) {
        if let Some(storage) = self.storages.get_mut(storage) {
            let place = storage.place(host).to_owned();
            storage.volumes.entry(place).or_default().insert(name, volume);
        }
    }

    /// Frees a volume; whether there was one.
    pub(crate) fn free_volume(&mut self, host: &str, volid: &str) -> bool {
        let Some((storage, name)) = volid.split_once(':') else {
            return false;
        };
        self.storages.get_mut(storage).is_some_and(|storage| {
            let place = storage.place(host).to_owned();
            storage.volumes.get_mut(&place).is_some_and(|volumes| volumes.remove(name).is_some())
        })
    }

    pub(crate) fn change_volume(&mut self, host: &str, volid: &str, change: impl FnOnce(&mut Volume)) {
        let Some((storage, name)) = volid.split_once(':') else {
            return;
        };
        if let Some(storage) = self.storages.get_mut(storage) {
            let place = storage.place(host).to_owned();
            if let Some(volume) = storage.volumes.get_mut(&place).and_then(|volumes| volumes.get_mut(name)) {
                change(volume);
            }
        }
    }

    /// Whether something is linked to the volume; a thin volume's children cannot be told.
    pub(crate) fn is_base_of_another(&self, host: &str, volid: &str) -> bool {
        let Some((storage, name)) = volid.split_once(':') else {
            return false;
        };
        self.storages.get(storage).is_some_and(|storage| {
            storage.on(host).any(|(other, volume)| {
                volume.parent.is_some() && other.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
            })
        })
    }

    /// Makes the volume a base for linked ones and tells its new id; storages that cannot keep the old one.
    pub(crate) fn make_base(&mut self, host: &str, volid: &str) -> String {
        let Some((storage_id, name)) = volid.split_once(':') else {
            return volid.to_owned();
        };
        let Some(storage) = self.storages.get_mut(storage_id) else {
            return volid.to_owned();
        };
        let place = storage.place(host).to_owned();
        let file = file_name(name);
        let base = file.strip_prefix("vm-").map(|rest| format!("base-{rest}"));
        let Some(base) = base else {
            return volid.to_owned();
        };
        let new = format!("{}{base}", &name[..name.len() - file.len()]);
        if let Some(volumes) = storage.volumes.get_mut(&place)
            && let Some(volume) = volumes.remove(name)
        {
            volumes.insert(new.clone(), volume);
            return format!("{storage_id}:{new}");
        }
        volid.to_owned()
    }

    /// All volumes of a VM on the storages of its host that hold images.
    pub(crate) fn volumes_of(&self, host: &str, id: u32) -> Vec<String> {
        self.storages
            .iter()
            .filter(|(_, storage)| storage.enabled && storage.is_on(host) && storage.content.contains("images"))
            .flat_map(|(storage_id, storage)| {
                storage
                    .on(host)
                    .filter(move |(_, volume)| volume.owner == Some(id))
                    .map(move |(name, _)| format!("{storage_id}:{name}"))
            })
            .collect()
    }
}

/// What a full storage answers to a new volume.
fn no_room(storage: &Storage, path: &str) -> String {
    match storage.kind {
        Kind::Dir => {
            format!("unable to create image: qemu-img: {path}: Could not preallocate metadata: No space left on device")
        }
        Kind::LvmThin => {
            format!(
                "lvcreate '{}' error:   Cannot create new thin volume, free space in thin pool {} reached threshold.",
                path.trim_start_matches("/dev/"),
                storage.path
            )
        }
        Kind::ZfsPool => format!("zfs error: cannot create '{}': out of space", path.trim_start_matches("/dev/zvol/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_by_the_kind_of_storage() {
        #[track_caller]
        fn case(kind: Kind, bytes: u64, rounded: u64) {
            assert_eq!(kind.round(bytes), rounded);
        }
        case(Kind::Dir, 540_672, 540_672);
        case(Kind::LvmThin, 540_672, 4 << 20);
        case(Kind::ZfsPool, 540_672, 1 << 20);
        case(Kind::LvmThin, 1246 << 20, 1248 << 20);
        case(Kind::ZfsPool, 1246 << 20, 1246 << 20);
    }
}
