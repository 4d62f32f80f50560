use std::net::IpAddr;

use serde::Serialize;

use super::Answer;
use super::api::{Api, Failure, Kind};
use super::generated::definitions::{
    AddressStatusSpec, DiscoveredVolumeSpec, DiskSpec, HostnameStatusSpec, Layer, LinkStatusSpec, MachineStage,
    MachineStatusSpec, PlatformMetadataSpec, SecurityStateSpec, SystemDiskSpec, SystemInformationSpec, VersionSpec,
};
use super::generated::storage::{self, disk::DiskType};
use super::shown;
use crate::model::MacAddress;

/// Everything that a node in maintenance says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Said {
    /// The SMBIOS UUID in lower case.
    pub uuid: Answer<String>,
    /// The physical network cards.
    pub macs: Answer<Vec<MacAddress>>,
    pub addresses: Answer<Vec<IpAddr>>,
    pub hostname: Answer<String>,
    pub platform: Answer<Platform>,
    pub secure_boot: Answer<bool>,
    /// The device that Talos runs from, as in `/dev/sda`.
    pub system_disk: Answer<String>,
    pub disks: Answer<Vec<Disk>>,
    pub extensions: Answer<Vec<Extension>>,
    /// As Talos writes it, with a `v` in front.
    pub version: Answer<String>,
    /// The labels of all partitions.
    pub partitions: Answer<Vec<String>>,
}

/// Where the system believes to run, and what it was told there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Platform {
    pub name: String,
    pub hostname: String,
    pub instance_id: String,
}

/// A disk that can be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disk {
    pub path: String,
    /// Bytes.
    pub size: u64,
    pub serial: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Extension {
    pub name: String,
    pub version: String,
}

/// The kinds of resources that are read, in the spelling of Talos: data is looked up by the exact one.
mod kinds {
    use super::Kind;

    macro_rules! kinds {
        ($($constant:ident = $namespace:literal $name:literal;)*) => {
            $(pub(super) const $constant: Kind = Kind { namespace: $namespace, name: $name };)*
        };
    }

    kinds! {
        MACHINE_STATUS = "runtime" "MachineStatuses.runtime.talos.dev";
        VERSION = "runtime" "Versions.runtime.talos.dev";
        SYSTEM_INFORMATION = "hardware" "SystemInformations.hardware.talos.dev";
        LINKS = "network" "LinkStatuses.net.talos.dev";
        ADDRESSES = "network" "AddressStatuses.net.talos.dev";
        HOSTNAME = "network" "HostnameStatuses.net.talos.dev";
        PLATFORM = "runtime" "PlatformMetadatas.talos.dev";
        DISKS = "runtime" "Disks.block.talos.dev";
        SYSTEM_DISK = "runtime" "SystemDisks.block.talos.dev";
        VOLUMES = "runtime" "DiscoveredVolumes.block.talos.dev";
        SECURITY = "runtime" "SecurityStates.talos.dev";
        EXTENSIONS = "runtime" "ExtensionStatuses.runtime.talos.dev";
    }
}

/// Asks for the stage: the one question that every version answers in the same way.
pub(super) async fn stage(api: &Api) -> Result<MachineStage, Failure> {
    let status: MachineStatusSpec = api.get(kinds::MACHINE_STATUS, "machine").await?;
    Ok(status.stage())
}

/// Asks everything else, at once on the same connection. `Err` is a connection that ended in the middle, or a peer that
/// cannot be a Talos; whatever a version does not know is an answer.
pub(super) async fn ask(api: &Api) -> Result<Said, Failure> {
    let (uuid, macs, addresses, hostname, platform, secure_boot, disks, extensions, version, partitions) = tokio::join!(
        api.get::<SystemInformationSpec>(kinds::SYSTEM_INFORMATION, "systeminformation"),
        api.list::<LinkStatusSpec>(kinds::LINKS),
        api.list::<AddressStatusSpec>(kinds::ADDRESSES),
        api.get::<HostnameStatusSpec>(kinds::HOSTNAME, "hostname"),
        api.get::<PlatformMetadataSpec>(kinds::PLATFORM, "platformmetadata"),
        api.get::<SecurityStateSpec>(kinds::SECURITY, "securitystate"),
        ask_disks(api),
        api.list::<Layer>(kinds::EXTENSIONS),
        ask_version(api),
        api.list::<DiscoveredVolumeSpec>(kinds::VOLUMES),
    );
    let Storage { system_disk, disks, as_resources } = disks?;
    // Images before 1.8 have all partitions from the start, so that their presence tells nothing.
    let partitions = if as_resources { partitions } else { Err(Failure::Unknown) };
    Ok(Said {
        uuid: tolerate(uuid)?.map(|system| shown(&system.uuid).to_ascii_lowercase()),
        macs: tolerate(macs)?.map(|links| links.iter().filter_map(|(_, link)| physical_mac(link)).collect()),
        addresses: tolerate(addresses)?.map(|all| all.iter().filter_map(|(_, status)| address(status)).collect()),
        hostname: tolerate(hostname)?.map(|status| shown(&status.hostname)),
        platform: tolerate(platform)?.map(|metadata| Platform {
            name: shown(&metadata.platform),
            hostname: shown(&metadata.hostname),
            instance_id: shown(&metadata.instance_id),
        }),
        secure_boot: tolerate(secure_boot)?.map(|state| state.secure_boot),
        system_disk,
        disks,
        extensions: tolerate(extensions)?.map(|layers| layers.into_iter().filter_map(extension).collect()),
        version,
        partitions: tolerate(partitions)?.map(|volumes| volumes.into_iter().filter_map(label).collect()),
    })
}

