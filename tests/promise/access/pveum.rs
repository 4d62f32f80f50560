use std::collections::BTreeMap;

use pvetalos::proxmox::request::{Method, Request};
use pvetalos::sim::{Call, Simulator};
use serde_json::Value;

/// Root on a host: makes calls of the API with all rights.
pub(crate) struct Root<'a>(pub(crate) &'a Simulator);

const AUTHORIZATION: &str = "PVEAPIToken=root@pam!admin=22222222-2222-4222-8222-222222222222";

impl Root<'_> {
    /// Makes a call that must succeed.
    #[track_caller]
    pub(crate) fn call(&self, method: Method, path: &str, params: &[(&str, &str)]) -> Value {
        let params = params.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let request = Request { method, path: path.to_owned(), params };
        let call = Call { request: &request, authorization: Some(AUTHORIZATION) };
        let answer = self.0.world(|world| world.call(world.now(), call)).answer;
        assert_eq!(answer.status, 200, "{method} {path} {:?}: {}", request.params, answer.reason);
        serde_json::from_slice::<Value>(&answer.body).expect("an answer is JSON")["data"].take()
    }

    /// Pastes a script into a shell, and tells the secrets that were shown.
    #[track_caller]
    pub(crate) fn paste(&self, script: &str) -> Vec<String> {
        let lines = script.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.filter_map(|line| self.run(&words(line))).collect()
    }

    /// One call of `pveum`, of exactly the kinds that are printed.
    #[track_caller]
    fn run(&self, line: &[String]) -> Option<String> {
        let options = line.iter().position(|word| word.starts_with("--")).unwrap_or(line.len());
        let (command, options) = line.split_at(options);
        let mut given: BTreeMap<&str, &str> = options
            .chunks(2)
            .map(|pair| (pair[0].strip_prefix("--").expect("an option"), pair.get(1).expect("its value").as_str()))
            .collect();
        let mut take = |names: &[&'static str]| -> Vec<(&'static str, String)> {
            names.iter().filter_map(|name| Some((*name, given.remove(name)?.to_owned()))).collect()
        };
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let (method, path, own, options) = match command.as_slice() {
            ["pveum", "role", "add", role] => {
                (Method::Post, "/access/roles".to_owned(), vec![("roleid", *role)], take(&["privs"]))
            }
            ["pveum", "role", "delete", role] => (Method::Delete, format!("/access/roles/{role}"), vec![], vec![]),
            ["pveum", "user", "add", user] => {
                (Method::Post, "/access/users".to_owned(), vec![("userid", *user)], vec![])
            }
            ["pveum", "user", "delete", user] => (Method::Delete, format!("/access/users/{user}"), vec![], vec![]),
            ["pveum", "user", "token", "add", user, token] => {
                (Method::Post, format!("/access/users/{user}/token/{token}"), vec![], take(&["privsep"]))
            }
            ["pveum", "user", "token", "remove", user, token] => {
                (Method::Delete, format!("/access/users/{user}/token/{token}"), vec![], vec![])
            }
            ["pveum", "pool", "add", pool] => (Method::Post, "/pools".to_owned(), vec![("poolid", *pool)], vec![]),
            ["pveum", "acl", "modify", path] => {
                let options = take(&["roles", "users", "tokens", "propagate"]);
                (Method::Put, "/access/acl".to_owned(), vec![("path", *path)], options)
            }
            other => panic!("nobody knows {other:?}"),
        };
        assert!(given.is_empty(), "{line:?} has options that nobody knows: {given:?}");
        let options = options.iter().map(|(name, value)| (*name, value.as_str()));
        let params: Vec<(&str, &str)> = own.into_iter().chain(options).collect();
        self.call(method, &path, &params)["value"].as_str().map(str::to_owned)
    }
}

/// The words of a line as a POSIX shell sees them: as far as single quotes and backslashes go, and no further.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut rest = line.chars();
    let mut word = |c: Option<char>| match c {
        Some(c) => words.last_mut().expect("there is one").push(c),
        None => words.push(String::new()),
    };
    while let Some(c) = rest.next() {
        match c {
            ' ' => word(None),
            '\'' => rest.by_ref().take_while(|c| *c != '\'').for_each(|c| word(Some(c))),
            '\\' => word(rest.next()),
            c if c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c) => word(Some(c)),
            special => panic!("{special} means something to a shell: {line}"),
        }
    }
    words
}

#[test]
fn words_are_what_a_shell_makes_of_them() {
    assert_eq!(
        words(r"pveum acl modify / --users 'o'\''neil@pve!x y'"),
        ["pveum", "acl", "modify", "/", "--users", "o'neil@pve!x y"]
    );
}
