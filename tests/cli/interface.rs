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
    let never = Workdir::with_nodes("nodes: []").env("NO_COLOR", "1").env("TERM", "xterm-256color");
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
