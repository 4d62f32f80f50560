use std::collections::BTreeSet;

use pvetalos::access::{Access, Extra, Wishes};
use pvetalos::preflight::{Finding, Needs, State, check, look};
use pvetalos::pveum::Release;
use pvetalos::sim::Simulator;
use pvetalos::template::{Ensured, Settings, Want, ensure};
use pvetalos::ui::access_text;
use serde_json::{Value, json};

use super::pveum::Root;
use crate::lab::{Lab, cluster};

pub(crate) const RELEASES: [Release; 2] = [Release::Eight, Release::Nine];

/// A token as it is asked for.
pub(crate) const TOKEN: &str = "pvetalos@pve!pvetalos";

/// Two hosts of a release on which nobody has any rights yet. The template's card is in a VLAN, and it has no drive for
/// cloud-init, so that every node gets its own.
pub(crate) fn world(release: Release) -> Value {
    let template = |host: &str| {
        json!({
            "host": host,
            "name": "talos-1.12.0",
            "storage": "local-lvm",
            "disks": { "scsi0": "1246M", "efidisk0": "528K" },
            "config": {
                "net0": format!("virtio=BC:24:11:99:00:0{},bridge=vmbr0,tag=20", &host[3..]),
                "agent": "enabled=1",
                "description": "pvetalos-template: version=1.12.0 \
                    schematic=ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515 secureboot=false",
            },
        })
    };
    json!({
        "version": match release { Release::Eight => "8.4.21", Release::Nine => "9.2.11" },
        "hosts": { "pve1": { "bridges": ["vmbr0", "vmbr1"] }, "pve2": { "bridges": ["vmbr0", "vmbr1"] } },
        "storages": {
            "local": { "type": "dir", "content": ["backup", "import", "iso"] },
            "local-lvm": { "type": "lvmthin" },
            "fast": { "type": "zfspool" },
        },
        "templates": { "9000": template("pve1"), "9001": template("pve2") },
        "vms": { "100": { "host": "pve1", "name": "somebody-elses", "storage": "local-lvm", "running": true } },
        "tokens": { "root@pam!admin": { "secret": "22222222-2222-4222-8222-222222222222" } },
    })
}

/// A VLAN, a second card in another one, a data disk elsewhere, a TPM; `more` is added to the first node.
pub(crate) fn nodes(more: &str) -> String {
    format!(
        "\
name: home
network: {{cidr: 192.168.1.0/24, bridge: vmbr0, vlan_tag: 20, vlan_mode: true}}
proxmox: {{storage: local-lvm}}
defaults: {{talos_version: 1.12.0, schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515}}
nodes:
  - name: cp-1
    address: 192.168.1.11
    controller: true
    mac_addr: 'bc:24:11:00:00:11'
    host: pve1
    encrypt_disk: true
{more}  - name: worker-1
    address: 192.168.1.21
    controller: false
    mac_addr: 'bc:24:11:00:00:21'
    host: pve2
    nics: [{{bridge: vmbr1, mac_addr: 'bc:24:11:00:01:21', vlan_tag: 30}}]
    data_disks: [{{size: 8G, storage: fast}}]
"
    )
}

pub(crate) fn wishes(release: Release, extras: &[Extra]) -> Wishes {
    Wishes {
        release,
        token: TOKEN.parse().expect("a token id"),
        pool: None,
        clone_from: BTreeSet::new(),
        extras: extras.iter().copied().collect(),
    }
}

/// A world in which somebody pasted what was printed for a cluster, and a lab that works with the token of it.
#[track_caller]
pub(crate) fn granted(world: Value, text: &str, wishes: Wishes) -> (Lab, Access) {
    let access = Access::for_cluster(&cluster(text), wishes);
    let lab = Lab::new(world, text);
    let secrets = Root(&lab.simulator).paste(&access_text(&access));
    let [secret] = secrets.as_slice() else { panic!("one token, one secret: {}", secrets.len()) };
    (lab.with_token(TOKEN, secret), access)
}

/// What a token may do, as the server keeps it.
pub(crate) fn kept_rights(simulator: &Simulator) -> Value {
    simulator.world(|world| world.to_json())["saved"]["access"].take()
}

/// What `doctor` says that is not right.
pub(crate) async fn doctor(lab: &Lab) -> Vec<Finding> {
    let needs = Needs::of(&lab.cluster);
    let seen = look(&lab.client(), &needs).await.expect("Proxmox answers");
    let found = check(&needs, &seen, &TOKEN.parse().expect("a token id"));
    found.into_iter().filter(|finding| finding.state != State::Ok).collect()
}

/// One run of `template create` for the nodes.
pub(crate) async fn make_templates(lab: &Lab, enable_import: bool) -> Ensured {
    let settings = Settings::of_cluster(&lab.cluster, &TOKEN.parse().expect("a token id"));
    let settings = Settings { enable_import, ..settings };
    let wants = Want::of_cluster(&lab.cluster);
    ensure(&lab.client(), &wants, &settings, &|_, _| ()).await.expect("Proxmox answers")
}

/// What kept templates from being made.
pub(crate) fn troubles(ensured: &Ensured) -> Vec<String> {
    let of_places = ensured.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().err()).flatten();
    of_places.chain(&ensured.troubles).map(|trouble| trouble.message.clone()).collect()
}
