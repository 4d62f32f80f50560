//! What must be true of every world, whatever happened to it: for tests.

use std::collections::{BTreeMap, BTreeSet};

use super::drive;
use super::net;
use super::vm::Config;
use super::world::World;

impl World {
    /// Everything that is not as it should be, a sentence each: volumes that no VM names, drives without a volume, MACs
    /// that two VMs have, lock lines that nobody holds.
    ///
    /// While tasks run, some of these are normal.
    pub fn check(&self) -> Vec<String> {
        let mut problems = Vec::new();
        self.check_volumes(&mut problems);
        self.check_cards(&mut problems);
        for (id, vm) in &self.vms {
            if let Some(lock) = vm.lock() {
                problems.push(format!("VM {id} is locked ({lock})"));
            }
            if !self.hosts.contains_key(&vm.host) {
                problems.push(format!("VM {id} is on host {}, which does not exist", vm.host));
            }
        }
        for (name, pool) in &self.access.pools {
            for id in pool.vms.iter().filter(|id| !self.is_taken(**id)) {
                problems.push(format!("pool {name} has VM {id}, which does not exist"));
            }
        }
        problems
    }

    /// Volumes of VMs that no configuration names, as `host storage:volume`.
    pub fn orphan_volumes(&self) -> Vec<String> {
        let named: BTreeSet<&str> = self
            .vms
            .values()
            .flat_map(|vm| {
                let configs = [&vm.config, &vm.pending].into_iter();
                configs.chain(vm.snapshots.values().map(|snapshot| &snapshot.config))
            })
            .flat_map(volumes)
            .collect();
        let mut orphans = Vec::new();
        for (id, storage) in &self.storages {
            for (place, volumes) in &storage.volumes {
                for name in volumes.iter().filter(|(_, volume)| volume.content == "images").map(|(name, _)| name) {
                    let volid = format!("{id}:{name}");
                    if !named.contains(volid.as_str()) {
                        orphans.push(format!("{place} {volid}"));
                    }
                }
            }
        }
        orphans
    }

    fn check_volumes(&self, problems: &mut Vec<String>) {
        for orphan in self.orphan_volumes() {
            problems.push(format!("no VM has the volume {orphan}"));
        }
        for (id, vm) in &self.vms {
            for volid in volumes(&vm.config).filter(|volid| self.volume(&vm.host, volid).is_none()) {
                problems.push(format!("VM {id} has the volume {volid}, which does not exist"));
            }
        }
    }

    fn check_cards(&self, problems: &mut Vec<String>) {
        let mut owners = BTreeMap::<String, u32>::new();
        for (id, vm) in &self.vms {
            for (_, card) in net::cards(&vm.planned()) {
                let Some(mac) = card.get("macaddr").map(|mac| mac.to_uppercase()) else {
                    continue;
                };
                if let Some(other) = owners.insert(mac.clone(), *id) {
                    problems.push(format!("VM {other} and VM {id} have the MAC {mac}"));
                }
            }
        }
    }
}

/// The volumes that a configuration names.
fn volumes(config: &Config) -> impl Iterator<Item = &str> {
    config.iter().filter_map(|(key, value)| {
        let volid = value.split(',').next()?;
        let attached = drive::is_drive(key) || drive::is_unused(key);
        (attached && volid.contains(':')).then_some(volid)
    })
}
