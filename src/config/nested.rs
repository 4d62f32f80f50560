use serde_json::{Value, json};

use super::keys::{DataDiskLayer, NicLayer};
use super::layer::{Field, Layer, Scope};
use super::problem::Problem;
use super::reader::{Fields, FromYaml, Reader};
use super::schema::mapping;
use super::yaml::{Content, Yaml};
use crate::model::{DataDisk, DiskSerial, DiskSize, ExtraNic, StorageId};

/// The extra network cards of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Nics(pub(super) Vec<ExtraNic>);

impl FromYaml for Nics {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        // Proxmox has net0 to net31, and net0 is the node's own.
        let items = items(yaml, "a list of network cards", 31, reader)?;
        let cards: Vec<Option<ExtraNic>> = items.iter().map(|item| nic(item, reader)).collect();
        cards.into_iter().collect::<Option<_>>().map(Self)
    }

    fn schema() -> Value {
        json!({ "type": "array", "maxItems": 31, "items": mapping::<NicLayer>(Scope::Nic, &["bridge", "mac_addr"]) })
    }

    fn show(&self) -> String {
        shown(&self.0, |nic| {
            let vlan = nic.vlan_tag.map_or(String::new(), |tag| format!(" vlan {tag}"));
            let address = nic.address.as_ref().map_or(String::new(), |address| format!(" {}", address.value));
            let mtu = nic.mtu.map_or(String::new(), |mtu| format!(" mtu {mtu}"));
            format!("{} on {}{vlan}{address}{mtu}", nic.mac_address.value, nic.bridge)
        })
    }
}

fn nic(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<ExtraNic> {
    let nic: NicLayer = item(yaml, Scope::Nic, "a network card", reader)?;
    require(&nic.bridge, yaml, "a network card", "bridge", reader);
    require(&nic.mac_addr, yaml, "a network card", "mac_addr", reader);
    Some(ExtraNic {
        bridge: nic.bridge.into_setting()?.value,
        mac_address: nic.mac_addr.into_setting()?,
        address: nic.address.into_setting(),
        vlan_tag: nic.vlan_tag.into_setting().map(|tag| tag.value),
        mtu: nic.mtu.into_setting().map(|mtu| mtu.value),
    })
}

/// The data disks of a VM.
#[derive(Clone, Debug, Default)]
pub(super) struct DataDisks(pub(super) Vec<DataDiskSays>);

/// A data disk before it takes from its VM what it does not say itself.
#[derive(Clone, Debug)]
pub(super) struct DataDiskSays {
    size: DiskSize,
    storage: Option<StorageId>,
    pub(super) serial: Option<DiskSerial>,
    backup: Option<bool>,
}

impl DataDisks {
    /// The disks of a VM with this storage and this word about backups.
    pub(super) fn resolved(self, storage: &StorageId, backup: bool) -> Vec<DataDisk> {
        let disk = |disk: DataDiskSays| DataDisk {
            size: disk.size,
            storage: disk.storage.unwrap_or_else(|| storage.clone()),
            serial: disk.serial,
            backup: disk.backup.unwrap_or(backup),
        };
        self.0.into_iter().map(disk).collect()
    }
}

impl FromYaml for DataDisks {
    fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Self> {
        // Proxmox has scsi0 to scsi30, and scsi0 is the system disk.
        let items = items(yaml, "a list of disks", 30, reader)?;
        let disks: Vec<Option<DataDiskSays>> = items.iter().map(|item| data_disk(item, reader)).collect();
        disks.into_iter().collect::<Option<_>>().map(Self)
    }

    fn schema() -> Value {
        json!({ "type": "array", "maxItems": 30, "items": mapping::<DataDiskLayer>(Scope::DataDisk, &["size"]) })
    }

    fn show(&self) -> String {
        shown(&self.0, |disk| {
            let storage = disk.storage.as_ref().map_or(String::new(), |storage| format!(" on {storage}"));
            let serial = disk.serial.as_ref().map_or(String::new(), |serial| format!(" serial {serial}"));
            let backup = disk.backup.map_or("", |backup| if backup { " with backup" } else { " without backup" });
            format!("{}{storage}{serial}{backup}", disk.size)
        })
    }
}

fn data_disk(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<DataDiskSays> {
    let disk: DataDiskLayer = item(yaml, Scope::DataDisk, "a data disk", reader)?;
    require(&disk.size, yaml, "a data disk", "size", reader);
    Some(DataDiskSays {
        size: disk.size.into_setting()?.value.0,
        storage: disk.storage.into_setting().map(|storage| storage.value),
        serial: disk.serial.into_setting().map(|serial| serial.value),
        backup: disk.backup.into_setting().map(|backup| backup.value),
    })
}

/// The items of a list that has at most so many.
fn items<'y>(yaml: &'y Yaml, what: &str, most: usize, reader: &mut Reader<'_>) -> Option<&'y [Yaml]> {
    let Content::List(items) = &yaml.content else {
        reader.wrong_kind(yaml, format_args!("{what} is needed"));
        return None;
    };
    if let Some(first_too_many) = items.get(most) {
        let place = reader.place(&first_too_many.span, "one too many");
        reader.report(Problem::error(format!("{what} has at most {most} entries on Proxmox")).at(place));
        return None;
    }
    Some(items)
}

/// One item of such a list, without unknown keys.
fn item<L: Layer>(yaml: &Yaml, scope: Scope, what: &str, reader: &mut Reader<'_>) -> Option<L> {
    let mut fields = Fields::of(yaml, what, None, reader)?;
    let layer = L::read(scope, &mut fields, reader);
    fields.refuse_unknown(what, &L::names(scope), reader);
    Some(layer)
}

fn require<T>(field: &Field<T>, item: &Yaml, what: &str, key: &str, reader: &mut Reader<'_>) {
    if field.is_absent() {
        let place = reader.place(&item.span, format!("`{key}` is missing"));
        reader.report(Problem::error(format!("{what} needs `{key}`")).at(place));
    }
}

fn shown<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    if items.is_empty() { "none".to_owned() } else { items.iter().map(show).collect::<Vec<_>>().join(", ") }
}
