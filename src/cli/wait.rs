use std::io;
use std::time::Duration;

use clap::ValueEnum;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use super::interrupt::Interrupts;
use super::session::with_nodes;
use super::talos::TalosArgs;
use crate::config::{Problem, named_nodes};
use crate::model::{Cluster, Node};
use crate::sim::parse_duration;
use crate::talos::{End, Goal, NodeState, Target, VmFacts, Watch, diagnose};
use crate::ui::{NodeReport, Ui, pretty, to_yaml, waited_json, waited_text};

/// Wait until the nodes are in maintenance mode, or configured
///
/// Asks the nodes only; Proxmox is not needed. Exit code 3 when a node is not there in time or is another machine, with
/// what was seen of it and what to check.
#[derive(Debug, clap::Args)]
pub(super) struct WaitArgs {
    /// What to wait for
    #[arg(long = "for", value_name = "STATE", default_value = "maintenance")]
    goal: WantedState,
    /// How long to wait
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = parse_duration)]
    timeout: Duration,
    /// Only these nodes
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Option<Vec<String>>,
    #[command(flatten)]
    talos: TalosArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WantedState {
    /// Ready for a machine configuration
    Maintenance,
    /// With a machine configuration
    Configured,
    /// Either of the two
    Any,
}

impl From<WantedState> for Goal {
    fn from(state: WantedState) -> Self {
        match state {
            WantedState::Maintenance => Self::Maintenance,
            WantedState::Configured => Self::Configured,
            WantedState::Any => Self::Any,
        }
    }
}

pub(super) async fn wait(args: &WaitArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    with_nodes(&args.talos, global, ui, async |cluster, dial, ui| {
        let (targets, dial) = match (args.targets(cluster), dial) {
            (Ok(targets), Ok(dial)) => (targets, dial),
            (targets, dial) => {
                let wrong: Vec<Problem> = targets.err().into_iter().flatten().chain(dial.err()).collect();
                ui.show_problems(&wrong);
                return Ok(Exit::WrongInput);
            }
        };
        let (watch, goal) = (Watch::new(dial), Goal::from(args.goal));
        let mut states: Vec<Option<NodeState>> = vec![None; targets.len()];
        let waits = watch.wait_for_all(&targets, goal, args.timeout, |index, sighting| {
            if states[index].replace(sighting.state) != Some(sighting.state) {
                ui.say(&format!("{}: {sighting}", targets[index].name));
            }
        });
        let Some(waited) = Interrupts::new()?.or(waits).await else {
            return Ok(Exit::Interrupted);
        };
        let reports: Vec<NodeReport> =
            targets.iter().zip(waited).map(|(target, waited)| report(target, goal, waited)).collect();
        match global.output {
            OutputFormat::Table => ui.show(&waited_text(&reports))?,
            OutputFormat::Json => ui.print(&pretty(&waited_json(&reports)))?,
            OutputFormat::Yaml => ui.print(&to_yaml(&waited_json(&reports)))?,
        }
        let all = reports.iter().all(|report| report.waited.end == End::Reached);
        Ok(if all { Exit::Done } else { Exit::Partial })
    })
    .await
}

impl WaitArgs {
    /// The nodes that are meant: those that are named, all without any.
    fn targets(&self, cluster: &Cluster) -> Result<Vec<Target>, Vec<Problem>> {
        let only = self.only.as_ref().map(|names| named_nodes(cluster, names, "--only")).transpose()?;
        let meant = |node: &&Node| only.as_ref().is_none_or(|only| only.contains(&node.name.value));
        Ok(cluster.nodes.iter().filter(meant).map(Target::of).collect())
    }
}

fn report(target: &Target, goal: Goal, waited: crate::talos::Waited) -> NodeReport<'_> {
    let causes = match waited.end {
        End::Reached => Vec::new(),
        End::Lost | End::TimedOut => diagnose(target, goal, &waited.history, &VmFacts::default()),
    };
    NodeReport { target, waited, causes }
}
