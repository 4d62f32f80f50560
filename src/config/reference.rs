use std::fmt::Write;

use super::built_in;
use super::keys::{ClusterLayer, DataDiskLayer, NicLayer, NodeLayer, VmLayer};
use super::layer::{Key, Layer, Scope};
use crate::model::Role;

const INTRODUCTION: &str = "# Configuration reference

<!-- Made from src/config/keys.rs; `UPDATE=1 cargo test --test generated` writes it anew. -->

pvetalos reads up to four files. Only nodes.yaml is needed, and where there is none,
[talos/talconfig.yaml](#without-nodesyaml).

| file | holds | unknown keys |
|---|---|---|
| nodes.yaml | the nodes; in a repository of its own also everything else | an error |
| cluster.yaml | the settings of a cluster repository, of which pvetalos reads those below | ignored |
| pvetalos.yaml | what the repository's own files have no key for; settings of single nodes | an error |
| infrastructure/secrets.sops.yaml or secrets.sops.yaml | the API token, encrypted by SOPS; see [secrets.md](secrets.md) | ignored |

They are looked for beside nodes.yaml. Flags and variables name other places: `--nodes`/`PVETALOS_NODES_FILE`,
`--cluster`/`PVETALOS_CLUSTER_FILE`, `--settings`/`PVETALOS_SETTINGS_FILE`, `--secrets`/`PVETALOS_SECRETS_FILE`.

## Without nodes.yaml

Cluster repositories do not commit nodes.yaml and cluster.yaml, and `task template:tidy` moves both away. What stays is
talos/talconfig.yaml, the file of talhelper. Where nobody names a file and there is no nodes.yaml, the nodes are read from
there, with the rank of nodes.yaml; pvetalos.yaml and the others are still those beside the folder `talos`. `--nodes` takes
such a file too, under any name.

| in talconfig.yaml | is |
|---|---|
| `clusterName` | the name of the cluster, unless another place gives one |
| `talosVersion` | `talos_version` |
| `hostname`, `ipAddress`, `controlPlane` | name, address and role of a node |
| `installDiskSelector: {serial: …}`, `installDisk` | `disk` |
| `talosImageURL` of an Image Factory, else `schematic` | `schematic_id`; and `secureboot`, by the name of the installer |
| `machineSpec: {secureboot: true}` | `secureboot` |
| `patches` with `systemDiskEncryption` by `tpm` | `encrypt_disk` |
| the first of `networkInterfaces` with a `hardwareAddr`, or one of its `vlans` | `mac_addr`, the network, `gateway`, `vip`, `vlan_tag`, and an `mtu` other than 1500 |
| `nameservers` | `dns_servers`, those of the first node that has any |
| `endpoint` | `vip`, if no interface has one and it is an address of the nodes' network |
| `clusterPodNets`, `clusterSvcNets` | networks that must not be that of the nodes |

Everything else in it is left alone. `${…}` is filled in from talenv.yaml beside it, if that is not encrypted; what is left
open counts as not given. What it has no key for comes from pvetalos.yaml: the address of Proxmox, hosts, storages, sizes,
VLANs that Proxmox tags, cards beside the first. Give the cluster's `name` there too: VMs are recognised by it, and
`clusterName` may be the same in many repositories.

## Which value counts

For every key by itself, the first of these that gives it:

1. a flag, then the environment (cluster name, endpoint and token only)
2. the node: `nodes:` of pvetalos.yaml, then its entry in nodes.yaml
3. the node's role: `defaults: {controller: …, worker: …}` or `proxmox_vm_controller_defaults`, `proxmox_vm_worker_defaults`
4. all nodes: `defaults:`, `proxmox:`, `network:`, `proxmox_vm_defaults`, `proxmox_vm_advanced` and the flat keys
5. what is built in for the role, then what is built in for all

In 3 and 4 pvetalos.yaml stands above cluster.yaml, and cluster.yaml above nodes.yaml. Lists such as `tags` are taken
whole from one place, not joined. `pvetalos validate --explain` shows for every value where it came from.

## Environment

| variable | gives |
|---|---|
| `PVETALOS_CLUSTER` | the name of the cluster |
| `PROXMOX_ENDPOINT`, `PROXMOX_HOST`, `PROXMOX_VE_ENDPOINT` | the address of the Proxmox API: host, host:port or URL; the first that is set |
| `PROXMOX_TOKEN_ID`, `PROXMOX_TOKEN_SECRET` | the API token, in two halves |
| `PROXMOX_VE_API_TOKEN` | the API token as `user@realm!name=secret` |

Those of Proxmox also with `_FILE` added, as the name of a file that holds the value. `--token-file FILE` names a file
with `user@realm!name=secret` and stands above them. A token in a SOPS file (`proxmox_api_token_id` and
`proxmox_api_token_secret`, or `proxmox_api_token`) stands below them and above cluster.yaml. No flag takes the secret
itself, and nodes.yaml and pvetalos.yaml have no key for it. An empty variable counts as not set. Both halves of a token
have to come from one place, or name the same token.

## Where pvetalos is stricter than the repositories' own schemas

Some values pass there and could not work here, so that they are refused: a `disk` that is no path and no serial number
that QEMU can carry (20 letters, digits, `-`, `_`, `.`), a `cpu_type` below x86-64-v2, names of hosts, storages, bridges,
tags and pools that Proxmox itself refuses, a `proxmox_api_url` without TLS or with another path than `/api2/json`, a
`schematic_id` that is not hexadecimal. An unknown key inside of a `proxmox_vm_…` map is a warning.
";

/// The reference page of every key, as Markdown.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    let node = |scope| rows::<NodeLayer>(scope);
    section(
        &mut page,
        "Nodes",
        "Keys of an entry of `nodes:` in nodes.yaml; in pvetalos.yaml the name is the key of a mapping (`nodes: {cp-1: {…}}`). An entry takes the VM settings below too.",
        node(Scope::Node),
    );
    section(
        &mut page,
        "VM settings",
        "Keys of a node, of `defaults:`, `defaults.controller:` and `defaults.worker:`, and of the maps `proxmox_vm_defaults`, `proxmox_vm_controller_defaults`, `proxmox_vm_worker_defaults` and `proxmox_vm_advanced`.",
        rows::<VmLayer>(Scope::Vm),
    );
    section(
        &mut page,
        "`proxmox:`",
        "A section of nodes.yaml and pvetalos.yaml.",
        [rows::<ClusterLayer>(Scope::Proxmox), rows::<VmLayer>(Scope::Proxmox)].concat(),
    );
    section(
        &mut page,
        "`network:`",
        "A section of nodes.yaml and pvetalos.yaml.",
        [rows::<ClusterLayer>(Scope::Network), rows::<VmLayer>(Scope::Network)].concat(),
    );
    let top = [
        rows::<ClusterLayer>(Scope::Own),
        rows::<ClusterLayer>(Scope::Top),
        rows::<VmLayer>(Scope::Top),
        rows::<ClusterLayer>(Scope::Cluster),
    ];
    section(
        &mut page,
        "Flat keys",
        "At the top level of every file. `name` is for nodes.yaml and pvetalos.yaml only; the token's secret is for cluster.yaml only, and is better kept out of it.",
        top.concat(),
    );
    section(&mut page, "`nics:`", "Keys of an extra network card.", rows::<NicLayer>(Scope::Nic));
    section(&mut page, "`data_disks:`", "Keys of a data disk.", rows::<DataDiskLayer>(Scope::DataDisk));
    page
}

