//! The recordings that the simulator cannot reproduce, each with its reason.

use crate::recording::Recording;

/// Recordings that cannot even be sent to the state machine.
pub(crate) fn not_sent(recording: &Recording) -> Option<&'static str> {
    if recording.method().is_none() {
        return Some("the HTTP server refuses other methods before any call; tests/simulator replays them");
    }
    NOT_SENT.iter().find(|(name, _)| *name == recording.name).map(|(_, reason)| *reason)
}

const NOT_SENT: &[(&str, &str)] = &[
    ("300-json-body-broken", "the HTTP server reads bodies; tests/simulator replays it"),
    ("301-json-body-array", "the HTTP server reads bodies; tests/simulator replays it"),
    ("302-json-body-null", "the HTTP server reads bodies; tests/simulator replays it"),
    ("303-text-plain-body", "the HTTP server checks content types; tests/simulator replays it"),
    ("425-delete-parameters-in-body", "the HTTP server refuses bodies; tests/simulator replays it"),
    ("672-body-600k", "the HTTP server limits bodies; tests/simulator replays it"),
    ("680-access-ticket-ok", "tickets are not simulated: the program uses tokens only"),
    ("681-ticket-post-without-csrf-header", "tickets are not simulated: the program uses tokens only"),
    ("682-ticket-get", "tickets are not simulated: the program uses tokens only"),
    ("683-access-ticket-bad-password", "tickets are not simulated: the program uses tokens only"),
];

/// Recordings that are no exchange with the API, so that the fixture does not have them, and where they are tested.
pub(crate) const ELSEWHERE: &[(&str, &str)] = &[
    ("690-plain-http-on-tls-port", "plain HTTP never reaches a call; tests/simulator/manners.rs sends it to a socket"),
    ("740-lock-timeouts", "a table of waits for a lock that somebody holds; tests/world/locks.rs has each of them"),
];

/// Recordings that are sent, but answered differently.
pub(crate) fn differs(name: &str) -> Option<&'static str> {
    DIFFERS.iter().find(|(excepted, _)| *excepted == name).map(|(_, reason)| *reason)
}

const DIFFERS: &[(&str, &str)] = &[
    ("646-hotplug-nic", "the recording host was too slow for the proxy's 30 s; the change itself went through"),
    (
        "710-cluster-fs-down-get-version",
        "the same answer, but the first call after the outage waited for it, up to 20 s",
    ),
    ("761-30-parallel-clones-failed-task-log", "which of thirty clones waits where is chance"),
];
