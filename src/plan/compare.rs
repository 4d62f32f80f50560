use std::fmt::Display;
use std::net::IpAddr;

use ipnet::IpNet;

use super::difference::{Difference, Edit, Effect};
use crate::model::{
    BridgeName, Cluster, DiskSize, InstallDisk, MacAddress, Mtu, NicAddress, Node, Origin, Prefixed, Queues,
    ScsiController, Setting, StorageId, Tag, VlanTag, VmId,
};
use crate::proxmox::answers::VmConfig;
use crate::proxmox::calls::PlainKey;
use crate::proxmox::types::{
    BootOrder, CardIndex, DiskSlot, Drive, DriveBus, DriveSlot, DriveSource, IpConfig, Ipv4Config, Ipv6Config,
    MachineType, Memory, NetworkCard, NicModel, Properties, Reading, Tags, TpmState, TpmVersion, VolumeId,
};

/// How much of a VM is ours to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything: it is a clone that nobody has used yet, and what it inherited from its template means nothing.
    Whole,
    /// What the user declared; the rest may have been changed by hand, and on purpose.
    Declared,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    pub differences: Vec<Difference>,
    /// What cannot be mended, a sentence each.
    pub refusals: Vec<String>,
    /// What is not as in the files and does not have to be, a sentence each.
    pub notes: Vec<String>,
}

/// The tag that all VMs of a cluster carry.
pub fn cluster_tag(cluster: &Cluster) -> Tag {
    format!("pvetalos-{}", cluster.name.value).parse().expect("a cluster's name is made of characters that tags take")
}

/// The tags that a node's VM has to carry.
pub fn node_tags(cluster: &Cluster, node: &Node) -> Tags {
    let role = node.role.value.choose("control-plane", "worker");
    let ours = ["talos", "kubernetes", role].map(|tag| tag.parse().expect("these words are tags"));
    let mut tags: Tags = ours.iter().chain(&node.vm.tags.value).collect();
    tags.insert(&cluster_tag(cluster));
    tags
}

/// Finds what is different between a node and the options of its VM, as values and not as texts.
pub fn compare(cluster: &Cluster, node: &Node, vmid: VmId, config: &VmConfig, scope: Scope) -> Comparison {
    let mut comparing = Comparing { cluster, node, vmid, config, scope, found: Comparison::default() };
    comparing.name_and_tags();
    comparing.processor_and_memory();
    comparing.hardware();
    comparing.start();
    comparing.cards();
    comparing.cloud_init();
    comparing.inherited();
    comparing.system_disk();
    comparing.data_disks();
    comparing.tpm();
    comparing.found
}

struct Comparing<'a> {
    cluster: &'a Cluster,
    node: &'a Node,
    vmid: VmId,
    config: &'a VmConfig,
    scope: Scope,
    found: Comparison,
}

/// The slot of the disk that Talos lives on.
pub fn system_slot() -> DiskSlot {
    scsi(0).expect("scsi0 is a slot")
}

fn scsi(index: usize) -> Option<DiskSlot> {
    DriveSlot::new(DriveBus::Scsi, u8::try_from(index).ok()?)?.try_into().ok()
}

