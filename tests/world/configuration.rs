use std::time::Duration;

use pvetalos::proxmox::request::Method::Post;
use serde_json::{Value, json};

use crate::lab::Lab;

const CONFIG: &str = "/nodes/pve/qemu/100/config";

fn with_vm() -> Lab {
    let mut lab = Lab::small();
    assert_eq!(lab.clone_to(100, &[("full", "1")]), "OK");
    lab
}

fn running() -> Lab {
    let mut lab = with_vm();
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/100/status/start", &[]), "OK");
    lab
}

fn pending(lab: &mut Lab, key: &str) -> Value {
    let rows = lab.get("/nodes/pve/qemu/100/pending").data();
    rows.as_array().unwrap().iter().find(|row| row["key"] == key).cloned().unwrap_or(Value::Null)
}

#[test]
fn a_second_volume_is_made_when_the_first_is_not_named() {
    let mut lab = with_vm();
    lab.put(CONFIG, &[("scsi1", "local:8")]).data();
    lab.put(CONFIG, &[("scsi1", "local:8")]).data();
    let config = lab.config(100);
    assert_eq!(config["unused0"], "local:100/vm-100-disk-2.raw");
    assert_eq!(config["scsi1"], "local:100/vm-100-disk-3.raw,size=8G");
}

#[test]
fn a_cloud_init_drive_is_there_once() {
    let mut lab = with_vm();
    let seen = lab.put(CONFIG, &[("ide0", "local:cloudinit")]);
    assert_eq!(seen.refused(), (500, "ide0 - cloud-init drive is already attached at 'ide2'"));
    let seen = lab.put(CONFIG, &[("ide2", "local:cloudinit")]);
    assert_eq!(seen.refused(), (500, "disk image '/var/lib/vz/images/100/vm-100-cloudinit.qcow2' already exists"));
    lab.put(CONFIG, &[("delete", "ide2")]).data();
    lab.put(CONFIG, &[("ide0", "local:cloudinit")]).data();
    assert_eq!(lab.world.check(), Vec::<String>::new());
}

#[test]
fn a_mistake_half_way_leaves_earlier_keys_pending() {
    let mut lab = with_vm();
    let seen = lab.put(CONFIG, &[("balloon", "0"), ("boot", "order=scsi9")]);
    assert_eq!(seen.refused(), (500, "invalid bootorder: device 'scsi9' does not exist'"));
    assert_eq!(pending(&mut lab, "balloon"), json!({ "key": "balloon", "pending": 0 }));
    lab.put(CONFIG, &[("name", "other")]).data();
    assert_eq!(pending(&mut lab, "balloon"), json!({ "key": "balloon", "value": 0 }), "the next write brings it in");
}

#[test]
fn removing_a_drive_takes_it_out_of_the_boot_order() {
    let mut lab = with_vm();
    lab.put(CONFIG, &[("scsi1", "local:1")]).data();
    lab.put(CONFIG, &[("boot", "order=scsi1;scsi0")]).data();
    lab.put(CONFIG, &[("delete", "scsi1"), ("force", "1")]).data();
    let config = lab.config(100);
    assert_eq!((&config["boot"], config.get("unused0")), (&json!("order=scsi0"), None));
    assert_eq!(lab.world.check(), Vec::<String>::new());
}

#[test]
fn a_running_vm_takes_what_can_be_plugged_once_its_guest_listens() {
    let mut lab = running();
    let card = "virtio=BC:24:11:00:00:77,bridge=vmbr0";
    let seen = lab.put(CONFIG, &[("net0", card)]);
    assert_eq!(seen.error("net0"), "hotplug problem - error on hot-unplugging device 'net0' - still busy in guest?\n");
    assert_eq!(pending(&mut lab, "net0")["pending"], card, "it waits for the next power cycle all the same");
    lab.wait(Duration::from_secs(30));
    lab.put(CONFIG, &[("net0", card), ("net1", "virtio,bridge=vmbr0"), ("scsi1", "local:1"), ("cores", "8")]).data();
    assert_eq!(pending(&mut lab, "net0"), json!({ "key": "net0", "value": card }));
    assert!(pending(&mut lab, "scsi1").get("value").is_some(), "a disk is plugged in");
    assert_eq!(pending(&mut lab, "cores")["pending"], 8);
    assert_eq!(lab.get("/nodes/pve/qemu/100/config?current=1").data().get("cores"), None);
}

