use std::collections::{BTreeMap, BTreeSet};

use super::compare::system_slot;
use super::suitable::{Judgement, Suitable};
use super::verdict::{ChosenTemplate, Creation};
use crate::model::{BridgeName, CloneMode, Cluster, DiskSize, HostName, Node, Role, StorageId, Template, VmId};
use crate::preflight::{HostSeen, Seen, State, TemplateSeen, missing_template, network_path, storage_on};
use crate::proxmox::answers::Storage;
use crate::proxmox::types::Reading;

use super::observed::Observed;

/// Finds a host, a template and a number for every node that has no VM yet, one after the other.
pub(super) struct Places<'a> {
    cluster: &'a Cluster,
    seen: &'a Seen,
    loads: BTreeMap<&'a HostName, Load>,
    taken: BTreeSet<VmId>,
    /// All numbers from the base on that are below this one are taken.
    next_number: u32,
    /// Bytes that are promised already, on a storage of a host or of all hosts.
    promised: BTreeMap<(Option<&'a HostName>, &'a StorageId), u64>,
    suitable: Suitable<'a>,
}

/// What a host carries, and what it will carry.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    controllers: u32,
    nodes: u32,
    free_memory: Option<u64>,
}

/// A host that can take a node, and how.
struct Fit<'a> {
    host: &'a HostSeen,
    template: (&'a HostSeen, &'a TemplateSeen),
    storage: &'a Storage,
}

impl<'a> Places<'a> {
    /// `present` are the nodes that have a VM already, with the hosts that they are on.
    pub(super) fn new(
        cluster: &'a Cluster,
        observed: &'a Observed,
        seen: &'a Seen,
        present: impl IntoIterator<Item = (&'a Node, &'a HostName)>,
    ) -> Self {
        let mut loads: BTreeMap<&HostName, Load> = observed
            .hosts
            .iter()
            .map(|host| (&host.name, Load { free_memory: host.free_memory, ..Load::default() }))
            .collect();
        for (node, host) in present {
            let load = loads.entry(host).or_default();
            load.nodes += 1;
            load.controllers += u32::from(node.role.value == Role::Controller);
        }
        let declared = cluster.nodes.iter().filter_map(|node| node.vm_id.as_ref()).map(|vmid| vmid.value);
        let taken = observed.guests.keys().copied().chain(declared).collect();
        let next_number = cluster.proxmox.vm_id_base.value.get();
        let suitable = Suitable::new(cluster);
        Self { cluster, seen, loads, taken, next_number, promised: BTreeMap::new(), suitable }
    }

    /// A place for a node, or why there is none.
    pub(super) fn find(&mut self, node: &'a Node) -> Result<(Creation, Vec<String>), Vec<String>> {
        let fit = match &node.vm.host {
            Some(host) => self.named(node, &host.value)?,
            None => self.best(node)?,
        };
        let image = image_of(fit.template.1);
        let (creation, notes) = self.creation(node, &fit, image.as_ref())?;
        self.take(node, &fit, creation.vmid, image.map_or(0, |(_, size)| size.bytes()));
        Ok((creation, notes))
    }

    fn named(&self, node: &'a Node, name: &HostName) -> Result<Fit<'a>, Vec<String>> {
        match self.seen.hosts.iter().find(|host| host.name == *name) {
            None => {
                let names: Vec<&str> = self.seen.hosts.iter().map(|host| host.name.as_str()).collect();
                let there = names.join(", ");
                Err(vec![format!("there is no host {name}: use one of {there} as `proxmox_node`; case matters")])
            }
            Some(host) if !host.is_online() => {
                Err(vec![format!("host {name} is not online: start it, or give the node another `proxmox_node`")])
            }
            Some(_) => match self.seen.close(name) {
                Some(host) => self.fit(node, host),
                None => Err(vec![format!("host {name} could not be looked at")]),
            },
        }
    }

    /// Control planes go where the fewest are, so that one dead host takes as few of them as possible with it; then
    /// memory decides.
    fn best(&self, node: &'a Node) -> Result<Fit<'a>, Vec<String>> {
        let mut reasons = Vec::new();
        let mut fits = Vec::new();
        for host in &self.seen.close {
            match self.fit(node, host) {
                Ok(fit) => fits.push(fit),
                Err(why) => reasons.extend(why),
            }
        }
        let rank = |fit: &Fit<'a>| {
            let load = self.loads.get(&fit.host.name).copied().unwrap_or_default();
            let controllers = if node.role.value == Role::Controller { load.controllers } else { 0 };
            let memory = std::cmp::Reverse(load.free_memory.unwrap_or(0));
            (controllers, memory, load.nodes, &fit.host.name)
        };
        let best = fits.into_iter().min_by_key(rank);
        best.ok_or_else(|| {
            if reasons.is_empty() {
                reasons.push("no host is online".to_owned());
            }
            reasons
        })
    }

    /// Whether a host can take a node: all that speaks against it.
    fn fit(&self, node: &'a Node, host: &'a HostSeen) -> Result<Fit<'a>, Vec<String>> {
        let vm = &node.vm;
        let mut reasons = Vec::new();
        let storages: BTreeSet<&StorageId> =
            vm.data_disks.iter().map(|disk| &disk.storage).chain([&vm.storage.value]).collect();
        for storage in storages {
            let finding = storage_on(storage, host);
            if finding.state == State::Error {
                reasons.push(with_fix(finding.message, finding.fix));
            }
        }
        let bridges: BTreeSet<&BridgeName> =
            node.nics.iter().map(|nic| &nic.bridge).chain([&vm.bridge.value]).collect();
        reasons.extend(bridges.into_iter().filter_map(|bridge| self.no_bridge(bridge, host)));
        let storage = host.storages.iter().flatten().find(|storage| storage.name == vm.storage.value);
        let template = self.template(node, host);
        match (template, storage, reasons.is_empty()) {
            (Ok(template), Some(storage), true) => Ok(Fit { host, template, storage }),
            (template, storage, _) => {
                reasons.extend(template.err());
                if storage.is_none() && reasons.is_empty() {
                    reasons.push(format!("the storages of {} cannot be seen", host.name));
                }
                Err(reasons)
            }
        }
    }

