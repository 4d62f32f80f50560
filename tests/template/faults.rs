//! Everything that can go wrong on the way to a template, one at a time.

use std::io::Write;

use pvetalos::proxmox::Method;
use pvetalos::schematic::{FactoryUrl, ImageFormat};
use pvetalos::sim::{Fault, World, WorldFault};
use pvetalos::template::{LocalImage, Settings, Source, Want};
use serde_json::json;

use crate::lab::{AGENT, Lab, example, image, ready, settings, troubles, want};

const URL: &str = "https://factory.talos.dev/image/ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515/v1.12.0/nocloud-amd64.qcow2";

fn with_checksum(checksum: &str) -> Settings {
    let (factory, format) = (FactoryUrl::default(), ImageFormat::Qcow2);
    let checksum = Some(format!("sha256:{checksum}").parse().expect("a checksum"));
    Settings { source: Source::Factory { factory, format, checksum }, ..settings() }
}

#[tokio::test(start_paused = true)]
async fn a_version_that_does_not_exist_is_refused_before_anything_is_downloaded() {
    let lab = Lab::fresh();
    let missing = Want { image: image("1.12.99"), ..want("local-lvm") };
    let found = troubles(&lab.run(&[missing], &settings()).await);
    assert!(
        found[0].contains("404 Not Found") && found[0].contains("check that Talos 1.12.99 was released"),
        "{found:?}"
    );
    assert_eq!(lab.simulator.log().count(Method::Post, "/**"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_host_without_internet_is_told_the_way_around() {
    let mut world = example("fresh-host.yaml");
    world["downloads"] = json!({});
    let lab = Lab::of(world);
    let found = troubles(&lab.run(&[want("local-lvm")], &settings()).await);
    assert!(found[0].contains("pve cannot reach") && found[0].contains("--image FILE"), "{found:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_download_is_waited_for() {
    let mut world = example("fresh-host.yaml");
    world["timing"] = json!({"download_rate": 1});
    let lab = Lab::of(world);
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9000].into(), true));
}

#[tokio::test(start_paused = true)]
async fn a_download_that_was_cut_off_becomes_no_template() {
    let cut_off = async |lab: &Lab| {
        lab.simulator.world(|world| world.inject(WorldFault::DownloadTruncated { percent: 60 }));
        troubles(&lab.run(&[want("local-lvm")], &settings()).await)
    };
    // To delete it takes more than to bring it.
    let lab = Lab::fresh();
    let found = cut_off(&lab).await;
    assert!(found[0].contains("it was cut off | delete it (`pvesm free local:import/talos-1.12.0-"), "{found:?}");
    assert_eq!((lab.vms(), lab.images().len()), ((vec![], vec![]), 1));

    let mut world = example("fresh-host.yaml");
    world["roles"]["TalosImages"] = json!("Datastore.Allocate Datastore.AllocateTemplate Datastore.Audit");
    let lab = Lab::of(world);
    let found = cut_off(&lab).await;
    assert!(found[0].contains("it was cut off | it was deleted again"), "{found:?}");
    assert_eq!((lab.vms(), lab.images()), ((vec![], vec![]), vec![]));
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9000].into(), true));
}

#[tokio::test(start_paused = true)]
async fn a_checksum_is_compared_and_a_wrong_one_is_told() {
    let right = World::checksum_behind(URL);
    let lab = Lab::fresh();
    let found = troubles(&lab.run(&[want("local-lvm")], &with_checksum(&"0".repeat(64))).await);
    assert!(found[0].contains("checksum mismatch"), "{found:?}");
    assert_eq!((lab.vms(), lab.images()), ((vec![], vec![]), vec![]));
    // The right one, for what is to be downloaded and for what is there already.
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &with_checksum(&right)).await), ([9000].into(), true));
    let again = Lab::fresh();
    again.simulator.inject(Fault::kill_client().of(Method::Post, "/nodes/*/qemu"));
    let (wants, checked) = ([want("local-lvm")], with_checksum(&right));
    tokio::select! {
        () = again.simulator.client_killed() => again.simulator.revive_client(),
        _ = again.run(&wants, &checked) => panic!("not killed"),
    }
    assert_eq!(again.images().len(), 1);
    assert_eq!(ready(&again.run(&wants, &checked).await), ([9000].into(), true));
}

