use std::net::{IpAddr, SocketAddr};

use super::PORT;
use crate::model::{DiskSize, InstallDisk, MacAddress, Node, SchematicId, TalosVersion, Template};

/// A node to look for, and what it should say about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub name: String,
    pub address: IpAddr,
    pub expected: Expected,
}

/// What a node should say about itself; what is not given is not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The SMBIOS UUID of the VM, in any case.
    pub uuid: Option<String>,
    pub mac: Option<MacAddress>,
    pub hostname: Option<String>,
    /// The id that the VM's cloud-init data has now.
    pub instance_id: Option<String>,
    pub secure_boot: Option<bool>,
    pub disk: Option<InstallDisk>,
    pub disk_size: Option<DiskSize>,
    /// Names of extensions, with or without `siderolabs/`.
    pub extensions: Option<Vec<String>>,
    pub schematic: Option<SchematicId>,
    pub version: Option<TalosVersion>,
    /// Proxmox will talk to a guest agent.
    pub guest_agent: Option<bool>,
}

impl Target {
    /// A node of nodes.yaml. What only Proxmox knows, UUID and instance id, is left to [`Self::of_vm`].
    pub fn of(node: &Node) -> Self {
        let vm = &node.vm;
        let (mut version, mut schematic) = (
            vm.talos_version.as_ref().map(|version| version.value.clone()),
            vm.schematic_id.as_ref().map(|schematic| schematic.value.clone()),
        );
        if let Template::Image { talos_version, schematic_id, .. } = &vm.template {
            version.get_or_insert_with(|| talos_version.clone());
            schematic.get_or_insert_with(|| schematic_id.clone());
        }
        Self {
            name: node.name.value.to_string(),
            address: node.address.value,
            expected: Expected {
                uuid: None,
                mac: Some(node.mac_address.value),
                hostname: Some(node.name.value.to_string()),
                instance_id: None,
                secure_boot: Some(vm.secureboot.value),
                disk: Some(node.install_disk.value.clone()),
                disk_size: Some(vm.disk_size.value),
                extensions: None,
                schematic,
                version,
                guest_agent: Some(vm.qemu_agent.value),
            },
        }
    }

    /// Where its API is.
    pub fn socket(&self) -> SocketAddr {
        SocketAddr::new(self.address, PORT)
    }

    /// Adds what makes the VM unmistakable: its SMBIOS UUID, and the id of its cloud-init data.
    #[must_use]
    pub fn of_vm(mut self, uuid: Option<String>, instance_id: Option<String>) -> Self {
        self.expected.uuid = uuid;
        self.expected.instance_id = instance_id;
        self
    }
}
