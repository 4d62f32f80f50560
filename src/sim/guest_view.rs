use std::collections::BTreeMap;
use std::time::Duration;

use super::vm::Power;
use super::world::World;

/// A running VM as whoever simulates its guest needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestView {
    pub vmid: u32,
    pub host: String,
    /// When its process began.
    pub started: Duration,
    /// Whether it has booted and listens.
    pub has_booted: bool,
    /// What it was started with; pending values are not in it.
    pub config: BTreeMap<String, String>,
}

impl World {
    /// The VMs that run now and are not paused.
    pub fn running_guests(&self) -> Vec<GuestView> {
        let running = self.vms.iter().filter_map(|(id, vm)| match vm.power {
            Power::Running { since, paused: false, .. } => Some(GuestView {
                vmid: *id,
                host: vm.host.clone(),
                started: Duration::from_millis(since),
                has_booted: vm.listens(self.now),
                config: vm.config.clone(),
            }),
            _ => None,
        });
        running.collect()
    }
}
