//! One request, from the header to the answer: who asks, which call it is, whether they may, whether the parameters
//! are right — in the order of the real server (`PVE/HTTPServer.pm: rest_handler`), because 403 wins over 400 and both
//! win over "does not exist".

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::flock::{LockName, Mode};
use super::param::{Errors, Kind, Param, check_all, newer_than_eight};
use super::route::{ROUTES, Route};
use super::update;
use super::worker::Job;
use super::world::{Millis, World, millis};
use crate::model::Mark;
use crate::proxmox::request::{Answer, Method, Request};

/// How many changes of VMs without our mark are remembered.
const MOST_CHANGES: usize = 1000;

/// One request as it reaches the API, together with the raw value of its `Authorization` header.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub request: &'a Request,
    pub authorization: Option<&'a str>,
}

/// The answer, and how the real server would give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub answer: Answer,
    /// How long the real server would take: 3 s for a wrong token, up to 10 s for a lock.
    pub delay: Duration,
    /// Whether the connection ends here.
    pub close: bool,
}

/// What a handler knows about the call that it carries out.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// `user@realm` or `user@realm!token`.
    pub(crate) user: String,
    /// The host that carries the call out.
    pub(crate) host: String,
    pub(crate) params: BTreeMap<String, String>,
}

impl Context {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.params.get(name).map(String::as_str)
    }

    /// A parameter that the table of routes requires; empty if it forgot to.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name) == Some("1")
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name).and_then(|text| text.trim_start_matches('+').parse().ok())
    }

    pub(crate) fn vmid(&self) -> u32 {
        self.number("vmid").unwrap_or_default()
    }

    /// Whether this is the one user that hard-coded checks let pass; a token of it is not.
    pub(crate) fn is_root(&self) -> bool {
        self.user == "root@pam"
    }
}

/// What a handler gives back.
pub(crate) type Handled = Result<Outcome, Failure>;

/// A successful answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) data: Value,
    pub(crate) total: Option<usize>,
    pub(crate) delay: Millis,
}

impl From<Value> for Outcome {
    fn from(data: Value) -> Self {
        Self { data, total: None, delay: 0 }
    }
}

impl Outcome {
    pub(crate) fn null() -> Self {
        Value::Null.into()
    }

    pub(crate) fn list(rows: Vec<Value>, total: usize) -> Self {
        Self { data: Value::Array(rows), total: Some(total), delay: 0 }
    }
}

impl From<Outcome> for Reply {
    fn from(outcome: Outcome) -> Self {
        let mut body = Map::from_iter([("data".to_owned(), outcome.data)]);
        body.extend(outcome.total.map(|total| ("total".to_owned(), json!(total))));
        let body = Value::Object(body).to_string().into_bytes();
        let answer = Answer { status: 200, reason: "OK".to_owned(), body };
        Self { answer, delay: Duration::from_millis(outcome.delay), close: false }
    }
}

/// A refusal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) message: String,
    pub(crate) errors: Errors,
    pub(crate) delay: Millis,
    /// Whether the body is empty instead of JSON.
    pub(crate) bare: bool,
}

