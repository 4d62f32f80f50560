use std::time::Duration;

use pvetalos::proxmox::request::Method::{Delete, Post};
use serde_json::json;

use crate::lab::Lab;

fn lab(vm: &serde_json::Value) -> Lab {
    Lab::new(&json!({
        "hosts": { "pve": {} },
        "storages": { "local": { "type": "dir" } },
        "vms": { "100": vm },
    }))
}

const START: &str = "/nodes/pve/qemu/100/status/start";
const STOP: &str = "/nodes/pve/qemu/100/status/stop";
const SHUTDOWN: &str = "/nodes/pve/qemu/100/status/shutdown";

fn status(lab: &mut Lab) -> String {
    lab.get("/nodes/pve/qemu/100/status/current").data()["qmpstatus"].as_str().unwrap().to_owned()
}

#[test]
fn a_guest_shuts_down_when_it_listens() {
    let mut lab = lab(&json!({ "running": true }));
    lab.wait(Duration::from_secs(30));
    assert_eq!(lab.run(Post, SHUTDOWN, &[]), "OK");
    assert_eq!(status(&mut lab), "stopped");
}

#[test]
fn a_deaf_guest_is_stopped_only_by_force() {
    let mut lab = lab(&json!({ "running": true, "guest": { "obeys": false } }));
    assert_eq!(lab.run(Post, SHUTDOWN, &[("timeout", "5")]), "VM quit/powerdown failed - got timeout");
    assert_eq!(status(&mut lab), "running");
    assert_eq!(lab.run(Post, SHUTDOWN, &[("timeout", "5"), ("forceStop", "1")]), "OK");
    assert_eq!(status(&mut lab), "stopped");
}

#[test]
fn a_start_right_after_a_stop_meets_the_server_tidying_up() {
    let mut lab = lab(&json!({ "running": true }));
    assert_eq!(lab.run(Post, STOP, &[]), "OK");
    assert_eq!(lab.run(Post, START, &[]), "OK");
    lab.wait(Duration::from_millis(200));
    let seen = lab.put("/nodes/pve/qemu/100/config", &[("cores", "2")]);
    assert_eq!(seen.refused(), (500, "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout"));
    lab.wait(Duration::from_secs(31));
    lab.put("/nodes/pve/qemu/100/config", &[("description", "later")]).data();
}

#[test]
fn a_pause_between_stop_and_start_avoids_that() {
    let mut lab = lab(&json!({ "running": true }));
    assert_eq!(lab.run(Post, STOP, &[]), "OK");
    lab.wait(Duration::from_secs(2));
    assert_eq!(lab.run(Post, START, &[]), "OK");
    lab.put("/nodes/pve/qemu/100/config", &[("description", "x")]).data();
}

#[test]
fn a_reboot_ends_before_the_vm_is_up_again() {
    let mut lab = lab(&json!({ "running": true }));
    lab.wait(Duration::from_secs(30));
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/100/status/reboot", &[]), "OK");
    assert_eq!(status(&mut lab), "stopped");
    lab.wait(Duration::from_secs(5));
    assert_eq!(status(&mut lab), "running");
}

#[test]
fn a_managed_vm_is_started_by_the_manager_later() {
    let mut lab = lab(&json!({ "ha_managed": true }));
    let upid = lab.post(START, &[]).data();
    assert!(upid.as_str().unwrap().contains(":hastart:100:"));
    assert_eq!(lab.finish(&upid), "OK");
    assert_eq!(lab.log(&upid), ["Requesting HA start for VM 100", "TASK OK"]);
    assert_eq!(status(&mut lab), "stopped", "only asked for");
    lab.wait(Duration::from_secs(10));
    assert_eq!(status(&mut lab), "running");
    assert_eq!(lab.get("/nodes/pve/qemu/100/status/current").data()["ha"]["managed"], 1);
}

#[test]
fn a_managed_vm_is_deleted_only_with_purge() {
    let mut lab = lab(&json!({ "ha_managed": true }));
    let seen = lab.delete("/nodes/pve/qemu/100", &[]);
    assert_eq!(seen.refused(), (500, "unable to remove VM 100 - used in HA resources and purge parameter not set."));
    assert_eq!(lab.run(Delete, "/nodes/pve/qemu/100", &[("purge", "1")]), "OK");
}

#[test]
fn missing_firmware_variables_are_a_warning() {
    let mut lab = lab(&json!({ "config": { "bios": "ovmf" } }));
    let upid = lab.post(START, &[]).data();
    assert_eq!(lab.finish(&upid), "WARNINGS: 1");
    assert_eq!(lab.log(&upid).last().unwrap(), "TASK WARNINGS: 1");
}
