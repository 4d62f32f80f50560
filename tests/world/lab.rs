use std::time::Duration;

use pvetalos::proxmox::request::{Method, Request};
use pvetalos::sim::{Call, World};
use serde_json::{Value, json};

/// A world with somebody who works in it.
pub(crate) struct Lab {
    pub(crate) world: World,
    pub(crate) now: Duration,
    pub(crate) token: String,
}

/// What somebody sees of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) reason: String,
    pub(crate) body: Value,
    pub(crate) delay: Duration,
}

impl Seen {
    #[track_caller]
    pub(crate) fn data(self) -> Value {
        assert_eq!(self.status, 200, "{} {}", self.reason, self.body);
        self.body["data"].clone()
    }

    pub(crate) fn refused(&self) -> (u16, &str) {
        (self.status, &self.reason)
    }

    pub(crate) fn error(&self, parameter: &str) -> &str {
        self.body["errors"][parameter].as_str().unwrap_or_default()
    }
}

impl Lab {
    pub(crate) fn new(world: &Value) -> Self {
        let (mut world, now) = (World::from_json(world).unwrap(), Duration::from_secs(20));
        world.advance(now);
        let token = world.authorization().unwrap();
        Self { world, now, token }
    }

    /// One host with a directory and a template.
    pub(crate) fn small() -> Self {
        Self::new(&json!({
            "hosts": { "pve": {} },
            "storages": { "local": { "type": "dir" } },
            "templates": { "9000": { "name": "talos", "disks": { "efidisk0": "528K", "ide2": "cloudinit", "scsi0": "1G" } } },
        }))
    }

    /// The same with another kind of storage.
    pub(crate) fn with_storage(kind: &str) -> Self {
        Self::new(&json!({
            "hosts": { "pve": {} },
            "storages": { "tank": { "type": kind }, "local": { "type": "dir", "content": ["import", "iso"], "files": {
                "import/talos.qcow2": { "size": "100M", "virtual_size": "1246M" } } } },
            "templates": { "9000": { "name": "talos", "storage": "tank" } },
        }))
    }

    pub(crate) fn send(&mut self, method: Method, path: &str, params: &[(&str, &str)]) -> Seen {
        let params = params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let request = Request { method, path: path.to_owned(), params };
        let reply = self.world.call(self.now, Call { request: &request, authorization: Some(&self.token) });
        let body = serde_json::from_slice(&reply.answer.body).unwrap_or(Value::Null);
        Seen { status: reply.answer.status, reason: reply.answer.reason, body, delay: reply.delay }
    }

    pub(crate) fn get(&mut self, path: &str) -> Seen {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let params: Vec<(&str, &str)> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        self.send(Method::Get, path, &params)
    }

    pub(crate) fn put(&mut self, path: &str, params: &[(&str, &str)]) -> Seen {
        self.send(Method::Put, path, params)
    }

    pub(crate) fn post(&mut self, path: &str, params: &[(&str, &str)]) -> Seen {
        self.send(Method::Post, path, params)
    }

    pub(crate) fn delete(&mut self, path: &str, params: &[(&str, &str)]) -> Seen {
        self.send(Method::Delete, path, params)
    }

    /// Waits for the end of a task and tells its exit status.
    #[track_caller]
    pub(crate) fn finish(&mut self, upid: &Value) -> String {
        let upid = upid.as_str().unwrap();
        let host = upid.split(':').nth(1).unwrap();
        let path = format!("/nodes/{host}/tasks/{upid}/status");
        for _ in 0..10_000 {
            if let Some(exit) = self.get(&path).data()["exitstatus"].as_str() {
                return exit.to_owned();
            }
            self.wait(Duration::from_millis(50));
        }
        panic!("{upid} never ends");
    }

    /// Makes a call that starts a task, and waits for it.
    #[track_caller]
    pub(crate) fn run(&mut self, method: Method, path: &str, params: &[(&str, &str)]) -> String {
        let upid = self.send(method, path, params).data();
        self.finish(&upid)
    }

    #[track_caller]
    pub(crate) fn clone_to(&mut self, id: u32, more: &[(&str, &str)]) -> String {
        let id = id.to_string();
        let mut params = vec![("newid", id.as_str())];
        params.extend(more);
        self.run(Method::Post, "/nodes/pve/qemu/9000/clone", &params)
    }

    #[track_caller]
    pub(crate) fn config(&mut self, id: u32) -> Value {
        self.get(&format!("/nodes/pve/qemu/{id}/config")).data()
    }

    pub(crate) fn log(&mut self, upid: &Value) -> Vec<String> {
        let upid = upid.as_str().unwrap();
        let host = upid.split(':').nth(1).unwrap();
        let lines = self.get(&format!("/nodes/{host}/tasks/{upid}/log?limit=0")).data();
        lines.as_array().unwrap().iter().map(|line| line["t"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn since(&self, begun: Duration) -> Duration {
        self.now.saturating_sub(begun)
    }

    pub(crate) fn wait(&mut self, time: Duration) {
        self.now += time;
        self.world.advance(self.now);
    }
}
