//! The cluster's list lags behind: what is live in it and what is not.

use std::time::Duration;

use pvetalos::proxmox::request::Method::{Delete, Post};
use pvetalos::sim::WorldFault;
use serde_json::{Value, json};

use crate::lab::Lab;

fn row(lab: &mut Lab, id: u32) -> Option<Value> {
    let rows = lab.get("/cluster/resources?type=vm").data();
    rows.as_array().unwrap().iter().find(|row| row["vmid"] == id).cloned()
}

#[test]
fn a_new_vm_has_no_name_until_the_next_report() {
    let mut lab = Lab::small();
    lab.now = Duration::from_secs(41);
    assert_eq!(lab.clone_to(105, &[("full", "1"), ("name", "cp-1")]), "OK");
    let fresh = row(&mut lab, 105).unwrap();
    assert_eq!((&fresh["status"], fresh.get("name"), fresh.get("template")), (&json!("unknown"), None, None));
    lab.wait(Duration::from_secs(10));
    let settled = row(&mut lab, 105).unwrap();
    assert_eq!((&settled["status"], &settled["name"]), (&json!("stopped"), &json!("cp-1")));
}

#[test]
fn tags_and_existence_are_live_and_name_and_power_are_not() {
    let mut lab = Lab::small();
    lab.now = Duration::from_secs(31);
    assert_eq!(lab.clone_to(105, &[("full", "1"), ("name", "old")]), "OK");
    lab.now = Duration::from_secs(51);
    lab.put("/nodes/pve/qemu/105/config", &[("name", "new"), ("tags", "b;a")]).data();
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/105/status/start", &[]), "OK");
    let seen = row(&mut lab, 105).unwrap();
    assert_eq!((&seen["tags"], &seen["name"], &seen["status"]), (&json!("a;b"), &json!("old"), &json!("stopped")));
    let live = lab.get("/nodes/pve/qemu").data();
    assert_eq!((&live[0]["name"], &live[0]["status"]), (&json!("new"), &json!("running")));
    lab.wait(Duration::from_secs(10));
    let seen = row(&mut lab, 105).unwrap();
    assert_eq!((&seen["name"], &seen["status"]), (&json!("new"), &json!("running")));
}

#[test]
fn a_reused_number_shows_its_predecessor() {
    let mut lab = Lab::small();
    lab.now = Duration::from_secs(31);
    assert_eq!(lab.clone_to(105, &[("full", "1"), ("name", "first")]), "OK");
    lab.now = Duration::from_secs(51);
    assert_eq!(lab.run(Delete, "/nodes/pve/qemu/105", &[]), "OK");
    assert_eq!(row(&mut lab, 105), None, "gone at once");
    assert_eq!(lab.clone_to(105, &[("full", "1"), ("name", "second")]), "OK");
    assert_eq!(row(&mut lab, 105).unwrap()["name"], "first");
    lab.wait(Duration::from_secs(10));
    assert_eq!(row(&mut lab, 105).unwrap()["name"], "second");
}

#[test]
fn silent_status_daemons_make_the_list_old_and_then_empty() {
    let mut lab = Lab::small();
    lab.world.inject(WorldFault::StaleResources { seconds: 400 });
    lab.wait(Duration::from_mins(1));
    assert_eq!(row(&mut lab, 9000).unwrap()["name"], "talos");
    lab.wait(Duration::from_mins(5));
    assert_eq!(row(&mut lab, 9000).unwrap()["status"], "unknown");
    lab.wait(Duration::from_mins(1));
    assert_eq!(row(&mut lab, 9000).unwrap()["status"], "stopped");
}

#[test]
fn an_event_is_due_while_there_is_news_and_none_when_all_is_told() {
    let mut lab = Lab::small();
    lab.now = Duration::from_secs(31);
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
    assert_eq!(lab.world.next_event(), Some(Duration::from_secs(40)));
    lab.wait(Duration::from_secs(10));
    assert_eq!(lab.world.next_event(), None);
}
