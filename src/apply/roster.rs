use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::{Mark, NodeName, VmId};
use crate::proxmox::answers::{Guest, GuestKind, VmPending};
use crate::proxmox::{Client, ProxmoxError, RefusalKind, Transport};

/// The list of all guests, looked at afresh, by however many nodes at once.
///
/// Whoever asks gets a list that was begun after the question. Those who ask while somebody else is being answered share
/// the next answer.
#[derive(Debug)]
pub(super) struct Roster {
    questions: AtomicU64,
    latest: tokio::sync::Mutex<Option<Answered>>,
    /// Guests that are known not to be of this cluster.
    strangers: Mutex<BTreeSet<VmId>>,
    /// Numbers that nodes of this run are about to have.
    reserved: Mutex<BTreeSet<VmId>>,
    /// What this run is making, and for which node.
    own: Mutex<BTreeMap<VmId, NodeName>>,
}

#[derive(Debug)]
struct Answered {
    /// How many questions there were when the list was begun.
    begun_at: u64,
    guests: Arc<BTreeMap<VmId, Guest>>,
}

/// A VM that carries a mark of ours, as it was a moment ago.
#[derive(Clone, Debug)]
pub(super) struct Marked {
    pub(super) mark: Mark,
    pub(super) guest: Guest,
    pub(super) pending: VmPending,
}

impl Roster {
    pub(super) fn new(strangers: BTreeSet<VmId>, reserved: BTreeSet<VmId>) -> Self {
        Self {
            questions: AtomicU64::new(0),
            latest: tokio::sync::Mutex::default(),
            strangers: Mutex::new(strangers),
            reserved: Mutex::new(reserved),
            own: Mutex::default(),
        }
    }

    /// Remembers that a VM is of this run's making, so that no other node of it has to look at it.
    pub(super) fn note_own(&self, vmid: VmId, node: &NodeName) {
        lock(&self.own).insert(vmid, node.clone());
    }

    /// All guests, as they are from now on.
    pub(super) async fn guests<T: Transport>(
        &self,
        client: &Client<T>,
    ) -> Result<Arc<BTreeMap<VmId, Guest>>, ProxmoxError> {
        let question = self.questions.fetch_add(1, Ordering::Relaxed);
        let mut latest = self.latest.lock().await;
        if let Some(answered) = latest.as_ref().filter(|answered| answered.begun_at > question) {
            return Ok(Arc::clone(&answered.guests));
        }
        let begun_at = self.questions.load(Ordering::Relaxed);
        let guests = client.guests().await?;
        let guests = Arc::new(guests.into_iter().map(|guest| (guest.vmid, guest)).collect());
        *latest = Some(Answered { begun_at, guests: Arc::clone(&guests) });
        Ok(guests)
    }

    /// The VMs but this one that carry a mark for this node, and whether something without a mark is only just coming into being,
    /// which may turn out to be another one.
    pub(super) async fn marked<T: Transport>(
        &self,
        client: &Client<T>,
        wanted: &Mark,
        but: Option<VmId>,
    ) -> Result<(Vec<Marked>, bool), ProxmoxError> {
        let guests = self.guests(client).await?;
        let (mut found, mut unclear) = (Vec::new(), false);
        let strangers = lock(&self.strangers).clone();
        let own = lock(&self.own).clone();
        for guest in guests.values().filter(|guest| guest.kind == GuestKind::Vm) {
            let other = own.get(&guest.vmid).is_some_and(|node| *node != wanted.node);
            if other || but == Some(guest.vmid) || strangers.contains(&guest.vmid) {
                continue;
            }
            let pending = match client.vm_pending(&guest.host, guest.vmid).await {
                Ok(pending) => pending,
                Err(error) if error.kind() == Some(&RefusalKind::NotFound) => continue,
                Err(error) if matches!(error.kind(), Some(RefusalKind::Forbidden { .. })) => {
                    unclear = true;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let config = pending.wanted();
            match Mark::find(config.description()).filter(|mark| mark.vmid == guest.vmid) {
                Some(mark) if mark.cluster == wanted.cluster && mark.node == wanted.node => {
                    found.push(Marked { mark, guest: guest.clone(), pending });
                }
                None if config.lock() == Some("clone") => unclear = true,
                Some(_) | None => drop(lock(&self.strangers).insert(guest.vmid)),
            }
        }
        Ok((found, unclear))
    }

    /// The lowest number from `base` on that nobody has, nobody in this run is about to have, and Proxmox calls free.
    pub(super) async fn next_free<T: Transport>(
        &self,
        client: &Client<T>,
        base: VmId,
    ) -> Result<Option<VmId>, ProxmoxError> {
        let guests = self.guests(client).await?;
        for vmid in (base.get()..=VmId::MAX).filter_map(VmId::new) {
            if guests.contains_key(&vmid) || !lock(&self.reserved).insert(vmid) {
                continue;
            }
            // The list leaves out what the token may not see; this question does not. The number stays reserved if it
            // is taken, so that nobody asks again.
            if client.is_free(vmid).await? {
                return Ok(Some(vmid));
            }
        }
        Ok(None)
    }
}

/// What is guarded stays whole even if somebody panicked meanwhile.
fn lock<V>(mutex: &Mutex<V>) -> std::sync::MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
