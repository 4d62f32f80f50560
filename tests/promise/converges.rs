//! A plan after its own execution holds no action, whatever there was before.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use pvetalos::apply::Outcome;
use pvetalos::plan::{Plan, Verdict};
use pvetalos::proxmox::request::Method;

use serde_json::{Value, json};

use crate::drawn::{ByHand, Drawn, DrawnCluster, DrawnNode, Given, by_hand, drawn, for_all, on_paused_time, redrawn};
use crate::lab::{Lab, cluster, options};

/// The plan that is left, which must hold no action; a second run must change nothing.
async fn settled(lab: &Lab, story: &str) -> Plan {
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    for node in &plan.nodes {
        assert!(!node.acts(), "{story}\n{node:#?}");
    }
    lab.simulator.clear_log();
    let again = lab.provision().await.expect("Proxmox answers");
    assert!(again.is_empty(), "{story}\n{again:#?}");
    let log = lab.simulator.log();
    let writes: BTreeSet<String> = log
        .requests()
        .iter()
        .filter(|logged| logged.request.method != Method::Get)
        .map(|logged| format!("{} {}", logged.request.method, logged.request.path))
        .collect();
    assert_eq!(writes, BTreeSet::new(), "{story}");
    plan
}

#[track_caller]
fn all_done(outcomes: &[Outcome], story: &str) {
    for outcome in outcomes {
        assert!(outcome.is_done(), "{story}\n{outcome:#?}");
    }
}

/// From nothing to VMs, whatever the template bequeathed.
async fn made_from_nothing(drawn: &Drawn) {
    let lab = drawn.lab();
    let story = format!("{}\n{drawn:?}", drawn.text());
    let planned = lab.plan(&options()).await.expect("Proxmox answers");
    let creating = planned.nodes.iter().filter(|node| matches!(node.verdict, Verdict::Create(_))).count();
    let outcomes = lab.provision().await.expect("Proxmox answers");
    all_done(&outcomes, &story);
    assert_eq!((outcomes.len(), lab.made().len()), (creating, creating), "{story}");
    // Only what no clone could become is refused, and nothing of it is made.
    for node in planned.nodes.iter().filter(|node| !node.acts()) {
        assert!(matches!(node.verdict, Verdict::Refuse { .. }), "{story}\n{node:#?}");
    }
    lab.check_promises();
    let plan = settled(&lab, &story).await;
    for node in plan.nodes.iter().filter(|node| node.vmid.is_some()) {
        assert!(matches!(node.verdict, Verdict::Nothing | Verdict::Refuse { .. }), "{story}\n{node:#?}");
        assert!(node.held_back.is_empty() && node.waiting.is_empty(), "{story}\n{node:#?}");
    }
    lab.check_promises();
}

#[test]
fn what_was_made_from_nothing_is_as_it_should_be() {
    for_all(40, &drawn(), |drawn| {
        on_paused_time(made_from_nothing(&drawn));
        Ok(())
    });
}

/// The options of a VM with those applied that wait, and their parts where they have some.
fn options_of(vm: &Value) -> BTreeMap<String, BTreeMap<String, String>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let object = |section: &str| vm[section].as_object().cloned().unwrap_or_default();
    let mut options: BTreeMap<String, String> =
        object("config").iter().map(|(key, value)| (key.clone(), text(value))).collect();
    for key in object("pending_delete").keys() {
        options.remove(key);
    }
    options.extend(object("pending").iter().map(|(key, value)| (key.clone(), text(value))));
    options.into_iter().map(|(key, value)| (key.clone(), parts(&key, &value))).collect()
}

/// The parts of a value, in whatever order and spelling. A part without a name has that of the option.
fn parts(key: &str, value: &str) -> BTreeMap<String, String> {
    if !["net0", "scsi0", "agent", "cpu", "startup", "memory", "ipconfig0"].contains(&key) {
        return BTreeMap::from([(String::new(), value.to_owned())]);
    }
    let part = |part: &str| match part.split_once('=') {
        Some(("virtio" | "e1000" | "macaddr", mac)) => ("mac".to_owned(), mac.to_uppercase()),
        Some(("cputype" | "enabled" | "current", value)) => (String::new(), value.to_owned()),
        Some(("order", value)) => ("order".to_owned(), value.to_owned()),
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (String::new(), part.to_owned()),
    };
    value.split(',').map(part).collect()
}

