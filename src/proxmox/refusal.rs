use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::Answer;
use super::text::clean;

/// An answer that says no, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    /// The server's words, on one line.
    pub message: String,
    /// What it says about single parameters.
    pub errors: BTreeMap<String, String>,
    pub kind: RefusalKind,
}

/// What a refusal means. Proxmox answers 500 to nearly everything, so it is the text that tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// There is no such VM on that host.
    NotFound,
    /// The VMID, file, role or user is taken.
    Exists,
    /// The VM carries a lock line, such as `clone` or `backup`.
    Locked(String),
    /// Something else holds a lock; nothing was done, and it may be free soon.
    Busy,
    /// Nobody can tell whether it was done.
    Ambiguous,
    /// The configuration changed since it was read.
    Changed,
    /// Protection mode forbids it.
    Protected,
    /// It must be stopped first.
    Running,
    /// It runs already.
    AlreadyRunning,
    /// It must be running.
    NotRunning,
    /// Linked clones depend on it.
    InUse,
    /// The cluster has no quorum, so nothing can be written.
    NoQuorum,
    /// A privilege is missing. Which one and where is known unless several would have done.
    Forbidden { path: Option<String>, privileges: Vec<String> },
    /// Only root, and no token, may do this.
    RootOnly,
    /// The token is not accepted.
    Unauthenticated,
    /// Parameters are wrong; [`Refusal::errors`] says which.
    Parameters,
    /// The running VM could not take the change; it waits for the next power cycle.
    Hotplug,
    /// There is no host of that name.
    UnknownHost,
    /// There is no storage of that name, or not on that host.
    UnknownStorage,
    /// There is no pool of that name.
    UnknownPool,
    /// It is a template, which can neither run nor become one.
    IsTemplate,
    /// The storage does not take this kind of content.
    ContentType,
    /// The task is not known to its host.
    NoSuchTask,
    /// There is no guest agent, or it does not answer.
    NoAgent,
    /// No such path or method: an older or newer Proxmox, or no Proxmox at all.
    NotImplemented,
    /// The daemon or host behind the one that answered cannot be reached; the request did not get there.
    BackendUnreachable,
    /// The daemon or host behind the one that answered did not answer in time; the work may go on.
    BackendSilent,
    /// The cluster file system is down.
    ClusterFilesystemDown,
    /// A redirect, which is never followed: the token must not go elsewhere.
    Redirected,
    /// None of the above.
    Other,
}

impl Refusal {
    /// Takes apart what is not a success. The text may be in the body, in the reason phrase or in both.
    pub(crate) fn of(answer: &Answer) -> Self {
        let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
        let errors = errors(body.as_ref());
        let message = message(body.as_ref(), answer);
        let kind = RefusalKind::of(answer.status, &message, &errors);
        Self { status: answer.status, message, errors, kind }
    }

    /// Whether the server may have begun or finished the work all the same.
    ///
    /// Only what is known to be raised before anything is touched counts as a clean refusal.
    pub fn may_be_done(&self) -> bool {
        match &self.kind {
            RefusalKind::Ambiguous | RefusalKind::BackendSilent | RefusalKind::Hotplug => true,
            RefusalKind::Busy => !self.is_before_the_work(),
            RefusalKind::Other => self.status >= 500,
            _ => false,
        }
    }

    /// Whether a change of options is refused in this way before the first of them is stored.
    pub(super) fn is_before_any_option(&self) -> bool {
        match &self.kind {
            RefusalKind::NotFound
            | RefusalKind::Locked(_)
            | RefusalKind::Changed
            | RefusalKind::NoQuorum
            | RefusalKind::RootOnly
            | RefusalKind::Unauthenticated
            | RefusalKind::Parameters
            | RefusalKind::NotImplemented
            | RefusalKind::Redirected => true,
            RefusalKind::Busy => self.is_before_the_work(),
            // Rights on the VM are looked at first, those on storages and networks when their option's turn comes.
            RefusalKind::Forbidden { path, .. } => path.as_deref().is_none_or(|path| path.starts_with("/vms/")),
            _ => false,
        }
    }

    /// Whether the same request may be sent again after a moment, whatever it was.
    pub fn is_passing(&self) -> bool {
        match self.kind {
            RefusalKind::Busy => self.is_before_the_work(),
            // A dead host is not back in a second, and each attempt would hang for half a minute.
            RefusalKind::BackendUnreachable => self.message.contains("Connection refused"),
            _ => false,
        }
    }

