use std::collections::HashMap;

use super::compare::{Comparison, Scope, compare};
use crate::model::{BalloonMib, Bios, Cluster, DataDisk, DiskSize, HostName, MemoryMib, Node, VmId};
use crate::preflight::TemplateSeen;

/// Tells which templates suit which nodes.
///
/// Thousands of nodes ask the same of a few templates, so that each template is compared once for all that ask the same.
pub(super) struct Suitable<'a> {
    cluster: &'a Cluster,
    /// What should be known of a template that suits whoever asks this of it, a sentence each.
    known: HashMap<Demands<'a>, Vec<String>>,
}

/// All that decides whether a template suits a node, and what is noted of it. A check that looks at more of a node belongs
/// here too.
#[derive(PartialEq, Eq, Hash)]
struct Demands<'a> {
    host: &'a HostName,
    template: VmId,
    memory: MemoryMib,
    balloon: BalloonMib,
    bios: Bios,
    disk_size: DiskSize,
    data_disks: &'a [DataDisk],
    encrypt_disk: bool,
    cards: usize,
}

/// What speaks against a template, and what should be known of it, a sentence each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) refusals: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl<'a> Suitable<'a> {
    pub(super) fn new(cluster: &'a Cluster) -> Self {
        Self { cluster, known: HashMap::new() }
    }

    /// Compares a template as if it were the clone: what cannot be mended there cannot be mended later.
    pub(super) fn judge(&mut self, node: &'a Node, host: &'a HostName, template: &TemplateSeen) -> Judgement {
        let demands = Demands::of(node, host, template.vmid);
        if let Some(notes) = self.known.get(&demands) {
            return Judgement { refusals: Vec::new(), notes: notes.clone() };
        }
        let Comparison { refusals, notes, .. } =
            compare(self.cluster, node, template.vmid, &template.config, Scope::Whole);
        // A refusal tells which line of the files asked for too much, and every node has lines of its own.
        if refusals.is_empty() {
            self.known.insert(demands, notes.clone());
        }
        Judgement { refusals, notes }
    }
}

impl<'a> Demands<'a> {
    fn of(node: &'a Node, host: &'a HostName, template: VmId) -> Self {
        let vm = &node.vm;
        Self {
            host,
            template,
            memory: vm.memory.value,
            balloon: vm.balloon.value,
            bios: vm.bios.value,
            disk_size: vm.disk_size.value,
            data_disks: &vm.data_disks,
            encrypt_disk: vm.encrypt_disk.value,
            cards: node.nics.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cluster, own_vm};
    use super::*;
    use crate::proxmox::answers::Power;

    /// Whoever says this is told the same after another node as by itself.
    #[track_caller]
    fn case(says: &str, options: &str) {
        let (plain, other) = (cluster(""), cluster(says));
        let vm = own_vm(Power::Stopped, options);
        let template = TemplateSeen { vmid: vm.vmid, name: "t".to_owned(), mark: None, config: vm.config };
        let mut suitable = Suitable::new(&plain);
        let first = suitable.judge(&plain.nodes[0], &vm.host, &template);
        let after_another = suitable.judge(&other.nodes[0], &vm.host, &template);
        let alone = Suitable::new(&other).judge(&other.nodes[0], &vm.host, &template);
        assert_eq!(after_another, alone);
        assert_ne!(first, alone, "what it says makes a difference");
    }

    #[test]
    fn no_node_is_told_what_was_found_for_another() {
        let (data_disk, extra_card) = ("scsi1: local-lvm:vm-4000-disk-1,size=9G", "net1: virtio=BC:24:11:99:00:01");
        case(", bios: seabios", "");
        case(", vm_disk_size: 32", "");
        case(", data_disks: [{size: 10}]", data_disk);
        case(", encrypt_disk: true", "tpmstate0: local-lvm:vm-4000-disk-2,size=4M,version=v2.0");
        case(", nics: [{mac_addr: 'bc:24:11:99:00:01', bridge: vmbr0}]", extra_card);
    }

    #[test]
    fn a_refusal_names_the_lines_of_its_own_node() {
        let (first, second) = (cluster(", bios: seabios"), cluster("\n    , bios: seabios"));
        let vm = own_vm(Power::Stopped, "");
        let template = TemplateSeen { vmid: vm.vmid, name: "t".to_owned(), mark: None, config: vm.config };
        let mut suitable = Suitable::new(&first);
        let lines = [&first, &second].map(|cluster| suitable.judge(&cluster.nodes[0], &vm.host, &template).refusals);
        assert!(lines[0][0].contains("nodes.yaml:6 bios") && lines[1][0].contains("nodes.yaml:7 bios"), "{lines:?}");
    }
}
