//! What the API tells about the cluster and its hosts.

use serde_json::{Value, json};

use super::call::{Context, Failure, Handled};
use super::resources::{host_row, used_memory};
use super::sha1;
use super::world::World;

pub(crate) fn version(world: &mut World, _: &Context) -> Handled {
    let release = &world.release;
    Ok(json!({ "version": release.version, "release": release.short(), "repoid": release.repoid }).into())
}

pub(crate) fn next_id(world: &mut World, context: &Context) -> Handled {
    if let Some(id) = context.number::<u32>("vmid") {
        if world.is_taken(id) {
            return Err(Failure::parameter("vmid", format!("VM {id} already exists")));
        }
        return Ok(json!(id.to_string()).into());
    }
    match (100..1_000_000).find(|id| !world.is_taken(*id)) {
        Some(id) => Ok(json!(id.to_string()).into()),
        None => Err(Failure::new("unable to get any free VMID in range [100, 1000000]")),
    }
}

pub(crate) fn options(world: &mut World, context: &Context) -> Handled {
    if !world.may(&context.user, "/", "Sys.Audit") {
        return Ok(json!({ "allowed-tags": [] }).into());
    }
    Ok(json!({ "allowed-tags": [], "description": "", "keyboard": "en-us", "mac_prefix": world.mac_prefix }).into())
}

pub(crate) fn status(world: &mut World, _: &Context) -> Handled {
    let mut rows = Vec::new();
    let nodes = world.hosts.len();
    if let Some(name) = &world.cluster {
        let quorate = u8::from(world.is_quorate());
        rows.push(json!({ "type": "cluster", "id": "cluster", "name": name, "nodes": nodes, "quorate": quorate, "version": 1 }));
    }
    for (index, (name, host)) in world.hosts.iter().enumerate() {
        rows.push(json!({
            "type": "node",
            "id": format!("node/{name}"),
            "name": name,
            "ip": host.address,
            "level": "",
            "local": u8::from(*name == world.entry),
            "online": u8::from(host.online),
            "nodeid": if world.cluster.is_some() { index + 1 } else { 0 },
        }));
    }
    Ok(Value::Array(rows).into())
}

pub(crate) fn nodes(world: &mut World, context: &Context) -> Handled {
    let rows = world
        .hosts
        .iter()
        .map(|(name, host)| {
            let mut row = host_row(world, name, &context.user);
            row.insert("ssl_fingerprint".to_owned(), json!(host.fingerprint));
            Value::Object(row)
        })
        .collect();
    Ok(Value::Array(rows).into())
}

pub(crate) fn node_status(world: &mut World, context: &Context) -> Handled {
    let name = context.host.as_str();
    let Some(host) = world.hosts.get(name) else {
        return Err(Failure::new("no such cluster node"));
    };
    let used = used_memory(world, name).min(host.memory);
    let root = world.storages.values().find(|storage| storage.path == "/var/lib/vz" && storage.is_on(name));
    let (total, disk) = root.map_or((0, 0), |storage| (storage.capacity, storage.used(name)));
    let kernel = "6.14.11-2-pve";
    Ok(json!({
        "boot-info": { "mode": "legacy-bios" },
        "cpu": 0.01,
        "cpuinfo": {
            "cores": host.cpus, "cpus": host.cpus, "family": "25", "flags": "fpu sse4_2 popcnt aes avx2 hypervisor",
            "hvm": "1", "mhz": "2445.424", "model": "AMD EPYC", "sockets": 1, "user_hz": 100, "vendor": "AuthenticAMD",
        },
        "current-kernel": { "machine": "x86_64", "release": kernel, "sysname": "Linux", "version": "#1 SMP PREEMPT_DYNAMIC" },
        "idle": 0,
        "ksm": { "shared": 0 },
        "kversion": format!("Linux {kernel} #1 SMP PREEMPT_DYNAMIC"),
        "loadavg": ["0.10", "0.20", "0.30"],
        "memory": { "total": host.memory, "used": used, "free": host.memory.saturating_sub(used), "available": host.memory.saturating_sub(used) },
        "pveversion": format!("pve-manager/{}/{}", world.release.version, world.release.repoid),
        "rootfs": { "total": total, "used": disk, "free": total.saturating_sub(disk), "avail": total.saturating_sub(disk) },
        "swap": { "free": 0, "total": 0, "used": 0 },
        "uptime": host.uptime.saturating_add(world.now / 1000),
        "wait": 0.001,
    })
    .into())
}

pub(crate) fn network(world: &mut World, context: &Context) -> Handled {
    let bridges = world.hosts.get(&context.host).map(|host| host.bridges.clone()).unwrap_or_default();
    let wanted = context.get("type").unwrap_or("bridge");
    let shows_bridges = matches!(wanted, "bridge" | "any_bridge" | "any_local_bridge" | "include_sdn");
    let rows = bridges
        .into_iter()
        .filter(|_| shows_bridges)
        .filter(|bridge| sees_bridge(world, &context.user, bridge))
        .enumerate()
        .map(|(index, bridge)| {
            json!({
                "iface": bridge,
                "type": "bridge",
                "active": 1,
                "autostart": 1,
                "method": "manual",
                "method6": "manual",
                "bridge_ports": "",
                "bridge_stp": "off",
                "bridge_fd": "0",
                "families": ["inet"],
                "priority": 3 + index,
            })
        })
        .collect();
    Ok(Value::Array(rows).into())
}

/// Whether somebody may see a bridge: itself, or one of its VLANs that there is a rule about
/// (`PVE/RPCEnvironment.pm: check_sdn_bridge`).
fn sees_bridge(world: &World, user: &str, bridge: &str) -> bool {
    let path = format!("/sdn/zones/localnetwork/{bridge}");
    let sees = |path: &str| ["SDN.Audit", "SDN.Use"].iter().any(|name| world.may(user, path, name));
    let is_vlan = |rule: &str| rule.strip_prefix(&path).is_some_and(|rest| rest.starts_with('/'));
    sees(&path) || world.access.rules.iter().any(|rule| is_vlan(&rule.path) && sees(&rule.path))
}

/// A fingerprint that a host keeps: made of its name, since there is no certificate here.
pub(crate) fn fingerprint(name: &str) -> String {
    let digits = sha1::hex(name) + &sha1::hex(&format!("{name}:"))[..24];
    let bytes: Vec<&str> = (0..32).map(|index| &digits[2 * index..2 * index + 2]).collect();
    bytes.join(":").to_uppercase()
}