impl Failure {
    /// The usual one: a 500 with a text.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { status: 500, message: message.into(), errors: Errors::new(), delay: 0, bare: false }
    }

    pub(crate) fn with_status(status: u16, message: impl Into<String>) -> Self {
        Self { status, ..Self::new(message) }
    }

    pub(crate) fn forbidden(what: &str) -> Self {
        let message = if what.is_empty() {
            "Permission check failed".to_owned()
        } else {
            format!("Permission check failed ({what})")
        };
        Self::with_status(403, message)
    }

    pub(crate) fn parameter(name: &str, text: impl Into<String>) -> Self {
        Self::parameters([(name.to_owned(), text.into())].into())
    }

    pub(crate) fn parameters(errors: Errors) -> Self {
        Self { errors, ..Self::with_status(400, "Parameter verification failed.") }
    }

    /// An answer without a body.
    pub(crate) fn bare(status: u16, message: &str, delay: Millis) -> Self {
        Self { bare: true, delay, ..Self::with_status(status, message) }
    }

    pub(crate) fn after(mut self, delay: Millis) -> Self {
        self.delay = delay;
        self
    }

    /// How a worker that dies of it says so.
    pub(crate) fn into_task_error(self) -> String {
        if self.status == 500 {
            return self.message;
        }
        let errors = self.errors.iter().map(|(key, text)| format!("{key}: {text}"));
        let parts: Vec<String> = [self.status.to_string(), self.message.clone()].into_iter().chain(errors).collect();
        parts.join(" ")
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl World {
    /// Carries out one call at virtual time `now` (since the world's start).
    pub fn call(&mut self, now: Duration, call: Call<'_>) -> Reply {
        self.run_until(millis(now));
        match self.handle(call) {
            Ok(outcome) => outcome.into(),
            Err(failure) => self.refuse(&failure),
        }
    }

    fn refuse(&self, failure: &Failure) -> Reply {
        let reason = failure.message.lines().next().unwrap_or_default().to_owned();
        let body = if failure.bare {
            Vec::new()
        } else {
            let mut body = json!({ "data": null });
            if let Some(body) = body.as_object_mut() {
                if !failure.errors.is_empty() {
                    body.insert("errors".to_owned(), json!(failure.errors));
                }
                if self.release.has_message_in_body() {
                    // The one text that comes from the server itself and not from a call ends without a line break.
                    let end = if failure.status == 501 { "" } else { "\n" };
                    body.insert("message".to_owned(), json!(format!("{}{end}", failure.message)));
                }
            }
            body.to_string().into_bytes()
        };
        let answer = Answer { status: failure.status, reason, body };
        Reply { answer, delay: Duration::from_millis(failure.delay), close: true }
    }

    fn handle(&mut self, call: Call<'_>) -> Handled {
        if self.cluster_fs_down {
            let text = "RPCEnvironment init request failed: Unable to load access control list: Connection refused";
            return Err(Failure::bare(500, text, 3000));
        }
        let user = self.authenticate(call.authorization)?;
        let path = percent_decode(&call.request.path);
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let Some((route, variables)) = find_route(call.request.method, &parts) else {
            let text = format!("Method '{} /{}' not implemented", call.request.method, parts.join("/"));
            return Err(Failure::with_status(501, text));
        };
        let mut params = gather(&call.request.params, route.params);
        for (name, value) in variables {
            if params.get(name).is_some_and(|given| *given != value) {
                let text = "duplicate parameter (already defined in URI) with conflicting values!";
                return Err(Failure::parameter(name, text));
            }
            params.insert(name.to_owned(), value);
        }
        let access = if self.release.major() < 9 { route.access.before_nine() } else { route.access };
        self.check_access(&user, &access, &params)?;
        let host = self.pick_host(route, &params)?;
        let mut errors = check_all(route.params, "", &params);
        errors.extend(check_lists(&call.request.params, route.params));
        if self.release.major() < 9 {
            errors.extend(newer_than_eight(&params));
        }
        if !errors.is_empty() {
            return Err(Failure::parameters(errors));
        }
        let context = Context { user, host, params };
        if call.request.method != Method::Get {
            self.unreported = true;
            self.note_change(route, &context, &parts);
        }
        (route.run)(self, &context)
    }

    /// Remembers who wants to change a VM that is not ours.
    fn note_change(&mut self, route: &Route, context: &Context, parts: &[&str]) {
        let changes =
            route.path.contains("/qemu/{vmid}") && !route.path.ends_with("/clone") && !route.path.contains("/agent/");
        // A mark that names another number was copied together with the VM that it names.
        let marked = |text: &String| match Mark::find(text) {
            Some(mark) => mark.vmid.get() == context.vmid(),
            None => text.contains("pvetalos-template"),
        };
        let foreign = self
            .vms
            .get(&context.vmid())
            .is_some_and(|vm| vm.lock().is_none() && !vm.config.get("description").is_some_and(marked));
        if changes && foreign && self.changes_without_mark.len() < MOST_CHANGES {
            self.changes_without_mark.push(format!("{} /{}", route.method, parts.join("/")));
        }
    }

    /// The host that carries out the call, if it can be reached.
    fn pick_host(&self, route: &Route, params: &BTreeMap<String, String>) -> Result<String, Failure> {
        let wanted = params.get("node").filter(|_| route.on_node).map_or(self.entry.as_str(), String::as_str);
        let wanted = if wanted == "localhost" { &self.entry } else { wanted };
        let Some(host) = self.hosts.get(wanted) else {
            // Names are compared with their case, but name resolution finds the own host all the same.
            if self.hosts.keys().any(|name| name.eq_ignore_ascii_case(wanted)) {
                return Err(Failure::bare(595, "Connection refused", 0));
            }
            let why = format!("failed to get address info for: {wanted}: Name or service not known");
            return Err(Failure::new(format!("hostname lookup '{wanted}' failed - {why}")));
        };
        if !host.online {
            return Err(Failure::bare(595, "No route to host", 3000));
        }
        if route.protected && !host.daemon {
            return Err(Failure::bare(595, "Connection refused", 0));
        }
        Ok(wanted.to_owned())
    }

    /// Carries out a change that needs a file lock and that the caller waits for.
    ///
    /// When the lock is taken, a copy of the world runs on until it is free: that tells the answer and its delay. The
    /// change itself is queued in this world for the same moment.
    pub(crate) fn change_locked(
        &mut self,
        context: &Context,
        lock: &LockName,
        wait: Millis,
        change: &update::Change,
    ) -> Handled {
        if self.flocks.is_free(lock, Mode::Exclusive, u64::MAX) {
            return self.change(context, lock, change);
        }
        let mut future = self.clone();
        let deadline = self.later(wait);
        while !future.flocks.is_free(lock, Mode::Exclusive, u64::MAX) {
            match future.workers.next_wake().filter(|wake| *wake <= deadline) {
                Some(wake) => future.run_until(wake),
                None => return Err(Failure::new(lock.timeout()).after(wait)),
            }
        }
        let waited = future.now - self.now;
        let job = update::Job::queued(lock.clone(), wait, context.clone(), change.clone());
        self.spawn(&context.host, None, &context.user, Job::Update(Box::new(job)), 0);
        self.run_until(self.now);
        match future.change(context, lock, change) {
            Ok(outcome) => Ok(Outcome { delay: outcome.delay.saturating_add(waited), ..outcome }),
            Err(failure) => {
                let delay = failure.delay.saturating_add(waited);
                Err(failure.after(delay))
            }
        }
    }
}

fn find_route(method: Method, parts: &[&str]) -> Option<(&'static Route, Vec<(&'static str, String)>)> {
    ROUTES
        .iter()
        .filter(|route| route.method == method)
        .find_map(|route| route.match_path(parts).map(|variables| (route, variables)))
}

