use std::fmt;

use super::refusal::RefusalKind;
use super::text::with_causes;
use super::tls::CertificateProblem;
use super::{Method, Refusal, Request, TransportError, UnreadableAnswer};

/// A request that did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum ProxmoxError {
    /// The request never left this machine.
    #[error("cannot reach Proxmox at {endpoint}")]
    Unreachable { endpoint: String, source: TransportError },
    /// The request never left this machine, because the other end may be anybody.
    #[error("the certificate of {endpoint} is not trusted")]
    Untrusted { endpoint: String, source: Box<CertificateProblem> },
    /// The request may have been carried out; only a fresh look at the cluster tells.
    #[error("no answer to {call}")]
    Unanswered { call: Box<Call>, source: TransportError },
    /// The server said no.
    #[error("{call} was refused")]
    Refused { call: Box<Call>, source: Box<Refusal> },
    /// The server said yes, and then something that cannot be read.
    #[error("the answer to {call} cannot be read")]
    Unreadable { call: Box<Call>, source: UnreadableAnswer },
}

/// What was asked of whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub method: Method,
    pub path: String,
    pub endpoint: String,
}

impl Call {
    pub(super) fn of(request: &Request, endpoint: &str) -> Self {
        Self { method: request.method, path: request.path.clone(), endpoint: endpoint.to_owned() }
    }
}

impl Call {
    /// Whether it writes a VM's options: Proxmox stores them one by one, in any order, and stops at the first that it
    /// cannot, leaving those before it (qemu-server: src/PVE/API2/Qemu.pm).
    fn stores_option_by_option(&self) -> bool {
        self.path.ends_with("/config")
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at {}", self.method, self.path, self.endpoint)
    }
}

/// What a failed request may have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It never reached the server that would have done it.
    NeverSent,
    /// It was read, and refused before anything was touched.
    Refused,
    /// It may have been carried out, in part or as a whole.
    MaybeDone,
}

impl ProxmoxError {
    pub fn effect(&self) -> Effect {
        match self {
            Self::Unreachable { .. } | Self::Untrusted { .. } => Effect::NeverSent,
            Self::Refused { source, .. } if source.kind == RefusalKind::BackendUnreachable => Effect::NeverSent,
            Self::Refused { call, .. } if call.method.is_safe() => Effect::Refused,
            Self::Refused { call, source } if call.stores_option_by_option() && !source.is_before_any_option() => {
                Effect::MaybeDone
            }
            Self::Refused { source, .. } if !source.may_be_done() => Effect::Refused,
            Self::Unanswered { call, .. } | Self::Unreadable { call, .. } if call.method.is_safe() => Effect::Refused,
            Self::Refused { .. } | Self::Unanswered { .. } | Self::Unreadable { .. } => Effect::MaybeDone,
        }
    }

    /// The error and its causes in one line.
    pub fn with_causes(&self) -> String {
        with_causes(self)
    }

    /// The server's refusal, if it was one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused { source, .. } => Some(source),
            _ => None,
        }
    }

    /// What the refusal means, if it was one.
    pub fn kind(&self) -> Option<&RefusalKind> {
        self.refusal().map(|refusal| &refusal.kind)
    }

    /// Whether sending the same request again cannot do its work twice, and may help.
    pub(super) fn may_resend(&self) -> bool {
        match self {
            // Whoever did not answer for many seconds is not asked the same again at once.
            Self::Unreachable { source, .. } => matches!(source, TransportError::NoConnection(_)),
            Self::Unanswered { call, source } => call.method.is_safe() && matches!(source, TransportError::Lost(_)),
            Self::Refused { call, source } => {
                source.is_passing() || (call.method.is_safe() && source.kind == RefusalKind::Busy)
            }
            Self::Untrusted { .. } | Self::Unreadable { .. } => false,
        }
    }

    /// What the user can do next, in one sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreachable { .. } => "check that the address and port of `PROXMOX_ENDPOINT` (or `proxmox_api_url`) \
                are right and that nothing between here and there blocks them"
                .to_owned(),
            Self::Untrusted { source, .. } => source.hint(),
            Self::Unanswered { call, .. } if call.method.is_safe() => {
                "try again; if it stays silent, look at `systemctl status pveproxy pvedaemon` on the host".to_owned()
            }
            Self::Unanswered { .. } => "run it again: it first finds out what did happen".to_owned(),
            Self::Refused { source, call } => source.kind.hint(call),
            Self::Unreadable { .. } => "check that the address is that of Proxmox VE 8 or 9 itself, not of a proxy or \
                another service"
                .to_owned(),
        }
    }
}

