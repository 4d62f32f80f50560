use futures_util::future::{try_join, try_join_all};

use super::definition::system_volume;
use super::{Place, Settings};
use crate::model::{HostName, StorageId, TemplateMark, TemplateRecord, VmId};
use crate::proxmox::answers::{Host, Power, Storage, Version, VmConfig, VmListed, Volume};
use crate::proxmox::{Client, ProxmoxError, RefusalKind, Transport};

/// A VM that is a template, or is called as one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VmSeen {
    pub(super) host: HostName,
    pub(super) vmid: VmId,
    pub(super) power: Power,
    pub(super) config: VmConfig,
}

impl VmSeen {
    /// What it was made from, whoever said so.
    pub(super) fn mark(&self) -> Option<TemplateMark> {
        TemplateMark::find(self.config.description())
    }

    /// Our own record. A copy has the number of its original in it and is none of ours.
    pub(super) fn record(&self) -> Option<TemplateRecord> {
        TemplateRecord::find(self.config.description()).filter(|record| record.vmid == self.vmid)
    }

    /// The storage of its system disk.
    pub(super) fn storage(&self) -> Option<StorageId> {
        system_volume(&self.config).map(|volume| volume.storage().clone())
    }
}

/// What there is where a template shall be.
#[derive(Clone, Debug)]
pub(super) struct PlaceSeen {
    pub(super) version: Version,
    /// Where it is made: where it was begun, or else on the first host.
    pub(super) host: HostName,
    pub(super) vms: Vec<VmSeen>,
    /// Of that host.
    pub(super) storages: Vec<Storage>,
    /// What can be imported there.
    pub(super) images: Vec<Volume>,
}

pub(super) async fn look<T: Transport>(
    client: &Client<T>,
    place: &Place,
    settings: &Settings,
) -> Result<PlaceSeen, ProxmoxError> {
    let name = place.image.template_name();
    let of_interest = |vm: &VmListed| vm.template || vm.name.as_deref() == Some(name.as_str());
    let vms = try_join_all(place.hosts.iter().map(|host| look_at_vms(client, host, &of_interest)));
    let (version, vms) = try_join(client.version(), vms).await?;
    let vms: Vec<VmSeen> = vms.into_iter().flatten().collect();
    let begun = vms.iter().find(|vm| vm.record().is_some_and(|record| record.mark == place.image.mark()));
    let host = begun.map_or_else(|| place.hosts[0].clone(), |vm| vm.host.clone());
    let storages = client.storages(&host, None).await?;
    let takes_images = |storage: &Storage| storage.name == settings.image_storage && storage.content.contains("import");
    let images = if storages.iter().any(takes_images) {
        client.volumes(&host, &settings.image_storage, Some("import"), None).await?
    } else {
        Vec::new()
    };
    Ok(PlaceSeen { version, host, vms, storages, images })
}

/// The VMs of a host that matter, with their options. One that vanishes meanwhile does not matter any more.
pub(super) async fn look_at_vms<T: Transport>(
    client: &Client<T>,
    host: &HostName,
    of_interest: &(dyn Fn(&VmListed) -> bool + Sync),
) -> Result<Vec<VmSeen>, ProxmoxError> {
    let listed = client.vms(host).await?;
    let seen =
        try_join_all(listed.into_iter().filter(of_interest).map(
            async |vm| match client.vm_config(host, vm.vmid).await {
                Ok(config) => Ok(Some(VmSeen { host: host.clone(), vmid: vm.vmid, power: vm.power, config })),
                Err(error) if error.kind() == Some(&RefusalKind::NotFound) => Ok(None),
                Err(error) => Err(error),
            },
        ));
    Ok(seen.await?.into_iter().flatten().collect())
}

/// A host with its storages, as far as they can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostSeen {
    pub(super) host: Host,
    pub(super) storages: Vec<Storage>,
}

/// The hosts, each with its storages; one that is down has none to show.
pub(super) async fn look_at_hosts<T: Transport>(client: &Client<T>) -> Result<Vec<HostSeen>, ProxmoxError> {
    let hosts = client.hosts().await?;
    try_join_all(hosts.into_iter().map(async |host| {
        let storages = if host.is_online() { client.storages(&host.name, None).await? } else { Vec::new() };
        Ok(HostSeen { host, storages })
    }))
    .await
}
