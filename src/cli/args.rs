use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use super::access::AccessArgs;
use super::completions::CompletionsArgs;
use super::destroy::DestroyArgs;
use super::doctor::DoctorArgs;
use super::init::InitArgs;
use super::man::ManArgs;
use super::output::OutputArgs;
use super::plan::PlanArgs;
use super::provision::ProvisionArgs;
use super::schema::SchemaArgs;
use super::schematic::SchematicArgs;
use super::simulate::SimulateArgs;
use super::status::StatusArgs;
use super::template::TemplateArgs;
use super::validate::ValidateArgs;
use super::wait::WaitArgs;
use crate::config::{Inputs, Locations};
use crate::model::shell_quoted;
use crate::ui::{Documents, LogFormat};

/// nodes.yaml in, Talos maintenance mode out
///
/// Talos Linux VMs on Proxmox VE by API alone: no SSH, no agent, no state file.
#[derive(Debug, Parser)]
#[command(name = "pvetalos", version, after_help = EXIT_CODES, propagate_version = true, max_term_width = 100)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
    #[command(flatten)]
    pub(super) global: GlobalArgs,
}

/// The program as the parser knows it.
pub(super) fn command() -> clap::Command {
    Arguments::command()
}

/// The same with everything worked out that each command inherits, and without the command that only prints help: for
/// manual pages, and for whoever compares words with it.
pub fn built_command() -> clap::Command {
    let mut program = command().disable_help_subcommand(true);
    program.build();
    program
}

const EXIT_CODES: &str = "Exit codes: 0 done or nothing to do, 1 failed or declined, 2 wrong usage or input,\n\
    3 some nodes failed, were refused, are in conflict or timed out, 4 changes pending (plan --exit-code),\n\
    5 not healthy (status --exit-code, doctor), 130 interrupted";

const NODES: &str = "The nodes [default: ./nodes.yaml, or else ./talos/talconfig.yaml] [env: PVETALOS_NODES_FILE]";
const CLUSTER: &str = "The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] \
                       [env: PVETALOS_CLUSTER_FILE]";
const SETTINGS: &str = "The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] \
                        [env: PVETALOS_SETTINGS_FILE]";
const SECRETS: &str = "A file with the API token that is encrypted by SOPS [default: infrastructure/secrets.sops.yaml or \
                       secrets.sops.yaml beside nodes.yaml, if there] [env: PVETALOS_SECRETS_FILE]";
const CLUSTER_NAME: &str = "The name by which the cluster's VMs are recognised [env: PVETALOS_CLUSTER]";
const SIMULATE: &str = "Do it in a simulated Proxmox that is kept in a file [default file: .pvetalos/world.json]; without \
                        nodes the built-in sample is used";
const COLOR: &str = "When to use colours; NO_COLOR in the environment is heeded";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Provision(ProvisionArgs),
    Plan(PlanArgs),
    Status(StatusArgs),
    Destroy(DestroyArgs),
    Validate(ValidateArgs),
    Doctor(DoctorArgs),
    Access(AccessArgs),
    Template(TemplateArgs),
    Schematic(SchematicArgs),
    Wait(WaitArgs),
    Output(OutputArgs),
    Simulate(SimulateArgs),
    Init(InitArgs),
    Schema(SchemaArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// The variables behind some flags are read by `config`: it knows which of the two gave a value, and has one rule for
/// empty ones.
#[derive(Debug, Args)]
pub(super) struct GlobalArgs {
    #[arg(long, help = NODES, global = true, value_name = "FILE", help_heading = "Input")]
    nodes: Option<PathBuf>,
    #[arg(long, help = CLUSTER, global = true, value_name = "FILE", help_heading = "Input")]
    cluster: Option<PathBuf>,
    #[arg(long, help = SETTINGS, global = true, value_name = "FILE", help_heading = "Input")]
    settings: Option<PathBuf>,
    #[arg(long, global = true, value_name = "NAME", help_heading = "Input", help = CLUSTER_NAME)]
    pub(super) cluster_name: Option<String>,
    /// A file that holds the API token as `user@realm!name=secret`
    #[arg(long, global = true, value_name = "FILE", help_heading = "Input")]
    token_file: Option<PathBuf>,
    #[arg(long, help = SECRETS, global = true, value_name = "FILE", help_heading = "Input")]
    secrets: Option<PathBuf>,
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Input",
        default_missing_value = ".pvetalos/world.json", help = SIMULATE)]
    pub(super) simulate: Option<PathBuf>,
    /// How to print the result
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    pub(super) output: OutputFormat,
    /// Say more; twice or three times for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Output")]
    pub(super) verbose: u8,
    /// Say nothing but what is wrong or dangerous
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub(super) quiet: bool,
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Output", help = COLOR)]
    pub(super) color: Color,
    /// How to write the log to standard error
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub(super) log_format: LogFormat,
}

impl GlobalArgs {
    /// A flag that names a file, if one is given.
    pub(super) fn named_file(&self) -> Option<&'static str> {
        self.named_files().next().map(|(flag, _)| flag)
    }

    fn named_files(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let files = [("--nodes", &self.nodes), ("--cluster", &self.cluster), ("--settings", &self.settings)];
        files.into_iter().filter_map(|(flag, file)| Some((flag, file.as_ref()?)))
    }

    /// The flags by which another call finds the same cluster, each with a space before it.
    pub(super) fn same_cluster(&self) -> String {
        let files = self.named_files().map(|(flag, file)| (flag, file.display().to_string()));
        let name = self.cluster_name.as_ref().map(|name| ("--cluster-name", name.clone()));
        files.chain(name).map(|(flag, value)| format!(" {flag} {}", shell_quoted(&value))).collect::<Vec<_>>().concat()
    }

    /// Reads the files and the environment. A simulation has an address and a token of its own and does not even look
    /// at yours.
    pub(super) fn inputs(&self) -> Inputs {
        self.gather(&self.locations())
    }

    /// The same for a command that can do without files.
    pub(super) fn inputs_if_any(&self) -> Inputs {
        self.gather(&Locations { or_nothing: true, ..self.locations() })
    }

    fn gather(&self, locations: &Locations) -> Inputs {
        let simulated = self.simulate.is_some();
        Inputs::gather(locations, &|name| {
            let hidden = simulated && name.starts_with("PROXMOX_");
            if hidden { None } else { std::env::var_os(name) }
        })
    }

    fn locations(&self) -> Locations {
        Locations {
            nodes: self.nodes.clone(),
            cluster: self.cluster.clone(),
            settings: self.settings.clone(),
            token_file: self.token_file.clone().filter(|_| self.simulate.is_none()),
            secrets: self.secrets.clone(),
            without_secrets: self.simulate.is_some(),
            cluster_name: self.cluster_name.clone(),
            or_sample: self.simulate.is_some(),
            or_nothing: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// For people
    Table,
    /// For programs
    Json,
    /// For programs and people
    Yaml,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

impl OutputFormat {
    /// How events are printed, for commands whose result comes bit by bit; as text there are none.
    pub(super) fn documents(self) -> Option<Documents> {
        match self {
            Self::Table => None,
            Self::Json => Some(Documents::Json),
            Self::Yaml => Some(Documents::Yaml),
        }
    }
}

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_arguments_get_in_each_others_way() {
        command().debug_assert();
    }
}
