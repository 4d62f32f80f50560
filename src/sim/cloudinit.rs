//! What cloud-init will tell the guest (`PVE/QemuServer/Cloudinit.pm`).

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::call::{Context, Handled, percent_decode};
use super::net;
use super::options::IPCONFIG;
use super::sha1;
use super::update::{Change, LOCK_WAIT, family};
use super::vm::{Config, value_of};
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
    world.change_locked(context, lock, LOCK_WAIT, Change::CloudInit)
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

fn user_data(id: u32, config: &Config) -> String {
    let name = config.get("name").cloned().unwrap_or_else(|| format!("VM{id}"));
    let hostname = name.split('.').next().unwrap_or(&name);
    let domain = config.get("searchdomain").and_then(|domains| domains.split_whitespace().next());
    let fqdn = match (name.split_once('.'), domain) {
        (Some(_), _) | (None, None) => name.clone(),
        (None, Some(domain)) => format!("{name}.{domain}"),
    };
    let mut text = format!("#cloud-config\nhostname: {hostname}\nmanage_etc_hosts: true\nfqdn: {fqdn}\n");
    if let Some(user) = config.get("ciuser") {
        text.push_str(&format!("user: {user}\n"));
    }
    if let Some(password) = config.get("cipassword") {
        text.push_str(&format!("password: {password}\n"));
    }
    let keys = config.get("sshkeys").map(|keys| percent_decode(keys)).unwrap_or_default();
    let keys: Vec<&str> = keys.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if !keys.is_empty() {
        text.push_str("ssh_authorized_keys:\n");
        for key in keys {
            text.push_str(&format!("  - {key}\n"));
        }
    }
    text.push_str("chpasswd:\n  expire: False\n");
    if config.get("ciuser").is_none_or(|user| user != "root") {
        text.push_str("users:\n  - default\n");
    }
    let upgrade = config.get("ciupgrade").is_none_or(|value| value == "1");
    text.push_str(&format!("package_upgrade: {upgrade}\n"));
    text
}

fn network_config(config: &Config, host: &Host) -> String {
    let mut text = "version: 1\nconfig:\n".to_owned();
    let addresses = family(config, "ipconfig");
    for (index, card) in net::cards(config) {
        let Some(address) = addresses.get(&index).and_then(|value| IPCONFIG.parse(value).ok()) else {
            continue;
        };
        let mac = card.get("macaddr").map(|mac| mac.to_lowercase()).unwrap_or_default();
        text.push_str(&format!(
            "    - type: physical\n      name: eth{index}\n      mac_address: '{mac}'\n      subnets:\n"
        ));
        match address.get("ip").map(String::as_str) {
            Some("dhcp") => text.push_str("      - type: dhcp4\n"),
            Some(ip) => {
                let (ip, prefix) = ip.split_once('/').unwrap_or((ip, "24"));
                let mask = netmask(prefix.parse().unwrap_or(24));
                text.push_str(&format!("      - type: static\n        address: '{ip}'\n        netmask: '{mask}'\n"));
                if let Some(gateway) = address.get("gw") {
                    text.push_str(&format!("        gateway: '{gateway}'\n"));
                }
            }
            None => {}
        }
        match address.get("ip6").map(String::as_str) {
            Some("dhcp") => text.push_str("      - type: dhcp6\n"),
            Some("auto") => text.push_str("      - type: ipv6_slaac\n"),
            Some(ip) => {
                text.push_str(&format!("      - type: static6\n        address: '{ip}'\n"));
                if let Some(gateway) = address.get("gw6") {
                    text.push_str(&format!("        gateway: '{gateway}'\n"));
                }
            }
            None => {}
        }
    }
    let words = |key: &str| -> Option<Vec<String>> {
        config.get(key).map(|value| value.split_whitespace().map(str::to_owned).collect())
    };
    // Without settings of its own, the guest gets the host's.
    let servers = words("nameserver").unwrap_or_else(|| host.nameservers.clone());
    let domains = words("searchdomain").unwrap_or_else(|| host.search_domain.iter().cloned().collect());
    if !servers.is_empty() || !domains.is_empty() {
        text.push_str("    - type: nameserver\n");
        for (title, values) in [("address", servers), ("search", domains)] {
            if !values.is_empty() {
                text.push_str(&format!("      {title}:\n"));
                for value in values {
                    text.push_str(&format!("      - '{value}'\n"));
                }
            }
        }
    }
    text
}

fn netmask(prefix: u32) -> Ipv4Addr {
    Ipv4Addr::from(u32::MAX.checked_shl(32 - prefix.min(32)).unwrap_or(0))
}