    /// That a bridge is missing. The list leaves out what the token may not use, so that absence proves something only
    /// where it may.
    fn no_bridge(&self, bridge: &BridgeName, host: &HostSeen) -> Option<String> {
        let seen = host.bridges.as_ref().ok()?;
        let may_use = || self.seen.permissions.has(&network_path(bridge, None), "SDN.Use");
        let missing = !seen.iter().any(|seen| seen.name == bridge.as_str()) && may_use();
        missing.then(|| {
            let names: Vec<&str> = seen.iter().map(|seen| seen.name.as_str()).collect();
            format!("there is no bridge {bridge} on {}: use one of {} as `bridge`", host.name, names.join(", "))
        })
    }

    /// The template on the host itself, or one whose disks all hosts can reach.
    fn template(&self, node: &Node, host: &'a HostSeen) -> Result<(&'a HostSeen, &'a TemplateSeen), String> {
        let wanted = &node.vm.template;
        let here = on_host(host, wanted)?;
        let found: Vec<(&HostSeen, &TemplateSeen)> = match here.as_slice() {
            [] => self.elsewhere(wanted, host, &node.vm.storage.value),
            _ => here.into_iter().map(|template| (host, template)).collect(),
        };
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                let there = host.templates.as_deref().unwrap_or_default();
                let (message, fix) = missing_template(wanted, host, there);
                Err(with_fix(message, Some(fix)))
            }
            several => {
                let ids: Vec<String> =
                    several.iter().map(|(host, template)| format!("{} on {}", template.vmid, host.name)).collect();
                Err(format!("{} templates are {wanted}: {}; keep one of them", several.len(), ids.join(", ")))
            }
        }
    }

    fn elsewhere(
        &self,
        wanted: &Template,
        host: &HostSeen,
        target: &StorageId,
    ) -> Vec<(&'a HostSeen, &'a TemplateSeen)> {
        let shared = |storage: &StorageId, at: &HostSeen| {
            at.storages.iter().flatten().any(|seen| seen.name == *storage && seen.shared)
        };
        if !shared(target, host) {
            return Vec::new();
        }
        let others = self.seen.close.iter().filter(|other| other.name != host.name);
        others
            .flat_map(|other| {
                let fitting = on_host(other, wanted).unwrap_or_default();
                let everywhere = |template: &&TemplateSeen| {
                    template.config.volumes().all(|(_, volume)| shared(volume.storage(), other))
                };
                fitting.into_iter().filter(everywhere).map(move |template| (other, template)).collect::<Vec<_>>()
            })
            .collect()
    }

    fn creation(
        &mut self,
        node: &'a Node,
        fit: &Fit<'a>,
        image: Option<&(StorageId, DiskSize)>,
    ) -> Result<(Creation, Vec<String>), Vec<String>> {
        let vm = &node.vm;
        let (template_host, template) = fit.template;
        let vmid = match &node.vm_id {
            Some(vmid) => vmid.value,
            None => self.free_number()?,
        };
        let Judgement { refusals, mut notes } = self.suitable.judge(node, &template_host.name, template);
        let mut refusals: Vec<String> = refusals
            .into_iter()
            .map(|refusal| format!("template {} ({}): {refusal}", template.vmid, template.name))
            .collect();
        if vm.clone.value == CloneMode::Linked && vm.storage.origin.is_declared() {
            let storage = image.map(|(storage, _)| storage);
            if let Some(storage) = storage.filter(|storage| **storage != vm.storage.value) {
                refusals.push(format!(
                    "a linked clone stays on the storage of its template, which is {storage} and not {} ({}): leave \
                     `storage` out, or use `clone: full`",
                    vm.storage.value, vm.storage.origin
                ));
            }
        }
        notes.extend(other_release(node, template));
        if vm.clone.value == CloneMode::Full {
            refusals.extend(self.no_space(fit, image.map(|(_, size)| *size)));
        }
        notes.extend(self.little_memory(node, fit));
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let template =
            ChosenTemplate { vmid: template.vmid, name: template.name.clone(), host: template_host.name.clone() };
        let creation = Creation {
            vmid,
            automatic: node.vm_id.is_none(),
            host: fit.host.name.clone(),
            template,
            clone: vm.clone.value,
            storage: vm.storage.value.clone(),
            shared_storage: fit.storage.shared,
            pool: vm.pool.as_ref().map(|pool| pool.value.clone()),
        };
        Ok((creation, notes))
    }

    fn free_number(&mut self) -> Result<VmId, Vec<String>> {
        let base = self.cluster.proxmox.vm_id_base.value.get();
        let mut numbers = (self.next_number..=VmId::MAX).filter_map(VmId::new);
        let free = numbers.find(|vmid| !self.taken.contains(vmid));
        let free = free.ok_or_else(|| vec![format!("there is no free VMID from {base} on")])?;
        self.next_number = free.get();
        Ok(free)
    }

    fn storage_key(fit: &Fit<'a>) -> (Option<&'a HostName>, &'a StorageId) {
        ((!fit.storage.shared).then_some(&fit.host.name), &fit.storage.name)
    }

    fn no_space(&self, fit: &Fit<'a>, image: Option<DiskSize>) -> Option<String> {
        let (available, image) = (fit.storage.available?, image?.bytes());
        let promised = self.promised.get(&Self::storage_key(fit)).copied().unwrap_or(0);
        (promised + image > available).then(|| {
            format!(
                "storage {} on {} is full: {} MiB are free, and the image needs {} MiB beside the {} MiB of the nodes \
                 before it; free some space, or name another `storage`",
                fit.storage.name,
                fit.host.name,
                available >> 20,
                image >> 20,
                promised >> 20
            )
        })
    }

    fn little_memory(&self, node: &Node, fit: &Fit<'a>) -> Option<String> {
        let free = self.loads.get(&fit.host.name)?.free_memory?;
        let needed = u64::from(node.vm.memory.value.get()) << 20;
        (needed > free).then(|| {
            format!("{} has {} MiB of memory left for it, and it wants {} MiB", fit.host.name, free >> 20, needed >> 20)
        })
    }

    fn take(&mut self, node: &'a Node, fit: &Fit<'a>, vmid: VmId, image: u64) {
        self.taken.insert(vmid);
        let load = self.loads.entry(&fit.host.name).or_default();
        load.nodes += 1;
        load.controllers += u32::from(node.role.value == Role::Controller);
        let memory = u64::from(node.vm.memory.value.get()) << 20;
        load.free_memory = load.free_memory.map(|free| free.saturating_sub(memory));
        if node.vm.clone.value == CloneMode::Full {
            *self.promised.entry(Self::storage_key(fit)).or_default() += image;
        }
    }
}

