//! The world in which the recordings were made, and what happened in it without being recorded.

use std::time::Duration;

use pvetalos::proxmox::request::Method::{Delete, Get, Post, Put};
use pvetalos::sim::{World, WorldFault};
use serde_json::json;

use crate::Replay;

/// The operator's token.
pub(crate) const ROOT: &str = "PVEAPIToken=root@pam!rig=<secret>";

/// The token that most recordings were made with.
const TALOS: &str = "PVEAPIToken=automation@pve!talos=<secret>";

const EVERYTHING: &str = "Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit \
    Mapping.Audit Mapping.Use Pool.Allocate Pool.Audit SDN.Audit SDN.Use Sys.AccessNetwork Sys.Audit Sys.Modify \
    VM.Allocate VM.Audit VM.Backup VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit VM.Config.Disk \
    VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.Console VM.GuestAgent.Audit \
    VM.GuestAgent.Unrestricted VM.Migrate VM.PowerMgmt VM.Snapshot VM.Snapshot.Rollback";

pub(crate) fn world() -> World {
    World::from_json(&json!({
        "epoch": 1_794_788_234,
        "hosts": { "pve": { "cpus": 16, "memory": 25_274_793_984_u64, "nameservers": ["192.0.2.1"] } },
        "storages": {
            "local": {
                "type": "dir",
                "capacity": 270_553_174_016_u64,
                "files": { "import/talos-nocloud.qcow2": { "size": 206_766_080, "virtual_size": "1G", "ctime": 1_794_787_841 } },
            },
        },
        "guest": { "address": false },
        "downloads": {},
        "roles": { "Everything": EVERYTHING, "CloneOnly": "VM.Audit VM.Clone Datastore.Audit" },
        "tokens": {
            "root@pam!rig": { "secret": "<secret>" },
            "automation@pve!talos": { "secret": "<secret>" },
            "automation@pve!nothing": { "secret": "<secret>", "privsep": true },
            "automation@pve!audit": { "secret": "<secret>", "privsep": true },
            "automation@pve!clonly": { "secret": "<secret>", "privsep": true },
            "automation@pve!expired": { "secret": "<secret>", "expire": 1 },
        },
        "acl": [
            { "path": "/", "who": "automation@pve", "role": "Everything" },
            { "path": "/", "who": "automation@pve!audit", "role": "PVEAuditor" },
            { "path": "/", "who": "automation@pve!clonly", "role": "CloneOnly" },
        ],
    }))
    .unwrap()
}

const QEMU: &str = "/nodes/pve/qemu";

/// What happened right before a recording.
pub(crate) fn before(replay: &mut Replay, name: &str) {
    let lock = |replay: &mut Replay, vmid: u32, lock: Option<&str>| {
        replay.inject(WorldFault::LockLine { vmid, lock: lock.map(str::to_owned) });
    };
    match name {
        // A VM of this number was there before the first recording, and its record still is.
        "001-version" => replay.edit(|world| {
            world["records"]["9000"] = json!({
                "said": 0, "name": "talos-1.12.0", "status": "stopped", "template": true, "cpus": 2, "memory": 536_870_912,
                "disk": 1_073_741_824, "uptime": 0,
            });
        }),
        "139-clone-of-a-stopped-non-template" | "150-parallel-clone-a" => {
            replay.aside(Delete, &format!("{QEMU}/110"), &[]);
        }
        "170-clone-to-be-cancelled" => replay.aside(Delete, &format!("{QEMU}/102"), &[]),
        "180-clone-worker-killed-hard" => {
            replay.inject(WorldFault::TaskKilled { kind: "qmclone".to_owned(), percent: 4 });
        }
        "160-clone-while-template-lock-backup" => lock(replay, 9000, Some("backup")),
        "160-clone-while-template-lock-clone" => lock(replay, 9000, Some("clone")),
        "160-clone-while-template-lock-snapshot" => lock(replay, 9000, Some("snapshot")),
        "160-clone-while-template-lock-create" => lock(replay, 9000, Some("create")),
        "162-config-with-lock" => {
            lock(replay, 9000, None);
            lock(replay, 104, None);
            replay.aside(Delete, &format!("{QEMU}/104"), &[("destroy-unreferenced-disks", "1")]);
            replay.aside(Post, &format!("{QEMU}/9000/clone"), &[("newid", "102"), ("name", "node-102"), ("full", "1")]);
            lock(replay, 102, Some("backup"));
        }
        "320-cloudinit-dump-bad-type" => replay.aside(
            Put,
            &format!("{QEMU}/100/config"),
            &[("ciuser", "talos"), ("nameserver", "10.20.0.1"), ("searchdomain", "lab.internal"), ("memory", "512")],
        ),
        _ => power(replay, name),
    }
}

