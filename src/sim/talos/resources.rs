//! What a machine tells: its resources, each encoded and as YAML, in the words of its version.

use std::fmt::Write as _;
use std::net::IpAddr;

use prost::Message;

use super::machine::{Card, Disk, Machine, Stage};
use crate::model::DiskSize;
use crate::talos::generated::definitions::{
    AddressStatusSpec, DiscoveredVolumeSpec, DiskSpec, ExtensionMetadata, HostnameStatusSpec, Layer, LinkStatusSpec,
    MachineStage, MachineStatusSpec, MachineStatusStatus, NetIpPrefix, PlatformMetadataSpec, SecurityStateSpec,
    SystemDiskSpec, SystemInformationSpec, VersionSpec,
};
use crate::talos::generated::resource::{Metadata, Resource, Spec};

/// The types that some version knows: namespace, name, and the minor release of 1 that brought it.
const TYPES: [(&str, &str, u32); 12] = [
    ("runtime", "MachineStatuses.runtime.talos.dev", 0),
    ("runtime", "Versions.runtime.talos.dev", 10),
    ("hardware", "SystemInformations.hardware.talos.dev", 0),
    ("network", "LinkStatuses.net.talos.dev", 0),
    ("network", "AddressStatuses.net.talos.dev", 0),
    ("network", "HostnameStatuses.net.talos.dev", 0),
    ("runtime", "PlatformMetadatas.talos.dev", 0),
    ("runtime", "Disks.block.talos.dev", 8),
    ("runtime", "SystemDisks.block.talos.dev", 8),
    ("runtime", "DiscoveredVolumes.block.talos.dev", 7),
    ("runtime", "SecurityStates.talos.dev", 0),
    ("runtime", "ExtensionStatuses.runtime.talos.dev", 0),
];

/// Whether this version has the type.
pub(super) fn knows(machine: &Machine, kind: &str) -> bool {
    TYPES.iter().any(|(_, name, since)| *name == kind && machine.version.is_at_least(1, *since))
}

pub(super) fn knows_namespace(namespace: &str) -> bool {
    TYPES.iter().any(|(known, ..)| *known == namespace)
}

/// All resources of a type, sorted by their names.
pub(super) fn all(machine: &Machine, namespace: &str, kind: &str) -> Vec<Resource> {
    let place = TYPES.iter().find(|(known, name, _)| *name == kind && *known == namespace);
    let Some((namespace, kind, _)) = place else {
        return Vec::new();
    };
    let make = |(id, proto_spec, yaml_spec): Told| Resource {
        metadata: Some(Metadata {
            namespace: (*namespace).to_owned(),
            r#type: (*kind).to_owned(),
            id,
            version: "1".to_owned(),
            owner: String::new(),
            phase: "running".to_owned(),
        }),
        spec: Some(Spec { proto_spec, yaml_spec }),
    };
    told(machine, kind).into_iter().map(make).collect()
}

/// A name, the encoded message and the YAML.
type Told = (String, Vec<u8>, String);

fn told(machine: &Machine, kind: &str) -> Vec<Told> {
    match kind {
        "MachineStatuses.runtime.talos.dev" => vec![machine_status(machine)],
        "Versions.runtime.talos.dev" => {
            let version = format!("v{}", machine.version);
            vec![tell("version", &VersionSpec { version: version.clone() }, format!("version: {version}\n"))]
        }
        "SystemInformations.hardware.talos.dev" => vec![system_information(machine)],
        "LinkStatuses.net.talos.dev" => links(machine),
        "AddressStatuses.net.talos.dev" => machine.cards.iter().enumerate().flat_map(addresses).collect(),
        "HostnameStatuses.net.talos.dev" => {
            let hostname = machine.hostname.clone();
            let yaml = format!("hostname: {hostname}\ndomainname: \"\"\n");
            vec![tell("hostname", &HostnameStatusSpec { hostname, domainname: String::new() }, yaml)]
        }
        "PlatformMetadatas.talos.dev" => platform(machine).into_iter().collect(),
        "Disks.block.talos.dev" => machine.disks.iter().map(|disk| told_disk(machine, disk)).collect(),
        "SystemDisks.block.talos.dev" => {
            machine.system_disk().map(|disk| system_disk(machine, disk)).into_iter().collect()
        }
        "DiscoveredVolumes.block.talos.dev" => volumes(machine),
        "SecurityStates.talos.dev" => vec![security(machine)],
        "ExtensionStatuses.runtime.talos.dev" => extensions(machine),
        _ => Vec::new(),
    }
}

