//! What a token needs to be allowed for making templates.

use super::{Place, Settings, Source, Trouble};
use crate::model::{HostName, TokenId};
use crate::proxmox::answers::Permissions;
use crate::pveum::{DISK_PRIVILEGES, IMAGE_PRIVILEGES, TEMPLATE_PRIVILEGES, TokenRole};

/// Every path on which a privilege is looked for.
pub(super) fn paths(place: &Place, host: &HostName, settings: &Settings) -> Vec<String> {
    let mut paths = vec![
        "/".to_owned(),
        "/vms".to_owned(),
        vm_path(place),
        "/storage".to_owned(),
        format!("/nodes/{host}"),
        format!("/storage/{}", place.storage),
        format!("/storage/{}", settings.image_storage),
    ];
    paths.sort();
    paths.dedup();
    paths
}

/// The path below which the template comes into being.
fn vm_path(place: &Place) -> String {
    place.pool.as_ref().map_or("/vms".to_owned(), |pool| format!("/pool/{pool}"))
}

/// What is missing, each with the command that grants it. Reads its arguments and nothing else.
pub(super) fn missing(
    place: &Place,
    host: &HostName,
    settings: &Settings,
    enables_import: bool,
    permissions: &Permissions,
) -> Vec<Trouble> {
    let lacks = |path: &str, needed: &[&'static str]| -> Vec<&'static str> {
        needed.iter().copied().filter(|name| !permissions.has(path, name)).collect()
    };
    let (disks, images) = (format!("/storage/{}", place.storage), format!("/storage/{}", settings.image_storage));
    // Whoever may do something with all VMs may do it in a pool too.
    let granted = |name: &str| [vm_path(place).as_str(), "/vms"].iter().any(|path| permissions.has_below(path, name));
    let vms = TEMPLATE_PRIVILEGES.iter().copied().filter(|name| !granted(name)).collect();
    let fetches = !matches!(settings.source, Source::File(_));
    let may_fetch = permissions.has(&format!("/nodes/{host}"), "Sys.AccessNetwork")
        || (permissions.has("/", "Sys.Audit") && permissions.has("/", "Sys.Modify"));
    let import = if enables_import { lacks("/storage", &["Datastore.Allocate"]) } else { Vec::new() };
    let download = if fetches && !may_fetch { vec!["Sys.AccessNetwork"] } else { Vec::new() };
    let all = [
        (TokenRole::Vms, vm_path(place), vms),
        (TokenRole::Disks, disks.clone(), lacks(&disks, DISK_PRIVILEGES)),
        (TokenRole::Images, images.clone(), lacks(&images, IMAGE_PRIVILEGES)),
        (TokenRole::Import, "/storage".to_owned(), import),
        (TokenRole::Download, format!("/nodes/{host}"), download),
    ];
    let lacking = all.into_iter().filter(|(_, _, privileges)| !privileges.is_empty());
    lacking.map(|(role, path, privileges)| trouble(role, &path, &privileges, &settings.token)).collect()
}

fn trouble(role: TokenRole, path: &str, privileges: &[&str], token: &TokenId) -> Trouble {
    let message = format!("the token {token} lacks {} on {path}", privileges.join(", "));
    Trouble::new(message, role.fix(path, token))
}
