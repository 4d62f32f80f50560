use std::collections::BTreeSet;
use std::io;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::{Ended, Exit};
use super::session::{ConnectionArgs, Session, with_session};
use crate::config::{Problem, named_nodes, named_nodes_to_destroy};
use crate::model::{Cluster, NodeName};
use crate::observe::{Depth, ask_nodes, observe};
use crate::plan::{NodePlan, Options, Plan, plan as decide};
use crate::ui::{Ui, plan_json, plan_page, pretty, to_yaml};

/// Show what provision would do, without doing it
///
/// Every change with its old and new value and where the wish came from; what is refused, and why; what else should be
/// known. Nodes that cannot become what the files say make it exit code 3.
#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    wishes: Wishes,
    /// End with code 4 when there is something to do
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// What is to be done with the nodes, beside what the files say.
#[derive(Debug, clap::Args)]
pub(super) struct Wishes {
    #[command(flatten)]
    pub(super) selection: Selection,
    /// Give our mark to VMs that have the name and the MAC address of a node, and nobody's mark
    #[arg(long)]
    adopt: bool,
    /// Also do what interrupts running nodes: one at a time, control planes last
    #[arg(long)]
    disruptive: bool,
    /// Leave VMs off that are off
    #[arg(long)]
    no_start: bool,
}

/// Which nodes are meant.
#[derive(Debug, clap::Args)]
pub(super) struct Selection {
    /// Only do something with these nodes; the others are only shown
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Option<Vec<String>>,
}

impl Selection {
    /// The nodes, all when none is named. Every name that is wrong is shown.
    pub(super) fn nodes(&self, cluster: &Cluster, ui: &mut Ui) -> Result<Option<BTreeSet<NodeName>>, Ended> {
        let found = self.only.as_ref().map(|names| named_nodes(cluster, names, "--only"));
        shown(found, ui)
    }

    /// The same for whoever destroys them, to whom no other name is proposed.
    pub(super) fn nodes_to_destroy(&self, cluster: &Cluster, ui: &mut Ui) -> Result<Option<BTreeSet<NodeName>>, Ended> {
        let found = self.only.as_ref().map(|names| named_nodes_to_destroy(cluster, names, "--only"));
        shown(found, ui)
    }
}

/// Shows what is wrong with the names, if something is.
fn shown<T>(found: Option<Result<T, Vec<Problem>>>, ui: &mut Ui) -> Result<Option<T>, Ended> {
    found.transpose().map_err(|problems| {
        ui.show_problems(&problems);
        Ended::With(Exit::WrongInput)
    })
}

pub(super) async fn plan(args: &PlanArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    with_session(&args.connection, global, ui, async |session, ui| {
        let plan = args.wishes.plan(session, ui).await?;
        match global.output {
            OutputFormat::Table => ui.show_page(&plan_page(&plan, ui.width()))?,
            OutputFormat::Json => ui.print(&pretty(&plan_json(&plan)))?,
            OutputFormat::Yaml => ui.print(&to_yaml(&plan_json(&plan)))?,
        }
        Ok(verdict(&plan, args.exit_code))
    })
    .await
}

impl Wishes {
    /// Looks and decides. What stands in the way of that is shown.
    pub(super) async fn plan(&self, session: &Session, ui: &mut Ui) -> Result<Plan, Ended> {
        let cluster = &session.cluster;
        let only = self.selection.nodes(cluster, ui)?;
        let client = session.client(ui)?;
        let mut observed = session.asking(ui, observe(client, cluster, Depth::ForCreation)).await?;
        if self.disruptive {
            let asked = async { Ok(ask_nodes(&session.dial, cluster, &observed).await) };
            observed.talos = session.asking(ui, asked).await?;
        }
        let options = Options {
            adopt: self.adopt,
            disruptive: self.disruptive,
            start: !self.no_start,
            only,
            token: session.token.clone(),
        };
        Ok(decide(cluster, &observed, &options))
    }
}

/// Refusals are worth a code in any case; that something is to be done only when asked for.
fn verdict(plan: &Plan, exit_code: bool) -> Exit {
    let mut selected = plan.nodes.iter().filter(|node| node.selected);
    if selected.clone().any(|node| node.verdict.fails()) {
        Exit::Partial
    } else if exit_code && (plan.acts() || selected.any(NodePlan::stays_different)) {
        Exit::Pending
    } else {
        Exit::Done
    }
}
