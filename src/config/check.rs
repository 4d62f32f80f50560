//! Mistakes that only show when two places are looked at together.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use super::built_in;
use super::layer::{Field, Layer};
use super::merge::{Draft, NodeDraft, vcpus};
use super::problem::{Place, Problem, Problems, Severity};
use super::read::Format;
use super::source::Source;
use crate::model::{Bios, DiskSerial, InstallDisk, Machine, NicAddress, NodeName, Origin, Role, Setting};

/// Whether what is absent from the draft is absent from the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absences {
    Known,
    /// A file could not be read, and may have given it.
    Unknown,
}

/// Looks at everything, and reports everything.
pub(super) fn check(draft: &Draft, nodes_source: &Arc<Source>, absences: Absences, problems: &mut Problems) {
    let mut check = Check { draft, nodes_source, problems };
    if absences == Absences::Known {
        check.absences();
    }
    check.contradictions();
}

struct Check<'a> {
    draft: &'a Draft,
    nodes_source: &'a Arc<Source>,
    problems: &'a mut Problems,
}

impl Check<'_> {
    /// The one of two hints that fits the file that the nodes stand in.
    fn words<'w>(&self, own: &'w str, talhelper: &'w str) -> &'w str {
        match self.draft.format {
            Format::Own => own,
            Format::Talhelper => talhelper,
        }
    }

    fn absences(&mut self) {
        self.cluster_name();
        self.cidr();
        self.endpoint();
        self.templates();
        for node in &self.draft.nodes {
            self.required_keys(node);
        }
    }

    fn contradictions(&mut self) {
        self.shared_name();
        self.network();
        self.duplicates();
        self.controllers();
        self.vlan();
        self.global_defaults();
        for node in &self.draft.nodes {
            self.address(node);
            self.firmware(node);
            self.memory(node);
            self.queues(node);
            self.disks(node);
            self.cards(node);
        }
    }

    fn error_at(&mut self, origin: &Origin, message: String, label: &str, hint: Option<String>) {
        let problem = Problem::error(message).at(self.problems.place(origin, label));
        self.problems.report(Problem { hint, ..problem });
    }

    fn warn_at(&mut self, origin: &Origin, message: String, label: &str, hint: &str) {
        let problem = Problem::warning(message).at(self.problems.place(origin, label));
        self.problems.report(problem.hint(hint));
    }

    /// The file itself, for what is missing in it.
    fn nodes_file(&self) -> Place {
        Place::Named(self.nodes_source.name().to_string())
    }

    fn cluster_name(&mut self) {
        if self.draft.cluster.name.is_absent() && !self.problems.is_meant(&["name", "cluster_name"]) {
            let problem = Problem::error("the cluster has no name").at(self.nodes_file());
            let files = self.words("nodes.yaml or pvetalos.yaml", "pvetalos.yaml");
            self.problems.report(problem.hint(format!(
                "add a line such as `name: home` to {files}, or set PVETALOS_CLUSTER; \
                 VMs are recognised by this name, so choose it once",
            )));
        }
    }

    /// Cluster repositories that come from one template all have the same name for their cluster in talconfig.yaml. By
    /// it their VMs could not be told apart.
    fn shared_name(&mut self) {
        if let Some(Setting { value, origin }) = self.draft.cluster.name.get()
            && self.draft.format == Format::Talhelper
            && value.as_str() == "kubernetes"
            && matches!(origin, Origin::File { key, .. } if &**key == "clusterName")
        {
            let message = "the cluster has the name `kubernetes`, which many others have too".to_owned();
            let hint =
                "VMs are recognised by this name: give the one that they were made with, by `name:` in pvetalos.yaml";
            self.warn_at(origin, message, "used because pvetalos.yaml gives none", hint);
        }
    }

    fn cidr(&mut self) {
        if self.draft.cluster.cidr.is_absent() && !self.problems.is_meant(&["network", "cidr", "node_cidr"]) {
            let problem = Problem::error("the network of the nodes is not given").at(self.nodes_file());
            self.problems.report(problem.hint(self.words(
                "add `node_cidr: 192.168.1.0/24` to cluster.yaml, or `network: {cidr: 192.168.1.0/24}` to nodes.yaml",
                "add `network: {cidr: 192.168.1.0/24}` to pvetalos.yaml",
            )));
        }
    }

    fn network(&mut self) {
        let cluster = &self.draft.cluster;
        let Some(cidr) = cluster.cidr.get() else {
            return;
        };
        let network = cidr.value.network();
        if let Some(gateway) = cluster.gateway.get()
            && gateway.origin.is_declared()
        {
            if gateway.value.is_ipv4() != network.addr().is_ipv4() {
                let message = format!("the gateway {} is of another address family than {network}", gateway.value);
                self.error_at(&gateway.origin, message, "another family", None);
            } else if !network.contains(&gateway.value) {
                let message = format!("the gateway {} lies outside of the nodes' network {network}", gateway.value);
                let hint = "most networks need a gateway inside; leave it out to take the first address";
                self.warn_at(&gateway.origin, message, "outside", hint);
            }
        }
        if let Some(gateway) = cluster.gateway.get()
            && let Some((what, label)) = reserved(gateway.value, network)
        {
            self.error_at(&gateway.origin, format!("the gateway {} {what}", gateway.value), &label, None);
        }
        if let Some(vip) = cluster.vip.get() {
            let shared = format!("the shared address {} of the Kubernetes API", vip.value);
            if cluster.gateway.get().is_some_and(|gateway| gateway.value == vip.value) {
                self.error_at(&vip.origin, format!("{shared} is the gateway's"), "taken by the gateway", None);
            } else if let Some((what, label)) = reserved(vip.value, network) {
                self.error_at(&vip.origin, format!("{shared} {what}"), &label, None);
            }
        }
        for (whose, other) in [("pods", cluster.pod_cidr.get()), ("services", cluster.svc_cidr.get())] {
            if let Some(other) = other
                && let Ok(theirs) = other.value.0.parse::<IpNet>()
                && (theirs.contains(&network) || network.contains(&theirs))
            {
                let problem = Problem::error(format!("the network of the nodes is also that of the {whose}"))
                    .at(self.problems.place(&cidr.origin, "the nodes'"))
                    .at(self.problems.place(&other.origin, format!("the {whose}'")));
                self.problems.report(problem);
            }
        }
    }

    fn endpoint(&mut self) {
        let cluster = &self.draft.cluster;
        if let Some(csi) = cluster.csi_endpoint.get().filter(|_| cluster.endpoint.is_absent()) {
            let message = "`proxmox_endpoint` is taken for the address of the Proxmox API".to_owned();
            let hint = "it is meant for CSI and CCM; set `proxmox_api_url` to be sure";
            self.warn_at(&csi.origin, message, "used because `proxmox_api_url` is not set", hint);
        }
    }

    fn duplicates(&mut self) {
        let nodes = &self.draft.nodes;
        let names = nodes.iter().filter_map(|node| node.node.name.get());
        self.unique("the node name", names.map(|name| (name.value.clone(), &name.origin)));
        let vm_ids = nodes.iter().filter_map(|node| node.node.vm_id.get());
        self.unique("the VMID", vm_ids.map(|id| (id.value, &id.origin)));

        let cards = || nodes.iter().filter_map(|node| node.node.nics.get()).flat_map(|nics| &nics.value.0);
        let macs = nodes.iter().filter_map(|node| node.node.mac_addr.get());
        let macs = macs.chain(cards().map(|nic| &nic.mac_address));
        self.unique("the MAC address", macs.map(|mac| (mac.value, &mac.origin)));

        let own = nodes.iter().filter_map(|node| node.node.address.get()).map(|own| (own.value, &own.origin));
        let extra = cards().filter_map(|nic| nic.address.as_ref()).filter_map(|setting| match setting.value {
            NicAddress::Static(address) => Some((address.address(), &setting.origin)),
            NicAddress::Dhcp => None,
        });
        self.unique("the address", own.chain(extra));
    }

    fn unique<'o, T: Display + Eq + Hash>(&mut self, what: &str, values: impl Iterator<Item = (T, &'o Origin)>) {
        let mut seen: HashMap<T, &Origin> = HashMap::new();
        for (value, origin) in values {
            if let Some(first) = seen.get(&value) {
                let problem = Problem::error(format!("{what} {value} is given twice"))
                    .at(self.problems.place(origin, "given again"))
                    .at(self.problems.place(first, "first given here"));
                self.problems.report(problem);
            } else {
                seen.insert(value, origin);
            }
        }
    }

    fn controllers(&mut self) {
        let nodes = &self.draft.nodes;
        let known = nodes.iter().filter_map(|node| node.node.controller.get());
        let count = known.clone().filter(|controller| controller.value).count();
        let hint = match (count, known.count() == nodes.len()) {
            (_, false) => return,
            (0, _) if !nodes.is_empty() => self.words(
                "a cluster needs one, three or five nodes with `controller: true`",
                "a cluster needs one, three or five nodes with `controlPlane: true`",
            ),
            (count, _) if count > 0 && count % 2 == 0 => {
                "an odd number survives as many failures with one node less: use one, three or five"
            }
            _ => return,
        };
        let message = match count {
            0 => "there is no control plane".to_owned(),
            count => format!("the number of control planes is even: {count}"),
        };
        self.problems.report(Problem::warning(message).at(self.nodes_file()).hint(hint));
    }

    fn vlan(&mut self) {
        let mut tags = self.draft.nodes.iter().filter_map(|node| node.vm.vlan_tag.get());
        let in_talconfig = |tag: &&Setting<_>| matches!(&tag.origin, Origin::File { key, .. } if &**key == "vlanId");
        if let Some(mode) = self.draft.cluster.vlan_mode.get().filter(|mode| mode.value) {
            if let Some(tag) = tags.find(in_talconfig) {
                let problem = Problem::error(format!("VLAN {} would be tagged twice", tag.value))
                    .at(self.problems.place(&mode.origin, "by Proxmox"))
                    .at(self.problems.place(&tag.origin, "and by Talos"));
                self.problems.report(problem.hint("let one of the two do it"));
            }
        } else if let Some(tag) = tags.next() {
            let message = format!("VLAN {} is left to Talos: the network cards are not tagged", tag.value);
            let hint =
                "in maintenance mode Talos does not tag yet, so that the nodes' addresses must be reachable untagged";
            let other = "set `proxmox_vlan_mode: true` to let Proxmox tag";
            let hint = if in_talconfig(&tag) { hint.to_owned() } else { format!("{hint}; {other}") };
            self.warn_at(&tag.origin, message, "used as a trunk", &hint);
        }
    }

    /// The family's own templates lose `proxmox_vm_defaults` on the way; whoever moves from there sees other sizes.
    fn global_defaults(&mut self) {
        let from_global =
            |origin: &Origin| matches!(origin, Origin::File { key, .. } if &**key == "proxmox_vm_defaults");
        let reached = |node: &&NodeDraft| {
            let vm = &node.vm;
            vm.cores.get().is_some_and(|cores| from_global(&cores.origin))
                || vm.sockets.get().is_some_and(|sockets| from_global(&sockets.origin))
                || vm.memory.get().is_some_and(|memory| from_global(&memory.origin))
                || vm.disk_size.get().is_some_and(|size| from_global(&size.origin))
        };
        let used = self.draft.nodes.iter().filter(reached).find_map(|node| {
            let theirs = built_in::vm(node.role()).explain();
            let differs =
                |setting: &str, value: &str| theirs.iter().any(|(name, theirs, _)| *name == setting && theirs != value);
            let ours = node.vm.explain().into_iter();
            ours.filter(|(setting, value, origin)| from_global(origin) && differs(setting, value))
                .map(|row| row.2)
                .next()
        });
        if let Some(origin) = used {
            let message = "`proxmox_vm_defaults` counts for every node whose role has no value of its own";
            let problem = Problem::new(Severity::Note, message).at(self.problems.place(&origin, "reaches nodes here"));
            self.problems.report(problem.hint(
                "the OpenTofu templates of the repository let their built-in role sizes win; compare with `validate --explain`",
            ));
        }
    }

    fn required_keys(&mut self, node: &NodeDraft) {
        let own = &node.node;
        let keys = [
            ("name", own.name.is_absent()),
            ("address", own.address.is_absent()),
            ("controller", own.controller.is_absent()),
            ("mac_addr", own.mac_addr.is_absent()),
        ];
        for (key, _) in keys.into_iter().filter(|(_, absent)| *absent) {
            let name = node.node.name.get().map(|name| &name.value);
            let what = name.map_or("a node".to_owned(), |name| format!("node `{name}`"));
            let hint = match (self.draft.format, key, name) {
                (Format::Own, "controller", _) => {
                    "add `controller: true` for a control plane, `controller: false` for a worker".to_owned()
                }
                (Format::Own, "mac_addr", _) => {
                    "add a `mac_addr` of your choice; BC:24:11 is the prefix of Proxmox".to_owned()
                }
                (Format::Own, "address", _) => "add the `address` that the node is to have".to_owned(),
                (Format::Own, ..) => "add a `name`".to_owned(),
                (Format::Talhelper, key, Some(name)) => {
                    format!("give it in pvetalos.yaml: `nodes: {{{name}: {{{key}: …}}}}`")
                }
                (Format::Talhelper, _, None) => "write it here, or what stands for it into talenv.yaml".to_owned(),
            };
            let key = if key == "name" { self.words(key, "hostname") } else { key };
            let place = Place::part(self.nodes_source, node.span.clone(), format!("`{key}` is missing"));
            self.problems.report(Problem::error(format!("{what} has no `{key}`")).at(place).hint(hint));
        }
    }

    fn address(&mut self, node: &NodeDraft) {
        let own = node.node.address.get().map(|own| (own.value, &own.origin, true));
        let cards = node.node.nics.get().into_iter().flat_map(|nics| &nics.value.0);
        let extra = cards.filter_map(|nic| nic.address.as_ref()).filter_map(|setting| match setting.value {
            NicAddress::Static(address) => Some((address.address(), &setting.origin, false)),
            NicAddress::Dhcp => None,
        });
        for (address, origin, own) in own.into_iter().chain(extra) {
            if let Some((what, label)) = self.taken_or_misplaced(address, own) {
                self.error_at(origin, format!("the address {address} {what}"), &label, None);
            }
        }
    }

    /// Why a node cannot have this address. Only its own has to lie in the nodes' network.
    fn taken_or_misplaced(&self, address: IpAddr, own: bool) -> Option<(&'static str, String)> {
        let cluster = &self.draft.cluster;
        let taken = |other: &Field<IpAddr>| other.get().is_some_and(|other| other.value == address);
        let network = cluster.cidr.get().map(|cidr| cidr.value.network());
        if let Some(network) = network.filter(|network| own && !network.contains(&address)) {
            Some(("lies outside of the nodes' network", format!("not in {network}")))
        } else if let Some(wrong) = network.and_then(|network| reserved(address, network)) {
            Some(wrong)
        } else if taken(&cluster.gateway) {
            Some(("is the gateway's", "taken by the gateway".to_owned()))
        } else if taken(&cluster.vip) {
            Some(("is the shared one of the Kubernetes API", "taken by the Kubernetes API".to_owned()))
        } else {
            None
        }
    }

    /// Nodes that lack the same are told of together: mostly it is one line that is missing for all.
    fn templates(&mut self) {
        let mut lacking: BTreeMap<&str, Vec<&Setting<NodeName>>> = BTreeMap::new();
        for NodeDraft { node, vm, .. } in &self.draft.nodes {
            let missing = match (vm.talos_version.is_absent(), vm.schematic_id.is_absent()) {
                (true, false) => "`talos_version` is",
                (false, true) => "`schematic_id` is",
                (true, true) => "`talos_version` and `schematic_id` are",
                (false, false) => continue,
            };
            let name = node.name.get().filter(|_| vm.template.is_absent());
            lacking.entry(missing).or_default().extend(name);
        }
        for (missing, names) in lacking {
            let Some((first, others)) = names.split_first() else {
                continue;
            };
            let others = match others.len() {
                0 => String::new(),
                1 => " and one other".to_owned(),
                count => format!(" and {count} others"),
            };
            let message = format!("no template can be chosen for node `{}`{others}: {missing} not given", first.value);
            let hint = self.words(
                "give it for the node, under `defaults:`, or at the top of cluster.yaml; \
                 or name a template by `talos_template`",
                "give it in pvetalos.yaml, under `defaults:` or for the node; or name a template by `talos_template`",
            );
            self.error_at(&first.origin, message, "cloned from what?", Some(hint.to_owned()));
        }
    }

    fn firmware(&mut self, node: &NodeDraft) {
        let vm = &node.vm;
        let Some(secureboot) = vm.secureboot.get().filter(|secureboot| secureboot.value) else {
            return;
        };
        let obstacle = match (vm.bios.get(), vm.machine.get()) {
            (Some(Setting { value: Bios::SeaBios, origin }), _) => Some(("`bios: ovmf`", origin)),
            (_, Some(Setting { value: Machine::I440Fx, origin })) => Some(("`machine: q35`", origin)),
            _ => None,
        };
        if let Some((needed, origin)) = obstacle {
            let problem = Problem::error(format!("secure boot needs {needed}"))
                .at(self.problems.place(&secureboot.origin, "secure boot is asked for"))
                .at(self.problems.place(origin, "this cannot do it"));
            self.problems.report(problem);
        }
    }

    fn memory(&mut self, node: &NodeDraft) {
        let (Some(memory), Some(balloon)) = (node.vm.memory.get(), node.vm.balloon.get()) else {
            return;
        };
        let mib = memory.value.0.get();
        if balloon.value.get() > mib {
            let problem =
                Problem::error(format!("the balloon of {} MiB is larger than the memory of {mib} MiB", balloon.value))
                    .at(self.problems.place(&balloon.origin, "larger than the memory"))
                    .at(self.problems.place(&memory.origin, "the memory"));
            self.problems.report(problem.hint("leave `balloon` at 0: Talos is better off without one"));
        }
        if node.role() == Role::Controller && mib < 2048 {
            let message = format!("{mib} MiB of memory is less than a control plane needs");
            self.warn_at(
                &memory.origin,
                message,
                "too little",
                "Talos asks for 2048 MiB at least, and 4096 to be comfortable",
            );
        }
    }

    fn queues(&mut self, node: &NodeDraft) {
        if let (Some(queues), Some(vcpus)) = (node.vm.net_queues.get(), vcpus(&node.vm))
            && queues.origin.is_declared()
            && queues.value.get() > vcpus
        {
            let message = format!("{} network queues are more than the {vcpus} virtual CPUs can serve", queues.value);
            self.warn_at(&queues.origin, message, "more than CPUs", &format!("{vcpus} will be used"));
        }
    }

    fn disks(&mut self, node: &NodeDraft) {
        let Some(disk) = node.node.disk.get() else {
            return;
        };
        match &disk.value {
            InstallDisk::Path(path) => {
                let other_bus =
                    ["/dev/vd", "/dev/nvme", "/dev/xvd", "/dev/mmcblk"].iter().any(|bus| path.starts_with(bus));
                if other_bus {
                    let message = format!("the VM will have no `{path}`: its disk hangs on SCSI");
                    self.warn_at(&disk.origin, message, "Talos would not find it", "write `/dev/sda`");
                }
            }
            InstallDisk::Serial(_) => {}
        }
        self.serials(node);
    }

    fn serials(&mut self, node: &NodeDraft) {
        let system = node.node.disk.get().and_then(|disk| match &disk.value {
            InstallDisk::Serial(serial) => Some((serial, &disk.origin)),
            InstallDisk::Path(_) => None,
        });
        let data = node.vm.data_disks.get();
        let of_data = data.into_iter().flat_map(|data| {
            data.value.0.iter().filter_map(|disk| disk.serial.as_ref()).map(|serial| (serial, &data.origin))
        });
        let mut seen: HashMap<&DiskSerial, &Origin> = HashMap::new();
        for (serial, origin) in system.into_iter().chain(of_data) {
            let Some(first) = seen.insert(serial, origin) else {
                continue;
            };
            let mut problem = Problem::error(format!("two disks of one VM have the serial `{serial}`"))
                .at(self.problems.place(origin, "among these"));
            if first != origin {
                problem = problem.at(self.problems.place(first, "the system disk"));
            }
            self.problems.report(problem);
        }
    }

    fn cards(&mut self, node: &NodeDraft) {
        let cards = node.node.nics.get().into_iter().flat_map(|nics| &nics.value.0);
        for nic in cards.filter(|nic| nic.address.is_none()) {
            let message = format!("the network card {} has no address", nic.mac_address.value);
            let hint = "Talos will ask for one by DHCP, with a default route of its own; give `address: 10.0.0.5/24`, \
                        or `address: dhcp` if that is meant";
            self.warn_at(&nic.mac_address.origin, message, "on its own", hint);
        }
    }
}

/// Why nobody can have this address in this network.
fn reserved(address: IpAddr, network: IpNet) -> Option<(&'static str, String)> {
    // Networks of one or two addresses have no address of their own and no broadcast.
    if network.max_prefix_len() - network.prefix_len() < 2 {
        None
    } else if address == network.network() {
        Some(("is the network itself", format!("the first address of {network}")))
    } else if network.addr().is_ipv4() && address == network.broadcast() {
        Some(("is the broadcast address", format!("the last address of {network}")))
    } else {
        None
    }
}
