//! What cloud-init will tell the guest (`PVE/QemuServer/Cloudinit.pm`).

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::call::{Context, Handled, percent_decode};
use super::drive;
use super::net;
use super::options::IPCONFIG;
use super::property::Parsed;
use super::sha1;
use super::update::{Change, LOCK_WAIT};
use super::vm::{Config, family, value_of};
use super::world::{Host, World};

pub(crate) fn pending(world: &mut World, context: &Context) -> Handled {
    let vm = world.vm(&context.host, context.vmid())?;
    let keys = ["cicustom", "cipassword", "citype", "ciuser", "ciupgrade", "nameserver", "searchdomain", "sshkeys"];
    let rows = keys
        .iter()
        .filter_map(|key| vm.config.get(*key).map(|value| json!({ "key": key, "value": value_of(key, value) })))
        .collect();
    Ok(Value::Array(rows).into())
}

pub(crate) fn regenerate(world: &mut World, context: &Context) -> Handled {
    let id = context.vmid();
    world.vm(&context.host, id)?.check_lock()?;
    let lock = World::vm_lock(&context.host, id);
    world.change_locked(context, &lock, LOCK_WAIT, &Change::CloudInit)
}

pub(crate) fn dump(world: &mut World, context: &Context) -> Handled {
    let vm = world.vm(&context.host, context.vmid())?;
    let host = world.hosts.get(&context.host).cloned().unwrap_or_default();
    let (user, network) = (user_data(context.vmid(), &vm.config), network_config(&vm.config, &host));
    let text = match context.text("type") {
        "user" => user,
        "network" => network,
        _ => format!("instance-id: {}\n", sha1::hex(&(user + &network))),
    };
    Ok(json!(text).into())
}

/// The id of what the drive holds. No drive, no data; data for others is none for Talos.
pub(crate) fn instance_id(id: u32, config: &Config, host: &Host) -> Option<String> {
    let drive = drive::all(config).iter().any(|(_, drive)| drive::is_cloudinit(drive));
    let windows = config.get("ostype").is_some_and(|system| system.starts_with('w'));
    let nocloud = config.get("citype").map_or(!windows, |kind| kind == "nocloud");
    (drive && nocloud).then(|| sha1::hex(&(user_data(id, config) + &network_config(config, host))))
}

fn user_data(id: u32, config: &Config) -> String {
    let name = config.get("name").cloned().unwrap_or_else(|| format!("VM{id}"));
    let hostname = name.split('.').next().unwrap_or(&name);
    let domain = config.get("searchdomain").and_then(|domains| domains.split_whitespace().next());
    let fqdn = match (name.split_once('.'), domain) {
        (Some(_), _) | (None, None) => name.clone(),
        (None, Some(domain)) => format!("{name}.{domain}"),
    };
    let mut lines = vec![
        "#cloud-config".to_owned(),
        format!("hostname: {hostname}"),
        "manage_etc_hosts: true".to_owned(),
        format!("fqdn: {fqdn}"),
    ];
    lines.extend(config.get("ciuser").map(|user| format!("user: {user}")));
    lines.extend(config.get("cipassword").map(|password| format!("password: {password}")));
    let keys = config.get("sshkeys").map(|keys| percent_decode(keys)).unwrap_or_default();
    let mut keys = keys.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    if keys.peek().is_some() {
        lines.push("ssh_authorized_keys:".to_owned());
        lines.extend(keys.map(|key| format!("  - {key}")));
    }
    lines.extend(["chpasswd:", "  expire: False"].map(str::to_owned));
    if config.get("ciuser").is_none_or(|user| user != "root") {
        lines.extend(["users:", "  - default"].map(str::to_owned));
    }
    let upgrade = config.get("ciupgrade").is_none_or(|value| value == "1");
    lines.push(format!("package_upgrade: {upgrade}"));
    lines.join("\n") + "\n"
}

fn network_config(config: &Config, host: &Host) -> String {
    let mut lines = vec!["version: 1".to_owned(), "config:".to_owned()];
    let addresses = family(config, "ipconfig");
    for (index, card) in net::cards(config) {
        // A card without an address is left out.
        let Some(address) = addresses.get(&index).and_then(|value| IPCONFIG.parse(value).ok()) else {
            continue;
        };
        let mac = card.get("macaddr").map(|mac| mac.to_lowercase()).unwrap_or_default();
        lines.push("    - type: physical".to_owned());
        lines.push(format!("      name: eth{index}"));
        lines.push(format!("      mac_address: '{mac}'"));
        lines.push("      subnets:".to_owned());
        lines.extend(subnets(&address));
    }
    let words = |key: &str| -> Option<Vec<String>> {
        config.get(key).map(|value| value.split_whitespace().map(str::to_owned).collect())
    };
    // Without settings of its own, the guest gets the host's.
    let servers = words("nameserver").unwrap_or_else(|| host.nameservers.clone());
    let domains = words("searchdomain").unwrap_or_else(|| host.search_domain.iter().cloned().collect());
    if !servers.is_empty() || !domains.is_empty() {
        lines.push("    - type: nameserver".to_owned());
        for (title, values) in [("address", servers), ("search", domains)] {
            if !values.is_empty() {
                lines.push(format!("      {title}:"));
                lines.extend(values.iter().map(|value| format!("      - '{value}'")));
            }
        }
    }
    lines.join("\n") + "\n"
}

fn subnets(address: &Parsed) -> Vec<String> {
    let mut lines = Vec::new();
    let gateway = |key: &str| address.get(key).map(|gateway| format!("        gateway: '{gateway}'"));
    match address.get("ip").map(String::as_str) {
        Some("dhcp") => lines.push("      - type: dhcp4".to_owned()),
        Some(ip) => {
            let (ip, prefix) = ip.split_once('/').unwrap_or((ip, "24"));
            let mask = netmask(prefix.parse().unwrap_or(24));
            lines.push("      - type: static".to_owned());
            lines.push(format!("        address: '{ip}'"));
            lines.push(format!("        netmask: '{mask}'"));
            lines.extend(gateway("gw"));
        }
        None => {}
    }
    match address.get("ip6").map(String::as_str) {
        Some("dhcp") => lines.push("      - type: dhcp6".to_owned()),
        Some("auto") => lines.push("      - type: ipv6_slaac".to_owned()),
        Some(ip) => {
            lines.push("      - type: static6".to_owned());
            lines.push(format!("        address: '{ip}'"));
            lines.extend(gateway("gw6"));
        }
        None => {}
    }
    lines
}

fn netmask(prefix: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::MAX.checked_shl(32 - prefix.min(32)).unwrap_or(0))
}
