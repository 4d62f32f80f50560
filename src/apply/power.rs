use std::time::Duration;

use super::configure::Held;
use super::context::{Context, Patience, Run};
use super::event::Step;
use super::trouble::{Done, Trouble};
use crate::proxmox::answers::Power;
use crate::proxmox::task::TaskError;
use crate::proxmox::{Effect, RefusalKind, Transport};

/// How long a start is tried again: the process of a VM that was stopped may still hold its disks (seen for seconds).
const START_PATIENCE: Duration = Duration::from_secs(30);
/// How long the HA manager has to do what it was asked for.
const HA_PATIENCE: Duration = Duration::from_mins(3);
/// How long a guest has to shut down by itself, in seconds.
const SHUTDOWN: u32 = 60;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Off {
    /// Asks the guest, and pulls the plug if it does not obey.
    Politely,
    AtOnce,
}

impl<T: Transport, W> Context<'_, T, W> {
    pub(super) async fn power(&self, held: &Held) -> Done<Power> {
        Ok(self.ask(|| self.client.vm_status(&held.host, held.mark.vmid)).await?.power)
    }

    /// Starts a VM that was recognised a moment ago. One that runs already is as good.
    pub(super) async fn start(&self, run: &mut Run<'_>, held: &mut Held) -> Done<()> {
        let vmid = held.mark.vmid;
        let place = held.host.clone();
        let _turn = if let Some(turn) = self.starts.try_turn(&place) {
            turn
        } else {
            let turn = self.turn(&self.starts, &place).await?;
            // Somebody may have done something else with it while it waited.
            self.unlocked(run, held).await?;
            turn
        };
        run.begin(Step::Start);
        let mut patience = Patience::new(START_PATIENCE);
        loop {
            self.go_on()?;
            let trouble = match self.client.start(&held.host, vmid).await {
                Ok(upid) => match self.finish(&upid).await {
                    Ok(ended) => {
                        self.warnings(&ended, run).await;
                        // For an HA manager a start is only a wish.
                        if upid.kind() == "hastart" {
                            self.reached(held, |power| *power == Power::Running, HA_PATIENCE).await?;
                        }
                        held.running = true;
                        return Ok(());
                    }
                    Err(trouble) => trouble,
                },
                Err(error) => error.into(),
            };
            if !may_try_again(&trouble) {
                return Err(trouble);
            }
            if self.power(held).await? == Power::Running {
                held.running = true;
                return Ok(());
            }
            match patience.next() {
                Some(pause) => self.pause(pause).await?,
                None => return Err(trouble),
            }
            // Somebody may have done something else with it meanwhile.
            let pending = self.unlocked(run, held).await?;
            held.recognise(&pending)?;
        }
    }

    /// Switches a VM off that was recognised a moment ago, and makes sure that it is.
    pub(super) async fn switch_off(&self, run: &mut Run<'_>, held: &mut Held, way: Off) -> Done<()> {
        let vmid = held.mark.vmid;
        run.begin(Step::Stop);
        let mut patience = Patience::new(START_PATIENCE);
        loop {
            self.go_on()?;
            let begun = match way {
                Off::Politely => self.client.shutdown(&held.host, vmid, SHUTDOWN, true).await,
                Off::AtOnce => self.client.stop(&held.host, vmid, false).await,
            };
            let trouble = match begun {
                Ok(upid) => match self.finish(&upid).await {
                    Ok(ended) => {
                        self.warnings(&ended, run).await;
                        self.reached(held, |power| *power == Power::Stopped, HA_PATIENCE).await?;
                        held.running = false;
                        return Ok(());
                    }
                    Err(trouble) => trouble,
                },
                Err(error) => error.into(),
            };
            if !may_try_again(&trouble) {
                return Err(trouble);
            }
            match patience.next() {
                Some(pause) => self.pause(pause).await?,
                None => return Err(trouble),
            }
            if self.power(held).await? == Power::Stopped {
                held.running = false;
                return Ok(());
            }
            self.read(run, held).await?;
        }
    }

    /// Waits until the power is what it should be: the end of a task does not always mean that it is.
    async fn reached(&self, held: &Held, is_right: impl Fn(&Power) -> bool, limit: Duration) -> Done<()> {
        let mut patience = Patience::new(limit);
        loop {
            let power = self.power(held).await?;
            if is_right(&power) {
                return Ok(());
            }
            match patience.next() {
                Some(pause) => self.pause(pause).await?,
                None => {
                    return Err(Trouble::seen(
                        format!("VM {} on {} is still {power}", held.mark.vmid, held.host),
                        "look at its tasks, and at the HA manager's state if it is managed by HA",
                    ));
                }
            }
        }
    }
}

/// Whether looking and trying again may help. A power change can be asked for twice.
fn may_try_again(trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Call(error) => {
            error.effect() == Effect::MaybeDone
                || matches!(
                    error.kind(),
                    Some(RefusalKind::Busy | RefusalKind::Locked(_) | RefusalKind::AlreadyRunning)
                )
        }
        Trouble::Task(error) => match error.kind() {
            Some(RefusalKind::AlreadyRunning | RefusalKind::Busy | RefusalKind::Locked(_)) => true,
            Some(_) => false,
            // A process that is only just ending holds the VM's files for a moment.
            None => {
                matches!(error, TaskError::Failed { text, .. } if text.contains("timeout") || text.contains("in use"))
                    || error.may_be_done()
            }
        },
        Trouble::Seen { .. } | Trouble::Interrupted(_) => false,
    }
}
