//! Worlds with running guests, and targets that fit them.

use std::time::Duration;

use pvetalos::sim::{GuestNetwork, Simulator, World};
use pvetalos::talos::{Expected, Sighting, Target, Watch};
use serde_json::{Value, json};

pub(crate) const UUID: &str = "0e1d2c3b-4a59-4687-9786-a5b4c3d2e1f0";
pub(crate) const MAC: &str = "BC:24:11:00:00:11";
pub(crate) const ADDRESS: &str = "192.168.1.11";
pub(crate) const SCHEMATIC: &str = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";

/// The configuration of a VM as `provision` leaves it.
pub(crate) fn config() -> Value {
    json!({
        "smbios1": format!("uuid={UUID}"),
        "net0": format!("virtio={MAC},bridge=vmbr0"),
        "ipconfig0": format!("ip={ADDRESS}/24,gw=192.168.1.1"),
        "nameserver": "192.168.1.1",
        "bios": "ovmf",
        "machine": "q35",
        "cpu": "host",
    })
}

/// One running VM, cp-1, with this Talos in it.
pub(crate) fn world(talos: &Value, config: &Value) -> World {
    let disks = json!({ "scsi0": "20G", "efidisk0": "528K", "ide2": "cloudinit" });
    let vm = json!({ "name": "cp-1", "running": true, "config": config, "disks": disks, "guest": { "talos": talos } });
    World::from_json(&json!({ "vms": { "101": vm } })).expect("the world makes sense")
}

pub(crate) fn target() -> Target {
    Target {
        name: "cp-1".to_owned(),
        address: ADDRESS.parse().expect("an address"),
        expected: Expected {
            uuid: Some(UUID.to_uppercase()),
            mac: MAC.parse().ok(),
            hostname: Some("cp-1".to_owned()),
            secure_boot: Some(false),
            disk: "/dev/sda".parse().ok(),
            disk_size: "20G".parse().ok(),
            schematic: SCHEMATIC.parse().ok(),
            guest_agent: Some(true),
            ..Expected::default()
        },
    }
}

/// A watch on a world whose guests started `up` ago.
pub(crate) async fn watch(world: World, up: Duration) -> Watch<GuestNetwork> {
    let simulator = Simulator::new(world);
    tokio::time::sleep(up).await;
    Watch::new(simulator.guest_network())
}

/// One look at a guest that has booted.
pub(crate) async fn look(talos: &Value, config: &Value) -> Sighting {
    watch(world(talos, config), Duration::from_mins(1)).await.look(&target()).await
}