/// The VM's configuration path.
fn config(id: u32) -> String {
    format!("{QEMU}/{id}/config")
}

/// Recordings 349 to 573: a running VM, permissions, tasks.
fn power(replay: &mut Replay, name: &str) {
    match name {
        "395-shutdown-guest-not-responding" => {
            replay.inject(WorldFault::LockLine { vmid: 102, lock: None });
            replay.aside(Post, &format!("{QEMU}/100/status/start"), &[]);
            replay.aside(Put, &config(100), &[("name", "cp-1b"), ("tags", "talos;live")]);
            replay.aside(Put, &format!("{QEMU}/100/resize"), &[("disk", "scsi0"), ("size", "+1G")]);
            // The firmware's disk had been resized, so nothing boots.
            replay.edit(|world| {
                world["vms"]["100"]["guest"]["obeys"] = json!(false);
                world["vms"]["100"]["guest"]["agent"] = json!(false);
            });
        }
        "349-delete-stopped-vm-purge" => replay.aside(Post, &format!("{QEMU}/100/status/stop"), &[]),
        "350-status-stopped" => {
            replay.aside(Post, &format!("{QEMU}/9000/clone"), &[("newid", "100"), ("name", "cp-1"), ("full", "1")]);
            let values = [
                ("tags", "talos;controlplane"),
                ("net0", "virtio=BC:24:11:00:00:01,bridge=vmbr0"),
                ("ipconfig0", "ip=10.20.0.11/24,gw=10.20.0.1"),
                ("nameserver", "10.20.0.1"),
                ("searchdomain", "lab.internal"),
            ];
            replay.aside(Put, &config(100), &values);
            replay.aside(Put, &format!("{QEMU}/100/resize"), &[("disk", "scsi0"), ("size", "2G")]);
            // The status daemon had looked while the clone was a stub.
            replay.edit(|world| {
                let record = json!({
                    "said": 588_000, "name": "VM 100", "status": "stopped", "template": false, "cpus": 1,
                    "memory": 536_870_912, "disk": 0, "uptime": 0,
                });
                world["records"]["100"] = record;
            });
        }
        // An operator's own tasks stand in the list too.
        "488-audit-tasks" => replay.edit(|world| {
            let older = (world["tasks"]["next"].as_u64().unwrap() - 35).to_string();
            world["tasks"]["all"][&older]["user"] = json!("root@pam");
        }),
        "540-task-log-first-3" => {
            replay.aside(Delete, "/nodes/pve/storage/local/content/local:iso%2Ftiny.iso", &[]);
            let upid = replay.begin_as(
                TALOS,
                Post,
                &format!("{QEMU}/9000/clone"),
                &[("newid", "103"), ("name", "t"), ("full", "1")],
            );
            replay.words.name("UPID:pve:00006651:0003E4FC:6AFA4EA9:qmclone:9000:automation@pve!talos:", &upid);
            replay.settle();
        }
        _ => races(replay, name),
    }
}