    /// Whether the lock that was not free is one that is taken before anything is done: the VM's own. A storage's lock
    /// is taken in the middle, when other options of the same change may be stored already.
    fn is_before_the_work(&self) -> bool {
        self.message.contains("/qemu-server/lock-") || self.message.contains("got no worker upid")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxmox says {}", self.status)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        self.errors.iter().try_for_each(|(parameter, text)| write!(f, "; {parameter}: {text}"))
    }
}

impl std::error::Error for Refusal {}

fn errors(body: Option<&Value>) -> BTreeMap<String, String> {
    let errors = body.and_then(|body| body.get("errors")).and_then(Value::as_object);
    let text = |value: &Value| value.as_str().map_or_else(|| clean(&value.to_string()), |text| clean(&unescape(text)));
    errors.into_iter().flatten().map(|(parameter, value)| (clean(parameter), text(value))).collect()
}

/// Several errors of one parameter are joined by a backslash and an `n`.
fn unescape(text: &str) -> String {
    text.replace("\\n", "; ")
}

/// Before PVE 8.3 the text is only in the reason phrase; errors of the HTTP layer are plain text.
fn message(body: Option<&Value>, answer: &Answer) -> String {
    if let Some(message) = body.and_then(|body| body.get("message")).and_then(Value::as_str)
        && !message.trim().is_empty()
    {
        return clean(message);
    }
    let plain = std::str::from_utf8(&answer.body).unwrap_or("").trim();
    let is_text = body.is_none() && !plain.is_empty() && !plain.starts_with(['<', '{', '[']) && plain.len() < 1000;
    clean(if is_text { plain } else { &answer.reason })
}

impl RefusalKind {
    fn of(status: u16, message: &str, errors: &BTreeMap<String, String>) -> Self {
        match status {
            300..400 => Self::Redirected,
            400 => Self::of_parameters(message, errors),
            401 => Self::Unauthenticated,
            403 => Self::of_text(message).unwrap_or(Self::Forbidden { path: None, privileges: Vec::new() }),
            404 | 405 | 501 | 506 => Self::NotImplemented,
            595 => Self::BackendUnreachable,
            // Those below 595 come from a gateway in front of Proxmox.
            502..=504 | 596..=599 => Self::BackendSilent,
            _ => Self::of_text(message).unwrap_or(Self::Other),
        }
    }

    fn of_parameters(message: &str, errors: &BTreeMap<String, String>) -> Self {
        let texts = || errors.values().map(String::as_str);
        if texts().any(|text| text.starts_with("hotplug problem")) {
            Self::Hotplug
        } else if texts().any(|text| text.contains("no such task")) {
            Self::NoSuchTask
        } else if texts().any(|text| text == "No such storage.") {
            Self::UnknownStorage
        } else if texts().any(|text| text.ends_with("already exists") || text == "Token already exists.") {
            Self::Exists
        } else if texts().any(|text| text.starts_with("Only root")) {
            Self::RootOnly
        } else {
            Self::of_text(message).unwrap_or(Self::Parameters)
        }
    }

