use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::str::FromStr;

use serde::Deserialize;

use crate::model::MacAddress;
use crate::proxmox::lenient;
use crate::proxmox::types::{
    Agent, BootOrder, CardIndex, Cpu, DiskSlot, Drive, DriveBus, DriveSlot, EfiDisk, IpConfig, MachineType, Memory,
    NetworkCard, Reading, Smbios, Startup, Switch, Tags, TpmState, VolumeId,
};

/// The options of a VM, as texts. Absent ones have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VmConfig(BTreeMap<String, String>);

impl VmConfig {
    /// An option as Proxmox holds it.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The checksum that a change is made conditional on.
    pub fn digest(&self) -> Option<&str> {
        self.get("digest")
    }

    pub fn name(&self) -> Option<&str> {
        self.get("name")
    }

    /// Without white space at its end, which Proxmox drops as well.
    pub fn description(&self) -> &str {
        self.get("description").unwrap_or_default().trim_end()
    }

    /// What the VM is locked for. While there is one, the rest may be half-made and means nothing.
    pub fn lock(&self) -> Option<&str> {
        self.get("lock")
    }

    pub fn is_template(&self) -> bool {
        self.flag("template", false)
    }

    pub fn tags(&self) -> Tags {
        let Ok(tags) = self.get("tags").unwrap_or_default().parse();
        tags
    }

    /// A whole number; one that is absent or no number is none.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.trim().parse().ok()
    }

    /// A boolean with its default.
    pub fn flag(&self, key: &str, default: bool) -> bool {
        self.get(key).and_then(|text| text.parse::<Switch<false>>().ok()).map_or(default, Switch::get)
    }

    pub fn cores(&self) -> u64 {
        self.number("cores").unwrap_or(1)
    }

    pub fn sockets(&self) -> u64 {
        self.number("sockets").unwrap_or(1)
    }

    pub fn memory(&self) -> Reading<Memory> {
        self.read_or_default("memory")
    }

    pub fn cpu(&self) -> Reading<Cpu> {
        self.read_or_default("cpu")
    }

    pub fn machine(&self) -> Reading<MachineType> {
        self.read_or_default("machine")
    }

    pub fn agent(&self) -> Reading<Agent> {
        self.read_or_default("agent")
    }

    pub fn startup(&self) -> Reading<Startup> {
        self.read_or_default("startup")
    }

    pub fn smbios(&self) -> Reading<Smbios> {
        self.read_or_default("smbios1")
    }

    pub fn boot(&self) -> Option<BootOrder> {
        self.get("boot").map(|text| {
            let Ok(order) = text.parse();
            order
        })
    }

    pub fn card(&self, index: CardIndex) -> Option<Reading<NetworkCard>> {
        self.read(&format!("net{index}"))
    }

    /// All network cards, by number.
    pub fn cards(&self) -> impl Iterator<Item = (CardIndex, Reading<NetworkCard>)> {
        self.card_indexes().filter_map(|index| Some((index, self.card(index)?)))
    }

    /// The numbers of all network cards. Reading a card takes much longer than finding it.
    pub fn card_indexes(&self) -> impl Iterator<Item = CardIndex> {
        self.indexes_of("net")
    }

    /// Whether one of its cards has this address.
    pub fn has_mac(&self, address: MacAddress) -> bool {
        self.cards().any(|(_, card)| {
            card.known().and_then(|card| card.mac.as_ref()).is_some_and(|mac| mac.address() == address)
        })
    }

    pub fn ip_config(&self, index: CardIndex) -> Option<Reading<IpConfig>> {
        self.read(&format!("ipconfig{index}"))
    }

    /// All addresses for cloud-init, by the number of the card.
    pub fn ip_configs(&self) -> impl Iterator<Item = (CardIndex, Reading<IpConfig>)> {
        self.indexes_of("ipconfig").filter_map(|index| Some((index, self.ip_config(index)?)))
    }

    pub fn drive(&self, slot: DiskSlot) -> Option<Reading<Drive>> {
        self.read(&slot.to_string())
    }

    /// Disks and CDs, in the order of their slots; neither the firmware's disk nor the TPM's, nor unused volumes.
    pub fn drives(&self) -> impl Iterator<Item = (DiskSlot, Reading<Drive>)> {
        self.drive_slots().filter_map(|slot| Some((slot, self.drive(slot)?)))
    }

    /// The slots of all disks and CDs, in their order.
    pub fn drive_slots(&self) -> impl Iterator<Item = DiskSlot> {
        self.slots().filter_map(|(slot, _)| slot.try_into().ok())
    }

    /// The slot of the drive with cloud-init's data, wherever it hangs.
    pub fn cloud_init_slot(&self) -> Option<DiskSlot> {
        self.drives().find(|(_, drive)| drive.known().is_some_and(Drive::is_cloud_init)).map(|(slot, _)| slot)
    }

    pub fn efi_disk(&self) -> Option<Reading<EfiDisk>> {
        self.read(&DriveSlot::EFI.to_string())
    }

    pub fn tpm_state(&self) -> Option<Reading<TpmState>> {
        self.read(&DriveSlot::TPM.to_string())
    }

    /// Every volume that the VM refers to, the unused ones included; CD images too, which it does not own.
    pub fn volumes(&self) -> impl Iterator<Item = (DriveSlot, VolumeId)> {
        self.slots().filter_map(|(slot, text)| {
            let drive = text.parse::<Drive>().ok()?;
            Some((slot, drive.source.volume()?.clone()))
        })
    }

    fn slots(&self) -> impl Iterator<Item = (DriveSlot, &str)> {
        let mut slots: Vec<_> = self.iter().filter_map(|(key, text)| Some((key.parse().ok()?, text))).collect();
        slots.sort_by_key(|(slot, _): &(DriveSlot, &str)| (slot.bus() == DriveBus::Unused, *slot));
        slots.into_iter()
    }

    /// The numbers behind a name, such as those of `net0` and `net1`, in their order.
    fn indexes_of(&self, name: &str) -> impl Iterator<Item = CardIndex> + use<> {
        let alike = self.0.range::<str, _>((Bound::Included(name), Bound::Unbounded));
        let numbers = alike.map_while(|(key, _)| key.strip_prefix(name)).filter_map(|number| number.parse().ok());
        let indexes: BTreeSet<CardIndex> = numbers.collect();
        indexes.into_iter()
    }

    fn read<T: FromStr>(&self, key: &str) -> Option<Reading<T>> {
        self.get(key).map(Reading::of)
    }

    fn read_or_default<T: FromStr + Default>(&self, key: &str) -> Reading<T> {
        self.read(key).unwrap_or_else(|| Reading::Known(T::default()))
    }
}

