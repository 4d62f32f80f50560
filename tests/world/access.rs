use std::time::Duration;

use pvetalos::proxmox::request::Method::Post;
use serde_json::{Value, json};

use crate::lab::Lab;

/// The privileges that cloning and configuring need.
const ROLE: &str = "VM.Allocate VM.Audit VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit VM.Config.Disk \
    VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.PowerMgmt Datastore.AllocateSpace \
    Datastore.Audit SDN.Use";

/// A token with a role of its own on some paths; its user has it too.
fn scoped(paths: &[&str], extra: &Value) -> Lab {
    // One rule that matters to nobody: without any, a token may do everything.
    let rules: Vec<Value> = std::iter::once(&"/pool/other")
        .chain(paths)
        .flat_map(|path| ["u@pve", "u@pve!t"].map(|who| json!({ "path": path, "who": who, "role": "Talos" })))
        .collect();
    let mut world = json!({
        "hosts": { "pve": {} },
        "storages": { "local": { "type": "dir" } },
        "templates": { "9000": {} },
        "roles": { "Talos": ROLE },
        "tokens": { "u@pve!t": { "secret": "s", "privsep": true, "role": null } },
        "acl": rules,
    });
    for (key, value) in extra.as_object().unwrap() {
        world[key] = value.clone();
    }
    let mut lab = Lab::new(&world);
    "PVEAPIToken=u@pve!t=s".clone_into(&mut lab.token);
    lab
}

const EVERYWHERE: &[&str] = &["/vms", "/storage/local", "/sdn/zones/localnetwork"];

#[test]
fn the_least_role_is_enough_for_a_clone() {
    let mut lab = scoped(EVERYWHERE, &json!({}));
    assert_eq!(lab.clone_to(100, &[("full", "1")]), "OK");
    lab.put("/nodes/pve/qemu/100/config", &[("cores", "4"), ("net0", "virtio,bridge=vmbr0,tag=5")]).data();
    let seen = lab.put("/nodes/pve/qemu/100/config", &[("startup", "order=1")]);
    assert_eq!(seen.refused(), (403, "Permission check failed (/, Sys.Modify)"));
}

#[test]
fn what_is_missing_is_named() {
    #[track_caller]
    fn case(paths: &[&str], expected: &str) {
        let mut lab = scoped(paths, &json!({}));
        let seen = lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "100"), ("full", "1")]);
        assert_eq!(seen.refused(), (403, expected));
    }
    case(&[], "Permission check failed (/vms/9000, VM.Clone)");
    case(&["/vms/9000"], "Permission check failed");
    case(&["/vms"], "Permission check failed (/storage/local, Datastore.AllocateSpace)");
    case(&["/vms", "/storage"], "Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)");
}

#[test]
fn a_bridge_with_a_tag_has_a_path_of_its_own() {
    let paths = ["/vms", "/storage/local", "/sdn/zones/localnetwork/vmbr0"];
    let mut lab = scoped(&paths, &json!({ "hosts": { "pve": { "bridges": ["vmbr0", "vmbr1"] } } }));
    assert_eq!(lab.clone_to(100, &[("full", "1")]), "OK");
    lab.put("/nodes/pve/qemu/100/config", &[("net0", "virtio,bridge=vmbr0,tag=7")]).data();
    let seen = lab.put("/nodes/pve/qemu/100/config", &[("net0", "virtio,bridge=vmbr1")]);
    assert_eq!(seen.refused(), (403, "Permission check failed (/sdn/zones/localnetwork/vmbr1, SDN.Use)"));
}

#[test]
fn a_bridge_is_seen_by_who_may_use_one_of_its_vlans() {
    let extra = json!({ "hosts": { "pve": { "bridges": ["vmbr0", "vmbr1", "vmbr10"] } } });
    let mut lab = scoped(&["/vms", "/sdn/zones/localnetwork/vmbr1/7"], &extra);
    let seen = lab.get("/nodes/pve/network?type=any_bridge").data();
    let names: Vec<&str> = seen.as_array().unwrap().iter().map(|row| row["iface"].as_str().unwrap()).collect();
    assert_eq!(names, ["vmbr1"]);
}

#[test]
fn a_pool_is_made_in_one_that_is_there() {
    let mut lab = Lab::small();
    let text = "create pool failed: parent 'lab' of pool 'lab/talos' does not exist";
    assert_eq!(lab.post("/pools", &[("poolid", "lab/talos")]).refused(), (500, text));
    for pool in ["lab", "lab/talos"] {
        lab.post("/pools", &[("poolid", pool)]).data();
    }
}

