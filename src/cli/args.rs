use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::doctor::DoctorArgs;
use super::schema::SchemaArgs;
use super::schematic::SchematicArgs;
use super::simulate::SimulateArgs;
use super::template::TemplateArgs;
use super::validate::ValidateArgs;
use crate::config::Locations;
use crate::ui::LogFormat;

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

const EXIT_CODES: &str = "Exit codes: 0 done or nothing to do, 1 failed, 2 wrong usage or input,\n\
    5 not healthy (doctor)";

const NODES: &str = "The nodes [default: ./nodes.yaml] [env: PVETALOS_NODES_FILE]";
const CLUSTER: &str = "The settings of the cluster repository [default: cluster.yaml beside nodes.yaml, if there] \
                       [env: PVETALOS_CLUSTER_FILE]";
const SETTINGS: &str = "The settings of pvetalos itself [default: pvetalos.yaml beside nodes.yaml, if there] \
                        [env: PVETALOS_SETTINGS_FILE]";
const CLUSTER_NAME: &str = "The name by which the cluster's VMs are recognised [env: PVETALOS_CLUSTER]";
const COLOR: &str = "When to use colours; NO_COLOR in the environment is heeded";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Validate(ValidateArgs),
    Doctor(DoctorArgs),
    Template(TemplateArgs),
    Schematic(SchematicArgs),
    Schema(SchemaArgs),
    Simulate(SimulateArgs),
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
    cluster_name: Option<String>,
    /// A file that holds the API token as `user@realm!name=secret`
    #[arg(long, global = true, value_name = "FILE", help_heading = "Input")]
    token_file: Option<PathBuf>,
    /// How to print the result
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    pub(super) output: OutputFormat,
    /// Say more; twice or three times for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Output")]
    pub(super) verbose: u8,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub(super) quiet: bool,
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Output", help = COLOR)]
    pub(super) color: Color,
    /// How to write the log to standard error
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub(super) log_format: LogFormat,
}

impl GlobalArgs {
    pub(super) fn locations(&self) -> Locations {
        Locations {
            nodes: self.nodes.clone(),
            cluster: self.cluster.clone(),
            settings: self.settings.clone(),
            token_file: self.token_file.clone(),
            cluster_name: self.cluster_name.clone(),
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

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}