/// Whether the files say anything about this part of this option.
fn is_declared(node: &DrawnNode, network: &Given, key: &str, part: &str) -> bool {
    let says = |name: &str| node.keys.contains_key(name);
    match (key, part) {
        ("name" | "tags", _) | ("net0", "mac") | ("ipconfig0", "ip") => true,
        ("ipconfig0", "gw") => network.contains_key("gateway"),
        ("net0", "bridge") => says("bridge"),
        // In trunk mode it is Talos that tags.
        ("net0", "tag") => says("vlan_tag") && network.get("vlan_mode") == Some(&"true"),
        ("net0", "mtu" | "queues") => says(if part == "mtu" { "mtu" } else { "net_queues" }),
        ("cores" | "sockets", _) => says(&format!("vm_{key}")),
        // A balloon must not be larger than the memory.
        ("balloon", _) => says("balloon") || says("vm_memory"),
        ("memory", "") => says("vm_memory"),
        ("cpu", "" | "flags") => says("cpu_type"),
        ("numa" | "ostype" | "onboot", _) => says(key),
        ("scsihw", _) => says("scsi_hw"),
        ("agent", "") => says("qemu_agent"),
        ("startup", "order") => says("vm_startup_order"),
        ("startup", "up") => says("vm_startup_delay"),
        ("startup", "down") => says("vm_shutdown_delay"),
        ("nameserver", _) => network.contains_key("dns_servers"),
        ("searchdomain", _) => network.contains_key("search_domains"),
        ("scsi0", "size") => says("vm_disk_size"),
        ("scsi0", "serial") => says("disk"),
        ("scsi0", "discard" | "ssd" | "backup" | "replicate") => says(&format!("disk_{part}")),
        ("tpmstate0", _) => says("encrypt_disk"),
        ("scsi1" | "scsi2", _) => says("data_disks"),
        _ if key.starts_with("net") || key.starts_with("ipconfig") => node.has_cards(),
        _ => false,
    }
}

/// Two values that mean the same: an absent one is its default.
fn same(key: &str, part: &str, before: Option<&String>, after: Option<&String>) -> bool {
    let usual = match (key, part) {
        ("startup" | "agent" | "cpu" | "memory", _) => "",
        _ => "\0",
    };
    before.map_or(usual, String::as_str) == after.map_or(usual, String::as_str)
}

/// Nothing has changed that the files do not speak of.
fn check_undeclared(before: &Value, after: &Value, node: &DrawnNode, network: &Given, story: &str) {
    let (was, is) = (options_of(before), options_of(after));
    let running = before["power"] != json!("stopped");
    let nothing = BTreeMap::new();
    for key in was.keys().chain(is.keys()).collect::<BTreeSet<_>>() {
        let (was, is) = (was.get(key).unwrap_or(&nothing), is.get(key).unwrap_or(&nothing));
        for part in was.keys().chain(is.keys()).collect::<BTreeSet<_>>() {
            let (was, is) = (was.get(part), is.get(part));
            // Nobody asked for a disruption.
            let disrupts = key == "name" || key.starts_with("net") || key.starts_with("ipconfig");
            let may_change = is_declared(node, network, key, part) && !(running && disrupts);
            assert!(may_change || same(key, part, was, is), "{key} {part}: {was:?} → {is:?}\n{story}");
        }
    }
    let tags = |vm: &Value| -> BTreeSet<String> {
        let tags = vm["config"]["tags"].as_str().unwrap_or_default();
        tags.split(';').filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
    };
    assert!(tags(before).is_subset(&tags(after)), "{story}");
}

/// VMs that are there, changed by hand, and files that say something else than before.
async fn changed_by_hand(drawn: &Drawn, hands: &[ByHand], then: &DrawnCluster) {
    let mut lab = drawn.lab();
    all_done(&lab.provision().await.expect("Proxmox answers"), &drawn.text());
    lab.change_made(|name, vm| {
        let at: usize = name.strip_prefix("node-").and_then(|at| at.parse().ok()).expect("a node's name");
        hands[at].change(vm, at);
    });
    let names: BTreeMap<String, usize> = lab
        .plan(&options())
        .await
        .expect("Proxmox answers")
        .nodes
        .iter()
        .enumerate()
        .filter_map(|(at, node)| Some((node.vmid?.to_string(), at)))
        .collect();
    let text = drawn.text_of(then);
    lab.cluster = cluster(&text);
    let before = lab.guests();
    let story = format!("{text}\n{hands:?}\n{drawn:?}");
    let outcomes = lab.provision().await.expect("Proxmox answers");
    all_done(&outcomes, &story);
    lab.check_promises();
    let after = lab.guests();
    for (vmid, at) in names.iter().filter(|(vmid, _)| before.contains_key(*vmid)) {
        check_undeclared(&before[vmid], &after[vmid], &then.nodes[*at], &then.network, &story);
    }
    settled(&lab, &story).await;
    lab.check_promises();
}

#[test]
fn what_was_changed_by_hand_is_mended_where_the_files_speak_of_it_and_nowhere_else() {
    let story = drawn().prop_flat_map(|drawn| {
        let hands = prop::collection::vec(by_hand(), drawn.cluster.nodes.len());
        let then = redrawn(&drawn.cluster);
        (Just(drawn), hands, then)
    });
    for_all(40, &story, |(drawn, hands, then)| {
        on_paused_time(changed_by_hand(&drawn, &hands, &then));
        Ok(())
    });
}