#[test]
fn a_deeper_rule_replaces_the_rights_from_above() {
    let mut lab = scoped(EVERYWHERE, &json!({}));
    assert_eq!(lab.clone_to(100, &[("full", "1")]), "OK");
    let token = std::mem::replace(&mut lab.token, "PVEAPIToken=root@pam!r=r".to_owned());
    assert_eq!(lab.get("/version").refused(), (401, "Authentication failed!"));
    lab.token = token;
    let seen = lab.put("/access/acl", &[("path", "/vms/100"), ("roles", "PVETemplateUser"), ("users", "u@pve")]);
    assert_eq!(seen.status, 200, "VM.Allocate is enough to give rights away: {}", seen.reason);
    let seen = lab.put("/nodes/pve/qemu/100/config", &[("cores", "4")]);
    assert!(seen.reason.starts_with("Permission check failed (/vms/100, VM.Config.Disk|"), "{}", seen.reason);
}

#[test]
fn only_a_pool_makes_the_own_clone_visible_when_it_is_done() {
    let paths = ["/pool/talos", "/vms/9000", "/storage/local", "/sdn/zones/localnetwork"];
    let mut lab = scoped(&paths, &json!({ "pools": { "talos": {} } }));
    let seen = lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "100"), ("full", "1")]);
    assert_eq!(seen.refused(), (403, "Permission check failed"));
    let upid = lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "100"), ("full", "1"), ("pool", "talos")]).data();
    lab.wait(Duration::from_millis(300));
    assert_eq!(lab.get("/nodes/pve/qemu/100/config").refused(), (403, "Permission check failed (/vms/100, VM.Audit)"));
    assert_eq!(lab.get("/cluster/nextid?vmid=100").error("vmid"), "VM 100 already exists");
    assert_eq!(lab.finish(&upid), "OK");
    assert_eq!(lab.get("/nodes/pve/qemu/100/config").status, 200);
    let seen = lab.post("/nodes/pve/qemu/9000/clone", &[("newid", "101"), ("pool", "nopool")]);
    assert_eq!(seen.refused(), (403, "Permission check failed"));
}

#[test]
fn a_vm_is_made_with_the_rights_of_its_pool() {
    let paths = ["/pool/talos", "/storage/local", "/sdn/zones/localnetwork"];
    let mut lab = scoped(&paths, &json!({ "pools": { "talos": {} } }));
    let params =
        [("vmid", "100"), ("pool", "talos"), ("cores", "2"), ("net0", "virtio,bridge=vmbr0"), ("scsi0", "local:1")];
    assert_eq!(lab.run(Post, "/nodes/pve/qemu", &params), "OK");
    assert_eq!(lab.get("/nodes/pve/qemu/100/config").data()["cores"], 2);
    assert_eq!(lab.post("/nodes/pve/qemu", &[("vmid", "101")]).refused(), (403, "Permission check failed"));
    let seen = lab.post("/nodes/pve/qemu", &[("vmid", "101"), ("pool", "talos"), ("startup", "order=1")]);
    assert_eq!(seen.status, 403);
}

#[test]
fn a_pool_member_is_added_once() {
    #[track_caller]
    fn case(lab: &mut Lab, params: &[(&str, &str)], text: &str) {
        assert_eq!(lab.put("/pools", params).refused(), (500, text));
    }
    let mut lab = Lab::small();
    for pool in ["a", "b"] {
        lab.post("/pools", &[("poolid", pool)]).data();
    }
    lab.put("/pools", &[("poolid", "a"), ("vms", "9000")]).data();
    case(&mut lab, &[("poolid", "a"), ("vms", "9000")], "update pools failed: VM 9000 is already a pool member");
    case(
        &mut lab,
        &[("poolid", "b"), ("vms", "9000")],
        "update pools failed: VM 9000 belongs already to pool 'a' and 'allow-move' is not set",
    );
    case(
        &mut lab,
        &[("poolid", "b"), ("vms", "9000"), ("delete", "1")],
        "update pools failed: VM 9000 is not a pool member",
    );
    lab.put("/pools", &[("poolid", "b"), ("vms", "9000"), ("allow-move", "1")]).data();
    assert_eq!(lab.get("/pools?poolid=b").data()[0]["members"][0]["vmid"], 9000);
}

#[test]
fn tokens_expire_and_can_be_renewed() {
    let mut lab = Lab::small();
    lab.post("/access/users", &[("userid", "ci@pve")]).data();
    let token = lab.post("/access/users/ci@pve/token/run", &[("privsep", "0"), ("expire", "1794788334")]).data();
    let root = lab.token.clone();
    lab.token = format!("PVEAPIToken=ci@pve!run={}", token["value"].as_str().unwrap());
    assert_eq!(lab.get("/version").status, 200);
    lab.now = Duration::from_secs(101);
    let seen = lab.get("/version");
    assert_eq!((seen.refused(), seen.delay), ((401, "Authentication failed!"), Duration::from_secs(3)));
    lab.token = root;
    let renewed = lab.put("/access/users/ci@pve/token/run", &[("expire", "0"), ("regenerate", "1")]).data();
    lab.token = format!("PVEAPIToken=ci@pve!run={}", renewed["value"].as_str().unwrap());
    assert_eq!(lab.get("/version").status, 200);
    assert_eq!(lab.get("/access/permissions").data(), json!({}));
}