fn on_host<'a>(host: &'a HostSeen, wanted: &Template) -> Result<Vec<&'a TemplateSeen>, String> {
    match &host.templates {
        Ok(templates) => Ok(templates.iter().filter(|template| template.is(wanted)).collect()),
        Err(unseen) => Err(with_fix(
            format!("the templates of {} cannot be seen: {}", host.name, unseen.why),
            Some(unseen.fix.clone()),
        )),
    }
}

/// That a template which was chosen by its name holds another release than the files want.
fn other_release(node: &Node, template: &TemplateSeen) -> Option<String> {
    let (wanted, mark) = (node.vm.talos_version.as_ref()?, template.mark.as_ref()?);
    (wanted.value != mark.talos_version).then(|| {
        format!(
            "template {} ({}) holds Talos {}, and {} asks for {}: make one with `pvetalos template create`",
            template.vmid, template.name, mark.talos_version, wanted.origin, wanted.value
        )
    })
}

/// Where the image of a template lies and how large it is.
fn image_of(template: &TemplateSeen) -> Option<(StorageId, DiskSize)> {
    let Some(Reading::Known(drive)) = template.config.drive(system_slot()) else {
        return None;
    };
    Some((drive.source.volume()?.storage().clone(), drive.size?))
}

fn with_fix(message: String, fix: Option<String>) -> String {
    match fix {
        Some(fix) => format!("{message}: {fix}"),
        None => message,
    }
}
