//! What the API tells about VMs.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::call::{Context, Failure, Handled};
use super::drive;
use super::net;
use super::storage::{Kind, file_name};
use super::vm::{Config, has_agent, value_of};
use super::world::World;

pub(crate) fn list(world: &mut World, context: &Context) -> Handled {
    let rows = world
        .vms
        .iter()
        .filter(|(id, vm)| vm.host == context.host && world.may(&context.user, &format!("/vms/{id}"), "VM.Audit"))
        .map(|(id, vm)| Value::Object(world.vm_row(*id, vm, context.flag("full"))))
        .collect();
    Ok(Value::Array(rows).into())
}

/// The directory below a VM; it is the same whether the VM exists or not.
pub(crate) fn index(_: &mut World, _: &Context) -> Handled {
    let names = [
        "config",
        "cloudinit",
        "pending",
        "status",
        "unlink",
        "vncproxy",
        "termproxy",
        "migrate",
        "resize",
        "move",
        "rrd",
        "rrddata",
        "monitor",
        "agent",
        "snapshot",
        "spiceproxy",
        "sendkey",
        "firewall",
        "mtunnel",
        "remote_migrate",
    ];
    Ok(Value::Array(names.iter().map(|name| json!({ "subdir": name })).collect()).into())
}

fn object(config: &Config) -> Map<String, Value> {
    config.iter().map(|(key, value)| (key.clone(), value_of(key, value))).collect()
}

pub(crate) fn config(world: &mut World, context: &Context) -> Handled {
    let vm = world.vm(&context.host, context.vmid())?;
    let config = match context.get("snapshot") {
        Some(name) => {
            let snapshot = vm.snapshots.get(name).ok_or_else(|| format!("snapshot '{name}' does not exist"))?;
            snapshot.config.clone()
        }
        None if context.flag("current") => vm.config.clone(),
        None => vm.planned(),
    };
    let mut data = object(&config);
    data.insert("digest".to_owned(), json!(vm.digest()));
    Ok(Value::Object(data).into())
}

pub(crate) fn pending(world: &mut World, context: &Context) -> Handled {
    let vm = world.vm(&context.host, context.vmid())?;
    let keys: BTreeSet<&String> = vm.config.keys().chain(vm.pending.keys()).collect();
    let mut rows: Vec<Value> = keys
        .into_iter()
        .map(|key| {
            let mut row = Map::new();
            row.insert("key".to_owned(), json!(key));
            row.extend(vm.config.get(key).map(|value| ("value".to_owned(), value_of(key, value))));
            row.extend(vm.pending.get(key).map(|value| ("pending".to_owned(), value_of(key, value))));
            row.extend(vm.pending_delete.get(key).map(|force| ("delete".to_owned(), json!(1 + u8::from(*force)))));
            Value::Object(row)
        })
        .collect();
    rows.push(json!({ "key": "digest", "value": vm.digest() }));
    Ok(Value::Array(rows).into())
}

pub(crate) fn current(world: &mut World, context: &Context) -> Handled {
    let id = context.vmid();
    let vm = world.vm(&context.host, id)?;
    let mut row = world.vm_row(id, vm, true);
    let mut ha = json!({ "managed": u8::from(vm.ha_managed) });
    if let (true, Some(ha)) = (vm.ha_managed, ha.as_object_mut()) {
        ha.insert("state".to_owned(), json!(if vm.is_running() { "started" } else { "stopped" }));
    }
    row.insert("ha".to_owned(), ha);
    row.insert("clipboard".to_owned(), Value::Null);
    if has_agent(&vm.config) {
        row.insert("agent".to_owned(), json!(1));
    }
    if vm.is_running() {
        let cards: Map<String, Value> = net::cards(&vm.config)
            .into_iter()
            .map(|(index, _)| (format!("tap{id}i{index}"), json!({ "netin": 110, "netout": 0 })))
            .collect();
        row.insert("nics".to_owned(), Value::Object(cards));
    }
    Ok(Value::Object(row).into())
}

pub(crate) fn feature(world: &mut World, context: &Context) -> Handled {
    let vm = world.vm_process(&context.host, context.vmid())?;
    if let Some(name) = context.get("snapname")
        && !vm.snapshots.contains_key(name)
    {
        return Err(Failure::new(format!("snapshot '{name}' does not exist")));
    }
    let volumes: Vec<String> = drive::all(&vm.config)
        .into_iter()
        .filter(|(_, drive)| !drive::is_cdrom(drive))
        .map(|(_, drive)| drive::file(&drive).to_owned())
        .collect();
    let is_base = |volid: &String| {
        let name = volid.split_once(':').map_or("", |(_, name)| name);
        file_name(name).starts_with("base-")
    };
    let snapshots = |volid: &String| {
        let storage = volid.split_once(':').and_then(|(storage, _)| world.storages.get(storage));
        let qcow2 = world.volume(&context.host, volid).is_some_and(|volume| volume.format == "qcow2");
        storage.is_some_and(|storage| storage.kind != Kind::Dir) || qcow2
    };
    let has = match context.text("feature") {
        "clone" => volumes.iter().all(is_base),
        "snapshot" => !vm.is_template() && volumes.iter().all(snapshots),
        _ => true,
    };
    let everywhere = |host: &String| {
        volumes.iter().all(|volid| {
            let storage = volid.split_once(':').and_then(|(storage, _)| world.storages.get(storage));
            *host == context.host || storage.is_some_and(|storage| storage.shared && storage.is_on(host))
        })
    };
    let hosts: Vec<&String> = world.hosts.keys().filter(|host| everywhere(host)).collect();
    Ok(json!({ "hasFeature": u8::from(has), "nodes": hosts }).into())
}
