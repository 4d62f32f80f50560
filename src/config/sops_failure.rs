//! Why `sops` did not decrypt a file, told by how it ended and what it said.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};

use super::gather::shown;
use super::problem::{Place, Problem};
use super::secrets_file::SecretsFile;
use super::source::suspicious;
use crate::model::made_printable;

/// Where `sops` was told to look for an age key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AgeKey {
    /// In the file that `SOPS_AGE_KEY_FILE` names.
    Named(PathBuf),
    /// In age.key beside nodes.yaml.
    Beside(PathBuf),
    /// Where this variable says.
    Variable(&'static str),
    /// Nowhere: it has places of its own.
    Unsaid,
}

/// What kept `sops` from decrypting a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    NotInstalled,
    NotExecutable,
    /// The system did not start it, and says why.
    NotStarted(String),
    TimedOut(Duration),
    /// A signal ended it.
    Killed(i32),
    /// There is no age key where it looked.
    NoKey,
    /// The file with the age key cannot be read, and why.
    KeyFileUnreadable(&'static str),
    /// There is something else where this variable says that an age key is.
    NotAKey(&'static str),
    /// There are age keys, and none of them fits.
    WrongKey,
    /// A value stands unencrypted where an encrypted one belongs.
    ValueInClear,
    /// The file is not as `sops` wrote it.
    Damaged,
    /// It printed more than any such file holds.
    TooMuch,
    /// It says that it succeeded, but what it printed is not understood.
    NotUnderstood,
    /// Anything else, in its own words, made safe.
    Other {
        code: i32,
        said: Vec<String>,
    },
}

/// Exit codes of `sops` that tell more than its words (getsops/sops: cmd/sops/codes/codes.go).
mod code {
    pub(super) const ERROR_DECRYPTING_MAC: i32 = 24;
    pub(super) const ERROR_DECRYPTING_TREE: i32 = 25;
    pub(super) const MAC_MISMATCH: i32 = 51;
    pub(super) const MAC_NOT_FOUND: i32 = 52;
    pub(super) const COULD_NOT_RETRIEVE_KEY: i32 = 128;
}

/// Tells by exit code and standard error what was wrong. `in_clear` is what must not be repeated.
pub(super) fn judge(code: i32, stderr: &str, in_clear: &[SecretString]) -> Failure {
    let said = logical_lines(stderr).join("\n");
    let says = |words: &str| said.contains(words);
    match code {
        code::ERROR_DECRYPTING_TREE if says("does not match sops' data format") => Failure::ValueInClear,
        code::ERROR_DECRYPTING_MAC | code::ERROR_DECRYPTING_TREE | code::MAC_MISMATCH | code::MAC_NOT_FOUND => {
            Failure::Damaged
        }
        // The date in the metadata is missing: the file ends too early.
        _ if says("parsing time \"\"") || says("sops metadata not found") => Failure::Damaged,
        _ if says("failed to open SOPS_AGE_KEY_FILE file") => {
            let reasons = ["no such file or directory", "permission denied"];
            let why = reasons.into_iter().find(|why| says(why)).unwrap_or("it cannot be opened");
            Failure::KeyFileUnreadable(why)
        }
        _ if says("failed to parse 'SOPS_AGE_KEY_FILE'") => Failure::NotAKey("SOPS_AGE_KEY_FILE"),
        _ if says("failed to parse 'SOPS_AGE_KEY'") => Failure::NotAKey("SOPS_AGE_KEY"),
        _ if says("did not match any of the recipients") || says("no identity matched any of the recipients") => {
            Failure::WrongKey
        }
        // Errors of other places where keys may be are worth reading.
        _ if says("failed to load age identities. Did not find keys")
            || (says("failed to load age identities: failed to open file") && says("no such file or directory")) =>
        {
            Failure::NoKey
        }
        code => Failure::Other { code, said: made_safe(stderr, in_clear) },
    }
}

impl Failure {
    /// What is wrong, where, and what to do about it.
    pub(super) fn problem(&self, file: &SecretsFile, key: &AgeKey) -> Problem {
        let name = file.name();
        let try_it = format!("try `sops --decrypt {name} > /dev/null`");
        let another_program = "is `sops` on your PATH the program from https://github.com/getsops/sops?";
        let (message, hint) = match self {
            Self::NotInstalled => (
                "the program `sops`, which this file is encrypted with, is not on your PATH".to_owned(),
                format!(
                    "install it (mise, aqua, Homebrew and Alpine call it `sops`; packages for Debian and others are at \
                     https://github.com/getsops/sops/releases), or {OTHER_WAY}"
                ),
            ),
            Self::NotExecutable => (
                "the program `sops` on your PATH is not executable".to_owned(),
                format!("look for it in the folders of PATH, and `chmod +x` it; or {OTHER_WAY}"),
            ),
            Self::NotStarted(why) => (
                format!("the program `sops` cannot be started: {why}"),
                format!("try `sops --version`, or {OTHER_WAY}"),
            ),
            Self::TimedOut(limit) => (
                format!("sops had not decrypted the file after {} seconds, and was ended", limit.as_secs()),
                format!("{try_it}: a key may wait for a passphrase, a touch or a server"),
            ),
            Self::Killed(signal) => {
                (format!("sops was ended by signal {signal} before it had decrypted the file"), try_it)
            }
            Self::NoKey | Self::KeyFileUnreadable(_) | Self::NotAKey(_) => return self.problem_with(key, file),
            Self::WrongKey => (
                "none of your age keys opens this file".to_owned(),
                format!(
                    "`age-keygen -y {}` tells for whom a key is{}; whoever has one of these keys can add yours to \
                     .sops.yaml and run `sops updatekeys {name}`",
                    key.file().unwrap_or_else(|| "FILE".to_owned()),
                    encrypted_for(file)
                ),
            ),
            Self::ValueInClear => (
                "a value in this file is not encrypted, although it should be".to_owned(),
                format!("change the file by `sops {name}` only; restore it from git, and add the value that way"),
            ),
            Self::Damaged => (
                "the file is damaged, or was changed without sops".to_owned(),
                format!("change the file by `sops {name}` only; restore it from git, or encrypt it anew"),
            ),
            Self::TooMuch => {
                ("sops printed more than a file of secrets can hold".to_owned(), another_program.to_owned())
            }
            Self::NotUnderstood => (
                "what sops printed is not understood, although it calls it a success".to_owned(),
                another_program.to_owned(),
            ),
            Self::Other { code, said } => {
                let recipients =
                    if *code == code::COULD_NOT_RETRIEVE_KEY { encrypted_for(file) } else { String::new() };
                let words = said.join("\n  ");
                let words = if words.is_empty() { words } else { format!("; sops says:\n  {words}") };
                (format!("sops could not decrypt the file (exit code {code})"), format!("{try_it}{recipients}{words}"))
            }
        };
        Problem::error(message).at(Place::Named(name.to_string())).hint(hint)
    }

    /// Trouble with the key rather than with the file that it is for.
    fn problem_with(&self, key: &AgeKey, file: &SecretsFile) -> Problem {
        let key_file = key.file().unwrap_or_else(|| "the file".to_owned());
        let (message, place, hint) = match (self, key) {
            (Self::KeyFileUnreadable(why), _) => (
                format!("the age key {key_file} cannot be read: {why}"),
                key.place(),
                "name the file with your age key, seen from the folder in which you start pvetalos",
            ),
            (Self::NotAKey("SOPS_AGE_KEY"), _) => (
                "the variable does not hold an age key".to_owned(),
                Some("environment SOPS_AGE_KEY".to_owned()),
                "an age key begins with `AGE-SECRET-KEY-`, as `age-keygen` prints it",
            ),
            (Self::NotAKey(_), _) => (
                format!("{key_file} is not a file with an age key"),
                key.place(),
                "such a file has a line that begins with `AGE-SECRET-KEY-`, as `age-keygen -o age.key` writes it",
            ),
            (_, AgeKey::Unsaid) => (
                "there is no age key to decrypt this file with".to_owned(),
                None,
                "set SOPS_AGE_KEY_FILE to the file with the key, or put it beside nodes.yaml as age.key",
            ),
            (_, AgeKey::Variable(_)) => (
                "the variable leads to no age key".to_owned(),
                key.place(),
                "set SOPS_AGE_KEY_FILE to the file with the key instead",
            ),
            (_, AgeKey::Named(_) | AgeKey::Beside(_)) => {
                (format!("there is no age key in {key_file}"), key.place(), "name the file that `age-keygen -o` wrote")
            }
        };
        let places = place.into_iter().chain([file.name().to_string()]).map(Place::Named);
        places.fold(Problem::error(message), Problem::at).hint(format!("{hint}{}", encrypted_for(file)))
    }
}

impl AgeKey {
    /// The name of the file that holds it, if it is one.
    fn file(&self) -> Option<String> {
        match self {
            Self::Named(path) | Self::Beside(path) => Some(shown(path)),
            Self::Variable(_) | Self::Unsaid => None,
        }
    }

    /// What led `sops` there.
    fn place(&self) -> Option<String> {
        match self {
            Self::Named(_) => Some("environment SOPS_AGE_KEY_FILE".to_owned()),
            Self::Beside(path) => Some(shown(path)),
            Self::Variable(variable) => Some(format!("environment {variable}")),
            Self::Unsaid => None,
        }
    }
}

const OTHER_WAY: &str = "set PROXMOX_TOKEN_ID and PROXMOX_TOKEN_SECRET instead";

/// How many recipients are named; a team can have many.
const MOST_RECIPIENTS: usize = 4;

/// For whom the file is encrypted, as the end of a hint. Recipients are public, and stand in the file.
fn encrypted_for(file: &SecretsFile) -> String {
    let recipients = &file.recipients;
    if recipients.is_empty() {
        return String::new();
    }
    let first: Vec<&str> = recipients.iter().take(MOST_RECIPIENTS).map(String::as_str).collect();
    let more = match recipients.len().saturating_sub(MOST_RECIPIENTS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; the file is encrypted for {}{more}", first.join(", "))
}

/// The lines as they were meant: `sops` breaks its reasons into short lines behind `|`.
fn logical_lines(stderr: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in stderr.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        match (line.strip_prefix("| "), lines.last_mut()) {
            (Some(rest), Some(last)) => {
                last.push(' ');
                last.push_str(rest);
            }
            _ => lines.push(line.strip_prefix("- | ").unwrap_or(&line).to_owned()),
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// How much of what `sops` says is repeated.
const MOST_LINES: usize = 6;
const LONGEST_LINE: usize = 300;

/// What stands for what is not repeated.
const NOT_SHOWN: &str = "(not shown)";

/// The first lines, without what is or could be a secret, and without what steers a terminal.
fn made_safe(stderr: &str, in_clear: &[SecretString]) -> Vec<String> {
    let lines = logical_lines(stderr);
    // The closing words say nothing that was not said.
    let telling = lines.into_iter().take_while(|line| !line.starts_with("Recovery failed because"));
    telling.take(MOST_LINES).map(|line| safe_line(line, in_clear)).collect()
}

fn safe_line(mut line: String, in_clear: &[SecretString]) -> String {
    for value in in_clear {
        for part in value.expose_secret().lines() {
            let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
            if !part.is_empty() {
                line = line.replace(&part, NOT_SHOWN);
            }
        }
    }
    let age_key = line.to_ascii_uppercase().find("AGE-SECRET-KEY");
    if let Some(at) = suspicious(&line).into_iter().chain(age_key).min() {
        let at = line.floor_char_boundary(at);
        line.truncate(at);
        line.push_str(NOT_SHOWN);
    }
    let mut shown: String = line.chars().take(LONGEST_LINE).collect();
    if line.chars().nth(LONGEST_LINE).is_some() {
        shown.push('…');
    }
    made_printable(&shown).into_owned()
}