#[test]
fn a_token_header_may_be_encoded_and_ends_at_a_semicolon() {
    let mut lab = scoped(EVERYWHERE, &json!({}));
    for (header, status) in [
        ("PVEAPIToken=u@pve!t=s", 200),
        ("PVEAPIToken u@pve!t=s", 200),
        ("PVEAPIToken=u%40pve%21t=s; x", 200),
        ("PVEAPIToken=u@pve!t=S", 401),
        ("PVEAPIToken=u@pve!t", 401),
        ("pveapitoken=u@pve!t=s", 401),
        ("", 401),
    ] {
        header.clone_into(&mut lab.token);
        assert_eq!(lab.get("/version").status, status, "{header}");
    }
}

#[test]
fn proxmox_8_has_other_privileges_and_says_errors_in_the_reason_only() {
    let mut lab = Lab::new(&json!({
        "version": "8.2.4",
        "hosts": { "pve": {} },
        "storages": { "local": { "type": "dir" } },
        "vms": { "100": { "running": true, "config": { "agent": "1" } } },
    }));
    assert_eq!(lab.get("/version").data()["release"], "8.2");
    let seen = lab.get("/nodes/pve/qemu/555/config");
    assert_eq!(seen.body, json!({ "data": null }), "the text is in the reason");
    let token = std::mem::replace(&mut lab.token, "PVEAPIToken=root@pam!nope=x".to_owned());
    assert_eq!(lab.get("/version").refused(), (401, "no such token 'nope' for user 'root@pam'"));
    lab.token = token;
    lab.post("/access/roles", &[("roleid", "Old"), ("privs", "VM.Monitor,VM.Audit")]).data();
    let seen = lab.post("/access/roles", &[("roleid", "New"), ("privs", "VM.GuestAgent.Audit")]);
    assert_eq!(seen.error("privs"), "invalid format - invalid privilege 'VM.GuestAgent.Audit'\n");
    lab.wait(Duration::from_secs(30));
    assert_eq!(lab.post("/nodes/pve/qemu/100/agent/ping", &[]).status, 200);
    assert_eq!(lab.get("/nodes/pve/qemu").data()[0].get("memhost"), None);
}

#[test]
fn proxmox_8_does_not_know_what_9_brought() {
    let mut lab = Lab::new(&json!({ "version": "8.4.21", "hosts": { "pve": {} }, "vms": { "100": {} } }));
    for path in ["/access/roles/Administrator", "/access/roles/PVEVMAdmin"] {
        let role = lab.get(path).data();
        assert_eq!(role["VM.Monitor"], 1, "{path}");
        for name in ["VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted", "VM.Replicate"] {
            assert_eq!(role.get(name), None, "{path}");
        }
    }
    let permissions = lab.get("/access/permissions?path=/").data();
    assert_eq!((&permissions["/"]["VM.Monitor"], permissions["/"].get("VM.GuestAgent.Audit")), (&json!(1), None));
    assert!(!lab.get("/access/roles").data().to_string().contains("GuestAgent"));

    let unknown = "property is not defined in schema and the schema does not allow additional properties";
    let seen =
        lab.post("/nodes/pve/qemu", &[("vmid", "105"), ("ha-managed", "1"), ("import-working-storage", "local")]);
    assert_eq!((seen.status, seen.error("ha-managed"), seen.error("import-working-storage")), (400, unknown, unknown));
    let seen = lab.put("/nodes/pve/qemu/100/config", &[("net1", "virtio,bridge=vmbr0,host-tunnel=1")]);
    assert_eq!(seen.error("net1"), format!("invalid format - format error\nnet1.host-tunnel: {unknown}\n"));

    let upid = "UPID:pve:0000E123:00021212:6AFA0000:qmstart:100:root@pam:";
    let log = lab.get(&format!("/nodes/pve/tasks/{upid}/log")).data();
    assert_eq!(log, json!({ "n": 1, "t": "unable to open file - No such file or directory" }), "not in a list");
}

#[test]
fn proxmox_9_has_no_monitor() {
    let mut lab = Lab::small();
    let role = lab.get("/access/roles/PVEVMAdmin").data();
    assert_eq!((role.get("VM.Monitor"), &role["VM.GuestAgent.Audit"]), (None, &json!(1)));
}

#[test]
fn predefined_roles_cannot_be_made_again() {
    let mut lab = Lab::small();
    let seen = lab.post("/access/roles", &[("roleid", "pveMine"), ("privs", "VM.Audit")]);
    assert_eq!(seen.status, 400);
    let seen = lab.put("/access/acl", &[("path", "/"), ("roles", "Nope"), ("users", "root@pam")]);
    assert_eq!(seen.refused(), (500, "ACL update failed: role 'Nope' does not exist"));
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/9000/clone", &[("newid", "100")]), "OK");
}
