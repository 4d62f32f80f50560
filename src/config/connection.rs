use super::load::Loaded;
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
    /// The connection that the cluster's settings describe, if they do.
    pub fn of(cluster: &Cluster) -> Option<Self> {
        let proxmox = &cluster.proxmox;
        let (id, secret) = (proxmox.credentials.token_id.as_ref()?, proxmox.credentials.token_secret.as_ref()?);
        let token = ApiToken { id: id.value.clone(), secret: secret.value.clone() };
        Some(Self { endpoint: proxmox.endpoint.as_ref()?.value.clone(), token, trust: proxmox.trust.clone() })
    }

    /// What the settings lack for a connection. What is only encrypted yet does not count.
    pub fn lacking(loaded: &Loaded) -> Vec<Problem> {
        let Some(cluster) = &loaded.cluster else {
            return Vec::new();
        };
        let credentials = &cluster.proxmox.credentials;
        let (sealed_id, sealed_secret) = loaded.sealed.as_ref().map_or((false, false), |it| (it.id, it.secret));
        let id = credentials.token_id.is_none() && !sealed_id;
        let secret = credentials.token_secret.is_none() && !sealed_secret;
        let missing = |message: &str, hint: &str| {
            let place = Place::Named("environment, nodes.yaml, pvetalos.yaml, cluster.yaml".to_owned());
            Problem::error(message).at(place).hint(hint)
        };
        let mut problems = Vec::new();
        if cluster.proxmox.endpoint.is_none() {
            problems.push(missing(
                "the address of Proxmox is not given",
                "set PROXMOX_ENDPOINT, or add `proxmox: {endpoint: https://pve1.example.com:8006}` to pvetalos.yaml",
            ));
        }
        if let Some(file) = loaded.secrets.as_ref().filter(|_| id || secret) {
            problems.push(file.missing(id, secret));
            return problems;
        }
        if id {
            problems.push(missing(
                "the id of the API token is not given",
                "set PROXMOX_TOKEN_ID to `user@realm!name`, or keep the token in a file (--token-file) or a SOPS file \
                 (--secrets); `pvetalos access` prints the commands that make one",
            ));
        }
        if secret {
            problems.push(missing(
                "the secret of the API token is not given",
                "set PROXMOX_TOKEN_SECRET, or PROXMOX_TOKEN_SECRET_FILE with the name of a file that holds it, or keep \
                 the token in a file (--token-file) or a SOPS file (--secrets)",
            ));
        }
        problems
    }
}
