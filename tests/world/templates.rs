use pvetalos::proxmox::request::Method::Post;
use serde_json::json;

use crate::lab::Lab;

#[test]
fn a_vm_becomes_a_template_and_its_disks_become_bases() {
    let mut lab = Lab::with_storage("zfspool");
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/105/template", &[]), "OK");
    let config = lab.config(105);
    assert_eq!(config["template"], 1);
    assert!(config["scsi0"].as_str().unwrap().starts_with("tank:base-105-disk-1,"));
    assert!(config["ide2"].as_str().unwrap().starts_with("tank:vm-105-cloudinit,"), "a medium stays what it is");
    let feature = lab.get("/nodes/pve/qemu/105/feature?feature=clone").data();
    assert_eq!(feature, json!({ "hasFeature": 1, "nodes": ["pve"] }));
    let seen = lab.post("/nodes/pve/qemu/105/template", &[]);
    assert_eq!(seen.refused(), (500, "you can't convert a template to a template"));
}

#[test]
fn a_flag_alone_makes_no_template() {
    let mut lab = Lab::small();
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
    lab.put("/nodes/pve/qemu/105/config", &[("template", "1")]).data();
    let feature = lab.get("/nodes/pve/qemu/105/feature?feature=clone").data();
    assert_eq!(feature["hasFeature"], 0);
}

#[test]
fn snapshots_are_in_the_way_of_a_template() {
    let mut lab = Lab::small();
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
    assert_eq!(lab.run(Post, "/nodes/pve/qemu/105/snapshot", &[("snapname", "before")]), "OK");
    let seen = lab.post("/nodes/pve/qemu/105/template", &[]);
    assert_eq!(seen.refused(), (500, "unable to create template, because VM contains snapshots"));
}

#[test]
fn a_clone_takes_over_what_its_template_has() {
    let mut lab = Lab::small();
    let values = [("protection", "1"), ("onboot", "1"), ("tags", "talos"), ("ipconfig0", "ip=10.0.0.1/24")];
    lab.put("/nodes/pve/qemu/9000/config", &values).data();
    assert_eq!(lab.clone_to(105, &[]), "OK");
    let (template, clone) = (lab.config(9000), lab.config(105));
    for key in ["protection", "onboot", "tags", "ipconfig0", "meta", "boot"] {
        assert_eq!(clone[key], template[key], "{key}");
    }
    for key in ["net0", "smbios1", "vmgenid", "scsi0"] {
        assert_ne!(clone[key], template[key], "{key}");
    }
    assert_eq!(clone["name"], "Copy-of-VM-talos");
    let seen = lab.delete("/nodes/pve/qemu/105", &[]);
    assert_eq!(seen.refused(), (500, "can't remove VM 105 - protection mode enabled"));
}
