use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::Command;

use super::sops::{age_key, is_not_for_sops, run};
use super::sops_failure::{AgeKey, Failure};

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sops/bin/sops");

fn fake(behaviour: &str) -> Command {
    let mut command = Command::new(FAKE);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("FAKE_SOPS", behaviour).env("FAKE_PID", "/dev/null");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

const SOON: Duration = Duration::from_secs(30);

#[test]
fn the_environment_names_the_key_and_else_it_lies_beside_nodes_yaml() {
    #[track_caller]
    fn case(variables: &[(&str, &str)], is_there: bool, expected: &AgeKey) {
        let get = |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value));
        assert_eq!(age_key(&get, Path::new("repo"), &|path| is_there && path == Path::new("repo/age.key")), *expected);
    }
    let beside = AgeKey::Beside("repo/age.key".into());
    case(&[], false, &AgeKey::Unsaid);
    case(&[], true, &beside);
    case(&[("SOPS_AGE_KEY_FILE", ""), ("SOPS_AGE_KEY", "")], true, &beside);
    case(&[("SOPS_AGE_KEY_FILE", "x.key")], true, &AgeKey::Named("x.key".into()));
    case(&[("SOPS_AGE_KEY", "AGE-SECRET-KEY-1")], true, &AgeKey::Variable("SOPS_AGE_KEY"));
    case(&[("SOPS_AGE_KEY_CMD", "pass age")], true, &AgeKey::Variable("SOPS_AGE_KEY_CMD"));
    case(&[("SOPS_AGE_SSH_PRIVATE_KEY_FILE", "id")], false, &AgeKey::Variable("SOPS_AGE_SSH_PRIVATE_KEY_FILE"));
    case(
        &[("SOPS_AGE_KEY", "AGE-SECRET-KEY-1"), ("SOPS_AGE_KEY_FILE", "x.key")],
        false,
        &AgeKey::Named("x.key".into()),
    );
}

#[test]
fn sops_gets_the_environment_without_our_credentials_and_empty_names_of_keys() {
    let kept = |name: &str, value: &str| !is_not_for_sops(OsStr::new(name), OsStr::new(value));
    assert!(kept("AWS_PROFILE", "home") && kept("SOPS_AGE_KEY_FILE", "age.key") && kept("GNUPGHOME", ""));
    assert!(!kept("PROXMOX_TOKEN_SECRET", "x") && !kept("PROXMOX_VE_API_TOKEN", "x"));
    assert!(!kept("SOPS_AGE_KEY_FILE", "") && !kept("SOPS_AGE_KEY", ""));
}

#[tokio::test]
async fn a_program_that_hangs_is_ended() {
    let begin = Instant::now();
    let failure = run(fake("hangs"), Duration::from_millis(300)).await.err();
    assert_eq!(failure, Some(Failure::TimedOut(Duration::from_millis(300))));
    assert!(begin.elapsed() < SOON);
}

#[tokio::test]
async fn a_program_that_never_stops_printing_is_ended() {
    let failure = run(fake("floods"), SOON).await.err();
    assert_eq!(failure, Some(Failure::TooMuch));
}

#[tokio::test]
async fn what_it_leaves_behind_keeps_nobody_waiting() {
    let begin = Instant::now();
    let mut command = fake("leaves_a_child");
    command.env("FAKE_OUTPUT", r#"{"proxmox_api_token": "x"}"#);
    let ended = run(command, SOON).await.unwrap_or_else(|failure| panic!("{failure:?}"));
    assert_eq!(&ended.output[..], br#"{"proxmox_api_token": "x"}"#);
    assert_eq!(ended.words, "it said this\n");
    assert!(begin.elapsed() < SOON / 2);
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_told_from_one_that_is_not_there() {
    assert_eq!(run(Command::new("/nowhere/sops"), SOON).await.err(), Some(Failure::NotInstalled));
    // A file that is not meant to be executed.
    let failure = run(Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")), SOON).await.err();
    assert_eq!(failure, Some(Failure::NotExecutable));
}
