use std::io;

use super::args::{GlobalArgs, OutputFormat};
use super::connection::{ConnectionArgs, Reached, reach};
use super::exit::Exit;
use crate::model::TokenId;
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
    let Some(Reached { cluster, connection, client }) = reach(&args.connection, global, ui) else {
        return Ok(Exit::WrongInput);
    };
    let needs = Needs::of(&cluster);
    let findings = match &client {
        Ok(client) => examine(client, &needs, &connection.token.id).await,
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

async fn examine<T: Transport>(client: &Client<T>, needs: &Needs, token: &TokenId) -> Vec<Finding> {
    match look(client, needs).await {
        Ok(seen) => check(needs, &seen, token),
        Err(error) => vec![Finding::error(error.with_causes(), error.hint())],
    }
}