/// Recordings 600 to 672: races, warnings, failing starts.
fn races(replay: &mut Replay, name: &str) {
    match name {
        "601-race-same-newid-1" => replay.aside(Delete, &format!("{QEMU}/103"), &[]),
        "612-race-same-digest-2" => {
            replay.settle();
            let own = replay.begin(Get, &config(210), &[])["digest"].clone();
            replay.words.name("c99568d6765658867e3e754facccf9b34116a68a", &own);
        }
        "620-start-while-start-runs" => {
            replay.begin(Post, &format!("{QEMU}/210/status/start"), &[]);
            replay.now += Duration::from_millis(100);
        }
        "640-start-with-warnings" => {
            replay.aside(Delete, &format!("{QEMU}/210"), &[]);
            replay.aside(Put, &config(101), &[("scsihw", "virtio-scsi-pci")]);
        }
        // The server was still busy with the call before, which had run into the time limit of the proxy.
        "647-hotplug-disk" => replay.inject(WorldFault::VmLocked { vmid: 101, seconds: 11 }),
        "648-eject-cloudinit-on-running-vm" => replay.now += Duration::from_secs(2),
        "649-config-after-stop" => replay.aside(Post, &format!("{QEMU}/101/status/stop"), &[]),
        "650-start-missing-bridge" => replay.aside(
            Put,
            &config(101),
            &[
                ("net0", "virtio=BC:24:11:80:B2:27,bridge=vmbr9"),
                ("ide2", "local:cloudinit"),
                ("scsihw", "virtio-scsi-single"),
                ("delete", "net1"),
            ],
        ),
        "651-start-too-many-cores" => {
            let values = [("net0", "virtio=BC:24:11:80:B2:27,bridge=vmbr0"), ("cores", "32")];
            replay.aside(Put, &config(101), &values);
        }
        "652-start-missing-snippet" => {
            replay.aside(Put, &config(101), &[("cores", "2"), ("cicustom", "user=local:snippets/none.yaml")]);
        }
        "654-start-memory-above-host" => {
            replay.aside(Put, &config(101), &[("memory", "65536"), ("delete", "cicustom")]);
        }
        "656-start-missing-disk-file" => {
            replay.aside(Put, &config(101), &[("machine", "q35")]);
            replay.edit(|world| {
                let volumes = world["storages"]["local"]["volumes"]["pve"].as_object_mut().unwrap();
                volumes.remove("101/vm-101-disk-1.qcow2").unwrap();
            });
        }
        "664-create-minimal" => {
            replay.aside(Post, &format!("{QEMU}/120/status/stop"), &[]);
            replay.aside(Delete, &format!("{QEMU}/120"), &[]);
        }
        _ => outages(replay, name),
    }
}

/// Recordings 700 to 771: daemons that are down, a second storage, the lagging list.
fn outages(replay: &mut Replay, name: &str) {
    let host = || "pve".to_owned();
    match name {
        "700-backend-daemon-down-get-version" => {
            replay.aside(Delete, &format!("{QEMU}/120"), &[]);
            replay.inject(WorldFault::DaemonDown { host: host(), down: true });
        }
        "710-cluster-fs-down-get-version" => {
            replay.inject(WorldFault::DaemonDown { host: host(), down: false });
            replay.inject(WorldFault::ClusterFsDown { down: true });
        }
        "720-two-storages" => {
            replay.inject(WorldFault::ClusterFsDown { down: false });
            replay.edit(|world| {
                let mut storage = world["storages"]["local"].clone();
                storage["path"] = json!("/var/lib/vmdata");
                storage["content"] = json!(["images"]);
                storage["volumes"] = json!({});
                world["storages"]["vmdata"] = storage;
            });
        }
        "721-clone-to-other-storage" => {
            replay.aside(Delete, &format!("{QEMU}/101"), &[]);
            replay.aside(Delete, &format!("{QEMU}/102"), &[]);
        }
        "730-reused-vmid-shows-data-of-the-deleted-vm" => {
            let begun = replay.now;
            replay.now -= Duration::from_secs(11);
            replay.aside(Put, &config(102), &[("name", "old-name"), ("memory", "1024")]);
            replay.now = begun;
            replay.aside(Delete, &format!("{QEMU}/102"), &[]);
            let values = [("newid", "102"), ("name", "new-name"), ("full", "1")];
            replay.begin(Post, &format!("{QEMU}/9000/clone"), &values);
            replay.until(|world| world["vms"].get("102").is_some());
        }
        "731-reused-vmid-right-after-clone" => replay.settle(),
        "750-status-daemon-down-for-minutes-cluster-resources" => {
            for (id, name) in [("142", "a"), ("143", "b")] {
                replay.aside(Post, &format!("{QEMU}/9000/clone"), &[("newid", id), ("name", name), ("full", "1")]);
            }
            replay.inject(WorldFault::StaleResources { seconds: 60 });
            replay.edit(|world| world["records"] = json!({}));
        }
        "760-30-parallel-clones-failed-task-status" => {
            let fault = WorldFault::StorageLocked { host: host(), storage: "local".to_owned(), seconds: 12 };
            replay.inject(fault);
            let values = [("newid", "315"), ("full", "1")];
            let upid = replay.begin_as(TALOS, Post, &format!("{QEMU}/9000/clone"), &values);
            let recorded = failed_clone();
            replay.words.name(&recorded, &upid);
        }
        "770-fresh-template-still-shows-template-0" => {
            for id in [101, 102, 142, 143] {
                replay.aside(Delete, &format!("{QEMU}/{id}"), &[]);
            }
            replay.aside(Post, QEMU, &[("vmid", "160"), ("name", "t"), ("scsi0", "local:1")]);
            replay.now += Duration::from_secs(10);
            replay.world.advance(replay.now);
            replay.inject(WorldFault::StaleResources { seconds: 12 });
            replay.aside(Post, &format!("{QEMU}/160/template"), &[]);
        }
        _ => rights(replay, name),
    }
}

