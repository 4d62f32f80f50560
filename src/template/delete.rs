use super::look::{VmSeen, look_at_vms};
use super::{Dependents, Listed, ListedState, Trouble};
use crate::proxmox::task::{Pace, TaskWatcher};
use crate::proxmox::types::Reading;
use crate::proxmox::{Client, RefusalKind, Transport};

/// A template that may be deleted, as it was when that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed(Listed);

impl Doomed {
    pub fn listed(&self) -> &Listed {
        &self.0
    }
}

/// Why something is not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub name: String,
    /// Whether the name is not that of exactly one template.
    pub is_unclear: bool,
    pub trouble: Trouble,
}

/// Finds what may be deleted of what was named, by number or by name. Reads its arguments and nothing else.
pub fn choose_doomed(names: &[String], all: &[Listed]) -> (Vec<Doomed>, Vec<Refused>) {
    let (mut doomed, mut refused): (Vec<Doomed>, Vec<Refused>) = (Vec::new(), Vec::new());
    for name in names {
        let mut refuse = |is_unclear, trouble| refused.push(Refused { name: name.clone(), is_unclear, trouble });
        match called(name, all) {
            Ok(listed) => match may_go(listed) {
                Ok(()) if doomed.iter().any(|known| known.0.vmid == listed.vmid) => {}
                Ok(()) => doomed.push(Doomed(listed.clone())),
                Err(trouble) => refuse(false, trouble),
            },
            Err(trouble) => refuse(true, trouble),
        }
    }
    (doomed, refused)
}

fn called<'l>(name: &str, all: &'l [Listed]) -> Result<&'l Listed, Trouble> {
    let found: Vec<&Listed> =
        all.iter().filter(|listed| listed.vmid.to_string() == name || listed.name == name).collect();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let fix = "`pvetalos template list` shows those that there are";
            Err(Trouble::new(format!("there is no template {name}"), fix))
        }
        several => {
            let ids: Vec<String> = several.iter().map(|listed| format!("{} on {}", listed.vmid, listed.host)).collect();
            Err(Trouble::new(
                format!("{} templates are called {name}", several.len()),
                format!("give the number: {}", ids.join(", ")),
            ))
        }
    }
}

fn may_go(listed: &Listed) -> Result<(), Trouble> {
    let Listed { vmid, host, .. } = listed;
    if listed.record.is_none() {
        let message =
            format!("template {vmid} on {host} was not made by pvetalos: its notes have no record with its number");
        return Err(Trouble::new(message, format!("if it shall go, `qm destroy {vmid}` on {host}")));
    }
    let config = &listed.seen.config;
    if let Some(lock) = config.lock() {
        let fix = format!("wait for the `{lock}` task to end; if none is running, run `qm unlock {vmid}` on {host}");
        return Err(Trouble::new(format!("{vmid} on {host} is locked ({lock})"), fix));
    }
    if config.flag("protection", false) {
        let fix = format!("if it really shall go, `qm set {vmid} --protection 0` on {host}");
        return Err(Trouble::new(format!("{vmid} on {host} is protected"), fix));
    }
    if listed.state == ListedState::Unfinished && !listed.is_stopped() {
        return Err(Trouble::new(format!("{vmid} on {host} runs"), "stop it if nobody needs it"));
    }
    match &listed.dependents {
        Dependents::Vms(vms) if vms.is_empty() => Ok(()),
        Dependents::NotVisible => Ok(()),
        Dependents::Vms(vms) => {
            let ids: Vec<String> = vms.iter().map(ToString::to_string).collect();
            let message = format!("linked clones live on the disk of template {vmid} on {host}: {}", ids.join(", "));
            Err(Trouble::new(message, "delete those VMs first, or move their disks to be full copies"))
        }
        Dependents::Unknown(why) => {
            let message = format!("whether linked clones live on the disk of template {vmid} cannot be seen: {why}");
            Err(Trouble::new(message, "let the token see the storage's volumes (Datastore.Audit)"))
        }
    }
}

/// Deletes a template. It is read once more first, and has to be the very one that was shown.
pub async fn delete<T: Transport + Clone>(client: &Client<T>, doomed: &Doomed) -> Result<(), Trouble> {
    let listed = &doomed.0;
    let (host, vmid) = (&listed.host, listed.vmid);
    let now = look_at_vms(client, host, &|vm| vm.vmid == vmid).await?;
    let Some(now) = now.into_iter().next() else {
        return Ok(());
    };
    if !is_same(&listed.seen, &now) {
        let message = format!("{vmid} on {host} is not what it was a moment ago");
        return Err(Trouble::new(message, "look at it with `pvetalos template list`, and run this again"));
    }
    let upid = match client.delete_vm(host, vmid, false, false).await {
        Ok(upid) => upid,
        Err(error) if error.kind() == Some(&RefusalKind::NotFound) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let ended = TaskWatcher::new(client.clone(), Pace::default()).finish(&upid).await?;
    if ended.warnings == 0 {
        return Ok(());
    }
    // The VM is gone, and a volume of it may have stayed.
    let log = client.whole_task_log(&upid).await?;
    let warnings: Vec<&str> = log.warnings().collect();
    let fix = "look for its volumes on the storage (`pvesm list <storage>`) and free them (`pvesm free <volume>`)";
    Err(Trouble::new(format!("{vmid} is deleted, but not everything of it: {}", warnings.join("; ")), fix))
}

/// Whether it is still the same VM with the same record, in the same state.
fn is_same(then: &VmSeen, now: &VmSeen) -> bool {
    let uuid = |vm: &VmSeen| match vm.config.smbios() {
        Reading::Known(smbios) => smbios.to_string(),
        Reading::Text(text) => text,
    };
    now.record().is_some()
        && now.record() == then.record()
        && uuid(now) == uuid(then)
        && now.config.is_template() == then.config.is_template()
        && now.config.lock().is_none()
        && now.power == then.power
}
