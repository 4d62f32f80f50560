//! The whole life of a node and of a template by the typed client, in process and on paused time.

use std::time::Duration;

use pvetalos::model::{DiskSize, HostName, MacAddress, StorageId, VmId};
use pvetalos::proxmox::answers::{GuestKind, Power};
use pvetalos::proxmox::calls::{
    CloneTarget, CloneVm, CloudInitPart, ConfigChange, CreateVm, Download, Feature, PlainKey,
};
use pvetalos::proxmox::task::{Pace, TaskError, TaskWatcher};
use pvetalos::proxmox::types::{BootOrder, CardIndex, Reading, Tags};
use pvetalos::proxmox::{Client, Effect, Method, RefusalKind, Retry};
use pvetalos::sim::{Clock, Fault, InProcess, Simulator, Waits};

use crate::harness::{authorization, world};

const ROOT: &str = "PVEAPIToken=root@pam!admin=22222222-2222-4222-8222-222222222222";

struct World {
    simulator: Simulator,
    client: Client<InProcess>,
    tasks: TaskWatcher<InProcess>,
    host: HostName,
    storage: StorageId,
}

fn start(token: Option<&str>) -> World {
    let world = world();
    let authorization = token.map_or_else(|| authorization(&world), str::to_owned);
    let simulator = Simulator::with(world, Clock::default(), Waits::default());
    let client = Client::new(InProcess::new(simulator.clone(), authorization));
    let tasks = TaskWatcher::new(client.clone(), Pace::default());
    World { simulator, client, tasks, host: parsed("pve1"), storage: parsed("local-lvm") }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a sample is well-formed")
}

fn vmid(number: u32) -> VmId {
    VmId::new(number).expect("a VMID")
}

