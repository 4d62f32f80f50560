//! Ctrl-C, or the polite signal of a service manager.

use std::io;
use std::pin::pin;

use crate::apply::Stop;

/// Hears when somebody wants the program to end, from the moment it is made.
pub(super) struct Interrupts {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Interrupts {
    #[cfg(unix)]
    pub(super) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }

    /// Works until it is done or interrupted, whatever comes first. Good for work that changes nothing.
    pub(super) async fn or<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            result = work => Some(result),
            () = self.next() => None,
        }
    }

    /// Works until it is done. The first interruption asks the work to stop, which then ends soon; the second one leaves
    /// it where it is, and nothing is returned.
    pub(super) async fn or_stop<T>(
        &mut self,
        work: impl Future<Output = T>,
        stop: &Stop,
        say: impl Fn(&str),
    ) -> Option<T> {
        let mut work = pin!(work);
        tokio::select! {
            result = &mut work => return Some(result),
            () = self.next() => {}
        }
        stop.stop();
        say("stopping: nothing new is begun; press Ctrl-C again to leave at once");
        let left = self.or(work).await;
        if left.is_none() {
            say("left; what runs on the server goes on there, and the next run finds it");
        }
        left
    }
}
