use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::lab::{AGENT, Lab, example, ready, settings, troubles, want};

#[tokio::test(start_paused = true)]
async fn a_fresh_host_gets_a_template_and_a_second_run_does_nothing() {
    let lab = Lab::fresh();
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9000].into(), true));
    assert_eq!(lab.vms(), (vec![9000], vec![]));
    let url = format!("https://factory.talos.dev/image/{AGENT}/v1.12.0/nocloud-amd64.qcow2");
    let place = "Talos 1.12.0 ce4c9805 on pve";
    assert_eq!(
        *lab.told.lock().expect("nobody panicked"),
        [
            format!("{place}: let storage local take disk images to import (content backup,iso,vztmpl,import)"),
            format!("{place}: download {url} to local on pve"),
            format!("{place}: make VM 9000 on pve from the image"),
            format!("{place}: make VM 9000 on pve a template"),
        ]
    );
    let config = lab.config(9000);
    for (key, value) in [
        ("name", "talos-1.12.0-ce4c9805"),
        ("machine", "q35"),
        ("bios", "ovmf"),
        ("cpu", "host"),
        ("scsihw", "virtio-scsi-pci"),
        ("ostype", "l26"),
        ("agent", "enabled=1"),
        ("serial0", "socket"),
        ("boot", "order=scsi0"),
        ("citype", "nocloud"),
        ("balloon", "0"),
        ("efidisk0", "local-lvm:base-9000-disk-0,efitype=4m,pre-enrolled-keys=0,size=4M"),
        ("ide2", "local-lvm:vm-9000-cloudinit,media=cdrom"),
        ("scsi0", "local-lvm:base-9000-disk-1,discard=on,size=4248M,ssd=1"),
    ] {
        assert_eq!(config[key], value, "{key}");
    }
    assert!(config["net0"].is_null() && config["tpmstate0"].is_null());
    let description = config["description"].as_str().expect("a description");
    let last = description.trim_end().lines().last().expect("a line");
    assert!(
        last.starts_with(&format!(
            "pvetalos-template: version=1.12.0 schematic={AGENT} secureboot=false vmid=9000 image={url} size="
        )),
        "{last}"
    );
    lab.assert_tidy("after the first run");

    let requests = lab.simulator.log().total();
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9000].into(), false));
    let log = lab.simulator.log();
    assert_eq!(log.count(pvetalos::proxmox::Method::Post, "/**"), 4 - 1, "download, create, convert and nothing more");
    println!("{requests} requests for the first template, {} for the second run", log.total() - requests);
}

/// Three hosts without a template, and a token that may make some.
pub(crate) fn three_hosts() -> serde_json::Value {
    let mut world = example("three-hosts.yaml");
    world["templates"] = json!({});
    world["roles"]["Templates"] = json!("Datastore.Allocate Datastore.AllocateTemplate Sys.AccessNetwork");
    let rules = world["acl"].as_array_mut().expect("a list");
    for who in ["pvetalos@pve", "pvetalos@pve!simulator"] {
        rules.extend(["/nodes", "/storage"].map(|path| json!({"path": path, "who": who, "role": "Templates"})));
    }
    world
}

#[tokio::test(start_paused = true)]
async fn local_storage_gets_a_template_per_host_at_the_same_time_and_shared_storage_one() {
    let lab = Lab::of(three_hosts());
    let begun = Instant::now();
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9000, 9001, 9002].into(), true));
    let together = begun.elapsed();
    assert_eq!(lab.images().len(), 3);
    lab.assert_tidy("a template per host");

    let alone = Lab::of(three_hosts());
    let one = pvetalos::template::Want { host: Some("pve2".parse().expect("a host")), ..want("local-lvm") };
    let begun = Instant::now();
    assert_eq!(ready(&alone.run(&[one], &settings()).await), ([9000].into(), true));
    let by_itself = begun.elapsed();
    assert!(together < by_itself + Duration::from_secs(2), "{together:?} for three, {by_itself:?} for one");
    println!("{together:?} for three hosts, {by_itself:?} for one");

    let shared = Lab::of(three_hosts());
    assert_eq!(ready(&shared.run(&[want("shared")], &settings()).await), ([9000].into(), true));
    assert_eq!(shared.images().len(), 1);
    assert_eq!(ready(&shared.run(&[want("shared")], &settings()).await), ([9000].into(), false));
    shared.assert_tidy("one for all");
}

