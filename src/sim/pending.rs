//! From the pending section into the configuration: all of it when the VM is off, what can be plugged when it runs
//! (`PVE/QemuServer.pm: vmconfig_apply_pending`, `vmconfig_hotplug_pending`).

use std::collections::BTreeSet;

use super::call::Failure;
use super::drive;
use super::format::split_list;
use super::net;
use super::options::NET;
use super::param::Errors;
use super::world::World;

impl World {
    /// Takes back what is pending for a key; a disk that was made for it becomes unused.
    pub(crate) fn forget_pending(&mut self, host: &str, id: u32, key: &str) {
        let forgotten = self.vms.get_mut(&id).and_then(|vm| vm.pending.remove(key));
        if let Some(value) = forgotten.filter(|_| drive::is_drive(key)) {
            self.drop_drive(host, id, key, &value, false);
        }
    }

    /// Does everything that is pending: the VM is off.
    pub(crate) fn apply_pending(&mut self, host: &str, id: u32) {
        let Ok(vm) = self.vm_mut(host, id) else {
            return;
        };
        let (pending, deletes) = (std::mem::take(&mut vm.pending), std::mem::take(&mut vm.pending_delete));
        for (key, force) in deletes {
            self.apply_delete(host, id, &key, force);
        }
        for (key, value) in pending {
            self.apply_set(host, id, &key, &value);
        }
    }

    fn apply_delete(&mut self, host: &str, id: u32, key: &str, force: bool) {
        let Some(vm) = self.vms.get_mut(&id) else {
            return;
        };
        let Some(old) = vm.config.remove(key) else {
            return;
        };
        if drive::is_drive(key) {
            let mut order = drive::boot_order(&vm.config);
            if order.iter().any(|device| device == key) {
                order.retain(|device| device != key);
                vm.config.insert("boot".to_owned(), format!("order={}", order.join(";")));
            }
            self.drop_drive(host, id, key, &old, force);
        }
    }

    fn apply_set(&mut self, host: &str, id: u32, key: &str, value: &str) {
        let Some(vm) = self.vms.get_mut(&id) else {
            return;
        };
        let old = vm.config.insert(key.to_owned(), value.to_owned());
        if let (Some(grammar), Some(old)) = (drive::grammar(key), old) {
            let file = |text: &str| grammar.parse(text).map(|drive| drive::file(&drive).to_owned()).unwrap_or_default();
            if file(&old) != file(value) {
                self.drop_drive(host, id, key, &old, false);
            }
        }
    }

    /// A drive that is no longer attached becomes unused, or its volume goes.
    fn drop_drive(&mut self, host: &str, id: u32, key: &str, old: &str, force: bool) {
        let Some(drive) = drive::grammar(key).and_then(|grammar| grammar.parse(old).ok()) else {
            return;
        };
        let volid = drive::file(&drive).to_owned();
        let owned = self.volume(host, &volid).is_some_and(|volume| volume.owner == Some(id));
        if !owned {
            return;
        }
        if force || drive::is_cloudinit(&drive) {
            self.free_volume(host, &volid);
            return;
        }
        if let Some(vm) = self.vms.get_mut(&id) {
            let known = vm.config.values().any(|value| value.split(',').next() == Some(volid.as_str()));
            let free = (0..256).map(|number| format!("unused{number}")).find(|key| !vm.config.contains_key(key));
            if let (false, Some(free)) = (known, free) {
                vm.config.insert(free, volid);
            }
        }
    }

    /// Does what can be done to a running VM; the rest stays pending, as does what was pending before.
    pub(crate) fn hotplug(&mut self, host: &str, id: u32, touched: &BTreeSet<String>) -> Result<(), Failure> {
        let now = self.now;
        let vm = self.vm(host, id)?;
        let (pending, deletes, listens) = (vm.pending.clone(), vm.pending_delete.clone(), vm.listens(now));
        let features = vm.config.get("hotplug").map_or("network,disk,usb", String::as_str);
        let has = |feature: &str| match features {
            "1" => matches!(feature, "network" | "disk" | "usb"),
            features => split_list(features).any(|word| word == feature),
        };
        let (network, disk) = (has("network"), has("disk"));
        let mut problems = Errors::new();
        let busy =
            |key: &str| format!("hotplug problem - error on hot-unplugging device '{key}' - still busy in guest?\n");
        for (key, force) in deletes.iter().filter(|(key, _)| touched.contains(*key)) {
            let live = is_live(key) || (net::index(key).is_some() && network) || (is_pluggable(key) && disk);
            let unplugs = net::index(key).is_some() || is_pluggable(key);
            if live && unplugs && !listens {
                problems.insert(key.clone(), busy(key));
            } else if live {
                self.apply_delete(host, id, key, *force);
                if let Some(vm) = self.vms.get_mut(&id) {
                    vm.pending_delete.remove(key);
                }
            }
        }
        for (key, value) in pending.iter().filter(|(key, _)| touched.contains(*key)) {
            let old = self.vms.get(&id).and_then(|vm| vm.config.get(key)).cloned();
            let live = match (net::index(key), &old) {
                _ if is_live(key) => true,
                (Some(_), Some(old)) if network && !listens && needs_replug(old, value) => {
                    problems.insert(key.clone(), busy(key));
                    false
                }
                (Some(_), _) => network,
                (None, None) => is_pluggable(key) && disk,
                (None, Some(old)) => changes_medium(key, old, value),
            };
            if live {
                self.apply_set(host, id, key, value);
                if let Some(vm) = self.vms.get_mut(&id) {
                    vm.pending.remove(key);
                }
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Failure::parameters(problems).after(6300)) }
    }
}

/// Whether a key takes effect at once on a running VM.
fn is_live(key: &str) -> bool {
    let cloudinit =
        ["citype", "ciuser", "cipassword", "ciupgrade", "cicustom", "searchdomain", "nameserver", "sshkeys"];
    let always = [
        "description",
        "hookscript",
        "lock",
        "migrate_downtime",
        "migrate_speed",
        "name",
        "onboot",
        "protection",
        "shares",
        "startup",
        "tags",
        "vmstatestorage",
        "cpulimit",
        "cpuunits",
        "balloon",
    ];
    always.contains(&key) || cloudinit.contains(&key) || key.strip_prefix("ipconfig").is_some()
}

fn is_pluggable(key: &str) -> bool {
    drive::is_drive(key) && (key.starts_with("scsi") || key.starts_with("virtio"))
}

/// Whether a card must be taken out and put in again: bridge, tag, rate and the like are changed in place.
fn needs_replug(old: &str, new: &str) -> bool {
    let fixed = |text: &str| {
        let card = NET.parse(text).unwrap_or_default();
        ["model", "macaddr", "queues", "mtu"].map(|key| card.get(key).cloned())
    };
    fixed(old) != fixed(new)
}

/// A medium may change in a running drive for media; a disk's change waits, unless it has no volume of its own.
fn changes_medium(key: &str, old: &str, new: &str) -> bool {
    let cdrom = |text: &str| {
        drive::grammar(key).and_then(|grammar| grammar.parse(text).ok()).is_some_and(|drive| drive::is_cdrom(&drive))
    };
    drive::is_drive(key) && cdrom(old) && cdrom(new)
}
