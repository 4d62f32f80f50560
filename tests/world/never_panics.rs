//! Whatever is asked, there is an answer.

use std::time::Duration;

use proptest::prelude::*;
use pvetalos::proxmox::request::{Method, Request};
use pvetalos::sim::route::ROUTES;
use pvetalos::sim::{Call, World};
use serde_json::json;

fn world() -> World {
    World::from_json(&json!({
        "hosts": { "pve": {}, "pve2": { "online": false } },
        "storages": { "local": { "type": "dir" }, "thin": { "type": "lvmthin" } },
        "templates": { "9000": {} },
        "vms": { "100": { "running": true }, "101": { "storage": "thin" } },
        "containers": { "102": {} },
    }))
    .unwrap()
}

fn method() -> impl Strategy<Value = Method> {
    prop_oneof![Just(Method::Get), Just(Method::Post), Just(Method::Put), Just(Method::Delete)]
}

/// A value as somebody might send it, good or bad.
fn value() -> impl Strategy<Value = String> {
    let plausible = prop_oneof![
        Just("pve"),
        Just("100"),
        Just("101"),
        Just("9000"),
        Just("local"),
        Just("thin"),
        Just("local:1"),
        Just("thin:cloudinit"),
        Just("local:0,import-from=local:import/x"),
        Just("virtio,bridge=vmbr0"),
        Just("order=scsi0"),
        Just("ip=10.0.0.1/24"),
        Just("scsi0"),
        Just("+1G"),
        Just("99999999999999999999T"),
        Just("18446744073709551615"),
        Just("1"),
        Just("0"),
        Just("-1"),
        Just("none,media=cdrom"),
        Just("scsi0,net0,ide2,unused0"),
        Just("a=,=b,,"),
        Just(""),
        Just("%zz%"),
        Just("é✓\n"),
    ];
    prop_oneof![3 => plausible.prop_map(str::to_owned), 1 => ".{0,40}"]
}

/// A path of the table with its variables filled, or anything at all.
fn path() -> impl Strategy<Value = String> {
    let known = (0..ROUTES.len(), proptest::collection::vec(value(), 4)).prop_map(|(index, values)| {
        let mut values = values.into_iter();
        let parts = ROUTES[index].path.split('/').map(|part| match part {
            "{node}" => "pve".to_owned(),
            part if part.starts_with('{') => values.next().unwrap_or_default(),
            part => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join("/")
    });
    prop_oneof![4 => known, 1 => "[/a-z0-9%:.]{0,60}"]
}

fn params() -> impl Strategy<Value = Vec<(String, String)>> {
    let names: Vec<String> = ROUTES
        .iter()
        .flat_map(|route| route.params.iter().flat_map(|group| group.iter()))
        .map(|param| if param.family == 0 { param.name.to_owned() } else { format!("{}0", param.name) })
        .collect();
    let name = prop_oneof![5 => proptest::sample::select(names), 1 => "[a-z]{0,8}[0-9]{0,3}"];
    proptest::collection::vec((name, value()), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_request_has_an_answer(
        requests in proptest::collection::vec((method(), path(), params(), 0_u64..30_000), 1..12),
        header in prop_oneof![4 => Just(None), 1 => ".{0,60}".prop_map(Some)],
    ) {
        let mut world = world();
        let usual = world.authorization().unwrap();
        let mut now = Duration::ZERO;
        for (method, path, params, pause) in requests {
            now += Duration::from_millis(pause);
            let request = Request { method, path, params };
            let authorization = Some(header.as_deref().unwrap_or(&usual));
            let reply = world.call(now, Call { request: &request, authorization });
            prop_assert!((200..600).contains(&reply.answer.status));
            prop_assert!(!reply.answer.reason.contains('\n'));
            prop_assert!(reply.delay <= Duration::from_secs(30));
        }
        world.advance(Duration::MAX);
        prop_assert!(world.running_tasks().is_empty());
        world.check();
        let saved = world.to_json();
        prop_assert_eq!(World::from_json(&saved).unwrap().to_json(), saved);
    }
}
