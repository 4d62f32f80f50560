use pvetalos::proxmox::request::Method::{Delete, Post, Put};

use crate::lab::Lab;

#[test]
fn volumes_are_named_and_rounded_by_the_kind_of_storage() {
    #[track_caller]
    fn case(kind: &str, disk: &str, firmware: &str, cloudinit: &str) {
        let mut lab = Lab::with_storage(kind);
        assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
        let config = lab.config(105);
        assert_eq!(config["scsi0"], disk);
        assert_eq!(config["efidisk0"], firmware);
        assert_eq!(config["ide2"], cloudinit);
        assert_eq!(lab.world.check(), Vec::<String>::new());
    }
    case(
        "lvmthin",
        "tank:vm-105-disk-1,discard=on,iothread=1,size=1248M,ssd=1",
        "tank:vm-105-disk-0,efitype=4m,size=4M",
        "tank:vm-105-cloudinit,media=cdrom,size=4M",
    );
    case(
        "zfspool",
        "tank:vm-105-disk-1,discard=on,iothread=1,size=1246M,ssd=1",
        "tank:vm-105-disk-0,efitype=4m,size=1M",
        "tank:vm-105-cloudinit,media=cdrom,size=4M",
    );
    case(
        "dir",
        "tank:105/vm-105-disk-1.qcow2,discard=on,iothread=1,size=1246M,ssd=1",
        "tank:105/vm-105-disk-0.qcow2,efitype=4m,size=528K",
        "tank:105/vm-105-cloudinit.qcow2,media=cdrom,size=4M",
    );
}

#[test]
fn a_linked_clone_shows_its_base_except_on_lvm_thin() {
    #[track_caller]
    fn case(kind: &str, disk: &str, template_may_go: bool) {
        let mut lab = Lab::with_storage(kind);
        assert_eq!(lab.clone_to(105, &[]), "OK", "a template is linked by default");
        let config = lab.config(105);
        assert_eq!(config["scsi0"].as_str().unwrap().split(',').next().unwrap(), disk);
        let exit = lab.run(Delete, "/nodes/pve/qemu/9000", &[]);
        assert_eq!(exit == "OK", template_may_go, "{exit}");
    }
    case("dir", "tank:9000/base-9000-disk-1.qcow2/105/vm-105-disk-1.qcow2", false);
    case("zfspool", "tank:base-9000-disk-1/vm-105-disk-1", false);
    case("lvmthin", "tank:vm-105-disk-1", true);
}

#[test]
fn a_linked_clone_of_a_plain_vm_is_refused() {
    let mut lab = Lab::with_storage("zfspool");
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
    let seen = lab.post("/nodes/pve/qemu/105/clone", &[("newid", "106"), ("full", "0")]);
    assert_eq!(seen.refused(), (500, "Linked clone feature is not supported for 'tank:vm-105-disk-0' (efidisk0)"));
}

#[test]
fn a_request_below_the_rounded_size_is_shrinking() {
    let mut lab = Lab::with_storage("lvmthin");
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
    let path = "/nodes/pve/qemu/105/resize";
    assert_eq!(lab.run(Put, path, &[("disk", "scsi0"), ("size", "1247M")]), "shrinking disks is not supported");
    assert_eq!(lab.run(Put, path, &[("disk", "scsi0"), ("size", "10G")]), "OK");
    assert_eq!(lab.run(Put, path, &[("disk", "scsi0"), ("size", "10G")]), "OK", "the same size is no change");
    assert!(lab.config(105)["scsi0"].as_str().unwrap().contains("size=10G"));
}

#[test]
fn a_reused_number_meets_the_leftovers_of_its_predecessor() {
    let mut lab = Lab::with_storage("dir");
    let allocate = "/nodes/pve/storage/tank/content";
    lab.post(allocate, &[("vmid", "105"), ("filename", "vm-105-disk-0.raw"), ("size", "1G")]).data();
    assert_eq!(lab.clone_to(105, &[("full", "1")]), "OK");
    assert!(
        lab.config(105)["efidisk0"].as_str().unwrap().starts_with("tank:105/vm-105-disk-1.qcow2"),
        "the number is skipped"
    );
    lab.post(allocate, &[("vmid", "106"), ("filename", "vm-106-cloudinit.qcow2"), ("size", "4M")]).data();
    assert_eq!(
        lab.clone_to(106, &[("full", "1")]),
        "clone failed: disk image '/var/lib/tank/images/106/vm-106-cloudinit.qcow2' already exists"
    );
    assert_eq!(lab.world.orphan_volumes(), ["pve tank:105/vm-105-disk-0.raw", "pve tank:106/vm-106-cloudinit.qcow2"]);
}

#[test]
fn an_image_is_imported_and_takes_the_size_of_its_disk() {
    let mut lab = Lab::with_storage("lvmthin");
    let params = [
        ("vmid", "9100"),
        ("name", "talos-new"),
        ("scsi0", "tank:0,import-from=local:import/talos.qcow2,discard=on"),
        ("efidisk0", "tank:1,efitype=4m,pre-enrolled-keys=0"),
        ("tpmstate0", "tank:1,version=v2.0"),
        ("ide2", "tank:cloudinit"),
    ];
    assert_eq!(lab.run(Post, "/nodes/pve/qemu", &params), "OK");
    let config = lab.config(9100);
    assert_eq!(config["scsi0"], "tank:vm-9100-disk-1,discard=on,size=1248M");
    assert_eq!(config["efidisk0"], "tank:vm-9100-disk-0,efitype=4m,pre-enrolled-keys=0,size=4M");
    assert_eq!(config["tpmstate0"], "tank:vm-9100-disk-2,size=4M,version=v2.0");
    let seen =
        lab.post("/nodes/pve/qemu", &[("vmid", "9101"), ("scsi0", "tank:5,import-from=local:import/talos.qcow2")]);
    assert_eq!(seen.error("scsi0"), "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>");
}

#[test]
fn content_that_a_storage_does_not_have_must_be_enabled_first() {
    let mut lab = Lab::small();
    lab.put("/storage/local", &[("content", "images,iso")]).data();
    let plain = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
    let url = format!("https://factory.talos.dev/image/{plain}/v1.12.0/nocloud-amd64.qcow2");
    let params = [("url", url.as_str()), ("content", "import"), ("filename", "x.qcow2")];
    let path = "/nodes/pve/storage/local/download-url";
    let seen = lab.post(path, &params);
    assert_eq!(seen.refused(), (500, "storage 'local' is not configured for content-type 'import'"));
    lab.put("/storage/local", &[("content", "images,iso,import")]).data();
    assert_eq!(lab.run(Post, path, &params), "OK");
    assert_eq!(lab.run(Post, path, &params), "refusing to override existing file '/var/lib/vz/import/x.qcow2'");
    let rows = lab.get("/nodes/pve/storage/local/content?content=import").data();
    assert_eq!(rows[0]["volid"], "local:import/x.qcow2");
}