#[tokio::test(start_paused = true)]
async fn an_image_whose_disk_is_too_small_becomes_no_template_and_an_unusual_one_is_noted() {
    let of_size = |size: &str| {
        let mut world = example("fresh-host.yaml");
        world["downloads"] = json!({"https://factory.talos.dev/": {"size": "90M", "virtual_size": size}});
        Lab::of(world)
    };
    let lab = of_size("512M");
    let found = troubles(&lab.run(&[want("local-lvm")], &settings()).await);
    assert!(
        found[0].starts_with("the imported disk has 512 MiB, and that of Talos 1.12.0 ce4c9805 has 4247 MiB"),
        "{found:?}"
    );
    assert!(found[0].contains("the VM was deleted again; delete the image too"), "{found:?}");
    assert_eq!(lab.vms(), (vec![], vec![]));
    lab.assert_tidy("a small disk");
    let lab = of_size("2246M");
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9000].into(), true));
    let told = lab.told.lock().expect("nobody panicked");
    assert!(told.iter().any(|line| line.contains("which is not the usual 4247 MiB")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_full_storage_is_told_before_and_during_the_work() {
    let mut world = example("fresh-host.yaml");
    world["storages"]["local"]["occupied"] = json!("102390M");
    let lab = Lab::of(world);
    let found = troubles(&lab.run(&[want("local-lvm")], &settings()).await);
    assert!(found[0].starts_with("storage local on pve has 10 MiB free, and"), "{found:?}");
    assert_eq!(lab.simulator.log().count(Method::Post, "/**"), 0);

    let lab = Lab::fresh();
    let full = WorldFault::StorageFull { storage: "local-lvm".to_owned() };
    lab.simulator.inject(Fault::in_world(full).of(Method::Post, "/nodes/*/qemu"));
    let found = troubles(&lab.run(&[want("local-lvm")], &settings()).await);
    assert!(found[0].contains("unable to create VM 9000"), "{found:?}");
    assert_eq!(lab.vms(), (vec![], vec![]));
    assert_eq!(lab.orphans(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_is_told_and_the_next_run_goes_on() {
    for kind in ["download", "qmcreate", "qmtemplate"] {
        let lab = Lab::fresh();
        let fails =
            WorldFault::TaskFails { kind: kind.to_owned(), percent: 50, text: "interrupted by signal".to_owned() };
        lab.simulator.world(|world| world.inject(fails));
        let found = troubles(&lab.run(&[want("local-lvm")], &settings()).await);
        assert!(found[0].contains("interrupted by signal"), "{kind}: {found:?}");
        assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await).0, [9000].into(), "{kind}");
        lab.assert_tidy(kind);
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_was_killed_leaves_a_lock_that_is_told_and_not_touched() {
    let lab = Lab::fresh();
    lab.simulator.world(|world| world.inject(WorldFault::TaskKilled { kind: "qmcreate".to_owned(), percent: 50 }));
    let found = troubles(&lab.run(&[want("local-lvm")], &settings()).await);
    assert!(found[0].contains("look at VM 9000 on pve") && found[0].contains("qm unlock"), "{found:?}");
    // It has no record that would make it ours, so that the next run leaves it alone.
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9001].into(), true));
    assert_eq!(lab.vms(), (vec![9001], vec![9000]));
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_never_makes_a_second_template() {
    let mut cases = 0;
    for fault in [
        Fault::lose_answer(),
        Fault::answer(596, "Connection timed out"),
        Fault::answer(596, "Connection timed out").carried_out(),
    ] {
        for number in 1.. {
            let lab = Lab::fresh();
            lab.simulator.inject(fault.clone().at(number));
            let (wants, settings) = ([want("local-lvm")], settings());
            let first = pvetalos::template::ensure(&lab.client(), &wants, &settings, &|_, _| ()).await;
            if (lab.simulator.log().total() as u64) < number {
                break;
            }
            cases += 1;
            let about = format!("{fault:?} at {number}, then {first:?}");
            let (templates, _) = ready(&lab.run(&wants, &settings).await);
            assert_eq!(templates.len(), 1, "{about}");
            let (whole, others) = lab.vms();
            assert_eq!((whole.len(), others.len()), (1, 0), "{about}");
            lab.assert_tidy(&about);
        }
    }
    println!("{cases} cases");
    assert!(cases > 50, "{cases}");
}

#[tokio::test(start_paused = true)]
async fn what_somebody_changed_meanwhile_is_left_alone() {
    let record =
        format!("pvetalos-template: version=1.12.0 schematic={AGENT} secureboot=false vmid=9000 image={URL} size=100");
    let unfinished = |vmid: &str, more: serde_json::Value| {
        let mut config = json!({"description": record, "net0": ""});
        config.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let mut world = example("fresh-host.yaml");
        world["storages"]["local"]["content"] = json!(["import"]);
        world["vms"] = json!({vmid: {"name": "talos-1.12.0-ce4c9805", "disks": {"scsi0": "4247M"}, "config": config}});
        Lab::of(world)
    };
    // A card is none of our doing.
    let lab = unfinished("9000", json!({"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr0"}));
    let found = troubles(&lab.run(&[want("local-lvm")], &settings()).await);
    assert!(found[0].contains("was changed by somebody: it has `net0`"), "{found:?}");
    assert_eq!(lab.vms(), (vec![], vec![9000]));
    // A copy carries the number of its original.
    let lab = unfinished("105", json!({}));
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings()).await), ([9000].into(), true));
    assert_eq!(lab.vms(), (vec![9000], vec![105]));
}

#[tokio::test(start_paused = true)]
async fn a_file_of_this_machine_is_sent_and_never_over_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("nocloud-amd64.qcow2");
    let mut content = b"QFI\xfb\0\0\0\x03".to_vec();
    content.extend_from_slice(&[0; 16]);
    content.extend_from_slice(&(4247_u64 << 20).to_be_bytes());
    content.resize(1 << 20, 7);
    std::fs::File::create(&path).and_then(|mut file| file.write_all(&content)).expect("a file");
    let local = LocalImage::read(&path, &image("1.12.0")).expect("it can be read").expect("it is an image");
    let settings = Settings { source: Source::File(local.clone()), ..settings() };
    let mut world = example("fresh-host.yaml");
    world["downloads"] = json!({});
    let lab = Lab::of(world.clone());
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings).await), ([9000].into(), true));
    assert_eq!(ready(&lab.run(&[want("local-lvm")], &settings).await), ([9000].into(), false));
    let name = lab.images().pop().expect("an image");
    assert!(name.ends_with(&format!("-upload-{}.qcow2", &local.sha256[..16])), "{name}");

    world["storages"]["local"]["content"] = json!(["import"]);
    world["storages"]["local"]["files"] = json!({ name: {"size": 1000} });
    let lab = Lab::of(world);
    let found = troubles(&lab.run(&[want("local-lvm")], &settings).await);
    assert!(found[0].contains("has 1000 bytes") && found[0].contains("overwrite it without asking"), "{found:?}");
    assert_eq!(lab.simulator.log().count(Method::Post, "/**"), 0);
}
