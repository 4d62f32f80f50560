use std::io;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use super::session::say_what_stands_in;
use crate::config::{Explain, Loaded, Severity, load};
use crate::ui::{Ui, cluster_json, cluster_table, explanation, pretty, to_yaml};

/// Check the files, without any network, and show what they mean
///
/// Prints the resolved cluster, or every mistake with its place and what to do about it (exit code 2).
#[derive(Debug, clap::Args)]
pub(super) struct ValidateArgs {
    /// Show for every value where it came from
    #[arg(long)]
    explain: bool,
}

pub(super) fn validate(args: &ValidateArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let explain = if args.explain { Explain::Yes } else { Explain::No };
    let inputs = global.inputs();
    say_what_stands_in(&inputs, ui);
    let loaded = load(inputs, explain);
    ui.show_problems(&loaded.problems);
    match (global.output, &loaded.cluster) {
        (OutputFormat::Json, _) => ui.print(&pretty(&cluster_json(&loaded, args.explain)))?,
        (OutputFormat::Yaml, _) => ui.print(&to_yaml(&cluster_json(&loaded, args.explain)))?,
        (OutputFormat::Table, Some(_)) if args.explain => ui.show(&explanation(&loaded.explained))?,
        (OutputFormat::Table, Some(cluster)) => ui.show(&cluster_table(cluster))?,
        (OutputFormat::Table, None) => {}
    }
    if loaded.cluster.is_some() {
        return Ok(Exit::Done);
    }
    ui.say(&verdict(&loaded));
    Ok(Exit::WrongInput)
}

fn verdict(loaded: &Loaded) -> String {
    let errors = loaded.problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let mistakes = if errors == 1 { "1 mistake".to_owned() } else { format!("{errors} mistakes") };
    format!("{mistakes} found; nothing was done")
}