/// The parameters by name. A repeated one becomes a list where the API takes lists; elsewhere it is refused later.
fn gather(given: &[(String, String)], known: &[&[Param]]) -> BTreeMap<String, String> {
    let mut params = BTreeMap::<String, String>::new();
    for (name, value) in given.iter().filter(|(name, _)| name != "_dc") {
        match params.get_mut(name) {
            Some(before) if find_param(known, name).is_some_and(is_list) => {
                before.push(',');
                before.push_str(value);
            }
            _ => {
                params.insert(name.clone(), value.clone());
            }
        }
    }
    params
}

/// What is wrong with lists where the API takes single values. A parameter that is given twice is a list.
fn check_lists(given: &[(String, String)], known: &[&[Param]]) -> Errors {
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<&String> = given.iter().map(|(name, _)| name).filter(|name| !seen.insert(*name)).collect();
    let refused = |param: &Param| format!("type check ('{}') failed - got ARRAY", param.kind.word());
    let single = |name: &str| find_param(known, name).filter(|param| !is_list(param));
    repeated.into_iter().filter_map(|name| Some((name.clone(), refused(single(name)?)))).collect()
}

/// Whether this parameter of this call takes a list.
pub(super) fn takes_list(method: Method, path: &str, name: &str) -> bool {
    param_of(method, path, name).is_some_and(is_list)
}

/// Whether this parameter of this call is a text, be it one with a grammar.
pub(super) fn takes_text(method: Method, path: &str, name: &str) -> bool {
    param_of(method, path, name).is_some_and(|param| param.kind == Kind::Text)
}

fn param_of(method: Method, path: &str, name: &str) -> Option<&'static Param> {
    let path = percent_decode(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    find_param(find_route(method, &parts)?.0.params, name)
}

fn find_param<'p>(known: &[&'p [Param]], name: &str) -> Option<&'p Param> {
    known.iter().flat_map(|group| group.iter()).find(|param| param.is(name))
}

fn is_list(param: &Param) -> bool {
    matches!(param.format, Some(super::format::Format::List(_)))
}

/// Decodes once. A `%` that does not begin two hexadecimal digits stands for itself, and bytes that are not UTF-8
/// become the replacement character.
pub(crate) fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}