#[test]
fn what_is_pending_becomes_true_with_the_next_power_cycle() {
    let mut lab = running();
    lab.put(CONFIG, &[("memory", "4096"), ("delete", "serial0")]).data();
    assert_eq!(pending(&mut lab, "serial0")["delete"], 1);
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/100/status/stop", &[]), "OK");
    assert_eq!(pending(&mut lab, "memory"), json!({ "key": "memory", "value": "4096" }));
    assert_eq!(pending(&mut lab, "serial0"), Value::Null);
}

#[test]
fn a_pending_disk_that_is_taken_back_becomes_unused() {
    let mut lab = running();
    lab.put(CONFIG, &[("scsi1", "local:1")]).data();
    lab.put(CONFIG, &[("scsi1", "local:2")]).data();
    assert_eq!(pending(&mut lab, "scsi1")["pending"], "local:100/vm-100-disk-3.raw,size=2G");
    lab.put(CONFIG, &[("revert", "scsi1")]).data();
    let config = lab.config(100);
    assert_eq!(
        (&config["scsi1"], &config["unused0"]),
        (&json!("local:100/vm-100-disk-2.raw,size=1G"), &json!("local:100/vm-100-disk-3.raw"))
    );
    assert_eq!(lab.world.check(), Vec::<String>::new());
}

#[test]
fn a_digest_belongs_to_one_state() {
    let mut lab = with_vm();
    let digest = lab.config(100)["digest"].as_str().unwrap().to_owned();
    lab.put(CONFIG, &[("cores", "4"), ("digest", &digest)]).data();
    let seen = lab.put(CONFIG, &[("cores", "6"), ("digest", &digest)]);
    assert_eq!(seen.refused(), (500, "checksum mismatch (file change by other user?)"));
    lab.put(CONFIG, &[("delete", "cores")]).data();
    assert_eq!(lab.config(100)["digest"], digest.as_str(), "the same text has the same digest");
}

#[test]
fn a_caller_may_hear_the_result_instead_of_a_task() {
    let mut lab = with_vm();
    let seen = lab.post(CONFIG, &[("cores", "3"), ("background_delay", "5")]);
    assert!(seen.delay < Duration::from_secs(1));
    assert_eq!(seen.data(), Value::Null);
    lab.wait(Duration::from_secs(1));
    assert_eq!(lab.config(100)["cores"], 3);
    let seen = lab.post(CONFIG, &[("boot", "order=scsi9"), ("background_delay", "5")]);
    assert_eq!(seen.refused(), (500, "failed to update VM 100: invalid bootorder: device 'scsi9' does not exist'"));
}

#[test]
fn an_address_of_manual_passes_the_api_and_fails_the_start() {
    let mut lab = with_vm();
    lab.put(CONFIG, &[("ipconfig0", "ip=manual")]).data();
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/100/status/start", &[]), "not a CIDR: manual");
}

#[test]
fn pre_enrolled_keys_are_noted_with_their_certificate() {
    let mut lab = Lab::small();
    let params = [("vmid", "101"), ("bios", "ovmf"), ("efidisk0", "local:1,efitype=4m,pre-enrolled-keys=1")];
    assert_eq!(lab.run(Post, "/nodes/pve/qemu", &params), "OK");
    assert_eq!(
        lab.config(101)["efidisk0"],
        "local:101/vm-101-disk-0.raw,efitype=4m,ms-cert=2023k,pre-enrolled-keys=1,size=528K"
    );
}

#[test]
fn cloud_init_tells_dhcp_and_static_addresses() {
    let mut lab = with_vm();
    let params = [
        ("net0", "virtio=BC:24:11:00:00:01,bridge=vmbr0"),
        ("net1", "virtio=BC:24:11:00:00:02,bridge=vmbr0"),
        ("net2", "virtio=BC:24:11:00:00:03,bridge=vmbr0"),
        ("ipconfig0", "ip=dhcp,ip6=auto"),
        ("ipconfig2", "ip=10.0.0.9/20,ip6=fd00::9/64,gw6=fd00::1"),
        ("nameserver", "1.1.1.1"),
    ];
    lab.put(CONFIG, &params).data();
    let text = lab.get("/nodes/pve/qemu/100/cloudinit/dump?type=network").data();
    let text = text.as_str().unwrap();
    assert!(text.contains("name: eth0\n      mac_address: 'bc:24:11:00:00:01'\n      subnets:\n      - type: dhcp4\n      - type: ipv6_slaac"), "{text}");
    assert!(!text.contains("eth1"), "a card without an address is left out");
    assert!(text.contains("address: '10.0.0.9'\n        netmask: '255.255.240.0'\n      - type: static6\n        address: 'fd00::9/64'\n        gateway: 'fd00::1'"), "{text}");
}
