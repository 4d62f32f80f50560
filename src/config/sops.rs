//! The program `sops`, started for the one file that needs it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use bytes::BufMut as _;
use futures_util::future::{Either, select};
use secrecy::zeroize::Zeroizing;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::decrypted::Decrypted;
use super::gather::{plain_words, shown};
use super::problem::Problem;
use super::secrets_file::SecretsFile;
use super::sops_failure::{AgeKey, Failure, judge};

/// How long it may take. Somebody may have to type a passphrase, or to touch a key.
const LIMIT: Duration = Duration::from_mins(1);

/// How long to wait for the last of its words once it has ended: what it started may hold the pipe open for ever.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Hundreds of times what a file of secrets holds.
const LARGEST_OUTPUT: usize = 1 << 20;

/// Nobody reads more of its words than this.
const MOST_WORDS: u64 = 64 << 10;

/// The signal of Ctrl-C.
const SIGINT: i32 = 2;

/// Variables by which `sops` finds an age key, beside `SOPS_AGE_KEY_FILE`.
const KEY_VARIABLES: [&str; 4] =
    ["SOPS_AGE_KEY", "SOPS_AGE_KEY_CMD", "SOPS_AGE_SSH_PRIVATE_KEY_FILE", "SOPS_AGE_SSH_PRIVATE_KEY_CMD"];

const KEY_FILE: &str = "SOPS_AGE_KEY_FILE";

/// A token that is still encrypted, and the way to decrypt it.
#[derive(Debug)]
pub struct Sealed {
    pub(super) file: SecretsFile,
    /// The folder of nodes.yaml.
    pub(super) folder: PathBuf,
    /// Whether the token's id depends on the file.
    pub(super) id: bool,
    /// Whether the token's secret depends on the file.
    pub(super) secret: bool,
}

/// Why nothing was decrypted.
#[derive(Debug)]
pub enum Undecrypted {
    /// Ctrl-C reached `sops` before it reached us.
    Interrupted,
    Failed(Problem),
}

impl Sealed {
    /// Lets `sops` decrypt the file. What it prints goes through a pipe into memory that is wiped.
    ///
    /// A dropped future ends the program.
    pub async fn decrypt(&self) -> Result<Decrypted, Undecrypted> {
        let key = age_key(&|name| env::var_os(name), &self.folder, &|path| path.is_file());
        tracing::info!(file = %shown(&self.file.path), "decrypting by sops");
        let result = match run(self.command(&key), LIMIT).await {
            Ok(ended) => ended.judged(&self.file),
            Err(failure) => Err(failure),
        };
        match result {
            Err(Failure::Killed(SIGINT)) => Err(Undecrypted::Interrupted),
            Err(failure) => Err(Undecrypted::Failed(failure.problem(&self.file, &key))),
            Ok(decrypted) => Ok(decrypted),
        }
    }

