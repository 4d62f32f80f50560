use std::io;
use std::time::Duration;

use clap::ValueEnum;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use super::interrupt::Interrupts;
use super::talos::TalosArgs;
use crate::config::{Explain, Loaded, Problem, Severity, load};
use crate::model::Node;
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
    only: Vec<String>,
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
    let Loaded { cluster, problems, .. } = load(global.inputs(), Explain::No);
    ui.show_problems(&problems);
    let Some(cluster) = cluster else {
        return Ok(Exit::WrongInput);
    };
    let (nodes, dial) = match (chosen(&cluster.nodes, &args.only), args.talos.dial()) {
        (Ok(nodes), Ok(dial)) => (nodes, dial),
        (nodes, dial) => {
            let wrong: Vec<Problem> = nodes.err().into_iter().chain(dial.err()).collect();
            ui.show_problems(&wrong);
            return Ok(Exit::WrongInput);
        }
    };
    let targets: Vec<Target> = nodes.iter().map(|node| Target::of(node)).collect();
    let (watch, goal) = (Watch::new(dial), Goal::from(args.goal));
    let mut interrupts = Interrupts::new()?;
    let mut states: Vec<Option<NodeState>> = vec![None; targets.len()];
    let waits = watch.wait_for_all(&targets, goal, args.timeout, |index, sighting| {
        if states[index].replace(sighting.state) != Some(sighting.state) {
            ui.say(&format!("{}: {sighting}", targets[index].name));
        }
    });
    let Some(waited) = interrupts.or(waits).await else {
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
}

/// The nodes of these names, all without any; a name that is none is a mistake rather than nothing to do.
fn chosen<'n>(nodes: &'n [Node], only: &[String]) -> Result<Vec<&'n Node>, Problem> {
    let has = |node: &Node, name: &String| node.name.value.as_str() == name;
    let unknown: Vec<String> =
        only.iter().filter(|name| !nodes.iter().any(|node| has(node, name))).map(|name| format!("`{name}`")).collect();
    if !unknown.is_empty() {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.value.as_str()).collect();
        return Err(Problem {
            severity: Severity::Error,
            message: format!("--only: there is no node {}", unknown.join(", ")),
            places: Vec::new(),
            hint: Some(format!("the nodes are {}", names.join(", "))),
        });
    }
    Ok(nodes.iter().filter(|node| only.is_empty() || only.iter().any(|name| has(node, name))).collect())
}

fn report(target: &Target, goal: Goal, waited: crate::talos::Waited) -> NodeReport<'_> {
    let causes = match waited.end {
        End::Reached => Vec::new(),
        End::Lost | End::TimedOut => diagnose(target, goal, &waited.history, &VmFacts::default()),
    };
    NodeReport { target, waited, causes }
}
