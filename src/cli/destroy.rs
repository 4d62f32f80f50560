use std::collections::BTreeSet;
use std::io;

use super::args::GlobalArgs;
use super::consent::consent;
use super::exit::{Ended, Exit};
use super::interrupt::Interrupts;
use super::plan::Selection;
use super::provision::Parallel;
use super::session::{ConnectionArgs, Session, with_session};
use crate::apply::{End, Outcome, Settings, Stop, belongings, destroy as carry_out};
use crate::model::NodeName;
use crate::observe::{Depth, ask_nodes, observe};
use crate::plan::{DestroyOptions, DestroyPlan, Obstacle, plan_destroy, wanted_gone};
use crate::preflight::blind_spots;
use crate::ui::{Progress, Ui, destroy_json, destroy_page, destroyed_page};

/// Destroy the VMs of the cluster
///
/// Shows the cluster and its Proxmox, the VMs, the volumes that go with them and those that stay, and asks for the name of
/// the cluster. Only VMs with the mark of this cluster are touched, and none of them while one of them must not go. What is
/// gone already is no failure.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, clap::Args)]
pub(super) struct DestroyArgs {
    #[command(flatten)]
    selection: Selection,
    /// Destroy VMs of nodes that are not in the files any more, and no others
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "only")]
    left_over: Option<Vec<NodeName>>,
    /// Also destroy configured control planes while others stay
    #[arg(long)]
    break_quorum: bool,
    /// Also destroy VMs that hold volumes of others, which stay
    #[arg(long)]
    detach_foreign: bool,
    /// Also take the VMs out of backup jobs, replication and HA
    #[arg(long)]
    purge: bool,
    #[command(flatten)]
    parallel: Parallel,
    /// Destroy without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(super) async fn destroy(args: &DestroyArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let documents = global.output.documents();
    let mut outcomes = Vec::new();
    let exit = with_session(&args.connection, global, ui, async |session, ui| {
        let plan = args.plan(session, ui).await?;
        let endpoint = session.endpoint.as_ref();
        match documents {
            Some(documents) => documents.print_plan(ui, destroy_json(&plan, endpoint))?,
            None => ui.show_page(&destroy_page(&plan, endpoint, ui.width()))?,
        }
        outcomes = args.carry_out(session, &plan, global, ui).await?;
        if documents.is_none() && !outcomes.is_empty() {
            ui.print("")?;
            ui.show_page(&destroyed_page(&outcomes, ui.width()))?;
        }
        Ok(verdict(&plan, &outcomes))
    })
    .await?;
    // Whoever reads documents gets a last one in any case.
    if let Some(documents) = documents {
        documents.print_result(ui, &outcomes, exit as u8)?;
    }
    Ok(exit)
}

impl DestroyArgs {
    /// Looks and decides. What stands in the way of that is shown.
    async fn plan(&self, session: &Session, ui: &mut Ui) -> Result<DestroyPlan, Ended> {
        let cluster = &session.cluster;
        let options = DestroyOptions {
            only: self.selection.nodes_to_destroy(cluster, ui)?,
            left_over: self.left_over.as_ref().map(|names| names.iter().cloned().collect::<BTreeSet<_>>()),
            break_quorum: self.break_quorum,
            detach_foreign: self.detach_foreign,
            purge: self.purge,
        };
        let client = session.client(ui)?;
        let look = async {
            let depth = if self.left_over.is_some() { Depth::AllVms } else { Depth::Ours };
            let mut observed = observe(client, cluster, depth).await?;
            observed.talos = ask_nodes(&session.dial, cluster, &observed).await;
            let belongings = belongings(client, &wanted_gone(cluster, &observed, &options)).await?;
            let mut plan = plan_destroy(cluster, &observed, &belongings, &options);
            // What cannot be seen must not be called gone.
            if let Some(absent) = plan.absent.first().cloned() {
                let blind = blind_spots(client, cluster, &session.token).await?.into_iter();
                plan.obstacles.extend(blind.map(|finding| Obstacle {
                    node: absent.clone(),
                    message: format!("its VM may be there all the same: {}", finding.message),
                    fix: finding.fix.unwrap_or_default(),
                }));
            }
            Ok(plan)
        };
        session.asking(ui, look).await
    }

    /// Does what is planned, after asking.
    async fn carry_out(
        &self,
        session: &Session,
        plan: &DestroyPlan,
        global: &GlobalArgs,
        ui: &mut Ui,
    ) -> Result<Vec<Outcome>, Ended> {
        if plan.targets.is_empty() || !plan.obstacles.is_empty() {
            return Ok(Vec::new());
        }
        if !self.yes {
            let name = plan.cluster.as_str();
            consent(ui, &format!("\nType the name of the cluster ({name}) to destroy these VMs:"), &[name]).await?;
        }
        let settings = Settings { parallel: self.parallel.nodes(), ..session.settings() };
        let client = session.client(ui)?;
        let nodes: Vec<&NodeName> = plan.targets.iter().map(|target| &target.node).collect();
        let documents = global.output.documents();
        if documents.is_none() {
            ui.say("");
        }
        let progress = Progress::new(ui, documents.as_ref(), &nodes);
        let (stop, stopped) = Stop::new();
        let tell = |event| progress.tell(&event);
        let work = carry_out(client, &session.cluster, plan, &settings, &stopped, &tell);
        let outcomes = Interrupts::new()?.or_stop(work, &stop, |text| progress.say(text)).await;
        outcomes.ok_or(Ended::With(Exit::Interrupted))
    }
}

fn verdict(plan: &DestroyPlan, outcomes: &[Outcome]) -> Exit {
    if outcomes.iter().any(|outcome| matches!(outcome.end, End::Interrupted { .. })) {
        Exit::Interrupted
    } else if !plan.obstacles.is_empty() {
        Exit::Partial
    } else if outcomes.iter().all(Outcome::is_done) {
        Exit::Done
    } else if outcomes.iter().any(Outcome::is_done) {
        Exit::Partial
    } else {
        Exit::Failed
    }
}