fn tell(id: impl Into<String>, spec: &impl Message, yaml: String) -> Told {
    (id.into(), spec.encode_to_vec(), yaml)
}

fn machine_status(machine: &Machine) -> Told {
    let (stage, word, ready) = match machine.stage {
        Stage::Booting => (MachineStage::Booting, "booting", false),
        Stage::Maintenance => (MachineStage::Maintenance, "maintenance", true),
    };
    let spec = MachineStatusSpec { stage: stage.into(), status: Some(MachineStatusStatus { ready }) };
    tell("machine", &spec, format!("stage: {word}\nstatus:\n    ready: {ready}\n    unmetConditions: []\n"))
}

fn system_information(machine: &Machine) -> Told {
    let spec = SystemInformationSpec {
        manufacturer: "QEMU".to_owned(),
        product_name: "Standard PC (Q35 + ICH9, 2009)".to_owned(),
        version: machine.model.clone(),
        serial_number: String::new(),
        uuid: machine.uuid.clone(),
    };
    let SystemInformationSpec { manufacturer, product_name, version, uuid, .. } = &spec;
    let yaml = format!("manufacturer: {manufacturer}\nproductName: {product_name}\nversion: {version}\nuuid: {uuid}\n");
    tell("systeminformation", &spec, yaml)
}

/// The cards, and the links that every machine has beside them.
fn links(machine: &Machine) -> Vec<Told> {
    const ETHERNET: i32 = 1;
    const LOOPBACK: i32 = 772;
    const UP: i32 = 6;
    let link = |name: &str, index: usize, kind: &str, class: i32, octets: Vec<u8>| {
        let spec = LinkStatusSpec {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            r#type: class,
            // Before 1.9 the card's own address is all there is.
            permanent_addr: if machine.version.is_at_least(1, 9) { octets.clone() } else { Vec::new() },
            hardware_addr: octets,
            mtu: 1500,
            operational_state: UP,
            kind: kind.to_owned(),
            link_state: true,
        };
        let pairs: Vec<String> = spec.hardware_addr.iter().map(|octet| format!("{octet:02x}")).collect();
        let (class, mac) = (if class == LOOPBACK { "loopback" } else { "ether" }, pairs.join(":"));
        let yaml = format!(
            "index: {index}\ntype: {class}\nhardwareAddr: {mac}\nmtu: 1500\noperationalState: up\nkind: \"{kind}\"\nlinkState: true\n"
        );
        tell(name, &spec, yaml)
    };
    let mut links = vec![
        link("bond0", 100, "bond", ETHERNET, vec![0x1e, 0, 0, 0, 0, 1]),
        link("dummy0", 101, "dummy", ETHERNET, vec![0x2e, 0, 0, 0, 0, 1]),
    ];
    links.extend(machine.cards.iter().enumerate().map(|(index, card)| {
        let text = card.mac.map(|mac| mac.to_string()).unwrap_or_default();
        let octets = text.split(':').filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect();
        link(&card.name, index + 2, "", ETHERNET, octets)
    }));
    links.push(link("lo", 1, "", LOOPBACK, vec![0; 6]));
    links
}

fn addresses((index, card): (usize, &Card)) -> Vec<Told> {
    let tell_address = |(address, length): &(IpAddr, u8)| {
        let (ip, family, word) = match address {
            IpAddr::V4(address) => (address.octets().to_vec(), 2, "inet4"),
            IpAddr::V6(address) => (address.octets().to_vec(), 10, "inet6"),
        };
        let spec = AddressStatusSpec {
            address: Some(NetIpPrefix { ip, prefix_length: i32::from(*length) }),
            link_index: u32::try_from(index + 2).unwrap_or(u32::MAX),
            link_name: card.name.clone(),
            family,
        };
        let yaml = format!("address: {address}/{length}\nlinkName: {}\nfamily: {word}\n", card.name);
        tell(format!("{}/{address}/{length}", card.name), &spec, yaml)
    };
    card.addresses.iter().map(tell_address).collect()
}

