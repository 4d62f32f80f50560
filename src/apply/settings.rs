use std::time::Duration;

use tokio::sync::watch;

use crate::proxmox::task::Pace;

/// How much at once, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Nodes that are worked on at the same time.
    pub parallel: usize,
    /// Clones, new disks and deletions at the same time on one storage.
    pub volumes_per_storage: usize,
    pub starts_per_host: usize,
    /// How long to wait for Talos; not at all when there is none.
    pub wait: Option<Duration>,
    /// Whether a node that should boot with secure boot and does not is good enough.
    pub allow_secureboot_off: bool,
    pub pace: Pace,
    /// Whether to tell how far clones are, which costs requests.
    pub percent: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            parallel: 64,
            volumes_per_storage: 3,
            starts_per_host: 4,
            wait: Some(Duration::from_mins(10)),
            allow_secureboot_off: false,
            pace: Pace::default(),
            percent: false,
        }
    }
}

/// Asks a run to stop. Dropping it asks for nothing.
#[derive(Debug)]
pub struct Stop(watch::Sender<bool>);

/// Hears whether a run shall stop.
#[derive(Clone, Debug)]
pub struct Stopped(watch::Receiver<bool>);

impl Stop {
    pub fn new() -> (Self, Stopped) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stopped(receiver))
    }

    /// No new work begins from now on; what runs on the server goes on there.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stopped {
    /// One that is never asked.
    pub fn never() -> Self {
        Stop::new().1
    }

    pub fn is_asked(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is asked for.
    pub async fn asked(&self) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
