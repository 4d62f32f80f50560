use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::model::{HostName, StorageId};

/// How many may do the same thing at once, for each place where it is done.
#[derive(Debug)]
pub(super) struct Limits<K> {
    most: usize,
    places: Mutex<BTreeMap<K, Arc<Semaphore>>>,
}

/// A storage that clones have to share: that of one host, or one that all hosts share.
pub(super) type StoragePlace = (Option<HostName>, StorageId);

impl<K: Ord + Clone> Limits<K> {
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(1), places: Mutex::default() }
    }

    /// A turn at a place if one is free at once.
    pub(super) fn try_turn(&self, place: &K) -> Option<OwnedSemaphorePermit> {
        self.place(place).try_acquire_owned().ok()
    }

    /// Waits for a turn at a place; dropping it gives it back.
    pub(super) async fn turn(&self, place: &K) -> OwnedSemaphorePermit {
        self.place(place).acquire_owned().await.expect("the semaphore is never closed")
    }

    fn place(&self, place: &K) -> Arc<Semaphore> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(places.entry(place.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.most))))
    }
}
