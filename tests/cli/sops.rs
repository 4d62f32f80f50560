//! The token out of a file that is encrypted by SOPS: with a stand-in for `sops` that talks as recorded, and with the
//! real one where it is installed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::ground::{on_path, skipped};
use crate::harness::{GOOD, READY, Run, Simulated, Workdir};

/// Encrypted by the real program, with a key that nobody has.
const ENCRYPTED: &str = include_str!("../fixtures/sops/secrets.sops.yaml");

const USUAL: &str = "infrastructure/secrets.sops.yaml";

/// The stand-in before what it needs itself.
pub(crate) const FAKE_PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/sops/bin:/usr/bin:/bin");

/// Makes the stand-in behave in this way, and remember how often it was started.
fn with_fake(workdir: Workdir, behaviour: &str) -> Workdir {
    let log = workdir.path().join("sops.log").display().to_string();
    let pid = workdir.path().join("sops.pid").display().to_string();
    workdir.env("PATH", FAKE_PATH).env("FAKE_SOPS", behaviour).env("FAKE_LOG", &log).env("FAKE_PID", &pid)
}

/// What the stand-in was started with, a line for each time.
fn starts(workdir: &Workdir) -> String {
    std::fs::read_to_string(workdir.path().join("sops.log")).unwrap_or_default()
}

/// A folder with a SOPS file whose token, once decrypted, is that of the simulated Proxmox.
fn opens(simulated: &Simulated) -> Workdir {
    let output = serde_json::json!({
        "cf_account_id": "0123456789abcdef",
        "proxmox_api_token_id": simulated.says("token_id"),
        "proxmox_api_token_secret": simulated.says("token_secret"),
    });
    let workdir = simulated.without_token(READY).file(USUAL, ENCRYPTED);
    with_fake(workdir, "opens").env("FAKE_OUTPUT", &output.to_string())
}

/// A folder in which everything is there but what `sops` makes of the file.
fn fails(behaviour: &str) -> Workdir {
    with_fake(Workdir::with_nodes(GOOD).env("PROXMOX_ENDPOINT", "127.0.0.1:1").file(USUAL, ENCRYPTED), behaviour)
}

#[test]
fn the_token_of_a_sops_file_opens_the_door() {
    let simulated = Simulated::three_hosts();
    let workdir = opens(&simulated).file("age.key", "");
    for command in ["doctor", "plan", "status"] {
        let run = workdir.run([command]);
        assert_eq!(run.exit, 0, "{run}");
        assert_eq!(run.stderr, "", "{run}");
    }
    let arguments = "--decrypt --input-type yaml --output-type json ./infrastructure/secrets.sops.yaml key=age.key\n";
    assert_eq!(starts(&workdir), arguments.repeat(3), "each command starts it once");
}

#[test]
fn both_halves_may_stand_in_one_key() {
    let simulated = Simulated::three_hosts();
    let token = format!("{}={}", simulated.says("token_id"), simulated.says("token_secret"));
    let encrypted = ENCRYPTED
        .replace("proxmox_api_token_id", "proxmox_csi_token_id")
        .replace("proxmox_api_token_secret", "proxmox_api_token");
    // The token of another program is there too, and would be refused.
    let output = serde_json::json!({"proxmox_csi_token_id": "csi@pve!csi", "proxmox_api_token": token});
    let workdir = with_fake(simulated.without_token(READY).file(USUAL, encrypted), "opens");
    let run = workdir.env("FAKE_OUTPUT", &output.to_string()).run(["doctor"]);
    assert_eq!(run.exit, 0, "{run}");
}

#[test]
fn the_file_may_have_another_place_and_name() {
    let simulated = Simulated::three_hosts();
    let moved = |name: &str| {
        let workdir = opens(&simulated).file(name, ENCRYPTED);
        std::fs::remove_file(workdir.path().join(USUAL)).expect("it is there");
        workdir
    };
    let beside = moved("secrets.sops.yaml");
    assert_eq!(beside.run(["doctor"]).exit, 0);
    assert!(starts(&beside).contains("yaml --output-type json ./secrets.sops.yaml key=none"), "{}", starts(&beside));

    let by_variable = moved("enc/token.enc").env("PVETALOS_SECRETS_FILE", "enc/token.enc");
    assert_eq!(by_variable.run(["doctor"]).exit, 0);
    assert!(starts(&by_variable).contains("--input-type yaml"), "what the name does not say is YAML");

    let by_flag = moved("-x.JSON").env("SOPS_AGE_KEY_FILE", "elsewhere.key").file("age.key", "");
    assert_eq!(by_flag.run(["doctor", "--secrets=-x.JSON"]).exit, 0);
    assert!(starts(&by_flag).contains("--input-type json --output-type json ./-x.JSON key=elsewhere.key"));

    let absent = moved("other.yaml").run(["doctor", "--secrets", "nowhere.yaml"]);
    assert_eq!(absent.exit, 2);
    assert!(absent.stderr.contains("there is no such file"), "{absent}");
}

