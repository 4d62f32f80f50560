use futures_util::future::{join_all, try_join_all};

use super::definition::{disk_bytes, system_volume};
use super::look::{VmSeen, look_at_hosts, look_at_vms};
use crate::model::{HostName, StorageId, TemplateMark, TemplateRecord, VmId};
use crate::proxmox::answers::{Power, Storage, VmListed};
use crate::proxmox::types::VolumeId;
use crate::proxmox::{Client, ProxmoxError, Transport};

/// A template, or what was to become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub host: HostName,
    pub vmid: VmId,
    pub name: String,
    pub state: ListedState,
    /// What it was made from, if its notes say so.
    pub mark: Option<TemplateMark>,
    /// Our own record: only with it is it ours to delete.
    pub record: Option<TemplateRecord>,
    pub storage: Option<StorageId>,
    /// Bytes of the system disk.
    pub disk_bytes: Option<u64>,
    pub dependents: Dependents,
    pub(super) seen: VmSeen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedState {
    Template,
    /// Begun by us and not finished.
    Unfinished,
}

/// The linked clones that live on a template's disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependents {
    Vms(Vec<VmId>),
    /// LVM-thin keeps no trace of where a volume came from, and needs none: the clones live on without their template.
    NotVisible,
    /// Why they cannot be told.
    Unknown(String),
}

/// Every template that the token may see, and everything of ours that is not one yet; by host and number.
pub async fn inventory<T: Transport>(client: &Client<T>) -> Result<Vec<Listed>, ProxmoxError> {
    let hosts = look_at_hosts(client).await?;
    let of_interest = |vm: &VmListed| vm.template || vm.name.as_deref().is_some_and(|name| name.starts_with("talos-"));
    let online = hosts.iter().filter(|seen| seen.host.is_online());
    let vms = try_join_all(online.clone().map(|seen| look_at_vms(client, &seen.host.name, &of_interest))).await?;
    let vms: Vec<VmSeen> = vms.into_iter().flatten().collect();
    let listed = vms.into_iter().filter(|vm| vm.config.is_template() || vm.record().is_some());
    let storages = |host: &HostName| {
        hosts.iter().find(|seen| seen.host.name == *host).map(|seen| seen.storages.as_slice()).unwrap_or_default()
    };
    let mut all = join_all(listed.map(async |vm| {
        let dependents = dependents(client, &vm, storages(&vm.host)).await;
        describe(vm, dependents)
    }))
    .await;
    all.sort_by(|a, b| (&a.host, a.vmid).cmp(&(&b.host, b.vmid)));
    Ok(all)
}

fn describe(vm: VmSeen, dependents: Dependents) -> Listed {
    Listed {
        host: vm.host.clone(),
        vmid: vm.vmid,
        name: vm.config.name().unwrap_or_default().to_owned(),
        state: if vm.config.is_template() { ListedState::Template } else { ListedState::Unfinished },
        mark: vm.mark(),
        record: vm.record(),
        storage: vm.storage(),
        disk_bytes: disk_bytes(&vm.config),
        dependents,
        seen: vm,
    }
}

impl Listed {
    pub(super) fn is_stopped(&self) -> bool {
        self.seen.power == Power::Stopped
    }
}

/// The volumes of a storage tell by their names what they are linked to.
async fn dependents<T: Transport>(client: &Client<T>, vm: &VmSeen, storages: &[Storage]) -> Dependents {
    let Some(base) = system_volume(&vm.config).filter(VolumeId::is_base) else {
        return Dependents::Vms(Vec::new());
    };
    let kind =
        storages.iter().find(|storage| storage.name == *base.storage()).and_then(|storage| storage.kind.as_deref());
    if kind == Some("lvmthin") {
        return Dependents::NotVisible;
    }
    match client.volumes(&vm.host, base.storage(), Some("images"), None).await {
        Ok(volumes) => {
            let linked = |volume: &VolumeId| volume.parent() == Some(base.name());
            let ids = volumes.iter().filter_map(|volume| volume.id.known()).filter(|id| linked(id));
            let mut owners: Vec<VmId> = ids.filter_map(VolumeId::owner).filter(|owner| *owner != vm.vmid).collect();
            owners.sort_unstable();
            owners.dedup();
            Dependents::Vms(owners)
        }
        Err(error) => Dependents::Unknown(error.with_causes()),
    }
}
