//! The guest agent, as far as the guests here have one.

use serde_json::{Value, json};

use super::call::{Context, Failure, Handled};
use super::net;
use super::options::IPCONFIG;
use super::talos::Profile;
use super::vm::Vm;
use super::world::World;

/// The VM, if its agent answers; a silent one takes 3 s to be found out.
fn answering<'w>(world: &'w World, context: &Context) -> Result<&'w Vm, Failure> {
    let id = context.vmid();
    let vm = world.vm(&context.host, id)?;
    if !vm.config.contains_key("agent") {
        return Err(Failure::new("No QEMU guest agent configured"));
    }
    if !vm.is_running() {
        return Err(Failure::new(format!("VM {id} is not running")));
    }
    if !vm.guest.agent || !vm.listens(world.now) {
        return Err(Failure::new("QEMU guest agent is not running").after(3000));
    }
    Ok(vm)
}

fn result(data: &Value) -> Handled {
    Ok(json!({ "result": data }).into())
}

pub(crate) fn ping(world: &mut World, context: &Context) -> Handled {
    answering(world, context)?;
    result(&json!({}))
}

pub(crate) fn info(world: &mut World, context: &Context) -> Handled {
    answering(world, context)?;
    let command = |name: &str, answers: bool| json!({ "name": name, "enabled": true, "success-response": answers });
    let commands: Vec<Value> = [
        ("guest-ping", true),
        ("guest-info", true),
        ("guest-get-host-name", true),
        ("guest-get-osinfo", true),
        ("guest-network-get-interfaces", true),
        ("guest-shutdown", false),
    ]
    .into_iter()
    .map(|(name, answers)| command(name, answers))
    .collect();
    result(&json!({ "version": "10.0.13", "supported_commands": commands }))
}

pub(crate) fn host_name(world: &mut World, context: &Context) -> Handled {
    let vm = answering(world, context)?;
    let name = vm.config.get("name").filter(|_| vm.guest.address).map_or("(none)", String::as_str);
    result(&json!({ "host-name": name }))
}

pub(crate) fn os_info(world: &mut World, context: &Context) -> Handled {
    answering(world, context)?;
    result(&json!({ "id": "talos", "name": "Talos", "pretty-name": "Talos", "machine": "x86_64" }))
}

pub(crate) fn interfaces(world: &mut World, context: &Context) -> Handled {
    let vm = answering(world, context)?;
    let statistics = json!({
        "rx-bytes": 0, "rx-dropped": 0, "rx-errs": 0, "rx-packets": 0,
        "tx-bytes": 0, "tx-dropped": 0, "tx-errs": 0, "tx-packets": 0,
    });
    let address = |address: &str, kind: &str, prefix: u8| json!({ "ip-address": address, "ip-address-type": kind, "prefix": prefix });
    let mut rows = vec![json!({
        "name": "lo",
        "hardware-address": "00:00:00:00:00:00",
        "ip-addresses": [address("127.0.0.1", "ipv4", 8), address("::1", "ipv6", 128)],
        "statistics": statistics,
    })];
    let talos = world.talos_in(vm);
    let metal = talos.profile == Profile::Metal;
    for (index, card) in net::cards(&vm.config) {
        let mac = card.get("macaddr").map(|mac| mac.to_lowercase()).unwrap_or_default();
        let mut addresses = Vec::new();
        let config = vm.config.get(&format!("ipconfig{index}")).and_then(|text| IPCONFIG.parse(text).ok());
        let given = config.as_ref().and_then(|config| config.get("ip")).and_then(|ip| ip.split_once('/'));
        if let (true, Some((ip, prefix))) = (vm.guest.address && !metal, given) {
            addresses.push(address(ip, "ipv4", prefix.parse().unwrap_or(24)));
        }
        if let (true, 0, Some(given)) = (metal, index, talos.dhcp) {
            addresses.push(address(&given.to_string(), if given.is_ipv4() { "ipv4" } else { "ipv6" }, 24));
        }
        addresses.push(address(&link_local(&mac), "ipv6", 64));
        rows.push(json!({
            "name": format!("eth{index}"),
            "hardware-address": mac,
            "ip-addresses": addresses,
            "statistics": statistics,
        }));
    }
    result(&Value::Array(rows))
}

/// The address that a card gives itself: the MAC with `ff:fe` in the middle and one bit turned.
fn link_local(mac: &str) -> String {
    let bytes: Vec<u8> = mac.split(':').filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect();
    let [first, second, third, fourth, fifth, sixth] = bytes[..] else {
        return "fe80::".to_owned();
    };
    let words = [
        u16::from_be_bytes([first ^ 2, second]),
        u16::from_be_bytes([third, 0xFF]),
        u16::from_be_bytes([0xFE, fourth]),
        u16::from_be_bytes([fifth, sixth]),
    ];
    format!("fe80::{:x}:{:x}:{:x}:{:x}", words[0], words[1], words[2], words[3])
}

#[cfg(test)]
mod tests {
    use super::link_local;

    #[test]
    fn a_card_gives_itself_an_address() {
        assert_eq!(link_local("bc:24:11:00:00:01"), "fe80::be24:11ff:fe00:1");
    }
}
