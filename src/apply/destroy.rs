use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};

use super::configure::Held;
use super::context::{Context, Patience, Run};
use super::event::{End, Event, Outcome, Step};
use super::power::Off;
use super::roster::Roster;
use super::settings::{Settings, Stopped};
use super::trouble::{Done, Trouble};
use crate::model::{Cluster, HostName, Mark, StorageId, VmId};
use crate::plan::{Belongings, DestroyPlan, ObservedVm, Target};
use crate::proxmox::answers::{Power, Storage, VmPending};
use crate::proxmox::types::VolumeId;
use crate::proxmox::{Client, Effect, ProxmoxError, RefusalKind, Transport};

/// How long a deletion is tried again while others are in the way.
const PATIENCE: Duration = Duration::from_mins(2);

/// What VMs have beyond their options. A VM or storage that cannot be looked at hides no other.
pub async fn belongings<T: Transport>(
    client: &Client<T>,
    vms: &[&ObservedVm],
) -> Result<BTreeMap<VmId, Belongings>, ProxmoxError> {
    let hosts: BTreeSet<&HostName> = vms.iter().map(|vm| &vm.host).collect();
    let stored = join_all(hosts.into_iter().map(async |host| (host, volumes_of(client, host).await))).await;
    let stored: BTreeMap<&HostName, Stored> = stored.into_iter().collect();
    let looked = join_all(vms.iter().map(async |vm| {
        let ha_managed = match client.vm_status(&vm.host, vm.vmid).await {
            Ok(status) => status.is_ha_managed(),
            // It is gone, which is all that is wanted.
            Err(error) if error.kind() == Some(&RefusalKind::NotFound) => false,
            Err(error) => return Err(error),
        };
        let Stored { volumes, unseen } = stored.get(&vm.host).cloned().unwrap_or_default();
        let volumes = volumes.into_iter().filter(|volume| volume.owner() == Some(vm.vmid)).collect();
        Ok((vm.vmid, Belongings { ha_managed, volumes, unseen }))
    }));
    looked.await.into_iter().collect()
}

/// The disks that a host's storages hold.
#[derive(Clone, Default)]
struct Stored {
    volumes: Vec<VolumeId>,
    unseen: Vec<String>,
}

async fn volumes_of<T: Transport>(client: &Client<T>, host: &HostName) -> Stored {
    let Ok(storages) = client.storages(host, Some("images")).await else {
        return Stored { volumes: Vec::new(), unseen: vec!["all storages".to_owned()] };
    };
    let active = storages.into_iter().filter(|storage: &Storage| storage.enabled && storage.active);
    let lists = active.map(async |storage| {
        let listed = client.volumes(host, &storage.name, Some("images"), None).await;
        (storage.name, listed)
    });
    let mut stored = Stored::default();
    for (name, listed) in join_all(lists).await {
        match listed {
            Ok(volumes) => stored.volumes.extend(volumes.into_iter().filter_map(|volume| volume.id.into_known())),
            Err(_) => stored.unseen.push(name.to_string()),
        }
    }
    stored
}

