//! What the tables of this room begin with.

use serde_json::json;

use super::{Observed, ObservedHost, ObservedVm, Options};
use crate::config::{Explain, Inputs, load};
use crate::model::{Cluster, VmId};
use crate::proxmox::answers::Power;

/// A cluster named `home` with `cp-1`, which says this about itself.
pub(super) fn cluster(says: &str) -> Cluster {
    let text = format!(
        "name: home\nproxmox: {{vm_id_base: 4000}}\nnetwork: {{cidr: 192.168.20.0/24}}\ndefaults: {{talos_template: t}}\n\
         nodes:\n  - {{name: cp-1, address: 192.168.20.11, controller: true, mac_addr: 'bc:24:11:20:00:11'{says}}}\n"
    );
    let loaded = load(Inputs::from_texts(&text, None, None), Explain::No);
    loaded.cluster.unwrap_or_else(|| panic!("{:?}", loaded.problems))
}

/// A VM as Proxmox tells of it: a line for each option, `key: value`, or `key: value → value` for one that waits.
pub(super) fn vm(vmid: u32, power: Power, options: &str) -> ObservedVm {
    let rows = options.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let (key, value) = line.split_once(": ").expect("an option and its value");
        match value.split_once(" → ") {
            Some((value, pending)) => json!({ "key": key, "value": value, "pending": pending }),
            None => json!({ "key": key, "value": value.replace("\\n", "\n") }),
        }
    });
    let pending = serde_json::from_value(rows.collect()).expect("options as Proxmox tells them");
    ObservedVm::new(number(vmid), "pve".parse().expect("a host's name"), power, pending)
}

/// The VM of `cp-1`, as the built-in values make it, with other options in place of some.
pub(super) fn own_vm(power: Power, others: &str) -> ObservedVm {
    let keys: Vec<&str> = others.lines().filter_map(|line| Some(line.trim().split_once(": ")?.0)).collect();
    let usual = "\
        name: cp-1
        description: pvetalos: cluster=home node=cp-1 vmid=4000
        tags: control-plane;kubernetes;pvetalos-home;talos
        net0: virtio=BC:24:11:20:00:11,bridge=vmbr0,queues=4
        ipconfig0: ip=192.168.20.11/24,gw=192.168.20.1
        bios: ovmf
        machine: q35
        cores: 4
        memory: 8192
        scsi0: local-lvm:vm-4000-disk-0,discard=on,size=64G,ssd=1
        smbios1: uuid=11111111-2222-4333-8444-555555555555";
    let kept = usual.lines().filter(|line| !keys.contains(&line.trim().split_once(": ").expect("an option").0));
    vm(4000, power, &kept.chain(others.lines()).collect::<Vec<_>>().join("\n"))
}

/// One host with these VMs.
pub(super) fn observed(vms: impl IntoIterator<Item = ObservedVm>) -> Observed {
    let host = ObservedHost { name: "pve".parse().expect("a host's name"), silent: None, free_memory: None };
    let mut observed = Observed { hosts: vec![host], ..Observed::default() };
    for vm in vms {
        let row = json!({ "vmid": vm.vmid.get(), "node": "pve", "type": "qemu", "name": vm.config.name() });
        observed.guests.insert(vm.vmid, serde_json::from_value(row).expect("a row of the list"));
        observed.vms.insert(vm);
    }
    observed
}

pub(super) fn number(vmid: u32) -> VmId {
    VmId::new(vmid).expect("it is the number of a VM")
}

pub(super) fn options() -> Options {
    let token = "pvetalos@pve!test".parse().expect("a token's name");
    Options { adopt: false, disruptive: false, start: true, only: None, token }
}
