use crate::harness::{GOOD, Workdir};

#[test]
fn help_is_written_for_people() {
    insta::assert_snapshot!(Workdir::new().run(["--help"]));
    insta::assert_snapshot!(Workdir::new().run(["validate", "-h"]));
}

#[test]
fn wrong_usage_is_exit_2() {
    for args in [&["validat"][..], &["validate", "--explian"], &["validate", "-o", "xml"], &[], &["schema", "cluster"]]
    {
        let run = Workdir::new().run(args);
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
    }
}

#[test]
fn colours_come_only_when_asked_for() {
    let workdir = Workdir::with_nodes("nodes: []");
    assert!(!workdir.run(["validate"]).stderr.contains('\u{1b}'), "a pipe is no terminal");
    assert!(workdir.run(["validate", "--color", "always"]).stderr.contains('\u{1b}'));
    let forced = Workdir::with_nodes("nodes: []").env("CLICOLOR_FORCE", "1");
    assert!(!forced.run(["validate", "--color", "never"]).stderr.contains('\u{1b}'));
    assert!(forced.run(["validate"]).stderr.contains('\u{1b}'), "asked for by the environment");
    let never = Workdir::with_nodes("nodes: []").env("CLICOLOR_FORCE", "0").env("NO_COLOR", "1");
    assert!(!never.run(["validate"]).stderr.contains('\u{1b}'));
}

#[test]
fn quiet_silences_warnings_but_not_errors() {
    let warned = Workdir::with_nodes(GOOD.replace("controller: true", "controller: false"));
    assert!(warned.run(["validate"]).stderr.contains("warning: there is no control plane"));
    assert_eq!(warned.run(["validate", "-q"]).stderr, "");
    assert!(Workdir::with_nodes("nodes: []").run(["validate", "-q"]).stderr.contains("error:"));
}

#[test]
fn a_json_log_has_one_object_a_line_and_nothing_else() {
    let workdir = Workdir::with_nodes("nodes: [{name: x}]").file("cluster.yaml", "a: 1\n");
    let run = workdir.run(["validate", "--log-format", "json", "-vv"]);
    let mut levels = Vec::new();
    for line in run.stderr.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        levels.push(event["level"].as_str().expect("a level").to_owned());
    }
    assert!(levels.contains(&"ERROR".to_owned()) && levels.contains(&"DEBUG".to_owned()), "{run}");
}

#[test]
fn more_is_said_when_asked_for() {
    let workdir = Workdir::with_nodes(GOOD);
    assert_eq!(workdir.run(["validate"]).stderr, "");
    assert!(workdir.run(["validate", "-v"]).stderr.contains("read file=nodes.yaml"));
}

#[test]
fn a_reader_who_has_enough_changes_nothing_about_the_verdict() {
    use std::process::{Command, Stdio};
    let wrong = Workdir::with_nodes("nodes: []");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pvetalos"))
        .args(["validate", "-o", "json"])
        .current_dir(wrong.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().expect("it ends").code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_screen_that_takes_nothing_is_no_reason_to_panic() {
    use std::process::{Command, Stdio};
    let wrong = Workdir::with_nodes("nodes: []");
    for format in ["text", "json"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let status = Command::new(env!("CARGO_BIN_EXE_pvetalos"))
            .args(["validate", "-vvv", "--log-format", format])
            .current_dir(wrong.path())
            .stdout(Stdio::null())
            .stderr(full)
            .status()
            .expect("the binary can be started");
        assert_eq!(status.code(), Some(2), "{format}");
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let right = Workdir::with_nodes(GOOD);
    let status = Command::new(env!("CARGO_BIN_EXE_pvetalos"))
        .arg("validate")
        .current_dir(right.path())
        .stdout(full)
        .stderr(Stdio::null())
        .status()
        .expect("the binary can be started");
    assert_eq!(status.code(), Some(1), "a result that nobody gets is a failure");
}

#[test]
fn nothing_in_a_file_or_its_name_steers_the_terminal() {
    let texts = [
        format!("{GOOD}proxmox: {{endpoint: \"http://pve\\e]0;pwn\\a\\e[2J\"}}\n"),
        format!("{GOOD}vm_cores: 99 # \u{9b}2J\u{2028}\u{202e}\n"),
        format!("{GOOD}proxmox: {{ca_file: \"a\\e[2J\\u202e\"}}\n"),
        format!("{GOOD}\"\\e[2Jkey\": 1\n"),
    ];
    for text in texts {
        for args in [&["validate", "--color", "never"][..], &["validate", "--explain", "--color", "never", "-vvv"]] {
            let run = Workdir::with_nodes(&text).run(args);
            let steers = |c: char| (c.is_control() && c != '\n') || ('\u{2028}'..='\u{202e}').contains(&c);
            assert!(!run.to_string().contains(steers), "{:?}", run.to_string());
        }
    }
    let name = "e\u{1b}[31mvil\n.yaml";
    let run = Workdir::new().file(name, "nodes: []").run(["validate", "--color", "never", "-v", "--nodes", name]);
    assert!(!run.to_string().contains('\u{1b}'), "{run}");
}