#[tokio::test(start_paused = true)]
async fn a_shared_storage_of_images_is_downloaded_to_once() {
    let world = json!({
        "hosts": {"pve1": {}, "pve2": {}, "pve3": {}},
        "storages": {
            "local": {"type": "dir", "shared": true, "content": ["import"]},
            "local-lvm": {"type": "lvmthin"},
        },
    });
    let lab = Lab::with_token(world, "root@pam!pvetalos", "00000000-0000-4000-8000-000000000000");
    let settings = pvetalos::template::Settings { token: "root@pam!pvetalos".parse().expect("a token"), ..settings() };
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings).await), ([9000, 9001, 9002].into(), true));
    assert_eq!(lab.simulator.log().count(pvetalos::proxmox::Method::Post, "/nodes/*/storage/*/download-url"), 1);
    lab.assert_tidy("images in one place");
}

#[tokio::test(start_paused = true)]
async fn everything_that_stands_in_the_way_is_told_at_once() {
    let mut world = example("fresh-host.yaml");
    world["version"] = json!("8.3.5");
    world["storages"]["local-lvm"]["content"] = json!(["rootdir"]);
    let lab = Lab::of(world);
    let settings = pvetalos::template::Settings { enable_import: false, ..settings() };
    let found = troubles(&lab.run(&[want("local-lvm")], &settings).await);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(
        found[0].starts_with("Proxmox VE 8.3.5 cannot import disk images by its API | upgrade to 8.4"),
        "{found:#?}"
    );
    assert!(found[1].ends_with("| pvesm set local-lvm --content rootdir,images"), "{found:#?}");
    assert!(
        found[2].contains(
            "run it with --enable-import, or as root on a host `pvesm set local --content backup,iso,vztmpl,import`"
        ),
        "{found:#?}"
    );
    assert_eq!(lab.simulator.log().count(pvetalos::proxmox::Method::Put, "/**"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_may_only_be_in_a_pool_makes_its_template_there() {
    let mut world = example("fresh-host.yaml");
    world["pools"] = json!({"talos": {}});
    for rule in world["acl"].as_array_mut().expect("a list") {
        if rule["path"] == "/vms" {
            rule["path"] = json!("/pool/talos");
        }
    }
    let lab = Lab::of(world);
    let wants = [pvetalos::template::Want { pool: Some("talos".parse().expect("a pool")), ..want("local-lvm") }];
    assert_eq!(ready(&lab.run(&wants, &settings()).await), ([9000].into(), true));
    assert_eq!(ready(&lab.run(&wants, &settings()).await), ([9000].into(), false));
    let elsewhere = troubles(
        &lab.run(&[pvetalos::template::Want { image: crate::lab::image("1.11.0"), ..want("local-lvm") }], &settings())
            .await,
    );
    assert!(elsewhere[0].contains("lacks VM.Allocate"), "{elsewhere:?}");
}

#[tokio::test(start_paused = true)]
async fn every_missing_privilege_is_told_before_anything_is_done() {
    let mut world = example("fresh-host.yaml");
    world["roles"]["TalosImages"] = json!("Datastore.Audit");
    world["roles"]["TalosImport"] = json!("Datastore.Audit");
    world["roles"]["TalosDownload"] = json!("Sys.Audit");
    let lab = Lab::of(world);
    let found = troubles(&lab.run(&[want("local-lvm")], &settings()).await);
    let lacks = |text: &str| {
        found.iter().any(|found| found.starts_with(&format!("the token pvetalos@pve!simulator lacks {text} | `pveum")))
    };
    assert!(lacks("Datastore.AllocateTemplate on /storage/local"), "{found:#?}");
    assert!(lacks("Datastore.Allocate on /storage"), "{found:#?}");
    assert!(lacks("Sys.AccessNetwork on /nodes/pve"), "{found:#?}");
    assert_eq!(found.len(), 3, "{found:#?}");
    for method in [pvetalos::proxmox::Method::Put, pvetalos::proxmox::Method::Post] {
        assert_eq!(lab.simulator.log().count(method, "/**"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_template_that_somebody_marked_by_hand_will_do() {
    let lab = Lab::of(example("one-host.yaml"));
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9000].into(), false));
    assert_eq!(lab.vms(), (vec![9000], vec![100]));
}
