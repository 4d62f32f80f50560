use std::collections::BTreeSet;
use std::io;

use super::args::{GlobalArgs, OutputFormat};
use super::exit::Exit;
use super::schematic::parsed;
use crate::access::{Access, Extra, Wishes, nodes_outside};
use crate::config::{Explain, Inputs, Loaded, Problem, load, token_from_outside};
use crate::model::{Cluster, Invalid, PoolId, Text as _, TokenId, VmId, secret_in};
use crate::pveum::Release;
use crate::ui::{Ui, access_json, access_text, pretty, to_yaml};

/// Print the commands that let pvetalos do its work on Proxmox, and nothing else
///
/// Roles, a user, a token and access rules, as `pveum` lines for a root shell on a Proxmox host. They are for what the
/// nodes use, or for any cluster if there is no nodes.yaml. Nobody is asked and nothing is changed.
#[derive(Debug, clap::Args)]
pub(super) struct AccessArgs {
    /// The release of Proxmox VE
    #[arg(long, value_name = "RELEASE", default_value = "9")]
    pve: Release,
    /// Allow VMs in this pool only [default: the nodes' own pools, if all are in one]
    #[arg(long, value_name = "NAME", value_parser = parsed::<PoolId>)]
    pool: Option<PoolId>,
    /// Templates outside of the pool that nodes are cloned from
    #[arg(long, value_name = "VMID,…", value_delimiter = ',', value_parser = parsed::<VmId>)]
    clone_from: Vec<VmId>,
    /// The user that the token belongs to [default: that of the token in use, or pvetalos@pve]
    #[arg(long, value_name = "USER@REALM")]
    user: Option<String>,
    /// The name of the token [default: that of the token in use, or pvetalos]
    #[arg(long, value_name = "NAME")]
    token: Option<String>,
    #[command(flatten)]
    extras: ExtraArgs,
}

/// What nodes can do without.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct ExtraArgs {
    /// Also what `template create` needs
    #[arg(long)]
    templates: bool,
    /// Also what `template create --enable-import` needs
    #[arg(long, requires = "templates")]
    enable_import: bool,
    /// Also setting the order in which VMs start
    #[arg(long)]
    start_order: bool,
    /// Also seeing the free memory of hosts, by which nodes without a host are placed
    #[arg(long)]
    free_memory: bool,
    /// Also asking the guest agent about a node that does not answer
    #[arg(long)]
    guest_agent: bool,
}

pub(super) fn access(args: &AccessArgs, global: &GlobalArgs, ui: &mut Ui) -> io::Result<Exit> {
    let Some((cluster, known)) = look_up(global.inputs_if_any(), ui) else {
        return Ok(Exit::WrongInput);
    };
    let token = match args.token(known.as_ref()) {
        Ok(token) => token,
        Err(invalid) => {
            let why = invalid.why().unwrap_or_default();
            let hint = "give them as in `--user pvetalos@pve --token ci`";
            ui.show_failure(&format!("--user and --token make no token id: {why}"), hint);
            return Ok(Exit::WrongInput);
        }
    };
    let wishes = args.wishes(token);
    if let (Some(cluster), Some(pool)) = (&cluster, &wishes.pool) {
        warn_of_nodes_outside(cluster, pool, ui);
    }
    let access = match &cluster {
        Some(cluster) => Access::for_cluster(cluster, wishes),
        None => Access::in_general(wishes),
    };
    if !access.is_in_pools() && !access.wishes.clone_from.is_empty() {
        let message = "--clone-from is for tokens that are allowed VMs in a pool only, and this one is not";
        ui.show_failure(message, "leave it out, or name the pool with --pool: on /vms the templates are included");
        return Ok(Exit::WrongInput);
    }
    match global.output {
        OutputFormat::Table => ui.show(&access_text(&access))?,
        OutputFormat::Json => ui.print(&pretty(&access_json(&access)))?,
        OutputFormat::Yaml => ui.print(&to_yaml(&access_json(&access)))?,
    }
    Ok(Exit::Done)
}

/// The cluster, if there is one, and the token in use. Mistakes are shown, and there is nothing then.
fn look_up(inputs: Inputs, ui: &mut Ui) -> Option<(Option<Cluster>, Option<TokenId>)> {
    if inputs.is_nothing() {
        let shown = |problems: Vec<Problem>| ui.show_problems(&problems);
        let token = token_from_outside(inputs).map_err(shown).ok()?;
        ui.say("there is no nodes.yaml here: this is for any cluster, on all storages and bridges\n");
        return Some((None, token));
    }
    if let Some(sentence) = inputs.stand_in() {
        ui.say(&format!("{sentence}\n"));
    }
    let Loaded { cluster, problems, .. } = load(inputs, Explain::No);
    ui.show_problems(&problems);
    let cluster = cluster?;
    let token = cluster.proxmox.credentials.token_id.as_ref().map(|token| token.value.clone());
    Some((Some(cluster), token))
}

impl AccessArgs {
    fn token(&self, known: Option<&TokenId>) -> Result<TokenId, Invalid> {
        let user = self.user.as_deref().or(known.map(TokenId::user)).unwrap_or("pvetalos@pve");
        let name = self.token.as_deref().or(known.map(TokenId::name)).unwrap_or("pvetalos");
        let mut given = [&self.user, &self.token].into_iter().flatten();
        if given.any(|text| secret_in(text).is_some()) {
            return Err(Invalid::hidden(TokenId::WHAT).because("this looks like a secret, which no flag takes"));
        }
        format!("{user}!{name}").parse()
    }

    fn wishes(&self, token: TokenId) -> Wishes {
        let ExtraArgs { templates, enable_import, start_order, free_memory, guest_agent } = self.extras;
        let extras = [
            (Extra::Templates, templates),
            (Extra::EnableImport, enable_import),
            (Extra::StartOrder, start_order),
            (Extra::FreeMemory, free_memory),
            (Extra::GuestAgent, guest_agent),
        ];
        let clone_from: BTreeSet<VmId> = self.clone_from.iter().copied().collect();
        Wishes {
            release: self.pve,
            token,
            pool: self.pool.clone(),
            clone_from,
            extras: extras.into_iter().filter_map(|(extra, wanted)| wanted.then_some(extra)).collect(),
        }
    }
}

/// A token for one pool is of no use to nodes that go elsewhere.
fn warn_of_nodes_outside(cluster: &Cluster, pool: &PoolId, ui: &mut Ui) {
    let outside: Vec<String> = nodes_outside(cluster, pool).into_iter().map(ToString::to_string).collect();
    if !outside.is_empty() {
        ui.warn(&format!(
            "by the files these nodes are not in the pool {pool}, and could not be made: {}; give them `pool: {pool}`",
            outside.join(", ")
        ));
    }
}
