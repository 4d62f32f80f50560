//! `GET /cluster/resources`, which mixes what is true now with what the status daemons said last.
//!
//! Existence, host, lock, tags and pool are read live; name, power, template flag and sizes come from records that
//! every host broadcasts every 10 s and that are kept for 5 minutes, keyed by the number alone
//! (`PVE/API2Tools.pm`, pmxcfs `status.c`). So a new VM has no name yet, and a number used again shows its predecessor.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::call::{Context, Handled};
use super::drive;
use super::vm::{Power, cpus, memory_bytes, name};
use super::world::{Millis, World};

/// How long a record is believed.
const KEPT: Millis = 300_000;

/// What a status daemon said about a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    said: Millis,
    name: String,
    status: String,
    template: bool,
    cpus: u64,
    memory: u64,
    disk: u64,
    uptime: u64,
}

impl World {
    /// Every status daemon reports about its guests.
    pub(crate) fn report(&mut self) {
        if self.now < self.silent_until {
            return;
        }
        let now = self.now;
        for (id, vm) in &self.vms {
            let Some(host) = self.hosts.get(&vm.host).filter(|host| host.online) else {
                continue;
            };
            let (status, uptime) = match vm.power {
                Power::Stopped => ("stopped", 0),
                Power::Running { since, paused, .. } => {
                    (if paused { "paused" } else { "running" }, (now - since.min(now)) / 1000)
                }
            };
            let record = Record {
                said: now,
                name: name(*id, &vm.config),
                status: status.to_owned(),
                template: vm.is_template(),
                cpus: cpus(&vm.config).min(u64::from(host.cpus)),
                memory: memory_bytes(&vm.config),
                disk: drive::boot_disk_size(&vm.config),
                uptime,
            };
            self.records.insert(*id, record);
        }
        for (id, container) in &self.containers {
            if self.hosts.get(&container.host).is_none_or(|host| !host.online) {
                continue;
            }
            let record = Record {
                said: now,
                name: container.name.clone(),
                status: if container.running { "running" } else { "stopped" }.to_owned(),
                template: false,
                cpus: 1,
                memory: 512 << 20,
                disk: 8 << 30,
                uptime: if container.running { now / 1000 } else { 0 },
            };
            self.records.insert(*id, record);
        }
        self.records.retain(|_, record| now.saturating_sub(record.said) <= KEPT);
        self.unreported = false;
    }

    /// Whether a status daemon of any host has spoken lately.
    fn is_reported(&self, host: &str) -> bool {
        let silent = self.silent_until > self.now && self.silent_for() > KEPT;
        !silent && self.hosts.get(host).is_some_and(|host| host.online)
    }

    /// How long the status daemons have been silent.
    fn silent_for(&self) -> Millis {
        let last = self.records.values().map(|record| record.said).max().unwrap_or(0);
        self.now - last.min(self.now)
    }
}

/// The row of a VM or container; none if the number is free.
pub(crate) fn guest_row(world: &World, id: u32) -> Option<Map<String, Value>> {
    let mut row = Map::new();
    let (kind, host, lock, tags) = match (world.vms.get(&id), world.containers.get(&id)) {
        (Some(vm), _) => ("qemu", &vm.host, vm.config.get("lock"), vm.config.get("tags")),
        (None, Some(container)) => ("lxc", &container.host, None, container.tags.as_ref()),
        (None, None) => return None,
    };
    row.insert("id".to_owned(), json!(format!("{kind}/{id}")));
    row.insert("type".to_owned(), json!(kind));
    row.insert("vmid".to_owned(), json!(id));
    row.insert("node".to_owned(), json!(host));
    row.insert("status".to_owned(), json!("unknown"));
    row.extend(lock.map(|lock| ("lock".to_owned(), json!(lock))));
    row.extend(tags.map(|tags| ("tags".to_owned(), json!(tags))));
    let pool = world.access.pools.iter().find(|(_, pool)| pool.vms.contains(&id));
    row.extend(pool.map(|(name, _)| ("pool".to_owned(), json!(name))));
    if world.vms.get(&id).is_some_and(|vm| vm.ha_managed) {
        row.insert("hastate".to_owned(), json!("started"));
    }
    if let Some(record) = world.records.get(&id).filter(|record| world.now - record.said.min(world.now) <= KEPT) {
        row.insert("name".to_owned(), json!(record.name));
        row.insert("status".to_owned(), json!(record.status));
        row.insert("template".to_owned(), json!(u8::from(record.template)));
        row.insert("maxcpu".to_owned(), json!(record.cpus));
        row.insert("maxmem".to_owned(), json!(record.memory));
        row.insert("maxdisk".to_owned(), json!(record.disk));
        row.insert("uptime".to_owned(), json!(record.uptime));
        for zero in ["cpu", "mem", "disk", "netin", "netout", "diskread", "diskwrite"] {
            row.insert(zero.to_owned(), json!(0));
        }
        if world.release.major() >= 9 {
            row.insert("memhost".to_owned(), json!(0));
        }
    }
    Some(row)
}