fn clone(world: &World, new_id: u32) -> CloneVm<'_> {
    CloneVm {
        host: &world.host,
        template: vmid(9000),
        new_id: vmid(new_id),
        name: "cp-1",
        description: "pvetalos: cluster=home node=cp-1 vmid=4000",
        pool: None,
        target: CloneTarget::Full { storage: &world.storage },
        on_host: None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_is_cloned_configured_resized_started_and_deleted() {
    let world = start(None);
    let World { client, tasks, host, storage, simulator } = &world;
    assert!(client.version().await.unwrap().is_at_least(9, 0));
    assert!(client.permissions(Some("/vms")).await.unwrap().has_below("/vms", "VM.Audit"));
    assert!(client.is_free(vmid(4000)).await.unwrap());
    assert!(!client.is_free(vmid(4001)).await.unwrap());
    let guests = client.guests().await.unwrap();
    assert!(guests.iter().any(|guest| guest.kind == GuestKind::Container));
    assert_eq!(client.hosts().await.unwrap().len(), 3);
    assert!(client.bridges(host).await.unwrap().iter().any(|bridge| bridge.name == "vmbr0"));
    let images = client.storages(host, Some("images")).await.unwrap();
    assert!(images.iter().any(|candidate| candidate.name == *storage && candidate.available.is_some()));

    let upid = client.clone_vm(&clone(&world, 4000)).await.unwrap();
    let mut percents = Vec::new();
    let ended = tasks
        .follow(&upid, |progress| {
            assert_eq!(progress.target, Some(vmid(4000)));
            percents.extend(progress.percent(1));
        })
        .await;
    assert_eq!(ended.unwrap().warnings, 0);
    assert!(percents.is_sorted(), "{percents:?}");

    let fresh = client.vm_pending(host, vmid(4000)).await.unwrap().wanted();
    assert_eq!((fresh.name(), fresh.lock(), fresh.is_template()), (Some("cp-1"), None, false));
    let mut change = ConfigChange::conditional_on(fresh.digest());
    let index = CardIndex::nearest(0);
    let mut card = fresh.card(index).unwrap().into_known().unwrap();
    card.set_mac(parsed::<MacAddress>("bc:24:11:00:00:0a"));
    card.vlan = Some(parsed("20"));
    change.set_card(index, &card).unwrap();
    change.set_ip_config(index, &parsed("ip=192.168.1.10/24,gw=192.168.1.1"));
    let tags: Tags = parsed("talos;kubernetes;control-plane");
    change.set(PlainKey::Cores, 4).set(PlainKey::Memory, 8192).set(PlainKey::Tags, &tags);
    change.set(PlainKey::Boot, BootOrder::devices(["scsi0"])).set_flag(PlainKey::OnBoot, true);
    let slot = parsed("scsi0");
    let mut disk = fresh.drive(slot).unwrap().into_known().unwrap();
    disk.discard.set(true);
    disk.ssd.set(true);
    change.set_drive(slot, &disk);
    client.configure(host, vmid(4000), &change).await.unwrap();

    let again = client.configure(host, vmid(4000), &change).await.unwrap_err();
    assert_eq!((again.kind(), again.effect()), (Some(&RefusalKind::Changed), Effect::Refused));

    let config = client.vm_config(host, vmid(4000)).await.unwrap();
    assert_eq!(config.card(index), Some(Reading::Known(card)));
    assert_eq!((config.cores(), config.tags()), (4, tags));
    assert!(config.drive(slot).unwrap().into_known().unwrap().has_same_options(&disk));
    assert!(config.flag("onboot", false));

    let upid = client.resize(host, vmid(4000), slot, DiskSize::gib(64), config.digest()).await.unwrap();
    tasks.finish(&upid).await.unwrap();
    let config = client.vm_config(host, vmid(4000)).await.unwrap();
    assert_eq!(config.drive(slot).unwrap().into_known().unwrap().size, Some(DiskSize::gib(64)));

    let upid = client.start(host, vmid(4000)).await.unwrap();
    tasks.finish(&upid).await.unwrap();
    assert_eq!(client.vm_status(host, vmid(4000)).await.unwrap().power, Power::Running);
    let network = client.cloud_init_dump(host, vmid(4000), CloudInitPart::Network).await.unwrap();
    assert!(network.contains("bc:24:11:00:00:0a") && network.contains("192.168.1.10"), "{network}");
    let upid = client.start(host, vmid(4000)).await.unwrap();
    let running = tasks.finish(&upid).await.unwrap_err();
    assert_eq!(running.kind(), Some(RefusalKind::AlreadyRunning));

    let mut more = ConfigChange::default();
    more.set(PlainKey::Cores, 8);
    client.configure(host, vmid(4000), &more).await.unwrap();
    let pending = client.vm_pending(host, vmid(4000)).await.unwrap();
    assert_eq!(pending.waiting().into_iter().collect::<Vec<_>>(), ["cores"]);
    assert_eq!((pending.in_effect().cores(), pending.wanted().cores()), (4, 8));

    let running = client.delete_vm(host, vmid(4000), false, false).await.unwrap_err();
    assert_eq!((running.kind(), running.effect()), (Some(&RefusalKind::Running), Effect::Refused));
    let upid = client.stop(host, vmid(4000), false).await.unwrap();
    tasks.finish(&upid).await.unwrap();
    let upid = client.delete_vm(host, vmid(4000), false, false).await.unwrap();
    tasks.finish(&upid).await.unwrap();
    let gone = client.vm_config(host, vmid(4000)).await.unwrap_err();
    assert_eq!(gone.kind(), Some(&RefusalKind::NotFound));
    assert_eq!(client.volumes(host, storage, None, Some(vmid(4000))).await.unwrap(), []);
    assert!(client.is_free(vmid(4000)).await.unwrap());
    assert_eq!(simulator.log().count(Method::Post, "/nodes/*/qemu/*/clone"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_template_is_downloaded_made_and_converted() {
    let world = start(Some(ROOT));
    let World { client, tasks, host, storage, .. } = &world;
    let images: StorageId = parsed("local");
    let file_name = "talos-1.12.0-nocloud-amd64.qcow2";
    let download = Download {
        host,
        storage: &images,
        url: "https://factory.talos.dev/image/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba/v1.12.0/nocloud-amd64.qcow2",
        file_name,
        checksum: None,
    };
    let upid = client.download(&download).await.unwrap();
    tasks.follow(&upid, |_| ()).await.unwrap();
    let found = client.volumes(host, &images, Some("import"), None).await.unwrap();
    let image = found.iter().find_map(|volume| volume.id.known()).unwrap();
    assert_eq!(image.to_string(), format!("local:import/{file_name}"));

    let mut config = ConfigChange::default();
    config.set(PlainKey::Name, "talos-1.12.0").set(PlainKey::Memory, 2048).set(PlainKey::Machine, "q35");
    config.set(PlainKey::Bios, "ovmf").set(PlainKey::ScsiController, "virtio-scsi-pci").set(PlainKey::OsType, "l26");
    config.set_efi_disk(&parsed(&format!("{storage}:1,efitype=4m,pre-enrolled-keys=0")));
    config.set_drive(parsed("scsi0"), &parsed(&format!("{storage}:0,import-from={image},discard=on,ssd=1")));
    config.set_drive(parsed("ide2"), &parsed(&format!("{storage}:cloudinit")));
    let upid = client.create_vm(&CreateVm { host, vmid: vmid(9100), pool: None, config: &config }).await.unwrap();
    tasks.finish(&upid).await.unwrap();
    let upid = client.convert_to_template(host, vmid(9100)).await.unwrap();
    tasks.finish(&upid).await.unwrap();
    let config = client.vm_config(host, vmid(9100)).await.unwrap();
    assert!(config.is_template());
    assert_eq!(config.cloud_init_slot(), Some(parsed("ide2")));
    assert!(config.volumes().filter(|(_, volume)| !volume.is_cloud_init()).all(|(_, volume)| volume.is_base()));
    assert_eq!(client.feature(host, vmid(9100), Feature::Clone).await.unwrap().hosts, ["pve1"]);
    let again = client.convert_to_template(host, vmid(9100)).await.unwrap_err();
    assert_eq!(again.kind(), Some(&RefusalKind::IsTemplate));

    let upid = client.delete_volume(host, image).await.unwrap();
    tasks.finish(&upid).await.unwrap();
    assert!(client.roles().await.unwrap().iter().any(|role| role.name == "TalosVMs"));
    assert!(client.cluster_status().await.unwrap().quorate);
    assert!(client.host_status(host).await.unwrap().memory.total.is_some());
    assert!(client.pool(&parsed("talos")).await.unwrap().is_some());
    assert_eq!(client.pool(&parsed("nobody")).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_clone_whose_answer_was_lost_is_found_and_joined() {
    let world = start(None);
    let World { client, tasks, host, simulator, .. } = &world;
    simulator.inject(Fault::lose_answer().of(Method::Post, "/nodes/*/qemu/*/clone"));
    let lost = client.clone_vm(&clone(&world, 4000)).await.unwrap_err();
    assert_eq!(lost.effect(), Effect::MaybeDone);
    let running = client.running_tasks(host, "qmclone").await.unwrap();
    let [upid] = &running[..] else { panic!("{running:?}") };
    assert_eq!(upid.id(), "9000");
    tasks.finish(upid).await.unwrap();
    assert_eq!(client.vm_config(host, vmid(4000)).await.unwrap().name(), Some("cp-1"));
    assert_eq!(simulator.log().count(Method::Post, "/nodes/*/qemu/*/clone"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_without_rights_is_told_which_one_is_missing() {
    let stranger = "PVEAPIToken=pvetalos@pve!stranger=33333333-3333-4333-8333-333333333333";
    let world = start(Some(stranger));
    let World { client, host, .. } = &world;
    assert!(client.permissions(None).await.unwrap().is_empty());
    assert_eq!(client.guests().await.unwrap(), []);
    assert!(!client.is_free(vmid(9000)).await.unwrap(), "the probe sees what the list hides");
    let refused = client.vm_config(host, vmid(9000)).await.unwrap_err();
    let expected =
        RefusalKind::Forbidden { path: Some("/vms/9000".to_owned()), privileges: vec!["VM.Audit".to_owned()] };
    assert_eq!(refused.kind(), Some(&expected));

    let nobody = start(Some("PVEAPIToken=pvetalos@pve!simulator=wrong"));
    let refused = nobody.client.version().await.unwrap_err();
    assert_eq!(refused.kind(), Some(&RefusalKind::Unauthenticated));
}

#[tokio::test(start_paused = true)]
async fn fifty_tasks_are_watched_with_few_requests() {
    let world = start(Some(ROOT));
    let World { client, host, simulator, storage, .. } = &world;
    let mut upids = Vec::new();
    for number in 5000..5050 {
        let mut config = ConfigChange::default();
        config.set(PlainKey::Name, format!("vm-{number}"));
        config.set_drive(parsed("scsi0"), &parsed(&format!("{storage}:1")));
        let create = CreateVm { host, vmid: vmid(number), pool: None, config: &config };
        upids.push(client.create_vm(&create).await.unwrap());
    }
    simulator.clear_log();
    let mut waiting = tokio::task::JoinSet::new();
    let tasks = std::sync::Arc::new(TaskWatcher::new(client.clone(), Pace::default()));
    for upid in upids {
        let tasks = std::sync::Arc::clone(&tasks);
        waiting.spawn(async move { tasks.finish(&upid).await });
    }
    let ended: Vec<Result<_, TaskError>> = waiting.join_all().await;
    assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    assert!(simulator.log().total() < 20, "{} requests", simulator.log().total());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_vanishes_for_a_while_does_not_lose_its_tasks() {
    let world = start(None);
    let World { client, host, simulator, .. } = &world;
    let impatient = Client::with_retry(client.transport().clone(), Retry::NEVER);
    let tasks = TaskWatcher::new(impatient, Pace::default());
    let upid = client.clone_vm(&clone(&world, 4000)).await.unwrap();
    for _ in 0..10 {
        simulator.inject(Fault::never_arrives().of(Method::Get, "/nodes/*/tasks"));
    }
    tokio::time::timeout(Duration::from_mins(2), tasks.finish(&upid)).await.unwrap().unwrap();
    assert!(client.vm_config(host, vmid(4000)).await.unwrap().lock().is_none());
}
