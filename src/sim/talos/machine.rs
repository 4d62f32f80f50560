use std::net::IpAddr;

use super::profile::Profile;
use crate::model::{DiskSize, MacAddress, SchematicId, TalosVersion};
use crate::proxmox::types::{Drive, NetworkCard, Smbios};
use crate::sim::{GuestView, drive, net};

/// A machine with Talos on it: what its resources tell, made from the configuration of its VM.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own that a resource tells")]
pub(super) struct Machine {
    pub(super) version: TalosVersion,
    pub(super) schematic: Option<SchematicId>,
    pub(super) stage: Stage,
    pub(super) uuid: String,
    /// What Proxmox calls the machine, as in `q35`.
    pub(super) model: String,
    pub(super) cards: Vec<Card>,
    pub(super) hostname: String,
    pub(super) platform: &'static str,
    /// Empty if no cloud-init data was read.
    pub(super) instance_id: String,
    pub(super) secure_boot: bool,
    pub(super) uefi: bool,
    pub(super) disks: Vec<Disk>,
    pub(super) agent: bool,
    pub(super) used: bool,
    /// Unix time of its start.
    pub(super) started: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Booting,
    Maintenance,
}

#[derive(Clone, Debug)]
pub(super) struct Card {
    pub(super) name: String,
    pub(super) mac: Option<MacAddress>,
    /// With the length of the network's prefix.
    pub(super) addresses: Vec<(IpAddr, u8)>,
}

#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) serial: String,
    pub(super) cdrom: bool,
}

/// What runs in a guest about which nothing is said.
const USUAL_VERSION: &str = "1.12.0";

impl Machine {
    pub(super) fn of(guest: &GuestView, stage: Stage) -> Self {
        let metal = guest.talos.profile == Profile::Metal;
        let another = guest.talos.profile == Profile::AnotherMachine;
        let smbios = guest.config.get("smbios1").and_then(|text| text.parse::<Smbios>().ok());
        let uuid = smbios.and_then(|smbios| smbios.uuid()).unwrap_or_default();
        let name = guest.config.get("name").cloned().unwrap_or_else(|| format!("VM{}", guest.vmid));
        let hostname = name.split('.').next().unwrap_or(&name).to_owned();
        let uefi = guest.config.get("bios").is_some_and(|bios| bios == "ovmf");
        let secure = guest.talos.secureboot.unwrap_or(false) && uefi && guest.config.contains_key("efidisk0");
        Self {
            version: guest.talos.version.clone().unwrap_or_else(|| USUAL_VERSION.parse().expect("this is a version")),
            schematic: guest.talos.schematic.clone(),
            stage,
            model: guest.config.get("machine").cloned().unwrap_or_else(|| "pc".to_owned()),
            cards: if another { vec![foreign_card(guest)] } else { cards(guest, metal) },
            hostname: if metal { "talos".to_owned() } else { hostname },
            platform: if metal { "metal" } else { "nocloud" },
            instance_id: if metal { uuid.clone() } else { guest.instance_id.clone().unwrap_or_default() },
            uuid: if another { ANOTHER_UUID.to_owned() } else { uuid },
            secure_boot: secure,
            uefi,
            disks: disks(guest),
            agent: guest.agent,
            used: guest.talos.profile == Profile::Used,
            started: guest.started_at,
        }
    }

    /// Whether the API is that of 1.13 and later: the one of configured nodes, read-only.
    pub(super) fn is_second_generation(&self) -> bool {
        self.version.is_at_least(1, 13)
    }

    pub(super) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.cards.iter().flat_map(|card| card.addresses.iter().map(|(address, _)| *address))
    }

    /// The disk that it runs from: the first one that can be written.
    pub(super) fn system_disk(&self) -> Option<&Disk> {
        self.disks.iter().find(|disk| !disk.cdrom)
    }
}

/// The identity of a machine that nobody expects.
const ANOTHER_UUID: &str = "ffffffff-0000-4000-8000-00000000dead";
const ANOTHER_MAC: &str = "02:00:00:00:DE:AD";

fn foreign_card(guest: &GuestView) -> Card {
    let addresses = guest.addresses().into_iter().collect();
    Card { name: "eth0".to_owned(), mac: ANOTHER_MAC.parse().ok(), addresses }
}

/// Metal images name cards by their slot, because they keep the names that systemd gives.
fn cards(guest: &GuestView, metal: bool) -> Vec<Card> {
    let mut given = guest.addresses_by_card();
    let cards = net::cards(&guest.config).into_iter().map(|(index, _)| {
        let key = format!("net{index}");
        let mac = guest.config.get(&key).and_then(|text| text.parse::<NetworkCard>().ok()).and_then(|card| card.mac);
        let name = if metal { format!("ens{}", 18 + index) } else { format!("eth{index}") };
        let addresses = if metal { Vec::new() } else { given.remove(&index).unwrap_or_default() };
        Card { name, mac: mac.map(|mac| mac.address()), addresses }
    });
    let mut cards: Vec<Card> = cards.collect();
    if let (true, Some(address), Some(first)) = (metal, guest.talos.dhcp, cards.first_mut()) {
        first.addresses.push((address, 24));
    }
    cards
}

/// Disks in the order in which the kernel finds them: first those behind a controller for SCSI, SATA or IDE, then
/// virtio's own.
fn disks(guest: &GuestView) -> Vec<Disk> {
    let mut letters = [('s', b'a'), ('v', b'a')];
    let mut roms = 0;
    let mut disks = Vec::new();
    for (key, parsed) in drive::all(&guest.config) {
        if key.starts_with("efidisk") || key.starts_with("tpmstate") {
            continue;
        }
        let size = guest.config.get(&key).and_then(|text| text.parse::<Drive>().ok()).and_then(|drive| drive.size);
        let size = size.map_or(4 << 20, DiskSize::bytes);
        let cdrom = drive::is_cdrom(&parsed);
        let name = if cdrom {
            roms += 1;
            format!("sr{}", roms - 1)
        } else {
            let (family, letter) = &mut letters[usize::from(key.starts_with("virtio"))];
            let name = format!("{family}d{}", char::from(*letter));
            *letter = letter.saturating_add(1).min(b'z');
            name
        };
        let serial = parsed.get("serial").cloned().unwrap_or_default();
        disks.push(Disk { name, size, serial, cdrom });
    }
    disks
}