#[test]
fn sops_is_not_started_unless_its_token_is_needed() {
    let simulated = Simulated::three_hosts();
    let token = format!("{}={}\n", simulated.says("token_id"), simulated.says("token_secret"));
    let workdir = opens(&simulated).file("token", token);
    for (args, exit) in [
        (&["validate"][..], 0),
        (&["validate", "--explain"], 0),
        (&["validate", "-o", "json"], 0),
        (&["doctor", "--simulate"], 5),
        (&["doctor", "--simulate", "--secrets", "nowhere.yaml"], 5),
        (&["wait", "--timeout", "1ms"], 3),
        (&["schema", "nodes"], 0),
        (&["doctor", "--token-file", "token"], 0),
        (&["plan", "--talos-proxy", "nonsense"], 2),
    ] {
        let run = workdir.run(args);
        assert_eq!(run.exit, exit, "{args:?}: {run}");
    }
    assert_eq!(starts(&workdir), "");

    let variables = opens(&simulated)
        .env("PROXMOX_TOKEN_ID", simulated.says("token_id"))
        .env("PROXMOX_TOKEN_SECRET", simulated.says("token_secret"))
        .file(USUAL, "not: [even, YAML");
    assert_eq!((variables.run(["doctor"]).exit, starts(&variables)), (0, String::new()));

    let nowhere = with_fake(Workdir::with_nodes(GOOD).file(USUAL, ENCRYPTED), "opens");
    let run = nowhere.run(["doctor"]);
    assert!(run.stderr.contains("the address of Proxmox is not given"), "{run}");
    assert!(!run.stderr.contains("token"), "the token is not missing, only encrypted: {run}");
    assert_eq!((run.exit, starts(&nowhere)), (2, String::new()));
}

#[test]
fn validate_says_where_the_token_is_without_a_key() {
    let workdir = Workdir::with_nodes(GOOD).file(USUAL, ENCRYPTED);
    let run = workdir.run(["validate"]);
    assert!(run.stdout.contains("token in infrastructure/secrets.sops.yaml (not decrypted)\n"), "{run}");
    let explained = workdir.run(["validate", "--explain"]).stdout;
    let line = explained.lines().find(|line| line.contains("token_secret")).expect("it is explained");
    let words: Vec<&str> = line.split_whitespace().collect();
    let place = "infrastructure/secrets.sops.yaml:3";
    assert_eq!(words, ["token_secret", "(not", "decrypted)", "←", place, "proxmox_api_token_secret"]);
    let json: serde_json::Value =
        serde_json::from_str(&workdir.run(["validate", "-o", "json"]).stdout).expect("-o json prints JSON");
    assert_eq!(json["proxmox"]["token_encrypted_in"], USUAL);
    let known = workdir.env("PROXMOX_TOKEN_ID", "root@pam!ci").run(["validate"]);
    assert!(known.stdout.contains("token root@pam!ci, its secret in infrastructure/secrets.sops.yaml (not"), "{known}");
}

#[test]
fn the_sops_file_stands_above_cluster_yaml_and_below_the_environment() {
    let simulated = Simulated::three_hosts();
    let other = "proxmox_api_token_id: other@pve!one\nproxmox_api_token_secret: 00000000-0000-4000-8000-000000000000\n";
    let above = opens(&simulated).file("cluster.yaml", other);
    assert_eq!(above.run(["doctor"]).exit, 0);

    // The stand-in gives no id, and the file has no key for it: pvetalos.yaml says which token the secret is of.
    let only_secret = ENCRYPTED.replace("proxmox_api_token_id", "something_else");
    let settings = format!(
        "proxmox: {{fingerprints: [\"{}\"], token_id: pvetalos@pve!simulator}}\n",
        simulated.says("fingerprint")
    );
    let halves = opens(&simulated).file(USUAL, only_secret).file("pvetalos.yaml", settings);
    assert_eq!(halves.run(["doctor"]).exit, 0, "{}", halves.run(["doctor"]));

    let mixed = opens(&simulated).env("PROXMOX_TOKEN_ID", "other@pve!one").run(["doctor"]);
    assert_eq!(mixed.exit, 2);
    insta::assert_snapshot!(mixed);
}