/// The UPID of one of thirty clones, of which only the end is recorded.
fn failed_clone() -> String {
    let recordings = crate::recording::all();
    let path = &recordings.iter().find(|recording| recording.name.starts_with("760-")).unwrap().path;
    let upid = path.split("/tasks/").nth(1).unwrap().split('/').next().unwrap();
    crate::recording::percent_decode(upid)
}

/// Recordings 800 to 878: least privilege, pools, a killed clone.
fn rights(replay: &mut Replay, name: &str) {
    match name {
        "800-create-role" => replay.aside(Delete, &format!("{QEMU}/160"), &[]),
        // The disks are slow for a while, so that the clone can be watched.
        "820-clone-with-description" => replay.edit(|world| world["timing"]["allocate"] = json!(600)),
        "821-1-config-during-clone-with-description" => {
            replay.until(|world| world["vms"].get("120").is_some());
        }
        "821-2-config-during-clone-with-description" => {
            replay.until(|world| world["vms"]["120"]["config"].get("efidisk0").is_some());
        }
        "821-3-config-during-clone-with-description" => {
            replay.until(|world| world["vms"]["120"]["config"].get("ide2").is_some());
        }
        "821-4-config-during-clone-with-description" => {
            replay.settle();
            replay.edit(|world| world["timing"]["allocate"] = json!(60));
        }
        "841-start-scoped" => replay.aside(Put, &config(120), &[("delete", "cores,memory,balloon")]),
        "844-content-of-vm-scoped" | "862-pool-after-delete" => replay.settle(),
        "851-permissions-pool-token" => {
            replay.aside(Post, "/access/users", &[("userid", "pool@pve")]);
            let token = replay.begin(Post, "/access/users/pool@pve/token/pooltok", &[]);
            replay.secrets.insert("pool@pve!pooltok".to_owned(), token["value"].as_str().unwrap().to_owned());
            for path in ["/pool/talos", "/sdn/zones/localnetwork", "/storage/local", "/vms/9000"] {
                let who = [("users", "pool@pve"), ("tokens", "pool@pve!pooltok")];
                for who in who {
                    replay.aside(Put, "/access/acl", &[("path", path), ("roles", "TalosProvisioner"), who]);
                }
            }
        }
        "854-config-of-target-during-clone-pool-token" => {
            replay.until(|world| world["vms"].get("121").is_some());
        }
        "871-killed-clone-task-status" => {
            let running = |world: &serde_json::Value| {
                let tasks = world["tasks"]["all"].as_object().unwrap();
                tasks.values().find(|task| task.get("exit").is_none()).cloned()
            };
            replay.until(|world| {
                let log = running(world).map(|task| task["log"].to_string()).unwrap_or_default();
                log.ends_with("create full clone of drive scsi0 (local:9000/base-9000-disk-1.qcow2)\"]")
            });
            let upid = replay.world.running_tasks().remove(0);
            assert!(replay.world.kill_task(&upid));
        }
        _ => {}
    }
}
