//! Each difference between what was asked for and what is there has its own finding, with its fix.

use std::time::Duration;

use pvetalos::model::HostName;
use pvetalos::proxmox::Client;
use pvetalos::proxmox::calls::CloudInitPart;
use pvetalos::readiness::instance_id;
use pvetalos::sim::{InProcess, Simulator};
use pvetalos::talos::{Aspect, Expected, Identity, NodeState, Sighting, Target, Watch};
use serde_json::{Value, json};

use crate::harness::{SCHEMATIC, config, look, target, watch, world};

fn with(key: &str, value: &str) -> Value {
    let mut config = config();
    config[key] = json!(value);
    config
}

/// Looks with another expectation at a node that is as it was.
async fn expecting(change: impl FnOnce(&mut Expected)) -> Sighting {
    let mut target = target();
    change(&mut target.expected);
    let talos = json!({ "version": "1.13.9", "schematic": SCHEMATIC });
    watch(world(&talos, &config()), Duration::from_mins(1)).await.look(&target).await
}

fn only_finding(sighting: &Sighting) -> (Aspect, String) {
    let findings: Vec<_> = sighting.findings().collect();
    let [finding] = findings[..] else { panic!("{findings:?}") };
    assert!(finding.fix().is_some());
    (finding.aspect, finding.to_string())
}

#[tokio::test(start_paused = true)]
async fn each_difference_is_found() {
    #[track_caller]
    fn case(sighting: &Sighting, aspect: Aspect, text: &str) {
        assert_eq!((sighting.state, sighting.identity()), (NodeState::Maintenance, Identity::Verified));
        assert_eq!(only_finding(sighting), (aspect, text.to_owned()));
    }
    let sighting = expecting(|expected| expected.disk = "/dev/vda".parse().ok()).await;
    case(&sighting, Aspect::SystemDisk, "system disk is /dev/sda, expected /dev/vda");
    let sighting = expecting(|expected| expected.disk = "talos-system".parse().ok()).await;
    case(&sighting, Aspect::SystemDisk, "system disk is a disk without serial number, expected talos-system");
    let sighting = expecting(|expected| expected.disk_size = "40G".parse().ok()).await;
    case(&sighting, Aspect::DiskSize, "size of the system disk is 20G, expected 40G");
    let sighting = expecting(|expected| expected.secure_boot = Some(true)).await;
    case(&sighting, Aspect::SecureBoot, "secure boot is off, expected on");
    let sighting = expecting(|expected| expected.version = "1.12.0".parse().ok()).await;
    case(&sighting, Aspect::Version, "Talos version is 1.13.9, expected 1.12.0");
    let sighting = expecting(|expected| expected.hostname = Some("w-9".to_owned())).await;
    case(&sighting, Aspect::Hostname, "host name is cp-1, expected w-9");
    let wanted = ["siderolabs/qemu-guest-agent", "siderolabs/iscsi-tools"].map(str::to_owned);
    let sighting = expecting(|expected| expected.extensions = Some(wanted.to_vec())).await;
    case(
        &sighting,
        Aspect::Extensions,
        "extensions is qemu-guest-agent, expected siderolabs/qemu-guest-agent, siderolabs/iscsi-tools",
    );
    let sighting = look(&json!({ "profile": "used", "schematic": SCHEMATIC }), &config()).await;
    case(
        &sighting,
        Aspect::FreshDisk,
        "fresh disk is used before, expected without a trace of an earlier configuration",
    );
    let other = SCHEMATIC.replace("ce4c", "0000");
    let sighting = look(&json!({ "schematic": other }), &config()).await;
    case(&sighting, Aspect::Schematic, &format!("schematic is {other}, expected {SCHEMATIC}"));
}