impl Comparing<'_> {
    fn manages(&self, origin: &Origin) -> bool {
        self.scope == Scope::Whole || origin.is_declared()
    }

    fn whole(&self) -> bool {
        self.scope == Scope::Whole
    }

    fn differs(
        &mut self,
        option: impl Display,
        (from, to): (Option<String>, Option<String>),
        because: impl Display,
        effect: Effect,
        edit: Edit,
    ) {
        let (option, because) = (option.to_string(), because.to_string());
        self.found.differences.push(Difference { option, from, to, because, effect, edit });
    }

    /// Compares an option by the text of its value.
    fn plain<T: Display>(&mut self, key: PlainKey, wanted: &Setting<T>, is: impl Display, effect: Effect) {
        if !self.manages(&wanted.origin) {
            return;
        }
        let (is, wanted_text) = (is.to_string(), wanted.value.to_string());
        if is != wanted_text {
            let edit = Edit::Set(key, wanted_text.clone());
            self.differs(key, (Some(is), Some(wanted_text)), &wanted.origin, effect, edit);
        }
    }

    fn flag(&mut self, key: PlainKey, wanted: &Setting<bool>, effect: Effect) {
        let is = self.config.flag(key.as_str(), false);
        let wanted = Setting::new(u8::from(wanted.value), wanted.origin.clone());
        self.plain(key, &wanted, u8::from(is), effect);
    }

    /// Compares a value that keeps what we do not manage of it.
    fn typed<T: PartialEq + Display>(
        &mut self,
        key: PlainKey,
        is: &Reading<T>,
        wanted: &T,
        because: impl Display,
        effect: Effect,
    ) {
        let absent = self.config.get(key.as_str()).is_none();
        if is.known() != Some(wanted) {
            let (from, to) = ((!absent).then(|| is.to_string()), wanted.to_string());
            self.differs(key, (from, Some(to.clone())), because, effect, Edit::Set(key, to));
        }
    }

    fn name_and_tags(&mut self) {
        let (node, config) = (self.node, self.config);
        let name = node.name.value.to_string();
        if config.name() != Some(name.as_str()) {
            let values = (config.name().map(str::to_owned), Some(name.clone()));
            self.differs("name", values, &node.name.origin, Effect::Disruptive, Edit::Set(PlainKey::Name, name));
        }
        let wanted = node_tags(self.cluster, node);
        let is = config.tags();
        let tags = if self.whole() { wanted } else { joined(&is, &wanted) };
        if is != tags {
            let because = match node.vm.tags.value.as_slice() {
                [] => "every node of the cluster".to_owned(),
                _ => node.vm.tags.origin.to_string(),
            };
            let values = ((!is.is_empty()).then(|| is.to_string()), Some(tags.to_string()));
            self.differs("tags", values, because, Effect::Harmless, Edit::Set(PlainKey::Tags, tags.to_string()));
        }
    }

    fn processor_and_memory(&mut self) {
        let (vm, config) = (&self.node.vm, self.config);
        self.plain(PlainKey::Cores, &vm.cores, config.cores(), Effect::AfterPowerCycle);
        self.plain(PlainKey::Sockets, &vm.sockets, config.sockets(), Effect::AfterPowerCycle);
        let is = config.memory();
        let mut wanted = is.clone().into_known().unwrap_or_default();
        if self.manages(&vm.memory.origin) {
            wanted.mib = vm.memory.value.get();
        }
        let memory = wanted.mib;
        self.typed(PlainKey::Memory, &is, &wanted, &vm.memory.origin, Effect::AfterPowerCycle);
        self.balloon(is.known().map_or(memory, |memory: &Memory| memory.mib), memory);
        let is = config.cpu();
        if self.manages(&vm.cpu_type.origin) {
            let mut wanted = is.clone().into_known().unwrap_or_default();
            wanted.set(&vm.cpu_type.value);
            self.typed(PlainKey::Cpu, &is, &wanted, &vm.cpu_type.origin, Effect::AfterPowerCycle);
        }
        self.flag(PlainKey::Numa, &vm.numa, Effect::AfterPowerCycle);
    }

    /// An absent balloon is as large as the memory; one that is larger than the memory is refused by Proxmox.
    fn balloon(&mut self, memory_is: u32, memory_wanted: u32) {
        let wanted = &self.node.vm.balloon;
        let is = self.config.number("balloon");
        if self.manages(&wanted.origin) && wanted.value.get() > memory_wanted {
            let Setting { value, origin } = wanted;
            self.found.refusals.push(format!(
                "balloon: {value} MiB ({origin}) are more than the {memory_wanted} MiB of memory that the VM has; say how \
                 much `vm_memory` it shall have"
            ));
        } else if self.manages(&wanted.origin) {
            self.plain(PlainKey::Balloon, wanted, is.unwrap_or(u64::from(memory_is)), Effect::AfterPowerCycle);
        } else if let Some(too_large) = is.filter(|mib| *mib > u64::from(memory_wanted)) {
            let values = (Some(too_large.to_string()), Some(memory_wanted.to_string()));
            let edit = Edit::Set(PlainKey::Balloon, memory_wanted.to_string());
            self.differs("balloon", values, "it must not exceed the memory", Effect::AfterPowerCycle, edit);
        }
    }

    fn hardware(&mut self) {
        let (vm, config) = (&self.node.vm, self.config);
        let bios = config.get("bios").unwrap_or("seabios");
        if self.manages(&vm.bios.origin) && bios != vm.bios.value.as_str() {
            let Setting { value, origin } = &vm.bios;
            let refusal =
                format!("bios: {bios} cannot become {value} ({origin}): what is installed boots only with {bios}");
            self.found.refusals.push(refusal);
        }
        let machine = config.machine();
        let chipset = machine.known().and_then(MachineType::chipset);
        if self.manages(&vm.machine.origin) && chipset != Some(vm.machine.value) {
            let Setting { value, origin } = &vm.machine;
            if self.whole() {
                let wanted = MachineType::from(*value);
                self.typed(PlainKey::Machine, &machine, &wanted, origin, Effect::AfterPowerCycle);
            } else {
                let is = config.get("machine").unwrap_or("i440fx");
                let refusal = format!(
                    "machine: {is} cannot become {value} ({origin}): the guest would find all its devices elsewhere"
                );
                self.found.refusals.push(refusal);
            }
        }
        let (controller, ostype) = (config.get("scsihw").unwrap_or("lsi"), config.get("ostype").unwrap_or("other"));
        self.plain(PlainKey::ScsiController, &vm.scsi_hw, controller, Effect::AfterPowerCycle);
        self.plain(PlainKey::OsType, &vm.ostype, ostype, Effect::AfterPowerCycle);
        let is = config.agent();
        if self.manages(&vm.qemu_agent.origin) {
            let mut wanted = is.clone().into_known().unwrap_or_default();
            wanted.enabled.set(vm.qemu_agent.value);
            self.typed(PlainKey::Agent, &is, &wanted, &vm.qemu_agent.origin, Effect::AfterPowerCycle);
        }
    }

    fn start(&mut self) {
        let (vm, config) = (&self.node.vm, self.config);
        self.flag(PlainKey::OnBoot, &vm.onboot, Effect::Harmless);
        let is = config.startup();
        let mut wanted = is.clone().into_known().unwrap_or_default();
        let mut because = &vm.startup_order.origin;
        if self.manages(&vm.startup_delay.origin) {
            (wanted.up, because) = (Some(vm.startup_delay.value.get()), &vm.startup_delay.origin);
        }
        if self.manages(&vm.shutdown_delay.origin) {
            (wanted.down, because) = (Some(vm.shutdown_delay.value.get()), &vm.shutdown_delay.origin);
        }
        if self.manages(&vm.startup_order.origin) {
            (wanted.order, because) = (Some(vm.startup_order.value.get()), &vm.startup_order.origin);
        }
        if is != Reading::Known(wanted.clone()) && !wanted.to_string().is_empty() {
            self.typed(PlainKey::Startup, &is, &wanted, because, Effect::Harmless);
        }
        if self.whole() && config.boot() != Some(BootOrder::devices([system_slot().to_string().as_str()])) {
            let order = BootOrder::devices([system_slot().to_string().as_str()]).to_string();
            let values = (config.get("boot").map(str::to_owned), Some(order.clone()));
            self.differs("boot", values, "built-in", Effect::AfterPowerCycle, Edit::Set(PlainKey::Boot, order));
        }
    }

    fn cards(&mut self) {
        let node = self.node;
        let vm = &node.vm;
        let most = vm.cores.value.get() * vm.sockets.value.get();
        let queues = Setting::new(Queues::nearest(vm.net_queues.value.get().min(most)), vm.net_queues.origin.clone());
        let first = Card {
            mac: &node.mac_address,
            bridge: self.manages(&vm.bridge.origin).then_some(&vm.bridge.value),
            vlan: vm.vlan_tag.as_ref().map(|tag| tag.value),
            mtu: vm.mtu.as_ref().map(|mtu| mtu.value),
            queues: self.manages(&queues.origin).then_some(queues.value),
        };
        self.card(0, &first);
        for (index, nic) in node.nics.iter().enumerate() {
            let card = Card {
                mac: &nic.mac_address,
                bridge: Some(&nic.bridge),
                vlan: nic.vlan_tag,
                mtu: nic.mtu,
                queues: None,
            };
            self.card(index + 1, &card);
        }
        let extra = self.config.card_indexes().filter(|index| index.get() as usize > node.nics.len());
        let extra = extra.filter_map(|index| Some((index, self.config.card(index)?)));
        self.found
            .notes
            .extend(extra.map(|(index, card)| format!("net{index} ({card}) is not in the files and is left alone")));
    }

    fn card(&mut self, index: usize, wanted: &Card<'_>) {
        let index = card_index(index);
        let is = self.config.card(index);
        let known = is.as_ref().and_then(Reading::known);
        let mut card = match (known, wanted.bridge.or(Some(&self.node.vm.bridge.value))) {
            (Some(card), _) => card.clone(),
            (None, bridge) => {
                let bridge = bridge.expect("there is always a bridge to fall back to").clone();
                NetworkCard::virtio(wanted.mac.value, bridge)
            }
        };
        card.set_mac(wanted.mac.value);
        if let Some(bridge) = wanted.bridge {
            card.bridge = Some(bridge.clone());
        }
        if self.whole() || wanted.vlan.is_some() {
            card.vlan = wanted.vlan;
        }
        if self.whole() || wanted.mtu.is_some() {
            card.mtu = wanted.mtu.map(Mtu::get);
        }
        if self.whole() {
            card.model = NicModel::virtio();
            card.link_down.set(false);
        }
        if let Some(queues) = wanted.queues {
            card.queues = Some(queues.get());
        }
        if known != Some(&card) {
            let values = (is.as_ref().map(ToString::to_string), Some(card.to_string()));
            let because = self.card_origin(index, known, &card, wanted).clone();
            let edit = Edit::Card(index, card);
            self.differs(format!("net{index}"), values, because, Effect::Disruptive, edit);
        }
    }

    /// Where the first of the wishes came from that a card does not fulfil. Those of the cards beside the first one
    /// stand together.
    fn card_origin<'b>(
        &'b self,
        index: CardIndex,
        is: Option<&NetworkCard>,
        card: &NetworkCard,
        wanted: &'b Card<'_>,
    ) -> &'b Origin {
        let vm = &self.node.vm;
        let origin = match is.filter(|is| index.get() == 0 && is.mac == card.mac) {
            Some(is) if is.bridge != card.bridge => Some(&vm.bridge.origin),
            Some(is) if is.vlan != card.vlan => vm.vlan_tag.as_ref().map(|tag| &tag.origin),
            Some(is) if is.mtu != card.mtu => vm.mtu.as_ref().map(|mtu| &mtu.origin),
            Some(is) if is.queues != card.queues => Some(&vm.net_queues.origin),
            _ => None,
        };
        origin.unwrap_or(&wanted.mac.origin)
    }

    fn cloud_init(&mut self) {
        let (node, network) = (self.node, &self.cluster.network);
        if let Some(address) = Prefixed::in_network(node.address.value, network.cidr.value) {
            let gateway = self.manages(&network.gateway.origin).then_some(network.gateway.value);
            let wanted = Address { own: NicAddress::Static(address), gateway, origin: &node.address.origin };
            self.ip_config(0, Some(&wanted));
        }
        for (index, nic) in node.nics.iter().enumerate() {
            let wanted = nic.address.as_ref().map(|setting| Address {
                own: setting.value,
                gateway: None,
                origin: &setting.origin,
            });
            self.ip_config(index + 1, wanted.as_ref());
        }
        if self.whole() {
            let extra: Vec<usize> = self.config.ip_configs().map(|(index, _)| index.get() as usize).collect();
            for index in extra.into_iter().filter(|index| *index > node.nics.len()) {
                self.ip_config(index, None);
            }
        }
        let servers: Vec<String> = network.dns_servers.value.iter().map(ToString::to_string).collect();
        self.words(PlainKey::Nameserver, &servers, &network.dns_servers.origin);
        match &network.search_domains {
            Some(domains) => {
                let texts: Vec<String> = domains.value.iter().map(ToString::to_string).collect();
                self.words(PlainKey::SearchDomain, &texts, &domains.origin);
            }
            None if self.whole() => self.gone("searchdomain", "inherited from the template"),
            None => {}
        }
    }

    fn ip_config(&mut self, index: usize, wanted: Option<&Address<'_>>) {
        let index = card_index(index);
        let is = self.config.ip_config(index);
        let from = || is.as_ref().map(ToString::to_string);
        let Some(wanted) = wanted else {
            if self.whole() && is.is_some() {
                let edit = Edit::ForgetIpConfig(index);
                let because = "inherited from the template";
                self.differs(format!("ipconfig{index}"), (from(), None), because, Effect::Disruptive, edit);
            }
            return;
        };
        let known = is.as_ref().and_then(Reading::known);
        let mut config = if self.whole() { IpConfig::default() } else { known.cloned().unwrap_or_default() };
        wanted.apply_to(&mut config);
        if known != Some(&config) {
            let values = (from(), Some(config.to_string()));
            let edit = Edit::IpConfig(index, config);
            self.differs(format!("ipconfig{index}"), values, wanted.origin, Effect::Disruptive, edit);
        }
    }

    /// Compares a list of words. The generator of cloud-init's data knows no other separator than white space.
    fn words(&mut self, key: PlainKey, wanted: &[String], origin: &Origin) {
        let is = self.config.get(key.as_str());
        let same = is.is_some_and(|text| text.split_whitespace().eq(wanted.iter().map(String::as_str)));
        if self.manages(origin) && !same && !(wanted.is_empty() && is.is_none()) {
            let text = wanted.join(" ");
            let values = (is.map(str::to_owned), Some(text.clone()));
            self.differs(key, values, origin, Effect::Harmless, Edit::Set(key, text));
        }
    }

    fn gone(&mut self, option: &'static str, because: &str) {
        if let Some(is) = self.config.get(option) {
            let values = (Some(is.to_owned()), None);
            self.differs(option, values, because, Effect::Harmless, Edit::Delete(option));
        }
    }

    /// What a clone takes over from its template and must not keep.
    fn inherited(&mut self) {
        if !self.whole() {
            return;
        }
        if self.config.flag("protection", false) {
            self.gone("protection", "inherited from the template");
        }
        self.gone("cicustom", "inherited from the template");
        if self.config.get("citype").is_some_and(|kind| kind != "nocloud") {
            let values = (self.config.get("citype").map(str::to_owned), Some("nocloud".to_owned()));
            let edit = Edit::Set(PlainKey::CloudInitType, "nocloud".to_owned());
            self.differs("citype", values, "Talos reads nothing else", Effect::Harmless, edit);
        }
        for option in ["args", "hookscript"].into_iter().filter(|option| self.config.get(option).is_some()) {
            let note = format!("{option} is inherited from the template, and only root could change it");
            self.found.notes.push(note);
        }
        if self.config.cloud_init_slot().is_none() {
            let free = |slot: &&&str| self.config.get(slot).is_none();
            // The q35 chipset has no other places for it.
            match ["ide2", "ide0"].iter().find(free).and_then(|slot| slot.parse().ok()) {
                Some(slot) => {
                    let mut drive = Drive::new(DriveSource::CloudInit { storage: self.node.vm.storage.value.clone() });
                    drive.cdrom = true.into();
                    self.add_drive(slot, drive, "Talos gets its address by it");
                }
                None => self.found.refusals.push(
                    "there is no place for a cloud-init drive: ide0 and ide2 are both taken in the template".to_owned(),
                ),
            }
        }
    }

    fn add_drive(&mut self, slot: DiskSlot, drive: Drive, because: impl Display) {
        let values = (None, Some(drive.to_string()));
        self.differs(slot, values, because, Effect::Harmless, Edit::AddDrive(slot, drive));
    }

    fn system_disk(&mut self) {
        let vm = &self.node.vm;
        let slot = system_slot();
        let Some(Reading::Known(is)) = self.config.drive(slot) else {
            self.found.refusals.push(format!(
                "there is no disk at {slot}: Talos lives on {slot}, so the template must have its image there"
            ));
            return;
        };
        let mut wanted = is.clone();
        let mut because = &vm.disk_discard.origin;
        for (switch, setting) in [(&mut wanted.discard, &vm.disk_discard), (&mut wanted.ssd, &vm.disk_ssd)] {
            if self.scope == Scope::Whole || setting.origin.is_declared() {
                switch.set(setting.value);
                because = &setting.origin;
            }
        }
        for (switch, setting) in [(&mut wanted.backup, &vm.disk_backup), (&mut wanted.replicate, &vm.disk_replicate)] {
            if self.scope == Scope::Whole || setting.origin.is_declared() {
                switch.set(setting.value);
                because = &setting.origin;
            }
        }
        if self.whole() && vm.scsi_hw.value != ScsiController::VirtioScsiSingle {
            // No other controller has threads for its disks, and every start would warn of it.
            wanted.iothread.set(false);
        }
        if let InstallDisk::Serial(serial) = &self.node.install_disk.value {
            wanted.serial = Some(serial.clone());
            if is.serial != wanted.serial {
                because = &self.node.install_disk.origin;
            }
        }
        self.drive_options(slot, &is, wanted, because);
        if self.manages(&vm.disk_size.origin) {
            self.size(slot, &is, &vm.disk_size);
        }
        if self.scope == Scope::Declared && vm.storage.origin.is_declared() {
            self.storage(slot, &is, &vm.storage.value);
        }
    }

    fn drive_options(&mut self, slot: DiskSlot, is: &Drive, wanted: Drive, because: &Origin) {
        if is.has_same_options(&wanted) {
            return;
        }
        // Only these two take effect without unplugging the disk.
        let mut but_backups = is.clone();
        but_backups.backup = wanted.backup;
        but_backups.replicate = wanted.replicate;
        let harmless = but_backups.has_same_options(&wanted);
        let effect = if harmless { Effect::Harmless } else { Effect::AfterPowerCycle };
        let values = (Some(is.to_string()), Some(wanted.to_string()));
        self.differs(slot, values, because, effect, Edit::Drive(slot, wanted));
    }

    fn size(&mut self, slot: DiskSlot, is: &Drive, wanted: &Setting<DiskSize>) {
        match is.size {
            Some(size) if size == wanted.value => {}
            Some(size) if size > wanted.value && self.whole() => self.found.refusals.push(format!(
                "{slot}: the image has {size} already and a disk cannot shrink to {} ({})",
                wanted.value, wanted.origin
            )),
            Some(size) if size > wanted.value => self.found.notes.push(format!(
                "{slot} has {size}, more than the {} of {}: a disk cannot shrink",
                wanted.value, wanted.origin
            )),
            size => {
                let values = (size.map(|size| size.to_string()), Some(wanted.value.to_string()));
                let edit = Edit::Grow(slot, wanted.value);
                self.differs(format!("{slot} size"), values, &wanted.origin, Effect::Harmless, edit);
            }
        }
    }

    fn storage(&mut self, slot: DiskSlot, is: &Drive, wanted: &StorageId) {
        let storage = is.source.volume().map(VolumeId::storage);
        if let Some(storage) = storage.filter(|storage| *storage != wanted) {
            let note =
                format!("{slot} is on {storage}, not on {wanted}: where disks lie is decided when they are made");
            self.found.notes.push(note);
        }
    }

    fn data_disks(&mut self) {
        let vm = &self.node.vm;
        for (index, disk) in vm.data_disks.iter().enumerate() {
            let Some(slot) = scsi(index + 1) else {
                continue;
            };
            let origin = Origin::Derived("data_disks");
            match self.config.drive(slot) {
                None => {
                    let source = DriveSource::Allocate { storage: disk.storage.clone(), size: disk.size };
                    let mut drive = Drive::new(source);
                    drive.backup = disk.backup.into();
                    drive.discard = vm.disk_discard.value.into();
                    drive.ssd = vm.disk_ssd.value.into();
                    drive.serial.clone_from(&disk.serial);
                    self.add_drive(slot, drive, &origin);
                }
                Some(Reading::Known(is))
                    if is.is_disk() && is.source.volume().and_then(VolumeId::owner) == Some(self.vmid) =>
                {
                    let mut wanted = is.clone();
                    wanted.backup.set(disk.backup);
                    if disk.serial.is_some() {
                        wanted.serial.clone_from(&disk.serial);
                    }
                    self.drive_options(slot, &is, wanted, &origin);
                    // A disk that was cloned with the template has the size that it has.
                    self.size(slot, &is, &Setting::new(disk.size, origin));
                    self.storage(slot, &is, &disk.storage);
                }
                Some(is) => self.found.refusals.push(format!(
                    "{slot} is the place of data disk {} and holds something that is not a disk of this VM's own: {is}",
                    index + 1
                )),
            }
        }
        let ours = |slot: DiskSlot| (0..=vm.data_disks.len()).any(|index| scsi(index) == Some(slot));
        let own = |drive: &Drive| drive.source.volume().and_then(VolumeId::owner) == Some(self.vmid);
        let extra = self.config.drive_slots().filter(|slot| !ours(*slot));
        let extra = extra.filter_map(|slot| Some((slot, self.config.drive(slot)?.into_known()?)));
        let extra = extra.filter(|(_, drive)| drive.is_disk() && own(drive));
        let notes: Vec<String> =
            extra.map(|(slot, drive)| format!("{slot} ({drive}) is not in the files and is left alone")).collect();
        self.found.notes.extend(notes);
    }

    fn tpm(&mut self) {
        let encrypt = &self.node.vm.encrypt_disk;
        if !encrypt.value {
            return;
        }
        match self.config.tpm_state() {
            None => {
                let state = TpmState {
                    source: DriveSource::Allocate {
                        storage: self.node.vm.storage.value.clone(),
                        size: DiskSize::gib(1),
                    },
                    size: None,
                    version: Some(TpmVersion::V2_0),
                    unmanaged: Properties::default(),
                };
                let values = (None, Some(state.to_string()));
                let edit = Edit::AddTpm(state);
                self.differs(DriveSlot::TPM, values, &encrypt.origin, Effect::AfterPowerCycle, edit);
            }
            Some(state) if state.known().is_none_or(|state| state.effective_version() == TpmVersion::V1_2) => {
                self.found.refusals.push(format!(
                    "the VM has a TPM of version 1.2, and disk encryption needs 2.0 ({}); delete tpmstate0 first",
                    encrypt.origin
                ));
            }
            Some(_) if self.whole() => {
                let note = "the TPM came with the template, so that all its clones share the same secrets";
                self.found.notes.push(note.to_owned());
            }
            Some(_) => {}
        }
    }
}

