//! Replays what a real Proxmox VE 9 answered against the simulator: same calls, same order, same moments.
//!
//! `recordings.jsonl` holds one exchange per line, in the order in which they happened. [`story`] sets up what happened
//! between them without a recording (an operator edited a file, a worker was killed), [`compare`] says when two answers
//! are the same, and [`exceptions`] lists what cannot be the same, each with its reason.

#![expect(clippy::unwrap_used, reason = "a test ends where its assumptions do")]

mod compare;
mod exceptions;
mod recording;
mod story;

use std::collections::BTreeMap;
use std::time::Duration;

use compare::Words;
use pvetalos::proxmox::request::{Method, Request};
use pvetalos::sim::{Call, Reply, World, WorldFault};
use recording::Recording;
use serde_json::Value;

/// A world, the clock, and what recorded names are called in it.
struct Replay {
    world: World,
    now: Duration,
    words: Words,
    /// Secrets of the tokens that were made on the way.
    secrets: BTreeMap<String, String>,
}

impl Replay {
    fn send(&mut self, authorization: Option<&str>, request: &Request) -> Reply {
        let reply = self.world.call(self.now, Call { request, authorization });
        self.now += reply.delay;
        reply
    }

    /// A call that nobody recorded, without waiting for its task.
    fn begin(&mut self, method: Method, path: &str, params: &[(&str, &str)]) -> Value {
        self.begin_as(story::ROOT, method, path, params)
    }

    fn begin_as(&mut self, authorization: &str, method: Method, path: &str, params: &[(&str, &str)]) -> Value {
        let params = params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let request = Request { method, path: path.to_owned(), params };
        let reply = self.send(Some(authorization), &request);
        let text = String::from_utf8_lossy(&reply.answer.body).into_owned();
        assert_eq!(reply.answer.status, 200, "{method:?} {path}: {} {text}", reply.answer.reason);
        serde_json::from_str::<Value>(&text).unwrap()["data"].clone()
    }

    /// A call that nobody recorded, and its task to the end.
    fn aside(&mut self, method: Method, path: &str, params: &[(&str, &str)]) {
        self.begin(method, path, params);
        self.settle();
    }

    /// Lets time go on until something is true of the saved world.
    fn until(&mut self, condition: impl Fn(&Value) -> bool) {
        for _ in 0..200 {
            if condition(&self.world.to_json()["saved"]) {
                self.now = self.now.max(self.world.now());
                return;
            }
            let next = self.world.next_event().expect("something is going on");
            self.world.advance(next);
        }
        panic!("it never became true");
    }

    /// Lets all tasks end.
    fn settle(&mut self) {
        while !self.world.running_tasks().is_empty() {
            let next = self.world.next_event().expect("a task is going on");
            self.world.advance(next);
        }
        self.now = self.now.max(self.world.now());
    }

    /// Changes the world behind its back, as somebody with a shell on the host would.
    fn edit(&mut self, change: impl FnOnce(&mut Value)) {
        self.world.advance(self.now);
        let mut json = self.world.to_json();
        change(&mut json["saved"]);
        self.world = World::from_json(&json).unwrap();
    }

    /// Lets something go wrong now.
    fn inject(&mut self, fault: WorldFault) {
        self.world.advance(self.now);
        self.world.inject(fault);
    }

    fn replay(&mut self, recording: &Recording) -> Result<(), String> {
        let mut request = recording.request(&self.words);
        if let Some((content, file, size)) = recording.upload() {
            let path = self.world.receive_upload(size, None);
            let params = [("content", content), ("filename", file), ("tmpfilename", path)];
            request.params.extend(params.map(|(key, value)| (key.to_owned(), value)));
        }
        let authorization = recording.authorization(&self.secrets);
        let mut reply = self.send(authorization.as_deref(), &request);
        if recording.is_ended_task() {
            // Whoever recorded it asked until the task was over.
            for _ in 0..900 {
                if !String::from_utf8_lossy(&reply.answer.body).contains("\"status\":\"running\"") {
                    break;
                }
                self.now += Duration::from_millis(100);
                reply = self.send(authorization.as_deref(), &request);
            }
        }
        let body: Value = if reply.answer.body.is_empty() {
            Value::String(String::new())
        } else {
            serde_json::from_slice(&reply.answer.body).map_err(|error| error.to_string())?
        };
        self.words.learn(&recording.answer, &body);
        if let Some(secret) = body["data"]["value"].as_str().filter(|_| recording.path.contains("/token/")) {
            let id = body["data"]["full-tokenid"].as_str().unwrap_or_default();
            self.secrets.insert(id.to_owned(), secret.to_owned());
        }
        if reply.answer.status != recording.status {
            return Err(format!(
                "status {} instead of {}\n    {}\n    {}",
                reply.answer.status, recording.status, reply.answer.reason, body
            ));
        }
        self.words.compare(recording, &reply.answer.reason, &body)?;
        // Below that, the recorded time is only the load of the machine.
        let (took, delay) = (recording.took, reply.delay.as_secs_f64());
        if took > 2.5 && !(0.8..1.2).contains(&(delay / took)) {
            return Err(format!("it takes {delay} s instead of {took} s"));
        }
        Ok(())
    }
}

#[test]
fn the_simulator_answers_what_a_real_server_answered() {
    let recordings = recording::all();
    let mut replay =
        Replay { world: story::world(), now: Duration::ZERO, words: Words::new(&recordings), secrets: BTreeMap::new() };
    let (mut equal, mut by_shape, mut different, mut excepted) = (0, 0, Vec::new(), 0);
    let mut needless = Vec::new();
    for recording in &recordings {
        let begun = Duration::from_secs_f64((recording.at - recording.took).max(0.0));
        replay.now = replay.now.max(begun);
        if let Some(reason) = exceptions::not_sent(recording) {
            assert!(!reason.is_empty());
            excepted += 1;
            continue;
        }
        story::before(&mut replay, &recording.name);
        replay.now = replay.now.max(begun);
        let result = replay.replay(recording);
        replay.now += Duration::from_millis(5);
        match (result, exceptions::differs(&recording.name)) {
            (Ok(()), None) if recording.is_compared_by_shape() => by_shape += 1,
            (Ok(()), None) => equal += 1,
            (Ok(()), Some(_)) => needless.push(recording.name.clone()),
            (Err(_), Some(reason)) => {
                assert!(!reason.is_empty());
                excepted += 1;
            }
            (Err(text), None) => different.push(format!("{}: {text}", recording.name)),
        }
    }
    let total = recordings.len();
    let named = |name: &str| recordings.iter().any(|recording| recording.name == name);
    assert!(exceptions::ELSEWHERE.iter().all(|(name, _)| !named(name)), "replayed although tested elsewhere");
    #[expect(clippy::print_stdout, reason = "the counts are what this test is read for")]
    {
        println!(
            "replayed {total} recordings: {equal} equal, {by_shape} equal in shape, {} different, {excepted} excepted",
            different.len()
        );
        for (name, reason) in exceptions::ELSEWHERE {
            println!("not replayed: {name}: {reason}");
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert!(needless.is_empty(), "excepted although they are equal: {needless:?}");
    assert!(excepted * 10 < total, "too many exceptions: {excepted} of {total}");
}