/// Destroys what a plan says. The plan must have no obstacles.
pub async fn destroy<T: Transport + Clone>(
    client: &Client<T>,
    cluster: &Cluster,
    plan: &DestroyPlan,
    settings: &Settings,
    stopped: &Stopped,
    tell: &(dyn Fn(Event) + Sync),
) -> Vec<Outcome> {
    if !plan.obstacles.is_empty() {
        return Vec::new();
    }
    let roster = Roster::new(BTreeSet::new(), BTreeSet::new());
    let context = Context::new(client, (), cluster, *settings, stopped, tell, roster);
    let mut outcomes: Vec<(usize, Outcome)> = stream::iter(plan.targets.iter().enumerate())
        .map(async |(index, target)| (index, Box::pin(context.destroy(target)).await))
        .buffer_unordered(settings.parallel.max(1))
        .collect()
        .await;
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

impl<T: Transport> Context<'_, T, ()> {
    async fn destroy(&self, target: &Target) -> Outcome {
        let mut run = Run::new(&target.node, (Some(target.vmid), Some(target.host.clone())), Step::Stop, self.tell);
        let end = self.remove(&mut run, target).await.map(|()| End::Done { talos: None });
        run.ended(end, self.client).await
    }

    /// Stops, deletes, and makes sure. Absence is success at every step.
    async fn remove(&self, run: &mut Run<'_>, target: &Target) -> Done<()> {
        let mut held = Held::planned(target.identity.clone(), target.host.clone(), true);
        let mut patience = Patience::new(PATIENCE);
        loop {
            self.go_on()?;
            if self.still_ours(run, &mut held, target).await?.is_none() {
                return self.verify(run, &held, target).await;
            }
            if self.power(&held).await? != Power::Stopped {
                self.switch_off(run, &mut held, Off::AtOnce).await?;
            }
            let trouble = match self.delete(run, &mut held, target).await {
                Ok(()) => return self.verify(run, &held, target).await,
                Err(trouble) => trouble,
            };
            if !may_look_again(&trouble) {
                return Err(trouble);
            }
            match patience.next() {
                Some(pause) => self.pause(pause).await?,
                None => return Err(trouble),
            }
        }
    }

    /// Deletes the VM when its turn comes. A number is given to somebody else within seconds, so that it is looked at
    /// right before it goes.
    async fn delete(&self, run: &mut Run<'_>, held: &mut Held, target: &Target) -> Done<()> {
        let place = storage_of(target).map(|storage| (Some(held.host.clone()), storage));
        let _turn = match &place {
            Some(place) => Some(self.turn(&self.volumes, place).await?),
            None => None,
        };
        if self.still_ours(run, held, target).await?.is_none() {
            return Ok(());
        }
        self.go_on()?;
        run.begin(Step::Delete);
        let upid = self.client.delete_vm(&held.host, target.vmid, target.purge, false).await?;
        let ended = self.finish(&upid).await?;
        self.warnings(&ended, run).await;
        Ok(())
    }

    /// The VM, unless it is gone. One with another mark or UUID is somebody else's under the same number, which is not
    /// touched, and means that ours is gone.
    async fn still_ours(&self, run: &mut Run<'_>, held: &mut Held, target: &Target) -> Done<Option<VmPending>> {
        match self.read(run, held).await {
            Ok(pending) => {
                if pending.wanted().flag("protection", false) {
                    return Err(Trouble::seen(
                        format!("VM {} was protected meanwhile", target.vmid),
                        "run it again to see what stands in its way",
                    ));
                }
                Ok(Some(pending))
            }
            Err(Trouble::Call(error)) if error.kind() == Some(&RefusalKind::NotFound) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// Makes sure that the VM and the volumes that should go with it are gone.
    async fn verify(&self, run: &mut Run<'_>, held: &Held, target: &Target) -> Done<()> {
        run.begin(Step::Verify);
        match self.ask(|| self.client.vm_pending(&held.host, target.vmid)).await {
            Err(Trouble::Call(error)) if error.kind() == Some(&RefusalKind::NotFound) => {}
            Err(Trouble::Call(error)) if matches!(error.kind(), Some(RefusalKind::Forbidden { .. })) => {
                // Whoever may only see what is in a pool is refused what is gone from it.
                if !self.is_free(target.vmid).await? {
                    return Err(error.into());
                }
            }
            Err(trouble) => return Err(trouble),
            Ok(pending) if is_marked(&pending, &target.identity.mark) => {
                return Err(Trouble::seen(
                    format!("VM {} is still there after it was deleted", target.vmid),
                    "look at the task's log, then run it again",
                ));
            }
            // Somebody has taken the number already.
            Ok(_) => return Ok(()),
        }
        let left = self.left_volumes(held, target).await?;
        if left.is_empty() {
            return Ok(());
        }
        let commands: Vec<String> = left.iter().map(|volume| format!("`pvesm free {volume}`")).collect();
        Err(Trouble::seen(
            format!("VM {} is gone, but these volumes of it are not: {}", target.vmid, left.join(", ")),
            format!("delete them on {}: {}", held.host, commands.join(", ")),
        ))
    }

    async fn left_volumes(&self, held: &Held, target: &Target) -> Done<Vec<String>> {
        let gone: BTreeSet<&str> = target.goes.iter().map(String::as_str).collect();
        let storages: BTreeSet<StorageId> = target
            .goes
            .iter()
            .filter_map(|volume| volume.parse::<VolumeId>().ok())
            .map(|id| id.storage().clone())
            .collect();
        let mut left = Vec::new();
        for storage in storages {
            let listed =
                self.ask(|| self.client.volumes(&held.host, &storage, Some("images"), Some(target.vmid))).await?;
            let names = listed.into_iter().map(|volume| volume.id.to_string());
            left.extend(names.filter(|name| gone.contains(name.as_str())));
        }
        Ok(left)
    }
}

fn is_marked(pending: &VmPending, mark: &Mark) -> bool {
    Mark::find(pending.wanted().description()).as_ref() == Some(mark)
}

fn storage_of(target: &Target) -> Option<StorageId> {
    target.goes.iter().find_map(|volume| volume.parse::<VolumeId>().ok()).map(|volume| volume.storage().clone())
}

/// Whether looking at the VM again tells what to do: it may be gone, running again, or free of somebody's lock.
fn may_look_again(trouble: &Trouble) -> bool {
    let passing = |kind: Option<&RefusalKind>| {
        matches!(kind, Some(RefusalKind::Busy | RefusalKind::Locked(_) | RefusalKind::Running | RefusalKind::NotFound))
    };
    match trouble {
        Trouble::Call(error) => error.effect() == Effect::MaybeDone || passing(error.kind()),
        Trouble::Task(error) => error.may_be_done() || passing(error.kind().as_ref()),
        Trouble::Seen { .. } | Trouble::Interrupted(_) => false,
    }
}