#[tokio::test(start_paused = true)]
async fn another_uuid_or_another_mac_is_another_machine() {
    let sighting = expecting(|expected| expected.uuid = Some("11111111-2222-4333-8444-555555555555".to_owned())).await;
    assert_eq!((sighting.state, sighting.identity()), (NodeState::WrongHost, Identity::Another));
    let sighting = expecting(|expected| expected.mac = "BC:24:11:00:00:99".parse().ok()).await;
    assert_eq!(sighting.state, NodeState::WrongHost);
    assert!(sighting.evidence.contains("MAC address is BC:24:11:00:00:11, expected BC:24:11:00:00:99"));
    let sighting = expecting(|expected| (expected.uuid, expected.mac) = (None, None)).await;
    assert_eq!((sighting.state, sighting.identity()), (NodeState::Maintenance, Identity::Unproven));
}

#[tokio::test(start_paused = true)]
async fn a_configured_node_is_known_by_the_name_in_its_certificate() {
    let talos = json!({ "profile": "configured" });
    let sighting = look(&talos, &config()).await;
    assert_eq!((sighting.state, sighting.identity()), (NodeState::Configured, Identity::Unproven));
    let mut other = target();
    other.expected.hostname = Some("w-9".to_owned());
    let sighting = watch(world(&talos, &config()), Duration::from_mins(1)).await.look(&other).await;
    assert_eq!(sighting.state, NodeState::WrongHost);
    assert!(sighting.evidence.contains("name in the certificate is cp-1, expected w-9"), "{}", sighting.evidence);
}

/// What Proxmox says is on the drive is what Talos says it read.
#[tokio::test(start_paused = true)]
async fn the_id_of_the_cloud_init_data_is_the_one_that_proxmox_makes() {
    let world = world(&json!({ "version": "1.10.9" }), &config());
    let authorization = world.authorization().expect("the world has a token");
    let simulator = Simulator::new(world);
    let client = Client::new(InProcess::new(simulator.clone(), authorization));
    let host: HostName = "pve1".parse().expect("a host");
    let meta = client.cloud_init_dump(&host, "101".parse().expect("a VMID"), CloudInitPart::Meta).await;
    let id = instance_id(&meta.expect("Proxmox answers"));
    tokio::time::sleep(Duration::from_mins(1)).await;
    let watch = Watch::new(simulator.guest_network());
    let right = target().of_vm(target().expected.uuid, id);
    assert_eq!(watch.look(&right).await.findings().count(), 0);
    let stale = target().of_vm(None, Some("0123456789012345678901234567890123456789".to_owned()));
    assert_eq!(only_finding(&watch.look(&stale).await).0, Aspect::InstanceId);
}

#[tokio::test(start_paused = true)]
async fn a_vm_in_which_talos_cannot_start_never_answers() {
    let talos = json!({ "version": "1.13.9" });
    for (key, value) in [("cpu", "kvm64"), ("citype", "configdrive2"), ("ostype", "win11"), ("ipconfig0", "ip=dhcp")] {
        let sighting = look(&talos, &with(key, value)).await;
        assert_eq!(sighting.state, NodeState::Unreachable, "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn secure_boot_is_on_when_image_and_firmware_allow_it() {
    let mut wanted = target();
    wanted.expected.secure_boot = Some(true);
    wanted.expected.schematic = None;
    let talos = json!({ "version": "1.13.9", "secureboot": true });
    let sighting = watch(world(&talos, &config()), Duration::from_mins(1)).await.look(&wanted).await;
    assert_eq!(sighting.findings().count(), 0);
    let sighting = watch(world(&talos, &with("bios", "seabios")), Duration::from_mins(1)).await.look(&wanted).await;
    assert_eq!(only_finding(&sighting).0, Aspect::SecureBoot);
}

/// The guest agent leads to the address that DHCP gave; there Talos says what is wrong.
#[tokio::test(start_paused = true)]
async fn a_metal_image_is_found_out_where_dhcp_put_it() {
    let address = "192.168.1.201";
    let talos = json!({ "profile": "metal", "dhcp": address, "version": "1.12.11" });
    let found = Target { address: address.parse().expect("an address"), ..target() };
    let sighting = watch(world(&talos, &config()), Duration::from_mins(1)).await.look(&found).await;
    let findings: Vec<String> = sighting.findings().map(ToString::to_string).collect();
    assert_eq!(findings, ["platform is metal, expected nocloud", "host name is talos, expected cp-1"]);
}