impl RefusalKind {
    /// What the user can do next, in one sentence.
    pub fn hint(&self, call: &Call) -> String {
        let Call { method, endpoint, path } = call;
        match self {
            Self::NotFound => "look where the VM lives now: it may have been moved or deleted meanwhile".to_owned(),
            Self::Exists => "look at what has that name or number before anything else is done".to_owned(),
            Self::Locked(lock) => match vm_of(path) {
                Some(vmid) => format!(
                    "wait for the `{lock}` task to end; if none is running, run `qm unlock {vmid}` on the host, \
                     because no API token can"
                ),
                None => format!(
                    "wait for the `{lock}` task to end; if none is running, run `qm unlock` on the host, because no \
                     API token can"
                ),
            },
            Self::Busy => "try again in a moment: another task holds the lock".to_owned(),
            Self::Ambiguous => {
                "run it again: the work may go on in the background, and the next run first finds out what did happen"
                    .to_owned()
            }
            Self::BackendSilent if method.is_safe() => format!(
                "the server at {endpoint} works, but the host or daemon behind it did not answer in time: look there for \
                 a storage that hangs, and try again"
            ),
            Self::BackendSilent => format!(
                "the server at {endpoint} works, but the host or daemon behind it did not answer in time and may go on \
                 with the work: run it again, it first finds out what did happen"
            ),
            Self::Changed => "run it again: somebody else changed the VM after it was read".to_owned(),
            Self::Protected => {
                "switch protection off (`qm set <vmid> --protection 0`) if it really shall go".to_owned()
            }
            Self::Running => "stop the VM first".to_owned(),
            Self::AlreadyRunning => "nothing needs to be done: it runs".to_owned(),
            Self::NotRunning => "start the VM first".to_owned(),
            Self::InUse => "delete the linked clones of this template first".to_owned(),
            Self::NoQuorum => "bring the cluster's other hosts back (`pvecm status`): without quorum nothing can be \
                written"
                .to_owned(),
            Self::Forbidden { path: Some(path), privileges } => forbidden(path, privileges),
            Self::Forbidden { path: None, .. } => "run `pvetalos doctor`, which names each privilege that is missing, \
                and grant it to the token and to its user"
                .to_owned(),
            Self::RootOnly => "do this as root on the host: Proxmox lets no API token do it".to_owned(),
            Self::Unauthenticated => format!(
                "check the token with `pveum user token list <user>` on the host of {endpoint}: its id is \
                 `user@realm!name`, it must not have expired, and its secret is shown only once"
            ),
            Self::Parameters => "correct the values named above".to_owned(),
            Self::Hotplug => "power-cycle the VM: the new value is stored and waits for that".to_owned(),
            Self::UnknownHost => {
                "use the host's name as `GET /nodes` and the web interface spell it; case matters".to_owned()
            }
            Self::UnknownStorage => {
                "check the storage's name, and that it is enabled on this host (`pvesm status`)".to_owned()
            }
            Self::UnknownPool => "create the pool (`pveum pool add <pool>`) or correct its name".to_owned(),
            Self::IsTemplate => "use another VM: a template can neither run nor be converted again".to_owned(),
            Self::ContentType => {
                "enable the content type on the storage (`pvesm set <storage> --content …`)".to_owned()
            }
            Self::NoSuchTask => "look at the VM itself: the host no longer knows this task".to_owned(),
            Self::NoAgent => "this is normal unless the image has the qemu-guest-agent extension".to_owned(),
            Self::NotImplemented => "check that the address is that of Proxmox VE 8 or 9, and its version".to_owned(),
            Self::BackendUnreachable => format!(
                "the server at {endpoint} works, but the host or daemon behind it does not: check that the host is up \
                 and `systemctl status pvedaemon` there"
            ),
            Self::ClusterFilesystemDown => {
                "start the cluster file system on the host (`systemctl status pve-cluster`)".to_owned()
            }
            Self::Redirected => "give the address that it redirects to: redirects are not followed, because the token \
                must not go elsewhere"
                .to_owned(),
            Self::Other => "look at the task log and `journalctl -u pvedaemon` on the host for the cause".to_owned(),
        }
    }
}

fn forbidden(path: &str, privileges: &[String]) -> String {
    let any = privileges.join(" or ");
    let one = privileges.first().map_or("", String::as_str);
    format!(
        "give {any} on {path} to the token and to its user: `pvetalos access` prints all that is needed. By hand, add it \
         to the role that they have (`pveum role modify <role> --privs {one} --append 1`); a rule of its own (`pveum acl \
         modify {path} …`) takes the place of those from above"
    )
}

/// The VMID in a path like `/nodes/pve1/qemu/105/config`.
fn vm_of(path: &str) -> Option<&str> {
    let mut parts = path.split('/').skip_while(|part| *part != "qemu");
    parts.nth(1).filter(|vmid| !vmid.is_empty() && vmid.bytes().all(|b| b.is_ascii_digit()))
}
