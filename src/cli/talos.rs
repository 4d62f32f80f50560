use std::env;

use crate::config::{Problem, Severity};
use crate::talos::{AnyDial, InvalidProxy, Socks5};

/// The variable behind `--talos-proxy`; `pvetalos simulate` says what to set it to.
const VARIABLE: &str = "PVETALOS_TALOS_PROXY";

const TALOS_PROXY: &str = "A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens \
                           [env: PVETALOS_TALOS_PROXY]";

/// How to reach the nodes, for commands that do.
#[derive(Debug, clap::Args)]
pub(super) struct TalosArgs {
    #[arg(long, help = TALOS_PROXY, value_name = "URL", help_heading = "Input")]
    talos_proxy: Option<Socks5>,
}

impl TalosArgs {
    /// The way to the nodes: through the proxy of the flag or of the variable, else straight.
    pub(super) fn dial(&self) -> Result<AnyDial, Problem> {
        let proxy = match &self.talos_proxy {
            Some(proxy) => Some(proxy.clone()),
            None => from_environment().map_err(|error| problem(&error))?,
        };
        Ok(proxy.map_or_else(AnyDial::default, AnyDial::new))
    }
}

/// An empty variable is none.
fn from_environment() -> Result<Option<Socks5>, InvalidProxy> {
    let value = env::var_os(VARIABLE).filter(|value| !value.is_empty());
    value.map(|value| value.to_string_lossy().parse()).transpose()
}

fn problem(error: &InvalidProxy) -> Problem {
    Problem {
        severity: Severity::Error,
        message: format!("{VARIABLE}: {error}"),
        places: Vec::new(),
        hint: Some("`ssh -D 1080 JUMPHOST` opens such a proxy".to_owned()),
    }
}
