use futures_util::future::{join, join_all, try_join, try_join_all};

use super::{HostSeen, Needs, Seen, TemplateSeen, Unseen};
use crate::model::{HostName, TemplateMark};
use crate::proxmox::answers::{Host, Permissions};
use crate::proxmox::{Client, ProxmoxError, RefusalKind, Transport};

/// Looks at everything that the needs are about. Only what makes all else pointless is an error: no connection, no
/// trust, a token that is not accepted.
pub async fn look<T: Transport>(client: &Client<T>, needs: &Needs) -> Result<Seen, ProxmoxError> {
    // By itself and first: a wrong token is answered late, and one late answer is enough.
    let version = client.version().await?;
    let (permissions, hosts) = try_join(permissions(client, needs), client.hosts()).await?;
    let close = join_all(relevant(&hosts, needs).into_iter().map(|host| look_at_host(client, host)));
    let (close, status) = join(close, client.cluster_status()).await;
    let quorate = status.map(|status| status.quorate).map_err(|error| unseen(&error));
    Ok(Seen { version, permissions, hosts, close, quorate })
}

async fn permissions<T: Transport>(client: &Client<T>, needs: &Needs) -> Result<Permissions, ProxmoxError> {
    let paths = needs.paths();
    let answers = try_join_all(paths.iter().map(|path| client.permissions(Some(path)))).await?;
    Ok(answers.into_iter().collect())
}

/// The hosts that nodes name, or all that are up if some node names none.
fn relevant<'a>(hosts: &'a [Host], needs: &Needs) -> Vec<&'a HostName> {
    let wanted = |host: &&Host| host.is_online() && (needs.any_host || needs.hosts.contains(&host.name));
    hosts.iter().filter(wanted).map(|host| &host.name).collect()
}

async fn look_at_host<T: Transport>(client: &Client<T>, host: &HostName) -> HostSeen {
    let lists = join(client.storages(host, None), client.bridges(host));
    let ((storages, bridges), templates) = join(lists, templates(client, host)).await;
    HostSeen {
        name: host.clone(),
        storages: storages.map_err(|error| unseen(&error)),
        bridges: bridges.map_err(|error| unseen(&error)),
        templates: templates.map_err(|error| unseen(&error)),
    }
}

pub(crate) fn unseen(error: &ProxmoxError) -> Unseen {
    let forbidden = matches!(error.kind(), Some(RefusalKind::Forbidden { .. }));
    Unseen { why: error.with_causes(), fix: error.hint(), forbidden }
}

async fn templates<T: Transport>(client: &Client<T>, host: &HostName) -> Result<Vec<TemplateSeen>, ProxmoxError> {
    let vms = client.vms(host).await?;
    let templates = vms.into_iter().filter(|vm| vm.template);
    try_join_all(templates.map(async |vm| {
        let config = client.vm_config(host, vm.vmid).await?;
        let name = vm.name.unwrap_or_default();
        Ok(TemplateSeen { vmid: vm.vmid, name, mark: TemplateMark::find(config.description()), config })
    }))
    .await
}