#[test]
fn every_failure_of_sops_is_told_with_what_to_do() {
    #[track_caller]
    fn case(name: &str, run: &Run) {
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
        insta::assert_snapshot!(name, run.stderr);
    }
    for recording in ["no-key", "wrong-key", "tampered", "pgp", "config-broken"] {
        case(recording, &fails(&format!("3.13.3/{recording}")).run(["plan"]));
        // The old release says the same in other words.
        let old = fails(&format!("3.8.1/{recording}")).run(["plan"]);
        assert_eq!(
            old.stderr.lines().next(),
            fails(&format!("3.13.3/{recording}")).run(["plan"]).stderr.lines().next()
        );
    }
    case("wrong-key-beside", &fails("3.13.3/wrong-key").file("age.key", "").run(["plan"]));
    let named = |recording: &str| fails(recording).env("SOPS_AGE_KEY_FILE", "my.key").run(["plan"]);
    case("key-file-absent", &named("3.13.3/key-file-absent"));
    case("key-file-garbage", &named("3.13.3/key-file-garbage"));
    case("key-file-empty", &named("3.13.3/key-file-empty"));
    let variable = fails("3.13.3/variable-garbage").env("SOPS_AGE_KEY", "AGE-SECRET-KEY-1QQQ").run(["plan"]);
    assert!(!variable.to_string().contains("1QQQ"));
    case("variable-garbage", &variable);
    case("dies", &fails("dies").run(["plan"]));
    case("garbage", &fails("opens").env("FAKE_OUTPUT", "gar\"bage").run(["plan"]));
    case("silent", &fails("opens").env("FAKE_OUTPUT", "").run(["plan"]));
    case("floods", &fails("floods").run(["plan"]));
    case("not-installed", &fails("opens").env("PATH", "/nowhere").run(["plan"]));
    let locked = fails("opens").file("bin/sops", "#!/bin/sh\n");
    let path = locked.path().join("bin").display().to_string();
    case("not-executable", &locked.env("PATH", &path).run(["plan"]));
}

#[test]
fn a_file_that_gives_no_token_is_refused_before_sops_is_started() {
    #[track_caller]
    fn case(name: &str, text: &str, args: &[&str]) {
        let workdir = fails("opens").file(USUAL, text);
        let run = workdir.run(args);
        assert_eq!((run.exit, starts(&workdir)), (2, String::new()), "{run}");
        assert!(!run.to_string().contains("hunter2"), "{run}");
        insta::assert_snapshot!(name, run.stderr);
    }
    let plain = "proxmox_api_token_id: root@pam!ci\nproxmox_api_token_secret: hunter2\n";
    case("not-encrypted", plain, &["validate"]);
    case("not-yaml", "proxmox_api_token_secret: 'hunter2\nsops: x: {\n", &["validate"]);
    case("misspelt", &ENCRYPTED.replace("token_secret", "token_secert"), &["plan"]);
    case("named-without-token", &ENCRYPTED.replace("_api_", "_csi_"), &["validate", "--secrets", USUAL]);
    let nested = "stringData:\n  proxmox_api_token: ENC[x]\nsops:\n  age: []\n";
    case("nested", nested, &["plan"]);
    // Whoever did not name it may keep other things there.
    let other = Workdir::with_nodes(GOOD).file(USUAL, ENCRYPTED.replace("_api_", "_csi_")).run(["validate"]);
    assert!(other.exit == 0 && other.stdout.contains("no token"), "{other}");
}

#[test]
fn a_wrong_value_is_told_without_being_shown() {
    let output = r#"{"proxmox_api_token_id": "root@pam", "proxmox_api_token_secret": 5566778899}"#;
    let run = fails("opens").env("FAKE_OUTPUT", output).run(["plan"]);
    assert_eq!(run.exit, 2);
    assert!(!run.to_string().contains("root@pam\"") && !run.to_string().contains("5566"), "{run}");
    insta::assert_snapshot!(run);
}