/// The row of a storage on a host; none if it is not there.
pub(crate) fn storage_row(world: &World, host: &str, id: &str) -> Option<Map<String, Value>> {
    let storage = world.storages.get(id).filter(|storage| storage.enabled && storage.is_on(host))?;
    let content: Vec<&str> = storage.content.iter().map(String::as_str).collect();
    let mut row = Map::new();
    row.insert("id".to_owned(), json!(format!("storage/{host}/{id}")));
    row.insert("type".to_owned(), json!("storage"));
    row.insert("storage".to_owned(), json!(id));
    row.insert("node".to_owned(), json!(host));
    row.insert("plugintype".to_owned(), json!(storage.kind.name()));
    row.insert("shared".to_owned(), json!(u8::from(storage.shared)));
    row.insert("content".to_owned(), json!(content.join(",")));
    let reported = world.is_reported(host);
    row.insert("status".to_owned(), json!(if reported { "available" } else { "unknown" }));
    if reported {
        row.insert("disk".to_owned(), json!(storage.used(host)));
        row.insert("maxdisk".to_owned(), json!(storage.capacity));
    }
    Some(row)
}

/// The row of a host; numbers only for those who may see them.
pub(crate) fn host_row(world: &World, name: &str, user: &str) -> Map<String, Value> {
    let mut row = Map::new();
    row.insert("id".to_owned(), json!(format!("node/{name}")));
    row.insert("type".to_owned(), json!("node"));
    row.insert("node".to_owned(), json!(name));
    let Some(host) = world.hosts.get(name) else {
        return row;
    };
    let reported = world.is_reported(name);
    let status = match (host.online, reported) {
        (false, _) => "offline",
        (true, false) => "unknown",
        (true, true) => "online",
    };
    row.insert("status".to_owned(), json!(status));
    if !reported {
        return row;
    }
    row.insert("level".to_owned(), json!(""));
    if world.may(user, &format!("/nodes/{name}"), "Sys.Audit") {
        row.insert("cpu".to_owned(), json!(0.01));
        row.insert("maxcpu".to_owned(), json!(host.cpus));
        row.insert("mem".to_owned(), json!(used_memory(world, name)));
        row.insert("maxmem".to_owned(), json!(host.memory));
        let root = world.storages.values().find(|storage| storage.path == "/var/lib/vz" && storage.is_on(name));
        row.insert("disk".to_owned(), json!(root.map_or(0, |storage| storage.used(name))));
        row.insert("maxdisk".to_owned(), json!(root.map_or(0, |storage| storage.capacity)));
        row.insert("uptime".to_owned(), json!(host.uptime.saturating_add(world.now / 1000)));
    }
    row
}

/// Bytes that the host itself and its running VMs take.
pub(crate) fn used_memory(world: &World, host: &str) -> u64 {
    let running = world.vms.values().filter(|vm| vm.host == host && vm.is_running());
    running.map(|vm| memory_bytes(&vm.config)).fold(1 << 30, u64::saturating_add)
}

pub(crate) fn list(world: &mut World, context: &Context) -> Handled {
    let wanted = |kind: &str| context.get("type").is_none_or(|wanted| wanted == kind);
    let (world, user) = (&*world, context.user.as_str());
    let mut rows = Vec::new();
    if wanted("vm") {
        let ids = world.vms.keys().chain(world.containers.keys());
        for id in ids.filter(|id| world.may(user, &format!("/vms/{id}"), "VM.Audit")) {
            let mut row = guest_row(world, *id).unwrap_or_default();
            let hidden = row
                .get("pool")
                .and_then(Value::as_str)
                .is_some_and(|pool| !world.may(user, &format!("/pool/{pool}"), "Pool.Audit"));
            if hidden {
                row.remove("pool");
            }
            rows.push(Value::Object(row));
        }
    }
    if wanted("node") {
        for name in world.hosts.keys() {
            let mut row = host_row(world, name, user);
            if world.hosts[name].online {
                row.insert("cgroup-mode".to_owned(), json!(2));
            }
            rows.push(Value::Object(row));
        }
    }
    if wanted("storage") {
        for host in world.hosts.keys() {
            let visible = world.storages.keys().filter(|id| {
                let path = format!("/storage/{id}");
                ["Datastore.Audit", "Datastore.AllocateSpace"].iter().any(|name| world.may(user, &path, name))
            });
            rows.extend(visible.filter_map(|id| storage_row(world, host, id)).map(Value::Object));
        }
    }
    if wanted("sdn") {
        let path = "/sdn/zones/localnetwork";
        for host in
            world.hosts.keys().filter(|_| ["SDN.Audit", "SDN.Use"].iter().any(|name| world.may(user, path, name)))
        {
            rows.push(json!({
                "id": format!("network/{host}/zone/localnetwork"),
                "type": "network",
                "network": "localnetwork",
                "network-type": "zone",
                "node": host,
                "status": "ok",
            }));
        }
    }
    Ok(Value::Array(rows).into())
}
