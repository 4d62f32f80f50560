//! What whoever goes on with the nodes has to know of them. Reads its arguments and nothing else.

use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use crate::model::{
    Cluster, ClusterName, HostName, InstallDisk, MacAddress, Node, NodeName, Role, SchematicId, TalosVersion, VmId,
};
use crate::schematic::{FactoryUrl, Image};
use crate::status::{NodeStatus, Status};
use crate::talos::NodeState;

/// A cluster, for whoever goes on with it. Its fields are those of `pvetalos output`, which programs read.
#[derive(Clone, Debug, Serialize)]
pub struct Handover {
    pub cluster: ClusterName,
    /// Where the Kubernetes API is going to be: at the shared address, else at the first control plane.
    pub kubernetes_endpoint: Option<String>,
    /// The addresses of the control planes, in the order of the file.
    pub controllers: Vec<IpAddr>,
    /// The addresses of the workers.
    pub workers: Vec<IpAddr>,
    pub nodes: Vec<NodeHandover>,
}

/// A node, for whoever goes on with it.
#[derive(Clone, Debug, Serialize)]
pub struct NodeHandover {
    pub node: NodeName,
    pub role: Role,
    pub address: IpAddr,
    #[serde(rename = "mac_addr")]
    pub mac_address: MacAddress,
    /// Nothing when it has no VM.
    pub vmid: Option<VmId>,
    pub host: Option<HostName>,
    pub power: Option<String>,
    /// How the node itself was when it was asked; nothing without a VM.
    pub talos: Option<NodeState>,
    pub talos_version: Option<String>,
    /// Whether what the node says about itself proves that it is this VM.
    pub identity_verified: bool,
    pub healthy: bool,
    pub install_disk: InstallDisk,
    /// The version that the files ask for.
    #[serde(skip)]
    pub wanted_version: Option<TalosVersion>,
    pub schematic_id: Option<SchematicId>,
    /// What Talos has to be installed with; nothing when the files do not say which image the template was made of.
    pub installer: Option<String>,
}

/// The port of the Kubernetes API.
const KUBERNETES: u16 = 6443;

/// Puts together what the files say and what was seen.
pub fn handover(cluster: &Cluster, status: &Status, factory: &FactoryUrl) -> Handover {
    let of_role = |role: Role| {
        let nodes = cluster.nodes.iter().filter(|node| node.role.value == role);
        nodes.map(|node| node.address.value).collect::<Vec<_>>()
    };
    let controllers = of_role(Role::Controller);
    let vip = cluster.network.vip.as_ref().map(|vip| vip.value);
    let api = vip.or_else(|| controllers.first().copied());
    let nodes = cluster.nodes.iter().zip(&status.nodes);
    Handover {
        cluster: cluster.name.value.clone(),
        kubernetes_endpoint: api.map(|address| format!("https://{}", SocketAddr::new(address, KUBERNETES))),
        controllers,
        workers: of_role(Role::Worker),
        nodes: nodes.map(|(node, status)| of_node(node, status, factory)).collect(),
    }
}

fn of_node(node: &Node, status: &NodeStatus, factory: &FactoryUrl) -> NodeHandover {
    let vm = &node.vm;
    let (wanted_version, schematic_id) = (
        vm.talos_version.as_ref().map(|version| version.value.clone()),
        vm.schematic_id.as_ref().map(|schematic| schematic.value.clone()),
    );
    let image = wanted_version.clone().zip(schematic_id.clone()).map(|(talos_version, schematic_id)| Image {
        talos_version,
        schematic_id,
        secureboot: vm.secureboot.value,
    });
    // Whoever has the address of a node without a VM is a stranger.
    let own = status.vmid.and(status.talos);
    NodeHandover {
        node: node.name.value.clone(),
        role: node.role.value,
        address: node.address.value,
        mac_address: node.mac_address.value,
        vmid: status.vmid,
        host: status.host.clone(),
        power: status.power.clone(),
        talos: own,
        talos_version: own.and(status.talos_version.clone()),
        identity_verified: own.is_some() && status.identity_verified,
        healthy: status.healthy,
        install_disk: node.install_disk.value.clone(),
        wanted_version,
        schematic_id,
        installer: image.map(|image| image.installer(factory)),
    }
}

impl NodeHandover {
    /// Whether it may be given a machine configuration: it waits for one, and it is this very VM.
    pub fn is_ready(&self) -> bool {
        self.talos == Some(NodeState::Maintenance) && self.identity_verified
    }

    /// Whether it has a machine configuration already.
    pub fn is_configured(&self) -> bool {
        self.talos == Some(NodeState::Configured)
    }
}
