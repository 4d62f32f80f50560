use super::problem::{Place, Problem};
use crate::model::{ApiToken, Cluster, Endpoint, TlsTrust};

/// All that is needed to talk to Proxmox.
#[derive(Clone, Debug)]
pub struct Connection {
    pub endpoint: Endpoint,
    pub token: ApiToken,
    pub trust: TlsTrust,
}

impl Connection {
    /// The connection that the cluster's settings describe, or what they lack for one.
    pub fn of(cluster: &Cluster) -> Result<Self, Vec<Problem>> {
        let proxmox = &cluster.proxmox;
        let credentials = &proxmox.credentials;
        if let (Some(endpoint), Some(id), Some(secret)) =
            (&proxmox.endpoint, &credentials.token_id, &credentials.token_secret)
        {
            let token = ApiToken { id: id.value.clone(), secret: secret.value.clone() };
            return Ok(Self { endpoint: endpoint.value.clone(), token, trust: proxmox.trust.clone() });
        }
        let mut problems = Vec::new();
        let mut missing = |is_missing: bool, message: &str, hint: &str| {
            if is_missing {
                let place = Place::Named("environment, nodes.yaml, pvetalos.yaml, cluster.yaml".to_owned());
                problems.push(Problem::error(message).at(place).hint(hint));
            }
        };
        missing(
            proxmox.endpoint.is_none(),
            "the address of Proxmox is not given",
            "set PROXMOX_ENDPOINT, or add `proxmox: {endpoint: https://pve1.example.com:8006}` to pvetalos.yaml",
        );
        missing(
            credentials.token_id.is_none(),
            "the id of the API token is not given",
            "set PROXMOX_TOKEN_ID to `user@realm!name`",
        );
        missing(
            credentials.token_secret.is_none(),
            "the secret of the API token is not given",
            "set PROXMOX_TOKEN_SECRET, or PROXMOX_TOKEN_SECRET_FILE with the name of a file that holds it",
        );
        Err(problems)
    }
}