    /// Classifies a text, be it that of an answer or the end of a task; none if it is an unknown one.
    pub fn of_text(text: &str) -> Option<Self> {
        // Many tasks put something of their own before the cause: `clone failed: …`, `unable to create VM 100 - …`.
        let has = |part: &str| text.contains(part);
        let numbered = |before: &str, after: &str| between(text, before, after).is_some_and(is_number);
        if has("pool '") && has("' does not exist") {
            return Some(Self::UnknownPool);
        }
        if has("Permission check failed") {
            return Some(permission(text));
        }
        if has("VM is locked (") {
            return between(text, "VM is locked (", ")").map(|lock| Self::Locked(lock.to_owned()));
        }
        if has("got timeout") && has("can't lock file '") {
            // The worker may have been forked before its parent failed to write the task list.
            return Some(if has(".active.lock'") { Self::Ambiguous } else { Self::Busy });
        }
        let table: [(bool, Self); 28] = [
            (has("Configuration file '") && has("does not exist"), Self::NotFound),
            (has("unable to find configuration file for VM "), Self::NotFound),
            (has("unable to find configuration file for CT "), Self::NotFound),
            (has("got lock request timeout"), Self::Busy),
            (has("got no worker upid"), Self::Busy),
            (has("-locked command timed out - aborting"), Self::Ambiguous),
            (has("checksum mismatch (file change by other user?)"), Self::Changed),
            (has("detected modified configuration"), Self::Changed),
            (has("protection mode enabled"), Self::Protected),
            (has("is running - destroy failed") || has("if VM is running"), Self::Running),
            (has("still in use by linked clone"), Self::InUse),
            (has("no quorum?") || has("no quorum!"), Self::NoQuorum),
            (has("only root can ") || has("Only root can ") || has("Only root may use this option"), Self::RootOnly),
            (numbered("VM ", " already running"), Self::AlreadyRunning),
            (numbered("VM ", " is not running") || numbered("VM ", " not running"), Self::NotRunning),
            (has("config file already exists") || has("already exists on node '"), Self::Exists),
            (has("failed: File exists") || text.ends_with("already exists"), Self::Exists),
            (has("hotplug problem - "), Self::Hotplug),
            (has("hostname lookup '") || has("no such cluster node '"), Self::UnknownHost),
            (has("proxy loop detected"), Self::UnknownHost),
            (has("storage '") && (has("' does not exist") || has("' is not available on node")), Self::UnknownStorage),
            (has("is not configured for content-type"), Self::ContentType),
            (has("QEMU guest agent") || has("qga command '"), Self::NoAgent),
            (has("Unable to load access control list"), Self::ClusterFilesystemDown),
            (has("convert a template to a template") || has("if it's a template"), Self::IsTemplate),
            // These are found before anything is forked or written.
            (has("not allowed for linked clones") || has("clone feature is not supported"), Self::Parameters),
            (has("can't clone VM to node '") || has("can't clone to non-shared storage"), Self::Parameters),
            (text == "no options specified" || has("balloon value too large"), Self::Parameters),
        ];
        table.into_iter().find(|(matches, _)| *matches).map(|(_, kind)| kind)
    }
}

/// `Permission check failed (/vms/9000, VM.Clone)`, with several privileges, or with nothing at all.
fn permission(text: &str) -> RefusalKind {
    let nowhere = || RefusalKind::Forbidden { path: None, privileges: Vec::new() };
    let Some(inside) = between(text, "Permission check failed (", ")") else {
        return nowhere();
    };
    if inside.contains("root@pam") {
        return RefusalKind::RootOnly;
    }
    let Some((path, privileges)) = inside.split_once(", ").filter(|(path, _)| path.starts_with('/')) else {
        return nowhere();
    };
    // A refused tag is named after the privilege: `Sys.Modify for modifying tag 'x'`.
    let privileges = privileges.split_once(" for ").map_or(privileges, |(privileges, _)| privileges);
    let words = privileges.split(['|', ',']).map(str::trim).filter(|word| !word.is_empty());
    RefusalKind::Forbidden { path: Some(path.to_owned()), privileges: words.map(str::to_owned).collect() }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let rest = &text[text.find(before)? + before.len()..];
    Some(&rest[..rest.find(after)?])
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "not found",
            Self::Exists => "exists already",
            Self::Locked(lock) => return write!(f, "locked ({lock})"),
            Self::Busy => "busy",
            Self::Ambiguous => "perhaps done",
            Self::Changed => "changed meanwhile",
            Self::Protected => "protected",
            Self::Running => "running",
            Self::AlreadyRunning => "running already",
            Self::NotRunning => "not running",
            Self::InUse => "in use by linked clones",
            Self::NoQuorum => "no quorum",
            Self::Forbidden { path: Some(path), privileges } => {
                return write!(f, "{} on {path} is missing", privileges.join(" or "));
            }
            Self::Forbidden { path: None, .. } => "a privilege is missing",
            Self::RootOnly => "for root only",
            Self::Unauthenticated => "token not accepted",
            Self::Parameters => "wrong parameters",
            Self::Hotplug => "waits for a power cycle",
            Self::UnknownHost => "unknown host",
            Self::UnknownStorage => "unknown storage",
            Self::UnknownPool => "unknown pool",
            Self::IsTemplate => "a template",
            Self::ContentType => "content type not enabled",
            Self::NoSuchTask => "unknown task",
            Self::NoAgent => "no guest agent",
            Self::NotImplemented => "not implemented",
            Self::BackendUnreachable => "host or daemon unreachable",
            Self::BackendSilent => "host or daemon silent",
            Self::ClusterFilesystemDown => "cluster file system down",
            Self::Redirected => "redirected",
            Self::Other => "refused",
        })
    }
}