#[test]
fn a_value_that_stands_there_in_clear_is_warned_of_and_not_repeated() {
    let text = ENCRYPTED.lines().map(|line| match line.split_once(": ENC") {
        Some(("proxmox_api_token_secret", _)) => "proxmox_api_token_secret: hunter2-5ec4e7aa".to_owned(),
        _ => line.to_owned(),
    });
    let text = text.collect::<Vec<_>>().join("\n");
    // The recording repeats the value, as the real one does.
    let workdir = fails("3.13.3/value-in-clear").file(USUAL, text);
    for args in [&["plan"][..], &["plan", "-vvv"], &["plan", "-vvv", "--log-format", "json"]] {
        let run = workdir.run(args);
        assert!(!run.to_string().contains("hunter2"), "{run}");
    }
    insta::assert_snapshot!(workdir.run(["plan"]));
}

/// Whether a process is there and has not ended; without /proc nobody can tell.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[track_caller]
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ctrl_c_ends_both_of_them() {
    let workdir = fails("hangs");
    let process = workdir.command(["plan"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let process = process.expect("the binary can be started");
    let pid = || std::fs::read_to_string(workdir.path().join("sops.pid")).unwrap_or_default().trim().to_owned();
    eventually("sops is started", || !pid().is_empty());
    let interrupted = Command::new("kill").args(["-INT", &process.id().to_string()]).status();
    assert!(interrupted.expect("kill can be started").success());
    let run = Run::from(process.wait_with_output().expect("it ends"));
    assert_eq!(run.to_string(), "exit: 130");
    eventually("sops is ended", || !is_alive(&pid()));

    // At a terminal both get the signal, and sops may be the first to end.
    assert_eq!(fails("is_interrupted").run(["plan"]).to_string(), "exit: 130");
}

/// The folder of a program on the PATH.
fn folder_of(program: &str) -> Option<String> {
    on_path(program).next()?.parent()?.to_str().map(str::to_owned)
}

#[test]
fn the_real_sops_tells_the_same_story() {
    let (Some(sops), Some(age)) = (folder_of("sops"), folder_of("age-keygen")) else {
        skipped("`sops` and `age-keygen` are not both on the PATH");
        return;
    };
    let simulated = Simulated::three_hosts();
    let secret = simulated.says("token_secret");
    let plain = format!("proxmox_api_token_id: {}\nproxmox_api_token_secret: {secret}\n", simulated.says("token_id"));
    let path = format!("{sops}:{age}:/usr/bin:/bin");
    let new = || simulated.without_token(READY).env("PATH", &path).env("HOME", "/nowhere").file(USUAL, &plain);
    let tool = |folder: &Path, program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).current_dir(folder).env_clear().env("PATH", &path).env("HOME", "/nowhere");
        let output = command.output().expect("it can be started");
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it prints text").trim().to_owned()
    };
    let key = |folder: &Path, name: &str| {
        tool(folder, "age-keygen", &["-o", name]);
        tool(folder, "age-keygen", &["-y", name])
    };

    let workdir = new();
    let recipient = key(workdir.path(), "age.key");
    key(workdir.path(), "other.key");
    tool(workdir.path(), "sops", &["--encrypt", "--in-place", "--age", &recipient, USUAL]);
    let opened = workdir.run(["doctor", "-vvv"]);
    assert_eq!(opened.exit, 0, "{opened}");
    assert!(!opened.to_string().contains(secret), "{opened}");

    let fails = |workdir: &Workdir, message: &str| {
        let run = workdir.run(["plan"]);
        assert!(run.exit == 2 && run.stderr.starts_with(&format!("error: {message}\n")), "{run}");
        assert!(!run.to_string().contains(secret), "{run}");
    };
    let encrypted = std::fs::read_to_string(workdir.path().join(USUAL)).expect("it is text");
    let again = || new().file(USUAL, &encrypted);
    fails(&again(), "there is no age key to decrypt this file with");
    fails(&again().env("SOPS_AGE_KEY_FILE", ""), "there is no age key to decrypt this file with");
    let absent = again().env("SOPS_AGE_KEY_FILE", "nowhere.key");
    fails(&absent, "the age key nowhere.key cannot be read: no such file or directory");
    fails(&again().file("age.key", "garbage\n"), "age.key is not a file with an age key");
    let wrong = again();
    key(wrong.path(), "age.key");
    fails(&wrong, "none of your age keys opens this file");
    let right = std::fs::read_to_string(workdir.path().join("age.key")).expect("it is text");
    let cut = encrypted.lines().filter(|line| !line.starts_with("proxmox_api_token_id")).collect::<Vec<_>>().join("\n");
    let cut = again().file("age.key", &right).file(USUAL, cut).env("PROXMOX_TOKEN_ID", simulated.says("token_id"));
    fails(&cut, "the file is damaged, or was changed without sops");
}