fn section(page: &mut String, title: &str, introduction: &str, rows: Vec<String>) {
    writeln!(page, "\n## {title}\n\n{introduction}\n\n| key | meaning | built in |\n|---|---|---|")
        .expect("writing to a string never fails");
    for row in rows {
        page.push_str(&row);
        page.push('\n');
    }
}

fn rows<L: Layer>(scope: Scope) -> Vec<String> {
    let keys = L::KEYS.iter().filter(|key| !key.names(scope).is_empty());
    keys.map(|key| {
        let names: Vec<String> = key.names(scope).iter().map(|name| format!("`{name}`")).collect();
        format!("| {} | {} | {} |", names.join(", "), key.doc.trim(), built_in_value(key, scope))
    })
    .collect()
}

/// What is built in for a setting, and for each role where that differs.
fn built_in_value(key: &Key, scope: Scope) -> String {
    if matches!(scope, Scope::Nic | Scope::DataDisk) {
        return String::new();
    }
    let of = |rows: Vec<(&'static str, String, _)>| {
        rows.into_iter().find(|(setting, ..)| *setting == key.setting).map(|(_, value, _)| value)
    };
    let cluster = of(built_in::cluster().explain());
    let (controller, worker) = (of(built_in::vm(Role::Controller).explain()), of(built_in::vm(Role::Worker).explain()));
    match (controller, worker) {
        (Some(controller), Some(worker)) if controller != worker => {
            format!("{controller} (controller), {worker} (worker)")
        }
        (value, _) => cluster.or(value).or(of(built_in::node().explain())).unwrap_or_default(),
    }
}
