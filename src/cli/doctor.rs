use std::io;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use super::interrupt::Interrupts;
use super::session::{ConnectionArgs, Session, with_session};
use crate::preflight::{Finding, Needs, State, check, look};
use crate::proxmox::{Client, Transport};
use crate::ui::{Ui, findings_json, findings_text, pretty, to_yaml};

/// Check whether Proxmox is ready for the cluster, without changing anything
///
/// Looks at the connection, the token's privileges, hosts, storages, bridges and templates. Every finding comes with
/// its fix. Exit code 5 when something has to be mended first.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(super) async fn doctor(args: &DoctorArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    with_session(&args.connection, global, ui, async |session, ui| Ok(examined(session, global, ui).await?)).await
}

async fn examined(session: &Session, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let needs = Needs::of(&session.cluster);
    let findings = match &session.client {
        Ok(client) => match Interrupts::new()?.or(examine(client, &needs, session)).await {
            Some(findings) => findings,
            None => return Ok(Exit::Interrupted),
        },
        Err(error) => vec![Finding::error(error.with_causes(), error.hint())],
    };
    match global.output {
        OutputFormat::Table => ui.show(&findings_text(&findings))?,
        OutputFormat::Json => ui.print(&pretty(&findings_json(&findings)))?,
        OutputFormat::Yaml => ui.print(&to_yaml(&findings_json(&findings)))?,
    }
    let healthy = findings.iter().all(|finding| finding.state != State::Error);
    Ok(if healthy { Exit::Done } else { Exit::Unhealthy })
}

async fn examine<T: Transport>(client: &Client<T>, needs: &Needs, session: &Session) -> Vec<Finding> {
    match look(client, needs).await {
        Ok(seen) => check(needs, &seen, &session.token),
        Err(error) => vec![Finding::error(error.with_causes(), session.hint(&error))],
    }
}
