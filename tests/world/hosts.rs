use std::time::Duration;

use pvetalos::proxmox::request::Method::{Delete, Post};
use pvetalos::sim::WorldFault;
use serde_json::json;

use crate::lab::Lab;

fn three_hosts() -> Lab {
    Lab::new(&json!({
        "cluster": "lab",
        "hosts": { "pve": {}, "pve2": {}, "pve3": {} },
        "storages": { "local": { "type": "dir" }, "ceph": { "type": "zfspool", "shared": true } },
        "templates": {
            "9000": { "storage": "local", "name": "local-template" },
            "9001": { "storage": "ceph", "name": "shared-template" },
        },
        "vms": { "300": { "host": "pve2", "storage": "local" } },
        "containers": { "301": { "host": "pve3", "name": "dns", "running": true } },
    }))
}

#[test]
fn a_call_for_another_host_is_passed_on() {
    let mut lab = three_hosts();
    assert_eq!(lab.get("/nodes/pve2/qemu/300/config").data()["name"], "vm-300");
    let seen = lab.get("/nodes/pve/qemu/300/config");
    assert_eq!(seen.refused(), (500, "Configuration file 'nodes/pve/qemu-server/300.conf' does not exist"));
    assert_eq!(lab.get("/nodes/localhost/status").status, 200);
    let upid = lab.post("/nodes/pve2/qemu/300/status/start", &[]).data();
    assert!(upid.as_str().unwrap().starts_with("UPID:pve2:"));
    assert_eq!(lab.finish(&upid), "OK");
}

#[test]
fn a_host_that_is_down_answers_595_and_its_vms_grow_old() {
    let mut lab = three_hosts();
    lab.world.inject(WorldFault::HostOffline { host: "pve2".into() });
    assert_eq!(lab.get("/nodes/pve2/qemu").refused(), (595, "No route to host"));
    let status = |lab: &mut Lab| {
        let rows = lab.get("/cluster/resources?type=vm").data();
        rows.as_array().unwrap().iter().find(|row| row["vmid"] == 300).unwrap()["status"].clone()
    };
    assert_eq!(status(&mut lab), "stopped", "the last record is still believed");
    lab.wait(Duration::from_secs(310));
    assert_eq!(status(&mut lab), "unknown");
    let rows = lab.get("/nodes").data();
    assert_eq!(rows.as_array().unwrap().iter().filter(|row| row["status"] == "offline").count(), 1);
    lab.world.inject(WorldFault::HostOnline { host: "pve2".into() });
    lab.wait(Duration::from_secs(10));
    assert_eq!(status(&mut lab), "stopped");
}

#[test]
fn a_clone_goes_to_another_host_only_from_shared_storage() {
    let mut lab = three_hosts();
    let seen = lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "110"), ("full", "1"), ("target", "pve2")]);
    assert_eq!(seen.refused(), (500, "can't clone VM to node 'pve2' (VM uses local storage)"));
    let seen = lab.post(
        "/nodes/pve/qemu/9001/clone",
        &[("newid", "110"), ("full", "1"), ("target", "pve2"), ("storage", "local")],
    );
    assert_eq!(seen.refused(), (500, "can't clone to non-shared storage 'local'"));
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/9001/clone", &[("newid", "110"), ("target", "pve2")]), "OK");
    assert_eq!(lab.get("/nodes/pve2/qemu/110/config").status, 200);
    assert_eq!(lab.run(Delete, "/nodes/pve2/qemu/110", &[]), "OK");
    assert_eq!(lab.world.check(), Vec::<String>::new());
}

#[test]
fn a_number_taken_elsewhere_is_found_only_by_the_task() {
    let mut lab = three_hosts();
    for (id, path) in [("300", "300"), ("301", "301")] {
        let exit = lab.run(Post, "/nodes/pve/qemu/9000/clone", &[("newid", id), ("full", "1")]);
        assert_eq!(
            exit,
            format!("close (rename) atomic file '/etc/pve/nodes/pve/qemu-server/{path}.conf' failed: File exists")
        );
        assert_eq!(lab.get(&format!("/cluster/nextid?vmid={id}")).error("vmid"), format!("VM {id} already exists"));
    }
    let seen = lab.post("/nodes/pve/qemu", &[("vmid", "301")]);
    assert_eq!(seen.refused(), (500, "unable to create VM 301 - CT 301 already exists on node 'pve3'"));
}

#[test]
fn a_cluster_tells_whether_it_has_a_quorum() {
    let mut lab = three_hosts();
    let rows = lab.get("/cluster/status").data();
    assert_eq!((&rows[0]["name"], &rows[0]["quorate"], &rows[0]["nodes"]), (&json!("lab"), &json!(1), &json!(3)));
    for host in ["pve2", "pve3"] {
        lab.world.inject(WorldFault::HostOffline { host: host.into() });
    }
    assert_eq!(lab.get("/cluster/status").data()[0]["quorate"], 0);
    assert_eq!(lab.get("/nodes/pve/qemu/9000/config").status, 200, "reading works");
    let seen = lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "110")]);
    assert_eq!(seen.refused(), (500, "cluster not ready - no quorum?"));
    let seen = lab.put("/nodes/pve/qemu/9000/config", &[("cores", "3")]);
    assert!(seen.reason.ends_with("- Permission denied"), "{}", seen.reason);
}

#[test]
fn tasks_are_asked_for_on_their_own_host() {
    let mut lab = three_hosts();
    let upid = lab.post("/nodes/pve2/qemu/300/status/start", &[]).data();
    let upid = upid.as_str().unwrap();
    assert_eq!(lab.get(&format!("/nodes/pve/tasks/{upid}/status")).error("upid"), "no such task");
    let log = lab.get(&format!("/nodes/pve/tasks/{upid}/log")).data();
    assert_eq!(log[0]["t"], "unable to open file - No such file or directory");
}