/// What is wanted of a card; nothing where the card may be as it is.
struct Card<'a> {
    mac: &'a Setting<MacAddress>,
    bridge: Option<&'a BridgeName>,
    vlan: Option<VlanTag>,
    mtu: Option<Mtu>,
    queues: Option<Queues>,
}

/// What cloud-init shall say about a card.
struct Address<'a> {
    own: NicAddress,
    gateway: Option<IpAddr>,
    origin: &'a Origin,
}

impl Address<'_> {
    fn apply_to(&self, config: &mut IpConfig) {
        match self.own {
            NicAddress::Dhcp => {
                config.ip = Some(Ipv4Config::Dhcp);
                config.gateway = None;
            }
            NicAddress::Static(address) => match address.into() {
                IpNet::V4(address) => config.ip = Some(Ipv4Config::Static(address)),
                IpNet::V6(address) => config.ip6 = Some(Ipv6Config::Static(address)),
            },
        }
        match self.gateway {
            Some(IpAddr::V4(gateway)) if matches!(config.ip, Some(Ipv4Config::Static(_))) => {
                config.gateway = Some(gateway);
            }
            Some(IpAddr::V6(gateway)) if matches!(config.ip6, Some(Ipv6Config::Static(_))) => {
                config.gateway6 = Some(gateway);
            }
            _ => {}
        }
    }
}

