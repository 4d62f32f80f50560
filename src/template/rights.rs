//! What a token needs to be allowed for making templates.

use super::{Place, Settings, Source, Trouble};
use crate::model::{HostName, TokenId};
use crate::proxmox::answers::Permissions;

/// The options that a template is made with, each guarded by a privilege; drives are guarded by their storages while a
/// VM is made (qemu-server: src/PVE/API2/Qemu.pm).
const VM_PRIVILEGES: [&str; 7] = [
    "VM.Allocate",
    "VM.Audit",
    "VM.Config.CPU",
    "VM.Config.Cloudinit",
    "VM.Config.HWType",
    "VM.Config.Memory",
    "VM.Config.Options",
];

/// Every path on which a privilege is looked for.
pub(super) fn paths(place: &Place, host: &HostName, settings: &Settings) -> Vec<String> {
    let mut paths = vec![
        "/".to_owned(),
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
    let lacks = |path: &str, needed: &[&str]| -> Vec<String> {
        needed.iter().filter(|name| !permissions.has(path, name)).map(|name| (*name).to_owned()).collect()
    };
    let (disks, images) = (format!("/storage/{}", place.storage), format!("/storage/{}", settings.image_storage));
    let vms: Vec<String> = VM_PRIVILEGES
        .iter()
        .filter(|name| !permissions.has_below(&vm_path(place), name))
        .map(|name| (*name).to_owned())
        .collect();
    let fetches = !matches!(settings.source, Source::File(_));
    let may_fetch = permissions.has(&format!("/nodes/{host}"), "Sys.AccessNetwork")
        || (permissions.has("/", "Sys.Audit") && permissions.has("/", "Sys.Modify"));
    let all = [
        (vm_path(place), vms),
        (disks.clone(), lacks(&disks, &["Datastore.AllocateSpace", "Datastore.Audit"])),
        (images.clone(), lacks(&images, &["Datastore.AllocateTemplate", "Datastore.Audit"])),
        ("/storage".to_owned(), if enables_import { lacks("/storage", &["Datastore.Allocate"]) } else { Vec::new() }),
        (
            format!("/nodes/{host}"),
            if fetches && !may_fetch { vec!["Sys.AccessNetwork".to_owned()] } else { Vec::new() },
        ),
    ];
    let lacking = all.into_iter().filter(|(_, privileges)| !privileges.is_empty());
    lacking.map(|(path, privileges)| trouble(&path, &privileges, &settings.token)).collect()
}

fn trouble(path: &str, privileges: &[String], token: &TokenId) -> Trouble {
    let message = format!("the token {token} lacks {} on {path}", privileges.join(", "));
    let fix = format!(
        "pveum role add PvetalosTemplates --privs '{}' (or `role modify … --append`), then pveum acl modify {path} --roles \
         PvetalosTemplates --users '{}' --tokens '{token}'",
        privileges.join(" "),
        token.user(),
    );
    Trouble::new(message, fix)
}
