//! Whoever writes a world, or a request, may write any number.

use std::time::Duration;

use pvetalos::proxmox::request::Method;
use pvetalos::sim::WorldFault;
use serde_json::json;

use crate::lab::Lab;

const HUGE: &str = "18446744073709551615";

/// Everything about it is as large as can be said.
fn huge() -> Lab {
    let number = u64::MAX;
    Lab::new(&json!({
        "epoch": u32::MAX,
        "timing": { "fork": 20, "allocate": number, "copy_rate": number, "start": number, "stop": number,
            "shutdown": number, "download_rate": number, "other": number },
        "guest": { "boot": number },
        "downloads": { "https://example.org/": { "size": number, "virtual_size": number } },
        "hosts": { "pve": { "memory": number, "uptime": number, "cpus": u32::MAX, "next_pid": u32::MAX } },
        "storages": { "local": { "type": "dir", "capacity": number, "occupied": number }, "thin": { "type": "lvmthin",
            "capacity": number, "files": { "import/x.raw": { "size": number, "ctime": number } } } },
        "templates": { "9000": { "storage": "thin" } },
        "vms": { "100": { "storage": "thin", "running": true, "config": { "cores": HUGE, "sockets": HUGE,
            "memory": HUGE, "balloon": HUGE, "startup": format!("down={HUGE}") } } },
    }))
}

/// Looks at everything that adds up numbers, and lets all of them come to an end.
fn look_around(mut lab: Lab) {
    for path in [
        "/cluster/resources",
        "/nodes",
        "/nodes/pve/status",
        "/nodes/pve/qemu",
        "/nodes/pve/qemu/100/status/current",
        "/nodes/pve/storage",
        "/nodes/pve/tasks?source=all",
    ] {
        lab.get(path).data();
    }
    lab.world.advance(Duration::MAX);
    assert_eq!(lab.world.running_tasks(), [] as [String; 0]);
    lab.world.check();
}

#[test]
fn a_world_of_huge_numbers_stands() {
    let mut lab = huge();
    lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "105"), ("full", "1"), ("bwlimit", "1")]).data();
    lab.post("/nodes/pve/qemu/100/status/shutdown", &[]).data();
    lab.put("/nodes/pve/qemu/100/config", &[("scsi1", "local:1")]);
    let url = [("content", "import"), ("filename", "x.qcow2"), ("url", "https://example.org/x.qcow2")];
    lab.post("/nodes/pve/storage/local/download-url", &url);
    look_around(lab);
}

#[test]
fn requests_with_huge_numbers_have_an_answer() {
    let mut lab = Lab::small();
    assert_eq!(lab.clone_to(100, &[]), "OK");
    lab.put("/nodes/pve/qemu/100/config", &[("cores", HUGE), ("sockets", HUGE), ("startup", "down=99999999999999999")]);
    lab.run(Method::Post, "/nodes/pve/qemu/100/status/start", &[]);
    lab.post("/nodes/pve/qemu/100/status/shutdown", &[("timeout", HUGE)]);
    lab.post("/nodes/pve/qemu/100/status/reboot", &[("timeout", HUGE)]);
    lab.post("/nodes/pve/qemu/100/config", &[("background_delay", HUGE), ("cores", "2")]);
    look_around(lab);
}

#[test]
fn faults_with_huge_numbers_end_with_time() {
    let mut lab = huge();
    let seconds = u64::MAX;
    lab.world.inject(WorldFault::VmLocked { vmid: 100, seconds });
    lab.world.inject(WorldFault::StorageLocked { host: "pve".to_owned(), storage: "thin".to_owned(), seconds });
    lab.world.inject(WorldFault::StaleResources { seconds });
    lab.world.inject(WorldFault::StorageFull { storage: "local".to_owned() });
    lab.world.inject(WorldFault::TaskKilled { kind: "qmstop".to_owned(), percent: u8::MAX });
    lab.post("/nodes/pve/qemu/100/status/stop", &[]).data();
    look_around(lab);
}
