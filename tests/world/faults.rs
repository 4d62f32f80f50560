use std::time::Duration;

use pvetalos::proxmox::request::Method::{Delete, Post};
use pvetalos::sim::{World, WorldFault};

use crate::lab::Lab;

#[test]
fn a_failing_clone_removes_what_it_made() {
    let mut lab = Lab::small();
    let text = "copy failed: I/O error".to_owned();
    lab.world.inject(WorldFault::TaskFails { kind: "qmclone".into(), percent: 50, text });
    let upid = lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "105"), ("full", "1"), ("bwlimit", "102400")]).data();
    assert_eq!(lab.finish(&upid), "clone failed: copy failed: I/O error");
    let log = lab.log(&upid);
    assert!(log[log.len() - 2].contains("(49."), "{}", log[log.len() - 2]);
    assert_eq!(lab.get("/nodes/pve/qemu/105/config").status, 500);
    assert_eq!(lab.world.check(), Vec::<String>::new());
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK", "only the next one failed");
}

#[test]
fn a_killed_clone_leaves_its_lock_and_its_disks() {
    let mut lab = Lab::small();
    lab.world.inject(WorldFault::TaskKilled { kind: "qmclone".into(), percent: 30 });
    let mark = "pvetalos: cluster=home node=cp-1 vmid=105";
    assert_eq!(lab.clone_to(105, &[("full", "1"), ("description", mark)]), "unexpected status");
    let config = lab.config(105);
    assert_eq!((&config["lock"], &config["description"]), (&"clone".into(), &mark.into()));
    assert_eq!(config.get("scsi0"), None);
    assert_eq!(lab.world.orphan_volumes(), ["pve local:105/vm-105-disk-1.qcow2"]);
    assert_eq!(lab.run(Delete, "/nodes/pve/qemu/105", &[]), "VM is locked (clone)");
    lab.world.inject(WorldFault::LockLine { vmid: 105, lock: None });
    assert_eq!(lab.run(Delete, "/nodes/pve/qemu/105", &[("destroy-unreferenced-disks", "1")]), "OK");
    assert_eq!(lab.world.check(), Vec::<String>::new());
}

#[test]
fn a_failing_start_leaves_the_vm_off() {
    let mut lab = Lab::small();
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
    let text = "start failed: QEMU exited with code 1".to_owned();
    lab.world.inject(WorldFault::TaskFails { kind: "qmstart".into(), percent: 10, text: text.clone() });
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/105/status/start", &[]), text);
    assert_eq!(lab.get("/nodes/pve/qemu/105/status/current").data()["status"], "stopped");
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/105/status/start", &[]), "OK");
}

#[test]
fn a_full_storage_fails_a_clone() {
    let mut lab = Lab::small();
    lab.world.inject(WorldFault::StorageFull { storage: "local".into() });
    let exit = lab.clone_to(105, &[("full", "1")]);
    assert!(
        exit.starts_with("clone failed: unable to create image: ") && exit.ends_with("No space left on device"),
        "{exit}"
    );
    assert_eq!(lab.world.check(), Vec::<String>::new());
    let row = &lab.get("/nodes/pve/storage").data()[0];
    assert_eq!(row["avail"], 0);
}

#[test]
fn a_task_that_is_stopped_tidies_up() {
    let mut lab = Lab::small();
    let upid = lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "105"), ("full", "1"), ("bwlimit", "10240")]).data();
    lab.wait(Duration::from_secs(3));
    lab.delete(&format!("/nodes/pve/tasks/{}", upid.as_str().unwrap()), &[]).data();
    let exit = lab.finish(&upid);
    assert!(
        exit.starts_with("clone failed: copy failed: command '/usr/bin/qemu-img convert -p -n -r 10240K "),
        "{exit}"
    );
    assert_eq!(lab.world.check(), Vec::<String>::new());
}

#[test]
fn a_host_that_goes_down_takes_its_tasks_with_it() {
    let mut lab = Lab::new(&serde_json::json!({
        "hosts": { "pve": {}, "pve2": {} },
        "storages": { "local": { "type": "dir" } },
        "templates": { "9000": { "host": "pve2" } },
    }));
    let upid = lab.post("/nodes/pve2/qemu/9000/clone", &[("newid", "105"), ("full", "1"), ("bwlimit", "10240")]).data();
    lab.wait(Duration::from_secs(3));
    lab.world.inject(WorldFault::HostOffline { host: "pve2".into() });
    assert_eq!(lab.get("/nodes/pve2/qemu/105/config").status, 595);
    lab.world.inject(WorldFault::HostOnline { host: "pve2".into() });
    assert_eq!(lab.finish(&upid), "unexpected status");
    assert_eq!(lab.get("/nodes/pve2/qemu/105/config").data()["lock"], "clone");
}

#[test]
fn a_volume_that_cannot_be_freed_is_a_warning() {
    let mut lab = Lab::small();
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
    lab.world.inject(WorldFault::StorageLocked { host: "pve".into(), storage: "local".into(), seconds: 15 });
    assert_eq!(lab.run(Delete, "/nodes/pve/qemu/105", &[]), "WARNINGS: 1");
    assert_eq!(lab.get("/nodes/pve/qemu/105/config").status, 500, "the VM is gone");
    assert_eq!(lab.world.orphan_volumes().len(), 1);
}

#[test]
fn what_is_done_to_vms_without_a_mark_is_noted() {
    let mut lab = Lab::small();
    assert_eq!(lab.clone_to(105, &[("full", "1"), ("description", "pvetalos: cluster=a node=b vmid=105")]), "OK");
    assert_eq!(lab.clone_to(106, &[("full", "1")]), "OK");
    lab.put("/nodes/pve/qemu/105/config", &[("cores", "2")]).data();
    lab.put("/nodes/pve/qemu/106/config", &[("cores", "2")]).data();
    assert_eq!(lab.world.changes_without_mark(), ["PUT /nodes/pve/qemu/106/config"]);
}

#[test]
fn changes_without_our_mark_are_counted_for_one_run_and_only_so_far() {
    let mut lab = Lab::small();
    lab.clone_to(105, &[]);
    for _ in 0..1100 {
        lab.put("/nodes/pve/qemu/105/config", &[("cores", "2")]);
    }
    assert_eq!(lab.world.changes_without_mark().len(), 1000);
    let again = World::from_json(&lab.world.to_json()).unwrap();
    assert_eq!(again.changes_without_mark(), [] as [String; 0]);
}