/// A question that this node does not answer is no trouble; a connection that is gone is.
fn tolerate<T>(result: Result<T, Failure>) -> Result<Answer<T>, Failure> {
    match result {
        Err(failure @ (Failure::BrokenOff(_) | Failure::Nonsense(_))) => Err(failure),
        result => Ok(result.into()),
    }
}

/// What a node says about its disks.
struct Storage {
    system_disk: Answer<String>,
    disks: Answer<Vec<Disk>>,
    /// Whether they are resources, which they are from 1.8 on.
    as_resources: bool,
}

async fn ask_disks(api: &Api) -> Result<Storage, Failure> {
    let (system, disks) =
        tokio::join!(api.get::<SystemDiskSpec>(kinds::SYSTEM_DISK, "system-disk"), api.list::<DiskSpec>(kinds::DISKS));
    if let (Err(Failure::Unknown), Err(Failure::Unknown)) = (&system, &disks) {
        return ask_disks_by_call(api).await;
    }
    let disks = tolerate(disks)?.map(|disks| {
        let writable = disks.into_iter().filter(|(_, disk)| !disk.cdrom && !disk.readonly);
        let disk = |(id, disk): (String, DiskSpec)| Disk {
            path: device(&disk.dev_path, &id),
            size: disk.size,
            serial: shown(&disk.serial),
        };
        writable.map(disk).collect()
    });
    let system_disk = tolerate(system)?.map(|disk| device(&disk.dev_path, &disk.disk_id));
    Ok(Storage { system_disk, disks, as_resources: true })
}

/// The way to ask before 1.8.
async fn ask_disks_by_call(api: &Api) -> Result<Storage, Failure> {
    let all = tolerate(api.disks().await)?;
    let system = all.said().and_then(|disks| disks.iter().find(|disk| disk.system_disk));
    let system_disk = match (system, &all) {
        (Some(disk), _) => Answer::Said(shown(&disk.device_name)),
        (None, Answer::Said(_)) => Answer::Nothing,
        (None, silence) => silence.clone().map(|_| String::new()),
    };
    let disks = all.map(|disks| {
        let writable = disks.into_iter().filter(|disk| !disk.readonly && disk.r#type() != DiskType::Cd);
        let disk =
            |disk: storage::Disk| Disk { path: shown(&disk.device_name), size: disk.size, serial: shown(&disk.serial) };
        writable.map(disk).collect()
    });
    Ok(Storage { system_disk, disks, as_resources: false })
}

/// The path of a device, which the first versions with this resource leave out.
fn device(path: &str, id: &str) -> String {
    if path.is_empty() { format!("/dev/{}", shown(id)) } else { shown(path) }
}

/// The version as a resource from 1.10 on; the call is there from 1.13 on.
async fn ask_version(api: &Api) -> Answer<String> {
    let version = match api.get::<VersionSpec>(kinds::VERSION, "version").await {
        Ok(version) => Ok(version.version),
        Err(_) => api.version().await,
    };
    Answer::from(version).map(|version| shown(&version))
}

/// The address of a real card: what has a kind is a bridge, a bond or the like.
fn physical_mac(link: &LinkStatusSpec) -> Option<MacAddress> {
    const ETHERNET: i32 = 1;
    let octets = if link.permanent_addr.is_empty() { &link.hardware_addr } else { &link.permanent_addr };
    if link.r#type != ETHERNET || !link.kind.is_empty() || octets.len() != 6 {
        return None;
    }
    let pairs: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    pairs.join(":").parse().ok()
}

fn address(status: &AddressStatusSpec) -> Option<IpAddr> {
    let octets = status.address.as_ref()?.ip.as_slice();
    let v4 = || <[u8; 4]>::try_from(octets).ok().map(IpAddr::from);
    v4().or_else(|| <[u8; 16]>::try_from(octets).ok().map(IpAddr::from))
}

fn extension((_, layer): (String, Layer)) -> Option<Extension> {
    let metadata = layer.metadata?;
    Some(Extension { name: shown(&metadata.name), version: shown(&metadata.version) })
}

fn label((_, volume): (String, DiscoveredVolumeSpec)) -> Option<String> {
    Some(shown(&volume.partition_label)).filter(|label| !label.is_empty())
}

impl Said {
    /// The schematic that the image was made from, which stands among its extensions.
    pub fn schematic(&self) -> Option<&str> {
        let extensions = self.extensions.said()?;
        extensions.iter().find(|extension| extension.name == SCHEMATIC).map(|schematic| schematic.version.as_str())
    }

    /// The extensions that somebody chose.
    pub fn chosen_extensions(&self) -> Option<Vec<&str>> {
        let names = self.extensions.said()?.iter().map(|extension| extension.name.as_str());
        Some(names.filter(|name| ![SCHEMATIC, MODULES].contains(name)).collect())
    }
}

/// What stands among the extensions of an image without being one.
const SCHEMATIC: &str = "schematic";
const MODULES: &str = "modules.dep";