    fn command(&self, key: &AgeKey) -> Command {
        // A name that begins with a dash would be a flag. An absolute path stays as it is.
        let path = Path::new(".").join(&self.file.path);
        let mut command = Command::new("sops");
        // These words are understood by old releases and by those that have a command `decrypt`.
        command.args(["--decrypt", "--input-type", SecretsFile::format(&path), "--output-type", "json"]).arg(&path);
        for (name, value) in env::vars_os() {
            if is_not_for_sops(&name, &value) {
                command.env_remove(name);
            }
        }
        if let AgeKey::Beside(path) = key {
            command.env(KEY_FILE, path);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }
}

/// Our own credentials, and variables that are set to nothing: `sops` would take that for the name of a file.
pub(super) fn is_not_for_sops(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("PROXMOX_") || (value.is_empty() && (name == KEY_FILE || KEY_VARIABLES.contains(&&*name)))
}

/// Where `sops` will look for an age key: where the environment says, else in the key that repositories keep beside
/// nodes.yaml.
pub(super) fn age_key(
    get: &dyn Fn(&str) -> Option<OsString>,
    folder: &Path,
    is_there: &dyn Fn(&Path) -> bool,
) -> AgeKey {
    let given = |name: &str| get(name).filter(|value| !value.is_empty());
    if let Some(path) = given(KEY_FILE) {
        return AgeKey::Named(path.into());
    }
    if let Some(variable) = KEY_VARIABLES.into_iter().find(|name| given(name).is_some()) {
        return AgeKey::Variable(variable);
    }
    let beside = folder.join("age.key");
    if is_there(&beside) { AgeKey::Beside(beside) } else { AgeKey::Unsaid }
}

/// How `sops` ended, and what it printed.
pub(super) struct Ended {
    status: ExitStatus,
    pub(super) output: Zeroizing<Vec<u8>>,
    pub(super) words: String,
}

impl Ended {
    fn judged(&self, file: &SecretsFile) -> Result<Decrypted, Failure> {
        match self.status.code() {
            Some(0) => Decrypted::from_json(&self.output).ok_or(Failure::NotUnderstood),
            Some(code) => Err(judge(code, &self.words, &file.in_clear)),
            None => Err(Failure::Killed(signal(self.status).unwrap_or_default())),
        }
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// Starts it and waits for its end, but not for ever.
pub(super) async fn run(mut command: Command, limit: Duration) -> Result<Ended, Failure> {
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::NotInstalled,
        io::ErrorKind::PermissionDenied => Failure::NotExecutable,
        _ => Failure::NotStarted(plain_words(&error)),
    })?;
    let mut words = Vec::new();
    match attend(&mut child, limit, &mut words).await {
        Ok((output, status)) => Ok(Ended { status, output, words: String::from_utf8_lossy(&words).into_owned() }),
        Err(failure) => {
            // It is ended in any case once `child` is dropped; here its end is also waited for.
            drop(child.kill().await);
            Err(failure)
        }
    }
}

/// Reads both of its streams until it has ended.
async fn attend(
    child: &mut Child,
    limit: Duration,
    words: &mut Vec<u8>,
) -> Result<(Zeroizing<Vec<u8>>, ExitStatus), Failure> {
    let output = child.stdout.take().expect("it is piped");
    let talk = child.stderr.take().expect("it is piped");
    let work = pin!(timeout(limit, async {
        let output = read_secrets(output).await.ok_or(Failure::TooMuch)?;
        let status = child.wait().await.map_err(|error| Failure::NotStarted(plain_words(&error)))?;
        Ok((output, status))
    }));
    let finished = match select(work, pin!(read_words(talk, words))).await {
        Either::Left((finished @ Ok(Ok(_)), reading)) => {
            drop(timeout(LAST_WORDS, reading).await);
            finished
        }
        Either::Left((finished, _)) => finished,
        Either::Right(((), work)) => work.await,
    };
    finished.unwrap_or(Err(Failure::TimedOut(limit)))
}

/// Reads into one buffer that never grows, because what it had grown out of would not be wiped; none if it is too small.
async fn read_secrets(mut from: impl AsyncRead + Unpin) -> Option<Zeroizing<Vec<u8>>> {
    let mut buffer = Zeroizing::new(Vec::with_capacity(LARGEST_OUTPUT));
    while buffer.len() < LARGEST_OUTPUT {
        let room = LARGEST_OUTPUT - buffer.len();
        // What cannot be read is as good as ended; that it is not whole shows when it is understood.
        if let Ok(0) | Err(_) = from.read_buf(&mut (&mut *buffer).limit(room)).await {
            return Some(buffer);
        }
    }
    None
}

/// Reads the beginning of what it says, and lets it say the rest to nobody.
async fn read_words(mut from: impl AsyncRead + Unpin, words: &mut Vec<u8>) {
    let beginning = (&mut from).take(MOST_WORDS).read_to_end(words).await;
    if beginning.is_ok() {
        drop(tokio::io::copy(&mut from, &mut tokio::io::sink()).await);
    }
}
