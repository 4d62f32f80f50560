use std::env;

use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{Problem, Severity};
use crate::talos::{AnyDial, Socks5};

/// The variable behind `--talos-proxy`; `pvetalos simulate` says what to set it to.
const VARIABLE: &str = "PVETALOS_TALOS_PROXY";

const TALOS_PROXY: &str = "A SOCKS5 proxy through which the nodes can be reached, such as `ssh -D` opens \
                           [env: PVETALOS_TALOS_PROXY]";

/// How to reach the nodes, for commands that do.
#[derive(Debug, clap::Args)]
pub(super) struct TalosArgs {
    // It is read later, because the parser would repeat a wrong one with the password that may be in it.
    #[arg(long, help = TALOS_PROXY, value_name = "URL", help_heading = "Input")]
    talos_proxy: Option<SecretString>,
}

impl TalosArgs {
    /// The way to the nodes: through the proxy of the flag or of the variable, else straight.
    pub(super) fn dial(&self) -> Result<AnyDial, Problem> {
        // An empty variable is none.
        let variable = env::var_os(VARIABLE).filter(|value| !value.is_empty());
        let (place, proxy) = match (&self.talos_proxy, variable) {
            (Some(proxy), _) => ("--talos-proxy", proxy.expose_secret().parse::<Socks5>()),
            (None, Some(proxy)) => (VARIABLE, proxy.to_string_lossy().parse()),
            (None, None) => return Ok(AnyDial::default()),
        };
        proxy.map(AnyDial::new).map_err(|error| Problem {
            severity: Severity::Error,
            message: format!("{place}: {error}"),
            places: Vec::new(),
            hint: Some("`ssh -D 1080 JUMPHOST` opens a proxy that is `socks5://127.0.0.1:1080`".to_owned()),
        })
    }
}
