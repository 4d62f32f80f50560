//! How each operation waits for a file lock that somebody else holds (recording 740).

use std::time::Duration;

use pvetalos::proxmox::request::Method::{self, Delete, Post, Put};
use pvetalos::sim::WorldFault;

use crate::lab::Lab;

const TIMEOUT: &str = "can't lock file '/var/lock/qemu-server/lock-102.conf' - got timeout";

fn locked(seconds: u64) -> Lab {
    let mut lab = Lab::small();
    assert_eq!(lab.clone_to(102, &[("full", "1")]), "OK");
    lab.world.inject(WorldFault::VmLocked { vmid: 102, seconds });
    lab
}

#[test]
fn tasks_give_up_after_ten_seconds() {
    #[track_caller]
    fn case(method: Method, path: &str, params: &[(&str, &str)]) {
        let mut lab = locked(45);
        let begun = lab.now;
        assert_eq!(lab.run(method, &format!("/nodes/pve/qemu/102{path}"), params), TIMEOUT);
        let waited = lab.since(begun).as_millis();
        assert!((10_000..10_300).contains(&waited), "{waited} ms");
    }
    case(Post, "/config", &[("cores", "2")]);
    case(Post, "/status/start", &[]);
    case(Post, "/status/stop", &[]);
    case(Post, "/status/shutdown", &[]);
    case(Put, "/resize", &[("disk", "scsi0"), ("size", "+1G")]);
    case(Delete, "", &[]);
    case(Post, "/template", &[]);
}

#[test]
fn calls_that_wait_say_so_after_ten_seconds() {
    let mut lab = locked(45);
    for path in ["/nodes/pve/qemu/102/config", "/nodes/pve/qemu/102/cloudinit"] {
        let params: &[(&str, &str)] = if path.ends_with("config") { &[("cores", "2")] } else { &[] };
        let seen = lab.put(path, params);
        assert_eq!((seen.refused(), seen.delay), ((500, TIMEOUT), Duration::from_secs(10)));
    }
    let seen = lab.get("/nodes/pve/qemu/102/config");
    assert_eq!((seen.status, seen.delay), (200, Duration::ZERO), "reading never waits");
}

#[test]
fn a_write_that_gets_the_lock_in_time_is_done_then_and_not_before() {
    let mut lab = locked(4);
    let seen = lab.put("/nodes/pve/qemu/102/config", &[("cores", "7")]);
    assert_eq!((seen.status, seen.delay), (200, Duration::from_secs(4)));
    assert_eq!(lab.config(102)["cores"], serde_json::Value::Null, "somebody else still holds the lock");
    lab.wait(Duration::from_secs(4));
    assert_eq!(lab.config(102)["cores"], 7);
}

#[test]
fn writes_queue_up_behind_each_other() {
    let mut lab = locked(3);
    lab.put("/nodes/pve/qemu/102/config", &[("cores", "2")]).data();
    lab.put("/nodes/pve/qemu/102/config", &[("memory", "2048")]).data();
    lab.wait(Duration::from_secs(4));
    let config = lab.config(102);
    assert_eq!((&config["cores"], &config["memory"]), (&2.into(), &"2048".into()));
}

#[test]
fn a_clone_waits_one_second_and_a_new_vm_five() {
    let mut lab = Lab::small();
    lab.world.inject(WorldFault::VmLocked { vmid: 140, seconds: 45 });
    let begun = lab.now;
    let text = "can't lock file '/var/lock/qemu-server/lock-140.conf' - got timeout";
    assert_eq!(lab.clone_to(140, &[("full", "1")]), text);
    assert!(lab.since(begun).as_millis() < 1300);
    let seen = lab.post("/nodes/pve/qemu", &[("vmid", "140")]);
    let text = format!("unable to create VM 140 - {text}");
    assert_eq!((seen.refused(), seen.delay), ((500, text.as_str()), Duration::from_secs(5)));
    lab.world.inject(WorldFault::VmLocked { vmid: 9000, seconds: 45 });
    assert_eq!(
        lab.clone_to(141, &[("full", "1")]),
        "can't lock file '/var/lock/qemu-server/lock-9000.conf' - got timeout"
    );
    assert!(lab.get("/nodes/pve/qemu/141/config").status == 500, "and leaves nothing behind");
}

#[test]
fn clones_of_one_template_run_side_by_side_but_nobody_may_write_it() {
    let mut lab = Lab::small();
    let clone = |lab: &mut Lab, id: &str| {
        lab.post("/nodes/pve/qemu/9000/clone", &[("newid", id), ("full", "1"), ("bwlimit", "40960")]).data()
    };
    let (one, two) = (clone(&mut lab, "101"), clone(&mut lab, "102"));
    lab.wait(Duration::from_secs(1));
    assert_eq!(lab.world.running_tasks().len(), 2);
    let seen = lab.put("/nodes/pve/qemu/9000/config", &[("description", "x")]);
    assert_eq!(seen.refused(), (500, "can't lock file '/var/lock/qemu-server/lock-9000.conf' - got timeout"));
    let seen = lab.put("/nodes/pve/qemu/101/config", &[("cores", "2")]);
    assert_eq!(seen.refused(), (500, "VM is locked (clone)"));
    let begun = lab.now;
    assert_eq!((lab.finish(&one), lab.finish(&two)), ("OK".to_owned(), "OK".to_owned()));
    assert!(lab.since(begun).as_secs() < 27, "26 s each, but at the same time");
}

#[test]
fn a_storage_that_is_locked_for_long_fails_a_clone_which_tidies_up() {
    let mut lab = Lab::small();
    lab.world.inject(WorldFault::StorageLocked { host: "pve".into(), storage: "local".into(), seconds: 30 });
    assert_eq!(
        lab.clone_to(105, &[("full", "1")]),
        "clone failed: can't lock file '/var/lock/pve-manager/pve-storage-local' - got timeout"
    );
    assert_eq!(lab.get("/nodes/pve/qemu/105/config").status, 500);
    assert_eq!(lab.world.check(), Vec::<String>::new());
}

#[test]
fn many_clones_at_once_wait_for_each_other_at_the_storage() {
    let mut lab = Lab::small();
    let upids: Vec<_> = (200..250)
        .map(|id| {
            let id = id.to_string();
            lab.post("/nodes/pve/qemu/9000/clone", &[("newid", &id), ("full", "1")]).data()
        })
        .collect();
    for upid in &upids {
        assert_eq!(lab.finish(upid), "OK");
    }
    assert!(lab.log(&upids[49]).contains(&"trying to acquire lock...".to_owned()));
    assert_eq!(lab.world.check(), Vec::<String>::new());
}
