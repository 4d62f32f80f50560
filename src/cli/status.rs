use std::io;
use std::time::Duration;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use super::interrupt::Interrupts;
use super::session::{ConnectionArgs, Session, with_session};
use super::way::Way;
use crate::observe::{Depth, ask_nodes, observe};
use crate::preflight::blind_spots;
use crate::proxmox::{Client, ProxmoxError};
use crate::status::{Status, status as judge};
use crate::ui::{Ui, pretty, status_json, status_page, to_yaml};

/// Show how every node is
///
/// Host, VMID, power, what is not as in the files, what waits for a reboot, and what Talos itself says. Hosts that are down
/// hide no other.
#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    /// Look again every so many seconds [default: 5], until Ctrl-C
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "5",
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    watch: Option<u64>,
    /// End with code 5 when a node is not healthy
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(super) async fn status(args: &StatusArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    with_session(&args.connection, global, ui, async |session, ui| {
        let client = session.client(ui)?;
        let healthy = if let Some(seconds) = args.watch {
            watch(session, client, Duration::from_secs(seconds), global.output, ui).await?
        } else {
            let status = session.asking(ui, look(session, client)).await?;
            show(&status, global.output, ui)?;
            status.healthy
        };
        Ok(if healthy || !args.exit_code { Exit::Done } else { Exit::Unhealthy })
    })
    .await
}

/// Looks at Proxmox and at the nodes.
pub(super) async fn look(session: &Session, client: &Client<Way>) -> Result<Status, ProxmoxError> {
    let cluster = &session.cluster;
    let mut observed = observe(client, cluster, Depth::Ours).await?;
    observed.talos = ask_nodes(&session.dial, cluster, &observed).await;
    let mut status = judge(cluster, &observed, &session.token);
    if status.nodes.iter().any(|node| node.vmid.is_none()) {
        let blind = blind_spots(client, cluster, &session.token).await?;
        status.notes.extend(blind.into_iter().map(|finding| finding.message));
    }
    Ok(status)
}

fn show(status: &Status, output: OutputFormat, ui: &mut Ui) -> io::Result<()> {
    match output {
        OutputFormat::Table => ui.show_page(&status_page(status, ui.width())),
        OutputFormat::Json => ui.print(&pretty(&status_json(status))),
        OutputFormat::Yaml => ui.print(&to_yaml(&status_json(status))),
    }
}

/// Looks again and again until Ctrl-C, which is how a watch ends and no failure. Whether all was well in the end is
/// returned.
///
/// What cannot be reached now may be there the next time, so that errors are shown and the watch goes on.
async fn watch(
    session: &Session,
    client: &Client<Way>,
    pause: Duration,
    output: OutputFormat,
    ui: &mut Ui,
) -> io::Result<bool> {
    let mut interrupts = Interrupts::new()?;
    let mut healthy = false;
    let mut first = true;
    loop {
        let Some(looked) = interrupts.or(look(session, client)).await else {
            return Ok(healthy);
        };
        match output {
            OutputFormat::Table => ui.begin_block(first)?,
            OutputFormat::Yaml => ui.print("---")?,
            OutputFormat::Json => {}
        }
        first = false;
        healthy = looked.as_ref().is_ok_and(|status| status.healthy);
        match looked {
            // A line each, so that whoever reads along knows where one ends.
            Ok(status) if output == OutputFormat::Json => ui.print(&status_json(&status).to_string())?,
            Ok(status) => show(&status, output, ui)?,
            Err(error) => ui.show_failure(&error.with_causes(), &session.hint(&error)),
        }
        if interrupts.or(tokio::time::sleep(pause)).await.is_none() || ui.is_closed() {
            return Ok(healthy);
        }
    }
}
