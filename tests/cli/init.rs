use crate::harness::{Run, Workdir, run_in};

/// What came, without the name of the folder, which is another one each time.
fn nameless(run: &Run, workdir: &Workdir) -> String {
    let folder = workdir.path().file_name().and_then(std::ffi::OsStr::to_str).expect("it has a name").to_owned();
    run.to_string().replace(&folder, "FOLDER")
}

#[test]
fn three_commands_lead_from_an_empty_folder_to_nodes() {
    let workdir = Workdir::new();
    let init = workdir.run(["init", "--cluster-name", "home"]);
    assert_eq!(init.exit, 0, "{init}");
    insta::assert_snapshot!("an_empty_folder", nameless(&init, &workdir));
    let validate = workdir.run(["validate"]);
    assert_eq!((validate.exit, validate.stderr.as_str()), (0, ""), "{validate}");
    assert!(validate.stdout.starts_with("cluster  home\n"), "{validate}");
    let provision = workdir.run(["provision", "--simulate", "-q"]);
    assert_eq!(provision.exit, 0, "{provision}");
    assert!(provision.stdout.ends_with("5 done\n"), "{provision}");
}

#[test]
fn a_cluster_repository_keeps_its_files() {
    for (example, name) in [("talos-cluster", "proxmox_repository"), ("cluster-template", "cluster_repository")] {
        let workdir = Workdir::from_example(example);
        let before = std::fs::read_to_string(workdir.path().join("nodes.yaml")).expect("it is there");
        let init = workdir.run(["init"]);
        assert_eq!(init.exit, 0, "{init}");
        insta::assert_snapshot!(name, nameless(&init, &workdir));
        assert_eq!(std::fs::read_to_string(workdir.path().join("nodes.yaml")).expect("it is there"), before);
        assert!(!workdir.path().join(".gitignore").exists(), "only pvetalos.yaml and the include are written");
        assert_eq!(workdir.run(["validate"]).exit, 0);
    }
}

#[test]
fn nothing_that_is_there_is_written_over() {
    let mine = "# mine\n";
    let files = ["nodes.yaml", "Taskfile.yaml", ".gitignore"];
    let workdir = files.iter().fold(Workdir::new(), |workdir, file| workdir.file(file, mine));
    assert_eq!(workdir.run(["init"]).exit, 0);
    let text = |file: &str| std::fs::read_to_string(workdir.path().join(file)).expect("it is there");
    assert_eq!((text("nodes.yaml"), text("Taskfile.yaml")), (mine.to_owned(), mine.to_owned()));
    assert_eq!(text(".gitignore"), "# mine\n/.pvetalos/\n");
    let again = workdir.run(["init", "-o", "json"]);
    assert_eq!(text(".gitignore"), "# mine\n/.pvetalos/\n");
    let document: serde_json::Value = serde_json::from_str(&again.stdout).expect("it is JSON");
    assert_eq!((&document["format_version"], &document["found"]), (&1.into(), &"nodes".into()));
    let states: Vec<&str> =
        document["files"].as_array().expect("files").iter().filter_map(|file| file["state"].as_str()).collect();
    assert_eq!(states, ["kept"; 3]);
}

#[cfg(unix)]
#[test]
fn a_link_to_nowhere_is_not_followed() {
    let workdir = Workdir::new();
    std::os::unix::fs::symlink("elsewhere.yaml", workdir.path().join("nodes.yaml")).expect("a link can be made");
    let run = workdir.run(["init"]);
    assert_eq!(run.exit, 1, "{run}");
    assert!(run.stderr.contains("nodes.yaml cannot be written"), "{run}");
    assert!(!workdir.path().join("elsewhere.yaml").exists());
}

#[test]
fn what_it_would_not_heed_is_refused() {
    let workdir = Workdir::new();
    for flag in ["--nodes", "--cluster", "--settings"] {
        let run = workdir.run(["init", flag, "other.yaml"]);
        assert!(run.exit == 2 && run.stderr.contains(&format!("takes no {flag}")), "{run}");
    }
    let nameless = workdir.path().join("日本");
    std::fs::create_dir(&nameless).expect("a folder can be made");
    let run = run_in(&nameless, &[], ["init"]);
    assert!(run.exit == 2 && run.stderr.contains("give one with --cluster-name"), "{run}");
    assert_eq!(std::fs::read_dir(&nameless).expect("it can be read").count(), 0);
    let kept = Workdir::with_nodes("# mine\n").run(["init", "--cluster-name", "rack"]);
    assert!(kept.stdout.contains("the name of the cluster stays as it is"), "{kept}");
}

#[test]
fn a_wrong_name_is_exit_2_and_nothing_is_written() {
    let workdir = Workdir::new();
    let run = workdir.run(["init", "--cluster-name", "My Lab"]);
    assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
    assert_eq!(std::fs::read_dir(workdir.path()).expect("it can be read").count(), 0);
}