fn card_index(index: usize) -> CardIndex {
    CardIndex::nearest(u32::try_from(index).unwrap_or(CardIndex::MAX))
}

/// All that is there, and what is missing.
fn joined(is: &Tags, wanted: &Tags) -> Tags {
    let mut tags = is.clone();
    for tag in wanted.iter().filter_map(|tag| tag.parse().ok()) {
        tags.insert(&tag);
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cluster, own_vm};
    use super::*;
    use crate::proxmox::answers::Power;

    /// What is found, a line each: `option from → to`, `! refusal`, `# note`.
    #[track_caller]
    fn case(says: &str, options: &str, expected: &[&str]) {
        let (cluster, vm) = (cluster(says), own_vm(Power::Running, options));
        let found = compare(&cluster, &cluster.nodes[0], vm.vmid, &vm.config, Scope::Declared);
        let text = |value: Option<String>| value.unwrap_or_else(|| "nothing".to_owned());
        let differences = found
            .differences
            .into_iter()
            .map(|difference| format!("{} {} → {}", difference.option, text(difference.from), text(difference.to)));
        let refusals = found.refusals.into_iter().map(|refusal| format!("! {refusal}"));
        let notes = found.notes.into_iter().map(|note| format!("# {note}"));
        assert_eq!(differences.chain(refusals).chain(notes).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_nobody_declared_is_not_compared() {
        case("", "", &[]);
        case("", "cores: 7\nmemory: 1024\nagent: 0\nonboot: 0\nstartup: order=9\nboot: order=net0\ncpu: kvm64", &[]);
    }

    #[test]
    fn values_are_compared_and_not_their_spelling() {
        case(", vm_cores: 4, vm_memory: 8192", "cores: 4\nmemory: current=8192", &[]);
        case(", vm_sockets: 1, numa: false, onboot: false, qemu_agent: false", "", &[]);
        case(", cpu_type: host, qemu_agent: true", "cpu: cputype=host\nagent: enabled=1,type=virtio", &[]);
        case("", "net0: bridge=vmbr0,virtio=bc:24:11:20:00:11,firewall=1", &[]);
        case(", tags: [Rack-3]", "tags: kubernetes control-plane,rack-3;talos;pvetalos-home;mine", &[]);
        case(", machine: q35", "machine: pc-q35-9.0", &[]);
        case(", balloon: 8192", "", &[]);
    }

    #[test]
    fn what_is_declared_and_different_is_told_with_both_values() {
        case(", vm_cores: 6", "", &["cores 4 → 6"]);
        case(", balloon: 0", "", &["balloon 8192 → 0"]);
        case(", vm_memory: 4096", "balloon: 6144", &["memory 8192 → 4096", "balloon 6144 → 4096"]);
        case(", cpu_type: host", "cpu: kvm64,hidden=1", &["cpu kvm64,hidden=1 → host,hidden=1"]);
        case(", vlan_tag: 7", "", &[]);
        case("", "name: renamed", &["name renamed → cp-1"]);
        case("", "tags: mine", &["tags mine → control-plane;kubernetes;mine;pvetalos-home;talos"]);
        case(", data_disks: [{size: 10}]", "", &["scsi1 nothing → local-lvm:10,backup=0,discard=on,ssd=1"]);
    }

    #[test]
    fn a_disk_grows_and_never_shrinks() {
        case(", vm_disk_size: 64", "", &[]);
        case(", vm_disk_size: 80", "", &["scsi0 size 64G → 80G"]);
        case(
            ", vm_disk_size: 32",
            "",
            &["# scsi0 has 64G, more than the 32G of nodes.yaml:6 vm_disk_size: a disk cannot shrink"],
        );
    }

    #[test]
    fn what_cannot_be_mended_is_refused() {
        case(
            ", bios: seabios",
            "",
            &["! bios: ovmf cannot become seabios (nodes.yaml:6 bios): what is installed boots only with ovmf"],
        );
        case(
            ", machine: i440fx",
            "",
            &[
                "! machine: q35 cannot become i440fx (nodes.yaml:6 machine): the guest would find all its devices elsewhere",
            ],
        );
        case(
            ", balloon: 4096",
            "memory: 2048",
            &[
                "! balloon: 4096 MiB (nodes.yaml:6 balloon) are more than the 2048 MiB of memory that the VM has; say how much \
             `vm_memory` it shall have",
            ],
        );
        case(
            ", data_disks: [{size: 10}]",
            "scsi1: local-lvm:vm-4000-cloudinit,media=cdrom",
            &["! scsi1 is the place of data disk 1 and holds something that is not a disk of this VM's own: \
             local-lvm:vm-4000-cloudinit,media=cdrom"],
        );
        case(
            ", data_disks: [{size: 10}]",
            "scsi1: csi:vm-9999-pvc-1,size=10G",
            &["! scsi1 is the place of data disk 1 and holds something that is not a disk of this VM's own: \
             csi:vm-9999-pvc-1,size=10G"],
        );
    }
}
