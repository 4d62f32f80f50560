use std::collections::BTreeSet;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};

use super::clone::{Holder, Moment};
use super::configure::Held;
use super::context::{Context, Run};
use super::event::{End, Event, Outcome, Step};
use super::power::Off;
use super::roster::Roster;
use super::settings::{Settings, Stopped};
use super::trouble::{Done, Trouble};
use crate::model::{Cluster, HostName, Mark, Node, Role, VmId};
use crate::plan::{Creation, Identity, NodePlan, Plan, Verdict};
use crate::proxmox::answers::Power;
use crate::proxmox::{Client, Transport};
use crate::talos::{Dial, Goal, NoWay, NodeState, Target, Watch};

/// How often a node may have to begin again because of another run.
const BEGINNINGS: u32 = 5;

/// Does what a plan says, and tells what happens.
///
/// Nothing is begun while the way to the nodes is closed: addresses could not be checked, nor anybody waited for.
/// Nodes are independent: the failure of one concerns no other. Only those that are switched off and on go one after the
/// other, control planes last, each only when the one before is back.
pub async fn apply<T: Transport + Clone, D: Dial>(
    client: &Client<T>,
    dial: &D,
    cluster: &Cluster,
    plan: &Plan,
    settings: &Settings,
    stopped: &Stopped,
    tell: &(dyn Fn(Event) + Sync),
) -> Vec<Outcome> {
    let reserved: BTreeSet<VmId> = plan.nodes.iter().filter_map(|node| node.vmid).collect();
    let roster = Roster::new(plan.strangers.clone(), reserved);
    let context = Context::new(client, Watch::new(dial), cluster, *settings, stopped, tell, roster);
    let acting: Vec<(usize, &NodePlan)> = plan.nodes.iter().enumerate().filter(|(_, node)| node.acts()).collect();
    if let Err(no_way) = dial.check().await {
        return join_all(acting.iter().map(|(_, node)| context.not_begun_without(node, &no_way))).await;
    }
    let (mut cycled, rest): (Vec<_>, Vec<_>) = acting.into_iter().partition(|(_, node)| node.power_cycle);
    let mut outcomes: Vec<(usize, Outcome)> = stream::iter(rest)
        .map(async |(index, node)| (index, Box::pin(context.run(node)).await))
        .buffer_unordered(settings.parallel.max(1))
        .collect()
        .await;
    cycled.sort_by_key(|(_, node)| node.role == Role::Controller);
    let mut held_up: Option<String> = None;
    for (index, node) in cycled {
        let outcome = match &held_up {
            Some(before) => context.not_begun_because(node, before).await,
            None => Box::pin(context.run(node)).await,
        };
        if held_up.is_none() && !outcome.is_done() && !stopped.is_asked() {
            held_up = Some(node.node.to_string());
        }
        outcomes.push((index, outcome));
    }
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

impl<T: Transport, D: Dial> Context<'_, T, Watch<D>> {
    async fn run(&self, plan: &NodePlan) -> Outcome {
        let mut run = Run::new(&plan.node, (plan.vmid, plan.host.clone()), first_step(&plan.verdict), self.tell);
        let node = self.cluster.nodes.iter().find(|node| node.name.value == plan.node);
        let end = match node {
            Some(node) => self.run_node(&mut run, node, plan).await,
            None => Err(Trouble::seen("the node is not in the files", "plan again")),
        };
        run.ended(end, self.client).await
    }

    async fn not_begun_because(&self, plan: &NodePlan, before: &str) -> Outcome {
        let run = Run::new(&plan.node, (plan.vmid, plan.host.clone()), Step::Stop, self.tell);
        let trouble = Trouble::seen(
            format!("it was not begun, because {before} did not come back"),
            format!("look after {before} first, then run this again"),
        );
        run.ended(Err(trouble), self.client).await
    }

    async fn not_begun_without(&self, plan: &NodePlan, no_way: &NoWay) -> Outcome {
        let run = Run::new(&plan.node, (plan.vmid, plan.host.clone()), Step::CheckAddress, self.tell);
        let trouble = Trouble::seen(format!("it was not begun: {no_way}"), NoWay::hint());
        run.ended(Err(trouble), self.client).await
    }

    async fn run_node(&self, run: &mut Run<'_>, node: &Node, plan: &NodePlan) -> Done<End> {
        self.go_on()?;
        let mut held = match &plan.verdict {
            Verdict::Create(creation) => self.make(run, node, creation).await?,
            Verdict::Join => {
                let mut held = self.join(run, plan).await?;
                self.converge(run, node, &mut held).await?;
                held
            }
            Verdict::Adopt => {
                let (mark, host) = self.known(plan)?;
                self.adopt(run, node, &mark, &host).await?;
                return Ok(End::Done { talos: None });
            }
            Verdict::Finish | Verdict::Update | Verdict::Start => {
                let mut held = self.existing(plan)?;
                if plan.power_cycle {
                    let way = match self.watch.look(&Target::of(node)).await.state {
                        // There is nothing to lose, and a shutdown may come back as a restart.
                        NodeState::Maintenance => Off::AtOnce,
                        _ => Off::Politely,
                    };
                    self.read(run, &mut held).await?;
                    self.switch_off(run, &mut held, way).await?;
                    self.converge_or_restart(run, node, &mut held).await?;
                } else {
                    // Somebody may have moved or started it since the plan, and then not everything may be changed any more.
                    self.read(run, &mut held).await?;
                    held.running = self.power(&held).await? != Power::Stopped;
                    self.converge(run, node, &mut held).await?;
                }
                held
            }
            Verdict::Nothing
            | Verdict::Adoptable { .. }
            | Verdict::Unknown { .. }
            | Verdict::Refuse { .. }
            | Verdict::Conflict { .. } => return Ok(End::Done { talos: None }),
        };
        let start = (plan.start || plan.power_cycle) && !held.running;
        if start {
            self.start(run, &mut held).await?;
        }
        let made = matches!(plan.verdict, Verdict::Create(_) | Verdict::Join);
        // A machine that nobody has used yet has no configuration; any other may have one.
        let goal = if made { Goal::Maintenance } else { Goal::Any };
        match self.settings.wait.filter(|_| start || (made && held.running)) {
            None => Ok(End::Done { talos: None }),
            Some(limit) => self.await_node(run, node, &held, goal, limit).await,
        }
    }

    /// Changes a VM that was switched off for it. Whatever goes wrong, it is not left off.
    async fn converge_or_restart(&self, run: &mut Run<'_>, node: &Node, held: &mut Held) -> Done<()> {
        let Err(trouble) = self.converge(run, node, held).await else {
            return Ok(());
        };
        if matches!(trouble, Trouble::Interrupted(_)) {
            run.warn(format!("VM {} is off: the next run starts it", held.mark.vmid));
            return Err(trouble);
        }
        let step = run.step;
        let started = self.start(run, held).await;
        run.step = step;
        match started {
            Ok(()) => run.warn(format!("VM {} runs again, without the change", held.mark.vmid)),
            Err(_) => run.warn(format!("VM {} is off, and could not be started again", held.mark.vmid)),
        }
        Err(trouble)
    }

    /// Clones and configures, and begins again when another run was at the same node.
    async fn make(&self, run: &mut Run<'_>, node: &Node, creation: &Creation) -> Done<Held> {
        for _ in 0..BEGINNINGS {
            let Some(mut held) = self.create(run, node, creation).await? else {
                continue;
            };
            self.converge(run, node, &mut held).await?;
            let vmid = held.mark.vmid;
            let Some(mut held) = self.alone(run, held, Moment::Configured).await? else {
                continue;
            };
            if held.mark.vmid != vmid {
                // Another run's VM may not be as far as ours was.
                self.converge(run, node, &mut held).await?;
            }
            return Ok(held);
        }
        Err(Trouble::seen(
            "another run kept making and removing the VM of this node at the same time",
            "run it again when the other one is done",
        ))
    }

    async fn join(&self, run: &mut Run<'_>, plan: &NodePlan) -> Done<Held> {
        let (mark, _) = self.known(plan)?;
        run.begin(Step::Join);
        match self.holder(run, &mark, None).await? {
            Holder::Node(host, pending) => self.joined(run, mark, host, pending).await,
            Holder::Nobody => Err(Trouble::seen(
                format!("VM {} was being made, and is gone", mark.vmid),
                "run it again: the next plan makes it",
            )),
            Holder::Stranger(who) => Err(Trouble::seen(
                format!("VM {} is not this node: {who}", mark.vmid),
                "give the node another `vm_id`, or none",
            )),
        }
    }

    fn known(&self, plan: &NodePlan) -> Done<(Mark, HostName)> {
        let (Some(vmid), Some(host)) = (plan.vmid, plan.host.clone()) else {
            return Err(Trouble::seen("the plan names no VM for it", "plan again"));
        };
        Ok((Mark { cluster: self.cluster.name.value.clone(), node: plan.node.clone(), vmid }, host))
    }

    fn existing(&self, plan: &NodePlan) -> Done<Held> {
        let (mark, host) = self.known(plan)?;
        let identity = Identity { mark, uuid: plan.uuid.clone() };
        Ok(Held::planned(identity, host, plan.running))
    }
}

fn first_step(verdict: &Verdict) -> Step {
    match verdict {
        Verdict::Create(_) => Step::Clone,
        Verdict::Join => Step::Join,
        Verdict::Adopt => Step::Adopt,
        Verdict::Start => Step::Start,
        _ => Step::Configure,
    }
}