impl FromIterator<(String, String)> for VmConfig {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(options: I) -> Self {
        Self(options.into_iter().collect())
    }
}

impl<'de> Deserialize<'de> for VmConfig {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Text(#[serde(deserialize_with = "lenient::some_text")] Option<String>);
        let options = BTreeMap::<String, Text>::deserialize(deserializer)?;
        Ok(options.into_iter().filter_map(|(key, Text(value))| Some((key, value?))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_of_any_version_reads_the_same() {
        let new: VmConfig = serde_json::from_str(r#"{"memory":"4096","cores":2,"onboot":1,"digest":"x"}"#).unwrap();
        let old: VmConfig =
            serde_json::from_str(r#"{"memory":4096,"cores":"2","onboot":"1","digest":"x","a":null}"#).unwrap();
        assert_eq!(new, old);
        assert_eq!((new.cores(), new.sockets(), new.flag("onboot", false)), (2, 1, true));
        assert_eq!(new.memory(), Reading::Known(Memory::new(4096)));
        assert_eq!(VmConfig::default().memory(), Reading::Known(Memory::new(512)));
    }

    #[test]
    fn cards_are_found_by_their_numbers() {
        let keys = ["ipconfig0", "nameserver", "net", "net01", "net10", "net2", "net32", "net0", "netx", "numa"];
        let config: VmConfig =
            keys.map(|key| (key.to_owned(), "virtio=BC:24:11:20:00:11".to_owned())).into_iter().collect();
        assert_eq!(config.card_indexes().map(CardIndex::get).collect::<Vec<_>>(), [0, 2, 10]);
        assert_eq!(config.cards().count(), 3);
        assert_eq!(config.ip_configs().count(), 1);
    }

    #[test]
    fn drives_are_found_wherever_they_hang() {
        let config: VmConfig = [
            ("efidisk0", "local:100/vm-100-disk-0.qcow2,efitype=4m,size=528K"),
            ("ide2", "local:100/vm-100-cloudinit.qcow2,media=cdrom,size=4M"),
            ("scsi10", "local:100/vm-100-disk-3.raw,size=1G"),
            ("scsi2", "local:100/vm-100-disk-2.raw,size=1G"),
            ("scsihw", "virtio-scsi-pci"),
            ("unused0", "local:100/vm-100-disk-9.raw"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into_iter()
        .collect();
        let slots: Vec<_> = config.drives().map(|(slot, _)| slot.to_string()).collect();
        assert_eq!(slots, ["ide2", "scsi2", "scsi10"]);
        assert_eq!(config.cloud_init_slot().map(|slot| slot.to_string()).as_deref(), Some("ide2"));
        assert_eq!(config.volumes().count(), 5);
        assert_eq!(config.volumes().last().map(|(slot, _)| slot.to_string()).as_deref(), Some("unused0"));
    }
}