/// Without cloud-init's data there is nothing to tell before 1.12, and the platform alone from then on.
fn platform(machine: &Machine) -> Option<Told> {
    let Machine { platform, instance_id, .. } = machine;
    if instance_id.is_empty() && !machine.version.is_at_least(1, 12) {
        return None;
    }
    let named = *platform == "nocloud" && !instance_id.is_empty();
    let spec = PlatformMetadataSpec {
        platform: (*platform).to_owned(),
        hostname: if named { machine.hostname.clone() } else { String::new() },
        instance_id: instance_id.clone(),
    };
    let mut yaml = format!("platform: {platform}\n");
    for (key, value) in [("hostname", &spec.hostname), ("instanceId", instance_id)] {
        if !value.is_empty() {
            writeln!(yaml, "{key}: {value}").expect("writing to a string never fails");
        }
    }
    Some(tell("platformmetadata", &spec, yaml))
}

fn told_disk(machine: &Machine, disk: &Disk) -> Told {
    let pretty_size = DiskSize::from_bytes(disk.size).map_or(String::new(), |size| size.to_string());
    let spec = DiskSpec {
        size: disk.size,
        readonly: disk.cdrom,
        model: if disk.cdrom { "QEMU DVD-ROM" } else { "QEMU HARDDISK" }.to_owned(),
        serial: disk.serial.clone(),
        transport: "virtio".to_owned(),
        cdrom: disk.cdrom,
        dev_path: device(machine, disk),
        pretty_size,
    };
    let DiskSpec { size, readonly, model, serial, cdrom, dev_path, pretty_size, .. } = &spec;
    let yaml = format!(
        "dev_path: {dev_path}\nsize: {size}\npretty_size: {pretty_size}\nreadonly: {readonly}\ncdrom: {cdrom}\nmodel: {model}\nserial: \"{serial}\"\n"
    );
    tell(disk.name.clone(), &spec, yaml)
}

/// The path, which 1.8 leaves to the reader.
fn device(machine: &Machine, disk: &Disk) -> String {
    if machine.version.is_at_least(1, 9) { format!("/dev/{}", disk.name) } else { String::new() }
}

fn system_disk(machine: &Machine, disk: &Disk) -> Told {
    let spec = SystemDiskSpec { disk_id: disk.name.clone(), dev_path: device(machine, disk) };
    let yaml = format!("diskID: {}\ndevPath: {}\n", spec.disk_id, spec.dev_path);
    tell("system-disk", &spec, yaml)
}

/// The partitions of an image, and those that the first configuration adds; before 1.8 an image has all from the start.
fn volumes(machine: &Machine) -> Vec<Told> {
    let Some(disk) = machine.system_disk() else {
        return Vec::new();
    };
    let mut labels = vec!["EFI", "BIOS", "BOOT", "META"];
    if machine.used || !machine.version.is_at_least(1, 8) {
        labels.extend(["STATE", "EPHEMERAL"]);
    }
    let volume = |(index, label): (usize, &str)| {
        let name = format!("{}{}", disk.name, index + 1);
        let spec = DiscoveredVolumeSpec {
            size: 1 << 20,
            name: String::new(),
            label: String::new(),
            partition_label: label.to_owned(),
            r#type: "partition".to_owned(),
        };
        tell(name, &spec, format!("type: partition\npartitionLabel: {label}\n"))
    };
    labels.into_iter().enumerate().map(volume).collect()
}

fn security(machine: &Machine) -> Told {
    let secure_boot = machine.secure_boot;
    let booted_with_uki = machine.uefi && machine.version.is_at_least(1, 10);
    let spec = SecurityStateSpec { secure_boot, booted_with_uki };
    tell("securitystate", &spec, format!("secureBoot: {secure_boot}\nbootedWithUKI: {booted_with_uki}\n"))
}

/// The extensions with what stands among them in an image of a factory.
fn extensions(machine: &Machine) -> Vec<Told> {
    let mut layers = Vec::new();
    if machine.agent {
        layers.push(("qemu-guest-agent", "10.0.2".to_owned()));
    }
    layers.extend(machine.schematic.iter().map(|schematic| ("schematic", schematic.to_string())));
    if !layers.is_empty() {
        layers.push(("modules.dep", format!("v{}", machine.version)));
    }
    let layer = |(index, (name, version)): (usize, (&str, String))| {
        let yaml = format!("image: {index}.sqsh\nmetadata:\n    name: {name}\n    version: {version}\n");
        let metadata = ExtensionMetadata { name: name.to_owned(), version, ..ExtensionMetadata::default() };
        tell(index.to_string(), &Layer { image: format!("{index}.sqsh"), metadata: Some(metadata) }, yaml)
    };
    layers.into_iter().enumerate().map(layer).collect()
}
