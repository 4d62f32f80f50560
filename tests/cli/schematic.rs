use std::path::Path;

use crate::harness::{Workdir, run_in};

const AGENT: &str = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";

fn in_repository(args: &[&str]) -> crate::harness::Run {
    run_in(Path::new(env!("CARGO_MANIFEST_DIR")), &[], args)
}

#[test]
fn an_id_is_computed_without_asking_anybody() {
    let run = in_repository(&["schematic", "id", "examples/schematics/qemu-guest-agent.yaml"]);
    assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (0, format!("{AGENT}\n").as_str(), ""));
    let both = ["examples/schematics/longhorn.yaml", "examples/schematics/qemu-guest-agent.yaml"];
    let run = in_repository(&["schematic", "id", both[0], both[1]]);
    let expected = format!(
        "88d1f7a5c4f1d3aba7df787c448c1d3d008ed29cfb34af53fa0df4336a56040b  {}\n{AGENT}  {}\n",
        both[0], both[1]
    );
    assert_eq!((run.exit, run.stdout), (0, expected));
    let run = in_repository(&["schematic", "id", both[1], "-o", "json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("-o json prints JSON");
    assert_eq!(document["schematics"][0]["id"], AGENT);
    assert!(document["schematics"][0]["canonical"].as_str().is_some_and(|text| text.starts_with("customization:\n")));
}

#[test]
fn an_image_and_its_installer_are_named() {
    let file = "examples/schematics/qemu-guest-agent.yaml";
    let run = in_repository(&["schematic", "url", "--schematic", file, "--talos-version", "v1.12.0", "--secureboot"]);
    insta::assert_snapshot!(run);
    let by_id = ["schematic", "url", "--schematic-id", AGENT, "--talos-version", "1.12.0", "--secureboot"];
    assert_eq!(in_repository(&by_id).stdout, run.stdout);
}

#[test]
fn every_mistake_of_a_schematic_is_shown_with_what_was_meant() {
    let text = "\
customization:
  systemExtensions:
    officialExtensions: [siderolabs/qemu-guest-agnt, iscsi-tools]
  extraKernelArg: [net.ifnames=0]
  bootloader: lilo
";
    let workdir = Workdir::new().file("schematic.yaml", text);
    let run = workdir.run(["schematic", "id", "schematic.yaml"]);
    assert_eq!(run.exit, 2);
    insta::assert_snapshot!(run);
}

#[test]
fn what_proxmox_could_not_use_is_refused_with_what_it_can() {
    let with = |more: &[&str]| {
        let args = ["schematic", "url", "--schematic-id", AGENT];
        in_repository(&[&args, more].concat())
    };
    for (args, reason, right) in [
        (vec!["--talos-version", "1.7.0"], "overlooks cloud-init's drive", "take 1.7.1 or later"),
        (vec!["--talos-version", "1.12"], "three numbers", "1.12.0"),
        (vec!["--talos-version", "1.12.0", "--format", "raw.xz"], "does not decompress", "nocloud-amd64.qcow2"),
        (vec!["--talos-version", "1.12.0", "--format", "iso"], "an ISO is", "nocloud-amd64.qcow2"),
        (vec!["--talos-version", "1.12.0", "--factory", "http://factory.example.com"], "in between", "https://"),
    ] {
        let run = with(&args);
        assert_eq!(run.exit, 2, "{run}");
        assert!(run.stderr.contains(reason) && run.stderr.contains(right), "{run}");
    }
}

#[test]
fn nothing_is_pushed_to_a_real_factory_in_a_simulation() {
    let file = "examples/schematics/qemu-guest-agent.yaml";
    let run = in_repository(&["schematic", "push", file, "--simulate", "--factory", "http://127.0.0.1:1"]);
    assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
    assert!(run.stderr.contains("pvetalos simulate --factory") && !run.stderr.contains("does not answer"), "{run}");
}

#[test]
fn a_factory_that_does_not_answer_is_told_with_the_way_around() {
    let file = "examples/schematics/qemu-guest-agent.yaml";
    let run = in_repository(&["schematic", "push", file, "--factory", "http://127.0.0.1:1"]);
    assert_eq!(run.exit, 1);
    assert!(run.stderr.contains("the factory at http://127.0.0.1:1 does not answer"), "{run}");
    assert!(run.stderr.contains("its id is the same everywhere"), "{run}");
}
