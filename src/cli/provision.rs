use std::io;
use std::time::Duration;

use futures_util::future::join_all;

use super::args::GlobalArgs;
use super::consent::consent;
use super::exit::{Ended, Exit};
use super::interrupt::Interrupts;
use super::plan::Wishes;
use super::session::{ConnectionArgs, Session, with_session};
use super::template::make_for;
use crate::apply::{End, Outcome, Settings, Step, Stop, apply};
use crate::model::{Node, NodeName};
use crate::observe::{Depth, observe};
use crate::plan::{NodePlan, Plan, Verdict, without_vm};
use crate::sim::parse_duration;
use crate::talos::{NodeState, Target, Watch};
use crate::ui::{Progress, Ui, plan_json, plan_page, provisioned_page};

/// Bring every node to Talos maintenance mode
///
/// Shows the plan, applies it, and waits until every node that it made or started says itself that it is in maintenance
/// mode; the others are looked at once. Creating and changing in place ask nothing; adopting and interrupting do. Running
/// it twice changes nothing the second time.
#[derive(Debug, clap::Args)]
pub(super) struct ProvisionArgs {
    #[command(flatten)]
    wishes: Wishes,
    #[command(flatten)]
    templates: TemplateWishes,
    /// Do not wait for Talos
    #[arg(long, conflicts_with = "disruptive")]
    no_wait: bool,
    /// How long to wait for Talos on each node, as in 90s or 10m
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = parse_duration)]
    timeout: Duration,
    /// Take a node that should boot with secure boot and does not
    #[arg(long)]
    allow_secureboot_off: bool,
    /// Clones and other new disks at the same time on one storage
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
    clones_per_storage: u16,
    #[command(flatten)]
    parallel: Parallel,
    /// Apply without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Whether templates are made on the way.
#[derive(Debug, clap::Args)]
struct TemplateWishes {
    /// Make the templates first that new nodes need and that are not there
    #[arg(long)]
    create_template: bool,
    /// Let the storage for images take disk images for import, if it does not yet
    #[arg(long, requires = "create_template")]
    enable_import: bool,
}

/// How many nodes at once.
#[derive(Debug, clap::Args)]
pub(super) struct Parallel {
    /// Nodes that are worked on at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    parallel: u16,
}

impl Parallel {
    pub(super) fn nodes(&self) -> usize {
        self.parallel.into()
    }
}

pub(super) async fn provision(args: &ProvisionArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let documents = global.output.documents();
    let mut outcomes = Vec::new();
    let exit = with_session(&args.connection, global, ui, async |session, ui| {
        if args.templates.create_template {
            args.make_templates(session, ui).await?;
        }
        let plan = args.wishes.plan(session, ui).await?;
        match documents {
            Some(documents) => documents.print_plan(ui, plan_json(&plan))?,
            None => ui.show_page(&plan_page(&plan, ui.width()))?,
        }
        outcomes = args.carry_out(session, &plan, global, ui).await?;
        let exit = verdict(&plan, &outcomes);
        let exit = if args.no_wait { exit } else { ask_the_others(session, &plan, exit, ui).await? };
        if documents.is_none() && !outcomes.is_empty() {
            ui.print("")?;
            ui.show_page(&provisioned_page(&plan, &outcomes, ui.width()))?;
        }
        Ok(exit)
    })
    .await?;
    // Whoever reads documents gets a last one in any case.
    if let Some(documents) = documents {
        documents.print_result(ui, &outcomes, exit as u8)?;
    }
    Ok(exit)
}

/// Looks once at the nodes that nothing was done with. They are not waited for; that one of them is not ready is said,
/// and worth a code: whoever runs it again after a time-out must not take that for success.
async fn ask_the_others(session: &Session, plan: &Plan, exit: Exit, ui: &mut Ui) -> Result<Exit, Ended> {
    let unchanged = |node: &&Node| {
        let planned = plan.nodes.iter().find(|planned| planned.node == node.name.value);
        planned.is_some_and(|planned| planned.selected && planned.running && planned.verdict == Verdict::Nothing)
    };
    let nodes: Vec<&Node> = session.cluster.nodes.iter().filter(unchanged).collect();
    let watch = Watch::new(&session.dial);
    let looks = join_all(nodes.iter().map(async |node| watch.look(&Target::of(node)).await));
    let sightings = session.asking(ui, async { Ok(looks.await) }).await?;
    let mut not_ready = false;
    for (node, sighting) in nodes.iter().zip(sightings) {
        if !matches!(sighting.state, NodeState::Maintenance | NodeState::Configured) {
            not_ready = true;
            let next = if sighting.state == NodeState::WrongHost { "" } else { "; `pvetalos wait` waits for it" };
            ui.warn(&format!("{} at {} is {sighting}{next}", node.name.value, node.address.value));
        }
    }
    Ok(if not_ready && exit == Exit::Done { Exit::Partial } else { exit })
}

