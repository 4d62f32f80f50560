use futures_util::future::try_join_all;

use super::{Finding, Needs};
use crate::model::{Cluster, TokenId};
use crate::proxmox::answers::Permissions;
use crate::proxmox::{Client, ProxmoxError, Transport};
use crate::pveum::TokenRole;

/// Where VMs of the cluster may be that the token does not see. Proxmox leaves such VMs out of its lists without a word,
/// so that absence proves nothing there.
pub async fn blind_spots<T: Transport>(
    client: &Client<T>,
    cluster: &Cluster,
    token: &TokenId,
) -> Result<Vec<Finding>, ProxmoxError> {
    const ALL: &str = "/vms";
    let paths = Needs::of(cluster).vm_paths();
    let asked = paths.iter().map(String::as_str).filter(|path| *path != ALL).chain([ALL]);
    let answers = try_join_all(asked.map(|path| client.permissions(Some(path)))).await?;
    let permissions: Permissions = answers.into_iter().collect();
    let sees = |path: &str| permissions.has_below(path, "VM.Audit");
    let blind = paths.iter().filter(|path| !sees(path) && !sees(ALL));
    let finding = |path: &String| {
        let message = format!("the token {token} may not see the VMs below {path} (VM.Audit)");
        Finding::warning(message, TokenRole::Vms.fix(path, token))
    };
    Ok(blind.map(finding).collect())
}
