use std::io;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use super::schematic::FactoryArgs;
use super::session::{ConnectionArgs, with_session};
use super::status::look;
use crate::handover::handover;
use crate::ui::{Script, Ui, handover_json, pretty, talconfig, to_yaml};

/// Print the nodes' addresses, VMIDs, MACs, roles and states, for scripts and for the tools that go on with them
///
/// As JSON, or as YAML with `-o yaml`. What is not there yet is null. `pvetalos validate -o json` prints what the files say
/// without asking anybody.
#[derive(Debug, clap::Args)]
pub(super) struct OutputArgs {
    /// Print the talosctl commands that make a cluster of the nodes, as a script
    #[arg(long)]
    talosctl: bool,
    /// Print a talconfig.yaml for talhelper
    #[arg(long, conflicts_with = "talosctl")]
    talhelper: bool,
    #[command(flatten)]
    factory: FactoryArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(super) async fn output(args: &OutputArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    with_session(&args.connection, global, ui, async |session, ui| {
        let client = session.client(ui)?;
        let status = session.asking(ui, look(session, client)).await?;
        let cluster = &session.cluster;
        let handover = handover(cluster, &status, &args.factory.factory);
        match global.output {
            _ if args.talosctl => {
                let script = Script { flags: &global.same_cluster(), simulated: global.simulate.is_some() };
                ui.show(&script.text(cluster, &handover))?;
            }
            _ if args.talhelper => ui.show(&talconfig(cluster, &handover))?,
            OutputFormat::Table | OutputFormat::Json => ui.print(&pretty(&handover_json(&handover)))?,
            OutputFormat::Yaml => ui.print(&to_yaml(&handover_json(&handover)))?,
        }
        Ok(Exit::Done)
    })
    .await
}