impl ProvisionArgs {
    /// Makes the templates of the nodes that have no VM yet.
    async fn make_templates(&self, session: &Session, ui: &mut Ui) -> Result<(), Ended> {
        let cluster = &session.cluster;
        let only = self.wishes.selection.nodes(cluster, ui)?;
        let client = session.client(ui)?;
        let observed = session.asking(ui, observe(client, cluster, Depth::Ours)).await?;
        let mut nodes = without_vm(cluster, &observed);
        nodes.retain(|node| only.as_ref().is_none_or(|only| only.contains(&node.name.value)));
        make_for(&nodes, self.templates.enable_import, session, ui).await
    }

    /// Does what is planned, after asking where that is due.
    async fn carry_out(
        &self,
        session: &Session,
        plan: &Plan,
        global: &GlobalArgs,
        ui: &mut Ui,
    ) -> Result<Vec<Outcome>, Ended> {
        if !plan.acts() {
            return Ok(Vec::new());
        }
        if plan.needs_consent() && !self.yes {
            consent(ui, &question(plan), &["y", "yes"]).await?;
        }
        let settings = Settings {
            parallel: self.parallel.nodes(),
            volumes_per_storage: self.clones_per_storage.into(),
            wait: (!self.no_wait).then_some(self.timeout),
            allow_secureboot_off: self.allow_secureboot_off,
            percent: !global.quiet,
            ..session.settings()
        };
        let client = session.client(ui)?;
        let nodes: Vec<&NodeName> = plan.nodes.iter().filter(|node| node.acts()).map(|node| &node.node).collect();
        let documents = global.output.documents();
        if documents.is_none() {
            ui.say("");
        }
        let progress = Progress::new(ui, documents.as_ref(), &nodes);
        let (stop, stopped) = Stop::new();
        let tell = |event| progress.tell(&event);
        let work = apply(client, &session.dial, &session.cluster, plan, &settings, &stopped, &tell);
        let outcomes = Interrupts::new()?.or_stop(work, &stop, |text| progress.say(text)).await;
        outcomes.ok_or(Ended::With(Exit::Interrupted))
    }
}

fn question(plan: &Plan) -> String {
    let named = |is: fn(&&NodePlan) -> bool| {
        let nodes = plan.nodes.iter().filter(|node| node.acts()).filter(is);
        nodes.map(|node| node.node.to_string()).collect::<Vec<_>>().join(", ")
    };
    let adopted = named(|node| node.verdict == Verdict::Adopt);
    let interrupted = named(|node| node.power_cycle);
    let parts = [("adopts", adopted), ("interrupts", interrupted)];
    let parts: Vec<String> =
        parts.iter().filter(|(_, nodes)| !nodes.is_empty()).map(|(what, nodes)| format!("{what} {nodes}")).collect();
    format!("\nThis {}. Apply it? [y/N]", parts.join(" and "))
}

/// How the run ended. Whatever a person asked for and did not get counts.
fn verdict(plan: &Plan, outcomes: &[Outcome]) -> Exit {
    if outcomes.iter().any(|outcome| matches!(outcome.end, End::Interrupted { .. })) {
        return Exit::Interrupted;
    }
    let selected = || plan.nodes.iter().filter(|node| node.selected);
    let different = selected().any(NodePlan::stays_different);
    if !different && outcomes.iter().all(Outcome::is_done) {
        return Exit::Done;
    }
    let fine = |node: &NodePlan| node.verdict == Verdict::Nothing && node.held_back.is_empty();
    // Whoever is waited for has its VM, whatever is wrong with what runs in it.
    let gone_far = |outcome: &Outcome| match &outcome.end {
        End::Done { .. } | End::TimedOut { .. } => true,
        End::Failed { failure } => failure.step == Step::Await,
        End::Interrupted { .. } => false,
    };
    if selected().any(fine) || outcomes.iter().any(gone_far) { Exit::Partial } else { Exit::Failed }
}
