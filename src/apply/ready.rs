use std::time::Duration;

use super::configure::Held;
use super::context::{Context, Run};
use super::event::{End, Failure, Step};
use super::trouble::{Done, Trouble};
use crate::model::Node;
use crate::proxmox::Transport;
use crate::proxmox::calls::CloudInitPart;
use crate::readiness;
use crate::talos::{Aspect, Dial, End as WaitEnd, Goal, NodeState, Sighting, Target, Waited, Watch, diagnose};

impl<T: Transport, D: Dial> Context<'_, T, Watch<D>> {
    /// Waits until Talos has proven what it is and on which machine.
    pub(super) async fn await_node(
        &self,
        run: &mut Run<'_>,
        node: &Node,
        held: &Held,
        goal: Goal,
        limit: Duration,
    ) -> Done<End> {
        run.begin(Step::Await);
        let target = self.target(node, held).await;
        let waited = tokio::select! {
            biased;
            () = self.stopped.asked() => return Err(Trouble::Interrupted(None)),
            waited = self.watch.wait(&target, goal, limit, |_| ()) => waited,
        };
        if waited.end != WaitEnd::Reached {
            return Ok(self.not_reached(node, held, &target, goal, &waited).await);
        }
        Ok(self.judged(run, &waited.sighting))
    }

    /// The node with what makes its VM unmistakable.
    async fn target(&self, node: &Node, held: &Held) -> Target {
        let meta = self.client.cloud_init_dump(&held.host, held.mark.vmid, CloudInitPart::Meta).await.ok();
        readiness::target(node, &held.config, meta.as_deref())
    }

    /// What to make of a node that was reached: it may run, and all the same not be what was asked for.
    fn judged(&self, run: &mut Run<'_>, sighting: &Sighting) -> End {
        let mut refused = None;
        for finding in sighting.findings() {
            // An unprotected boot is worse than none for whoever asked for a protected one.
            if finding.aspect == Aspect::SecureBoot && !self.settings.allow_secureboot_off {
                refused = Some(finding.to_string());
            } else {
                run.warn(finding.told());
            }
        }
        match refused {
            None => End::Done { talos: Some(sighting.to_string()) },
            Some(message) => End::Failed {
                failure: Failure {
                    step: Step::Await,
                    message,
                    log: Vec::new(),
                    hint: "enrol the keys in the VM's firmware, use an image that enrols them by itself, or go on without \
                           by `--allow-secureboot-off`"
                        .to_owned(),
                },
            },
        }
    }

    async fn not_reached(&self, node: &Node, held: &Held, target: &Target, goal: Goal, waited: &Waited) -> End {
        let (host, vmid) = (&held.host, held.mark.vmid);
        let power = self.client.vm_status(host, vmid).await.ok().map(|status| status.power);
        let interfaces = if node.vm.qemu_agent.value {
            self.client.agent_interfaces(host, vmid).await.unwrap_or_default()
        } else {
            Vec::new()
        };
        let facts = readiness::vm_facts(node, &self.cluster.network, &held.config, power.as_ref(), &interfaces);
        let causes = diagnose(target, goal, &waited.history, &facts);
        let lines =
            causes.iter().map(|cause| format!("{}: {}; {}", cause.certainty, cause.what, cause.check)).collect();
        let address = target.socket();
        let failure = |message: String, hint: String| Failure { step: Step::Await, message, log: lines, hint };
        match (waited.end, waited.sighting.state) {
            (_, NodeState::WrongHost) => End::Failed {
                failure: failure(
                    format!("another machine answers at {address}: {}", waited.sighting.evidence),
                    "send nothing to it; find out who has the address, and give one of the two another".to_owned(),
                ),
            },
            (WaitEnd::Lost, state) => End::Failed {
                failure: failure(
                    format!("the node at {address} is {state}: {}", waited.sighting.evidence),
                    "look at the causes above, the first is the most likely".to_owned(),
                ),
            },
            _ => End::TimedOut {
                failure: failure(
                    format!("Talos was not ready at {address} within {} s: {}", waited.took.as_secs(), waited.history),
                    "look at the causes above in their order; the VM's console shows what Talos itself says".to_owned(),
                ),
            },
        }
    }
}
