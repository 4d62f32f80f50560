use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use super::cloudinit;
use super::talos::{Profile, TalosGuest};
use super::vm::{Power, Vm, family};
use super::world::World;
use crate::proxmox::types::{Cpu, EfiDisk, IpConfig, Ipv4Config, Ipv6Config};

/// A running VM as whoever simulates its guest needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestView {
    pub vmid: u32,
    pub host: String,
    /// When its process began.
    pub started: Duration,
    /// The same as Unix time.
    pub started_at: u64,
    /// How long it has been running.
    pub up: Duration,
    /// How long it takes to boot.
    pub boot: Duration,
    /// Whether it has booted and listens.
    pub has_booted: bool,
    /// Whether it takes the address that cloud-init offers.
    pub takes_address: bool,
    /// Whether a guest agent runs in it.
    pub agent: bool,
    /// The id of its cloud-init data, if it has a drive with data for it.
    pub instance_id: Option<String>,
    /// What it was started with; pending values are not in it.
    pub config: BTreeMap<String, String>,
    pub(crate) talos: TalosGuest,
}

impl World {
    /// The VMs that run now and are not paused.
    pub fn running_guests(&self) -> Vec<GuestView> {
        self.vms.iter().filter_map(|(id, vm)| self.guest_view(*id, vm)).collect()
    }

    /// The running VM that has an address, whatever answers there.
    pub fn guest_at(&self, address: IpAddr) -> Option<GuestView> {
        // Whoever has the address mentions it, and looking for a text is cheap.
        let text = address.to_string();
        let dhcp = |vm: &Vm| self.talos_in(vm).dhcp == Some(address);
        let mentions =
            |vm: &Vm| vm.config.iter().any(|(key, value)| key.starts_with("ipconfig") && value.contains(&text));
        let views = self.vms.iter().filter(|(_, vm)| dhcp(vm) || address.is_ipv6() || mentions(vm));
        views.filter_map(|(id, vm)| self.guest_view(*id, vm)).find(|guest| guest.has_address(address))
    }

    /// What is said about the Talos in a VM: under its name, or with the VM itself.
    pub(crate) fn talos_in<'w>(&'w self, vm: &'w Vm) -> &'w TalosGuest {
        vm.config.get("name").and_then(|name| self.talos.get(name)).unwrap_or(&vm.guest.talos)
    }

    fn guest_view(&self, id: u32, vm: &Vm) -> Option<GuestView> {
        let Power::Running { since, paused: false, .. } = vm.power else {
            return None;
        };
        let host = self.hosts.get(&vm.host).cloned().unwrap_or_default();
        let own = &vm.guest.talos;
        let named = self.talos_in(vm);
        Some(GuestView {
            vmid: id,
            host: vm.host.clone(),
            started: Duration::from_millis(since),
            started_at: self.epoch.saturating_add(since / 1000),
            up: Duration::from_millis(self.now.saturating_sub(since)),
            boot: Duration::from_millis(vm.guest.boot),
            has_booted: vm.listens(self.now),
            takes_address: vm.guest.address,
            agent: vm.guest.agent,
            instance_id: cloudinit::instance_id(id, &vm.config, &host),
            config: vm.config.clone(),
            talos: TalosGuest {
                version: named.version.clone().or_else(|| own.version.clone()),
                schematic: named.schematic.clone().or_else(|| own.schematic.clone()),
                secureboot: named.secureboot.or(own.secureboot),
                ..named.clone()
            },
        })
    }
}

impl GuestView {
    /// Whether the guest has this address.
    pub fn has_address(&self, address: IpAddr) -> bool {
        self.addresses().iter().any(|(given, _)| *given == address)
    }

    /// All addresses with the lengths of their prefixes.
    pub fn addresses(&self) -> Vec<(IpAddr, u8)> {
        if self.talos.profile == Profile::Metal {
            return self.talos.dhcp.map(|address| (address, 24)).into_iter().collect();
        }
        self.addresses_by_card().into_values().flatten().collect()
    }

    /// What cloud-init gives to the cards, if the guest reads it.
    pub(crate) fn addresses_by_card(&self) -> BTreeMap<u16, Vec<(IpAddr, u8)>> {
        // Of other systems it is only known what the files say.
        let unread = self.is_talos_image() && self.instance_id.is_none();
        if !self.takes_address || unread {
            return BTreeMap::new();
        }
        let addresses = |text: &String| {
            let config = text.parse::<IpConfig>().unwrap_or_default();
            let v4 = match config.ip {
                Some(Ipv4Config::Static(net)) => Some((IpAddr::V4(net.addr()), net.prefix_len())),
                _ => None,
            };
            let v6 = match config.ip6 {
                Some(Ipv6Config::Static(net)) => Some((IpAddr::V6(net.addr()), net.prefix_len())),
                _ => None,
            };
            v4.into_iter().chain(v6).collect()
        };
        family(&self.config, "ipconfig").into_iter().map(|(index, text)| (index, addresses(text))).collect()
    }

    /// Whether it is known to run a Talos image, so that it needs what Talos needs.
    fn is_talos_image(&self) -> bool {
        self.talos.version.is_some()
    }

    /// Whether the machine can start this system at all: Talos halts on a processor without x86-64-v2, which Proxmox'
    /// default is, and firmware with Microsoft's keys refuses to start it.
    pub(crate) fn can_boot(&self) -> bool {
        let cpu = self.config.get("cpu").and_then(|text| text.parse::<Cpu>().ok()).unwrap_or_default();
        let too_old = matches!(cpu.model().unwrap_or("kvm64"), "kvm64" | "kvm32" | "qemu64" | "qemu32" | "x86-64-v1");
        let keys = self.config.get("efidisk0").and_then(|text| text.parse::<EfiDisk>().ok());
        let uefi = self.config.get("bios").is_some_and(|bios| bios == "ovmf");
        let refused = uefi && keys.is_some_and(|disk| disk.pre_enrolled_keys.get());
        !self.is_talos_image() || !(too_old || refused)
    }
}
