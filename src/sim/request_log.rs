//! Which requests came, when, and how many at once.

use std::collections::BTreeMap;
use std::time::Duration;

use super::faults::Pattern;
use crate::proxmox::request::{Method, Request};

/// One request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Counted from 1 over all requests.
    pub number: u64,
    /// World time.
    pub at: Duration,
    pub request: Request,
}

/// The requests in the order of their arrival.
#[derive(Clone, Debug, Default)]
pub struct RequestLog {
    requests: Vec<Logged>,
    forgotten: usize,
    in_flight: usize,
    most_in_flight: usize,
}

/// More than any run of ours sends. A simulator that serves for weeks forgets the oldest requests, except that they were.
const LONGEST: usize = 200_000;

impl RequestLog {
    /// Notes a request and gives it its number.
    pub(super) fn note(&mut self, at: Duration, request: &Request) -> u64 {
        if self.requests.len() >= LONGEST {
            self.forgotten += LONGEST / 2;
            self.requests.drain(..LONGEST / 2);
        }
        let number = self.total() as u64 + 1;
        self.requests.push(Logged { number, at, request: request.clone() });
        self.in_flight += 1;
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
        number
    }

    /// A request is over, answered or not.
    pub(super) fn note_end(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// The requests that are not forgotten.
    pub fn requests(&self) -> &[Logged] {
        &self.requests
    }

    pub fn total(&self) -> usize {
        self.forgotten + self.requests.len()
    }

    /// How many requests had this method and a path like this one (`*` for a segment, a last `**` for the rest).
    pub fn count(&self, method: Method, path: &str) -> usize {
        let pattern = Pattern::new(method, path);
        self.requests.iter().filter(|logged| pattern.matches(&logged.request)).count()
    }

    /// The number of requests for each `METHOD /path`, sorted by that text.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for Logged { request, .. } in &self.requests {
            *counts.entry(format!("{} {}", request.method, request.path)).or_default() += 1;
        }
        counts
    }

    /// The largest number of requests that were waiting for their answers at one time.
    pub fn most_in_flight(&self) -> usize {
        self.most_in_flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_method_and_path() {
        let mut log = RequestLog::default();
        for (method, path) in
            [(Method::Get, "/nodes/a/tasks"), (Method::Get, "/nodes/b/tasks"), (Method::Post, "/nodes/a/tasks")]
        {
            let request = Request { method, path: path.to_owned(), params: Vec::new() };
            log.note(Duration::ZERO, &request);
        }
        log.note_end();
        assert_eq!(log.total(), 3);
        assert_eq!(log.count(Method::Get, "/nodes/*/tasks"), 2);
        assert_eq!(log.counts().get("POST /nodes/a/tasks"), Some(&1));
        assert_eq!(log.most_in_flight(), 3);
    }

    #[test]
    fn a_long_log_forgets_its_beginning_and_keeps_counting() {
        let request = Request { method: Method::Get, path: "/version".to_owned(), params: Vec::new() };
        let mut log = RequestLog::default();
        for expected in 1..=LONGEST as u64 + 5 {
            assert_eq!(log.note(Duration::ZERO, &request), expected);
        }
        assert_eq!((log.total(), log.requests().len()), (LONGEST + 5, LONGEST / 2 + 5));
    }
}
