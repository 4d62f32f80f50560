use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use super::{plan_json, plan_page};
use crate::model::{CloneMode, NodeName, Role, VmId};
use crate::plan::{ChosenTemplate, Creation, Difference, Edit, Effect, LeftOver, NodePlan, Plan, Verdict};
use crate::preflight::Finding;
use crate::proxmox::calls::PlainKey;

fn parsed<T: FromStr<Err: Display>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn vm_id(number: u32) -> VmId {
    VmId::new(number).expect("it is the number of a VM")
}

fn node(name: &str, verdict: Verdict) -> NodePlan {
    NodePlan {
        node: parsed(name),
        role: Role::Worker,
        address: [192, 168, 20, 21].into(),
        vmid: Some(vm_id(4003)),
        host: Some(parsed("pve1")),
        verdict,
        differences: Vec::new(),
        held_back: Vec::new(),
        waiting: Vec::new(),
        power_cycle: false,
        start: false,
        notes: Vec::new(),
        selected: true,
        running: false,
        uuid: None,
    }
}

fn creation() -> Creation {
    Creation {
        vmid: vm_id(4003),
        automatic: true,
        host: parsed("pve1"),
        template: ChosenTemplate { vmid: vm_id(9000), name: "talos-1.12.0".to_owned(), host: parsed("pve1") },
        clone: CloneMode::Full,
        storage: parsed("local-lvm"),
        shared_storage: false,
        pool: None,
    }
}

fn difference(option: &str, from: Option<&str>, to: Option<&str>, because: &str) -> Difference {
    Difference {
        option: option.to_owned(),
        from: from.map(str::to_owned),
        to: to.map(str::to_owned),
        because: because.to_owned(),
        effect: Effect::Harmless,
        edit: Edit::Set(PlainKey::Cores, String::new()),
    }
}

fn plan(nodes: Vec<NodePlan>) -> Plan {
    Plan {
        cluster: parsed("home"),
        nodes,
        left_over: Vec::new(),
        notes: Vec::new(),
        findings: Vec::new(),
        strangers: BTreeSet::new(),
    }
}

fn shown(nodes: Vec<NodePlan>) -> String {
    plan_page(&plan(nodes), 80).plain()
}

#[test]
fn what_comes_into_being_says_from_what() {
    let elsewhere = ChosenTemplate { host: parsed("pve2"), ..creation().template };
    let linked = Creation { template: elsewhere, clone: CloneMode::Linked, pool: Some(parsed("talos")), ..creation() };
    let nodes = vec![
        NodePlan { start: true, ..node("worker-1", Verdict::Create(creation())) },
        NodePlan {
            notes: vec!["pve1 has 2048 MiB of memory left for it, and it wants 16384 MiB".to_owned()],
            ..node("worker-10", Verdict::Create(linked))
        },
        node("worker-2", Verdict::Join),
        NodePlan {
            start: true,
            differences: vec![difference("cores", Some("2"), Some("8"), "nodes.yaml:54 defaults.worker")],
            ..node("worker-3", Verdict::Finish)
        },
    ];
    insta::assert_snapshot!(shown(nodes), @"
    + worker-1   create VM 4003 on pve1: worker at 192.168.20.21
                 full clone of template 9000 (talos-1.12.0) to local-lvm
    + worker-10  create VM 4003 on pve1: worker at 192.168.20.21
                 linked clone of template 9000 (talos-1.12.0) on pve2, pool talos,
                 not started
                 · pve1 has 2048 MiB of memory left for it, and it wants 16384 MiB
    + worker-2   join VM 4003 on pve1
                 somebody, perhaps another run, is only just making it
    + worker-3   finish VM 4003 on pve1, then start it
                 it was cloned, and never configured to its end
                 cores  2 → 8  ← nodes.yaml:54 defaults.worker

    Plan: 4 to create, 0 to change, 0 unchanged, 0 refused
    ");
}

#[test]
fn a_change_shows_old_and_new_and_why() {
    let changed = NodePlan {
        differences: vec![
            difference("cores", Some("4"), Some("8"), "nodes.yaml:91 vm_cores"),
            difference("tags", None, Some("talos;worker"), "every node of the cluster"),
            difference("searchdomain", Some("home.arpa"), None, "inherited from the template"),
            difference(
                "scsi0",
                Some("local-lvm:vm-4003-disk-0,size=64G"),
                Some("local-lvm:vm-4003-disk-0,discard=on,size=64G,ssd=1"),
                "pvetalos.yaml:12 proxmox_vm_worker_defaults.disk_ssd",
            ),
        ],
        held_back: vec![difference(
            "net0",
            Some("virtio=BC:24:11:20:00:21,bridge=vmbr0"),
            Some("virtio=BC:24:11:20:00:21,bridge=vmbr1,tag=20"),
            "nodes.yaml:31 bridge",
        )],
        waiting: vec!["cores".to_owned(), "memory".to_owned()],
        notes: vec!["scsi0 has 128G, more than the 64G of nodes.yaml:56 disk_size: a disk cannot shrink".to_owned()],
        ..node("worker-1", Verdict::Update)
    };
    let cycled = NodePlan {
        power_cycle: true,
        differences: vec![difference("cores", Some("4"), Some("8"), "nodes.yaml:91 vm_cores")],
        ..node("worker-2", Verdict::Update)
    };
    insta::assert_snapshot!(shown(vec![changed, cycled, node("worker-3", Verdict::Start), node("worker-4", Verdict::Adopt)]), @"
    ~ worker-1  change VM 4003 on pve1
                cores         4 → 8                  ← nodes.yaml:91 vm_cores
                tags          (none) → talos;worker  ← every node of the cluster
                searchdomain  home.arpa → (none)     ← inherited from the template
                scsi0         (none) → discard=on,ssd=1
                              ← pvetalos.yaml:12 proxmox_vm_worker_defaults.disk_ssd
                held back, because it interrupts the node (--disruptive does it):
                  net0  bridge=vmbr0 → bridge=vmbr1,tag=20  ← nodes.yaml:31 bridge
                after a reboot: cores, memory (--disruptive switches it off and on)
                · scsi0 has 128G, more than the 64G of nodes.yaml:56 disk_size: a
                  disk cannot shrink
    ~ worker-2  change VM 4003 on pve1, and switch it off and on
                cores  4 → 8  ← nodes.yaml:91 vm_cores
    ~ worker-3  start VM 4003 on pve1
    ~ worker-4  adopt VM 4003 on pve1
                it gets our mark and tags; nothing else changes

    Plan: 0 to create, 2 to change, 1 to start, 1 to adopt, 0 unchanged, 0 refused
    ");
}

#[test]
fn what_cannot_be_done_says_why() {
    let refuse =
        |reasons: &[&str]| Verdict::Refuse { reasons: reasons.iter().map(|text| (*text).to_owned()).collect() };
    let without_vm = |name: &str, verdict| NodePlan { vmid: None, host: None, ..node(name, verdict) };
    let missing = "there is no template talos on pve1: make one with the name `talos`";
    let nodes = vec![
        without_vm("cp-1", refuse(&[missing])),
        without_vm("cp-2", refuse(&[missing])),
        without_vm("cp-3", refuse(&["the token lacks VM.Clone on /vms", "storage slow is full"])),
        node("cp-4", refuse(&["bios: ovmf cannot become seabios"])),
        without_vm("cp-5", Verdict::Conflict { reason: "VM 100 on pve1 (nas) has the name of this node".to_owned() }),
        without_vm("cp-6", Verdict::Unknown { reason: "VM 4005 is on pve2, which does not answer".to_owned() }),
        node(
            "cp-7",
            Verdict::Adoptable { reason: "VM 4003 on pve1 has its name and MAC: `--adopt` makes it ours".to_owned() },
        ),
    ];
    let mut plan = plan(nodes);
    plan.findings.push(Finding::error("the token lacks VM.Clone on /vms", "pveum acl modify /vms --roles TalosVMs"));
    plan.notes.push("host pve2 cannot be looked at: it is not online".to_owned());
    insta::assert_snapshot!(plan_page(&plan, 80).plain(), @"
    ! cp-1  refused
            there is no template talos on pve1: make one with the name `talos`
    ! cp-2  refused
            for the same reason as cp-1
    ! cp-3  refused
            Proxmox is not ready for it: see what was found, below
            storage slow is full
    ! cp-4  VM 4003 on pve1: refused
            bios: ovmf cannot become seabios
    ! cp-5  in conflict
            VM 100 on pve1 (nas) has the name of this node
    ? cp-6  cannot be seen
            VM 4005 is on pve2, which does not answer
    ? cp-7  VM 4003 on pve1 could be adopted
            VM 4003 on pve1 has its name and MAC: `--adopt` makes it ours

    Found on Proxmox
      error    the token lacks VM.Clone on /vms
               fix: pveum acl modify /vms --roles TalosVMs

    note: host pve2 cannot be looked at: it is not online

    Plan: nothing to do, 0 unchanged, 6 refused, 1 unknown
    ");
}

#[test]
fn what_is_as_it_should_be_is_nothing_to_do() {
    let mut plan = plan(vec![node("worker-1", Verdict::Nothing), node("worker-2", Verdict::Nothing)]);
    let left: NodeName = parsed("worker-9");
    plan.left_over.push(LeftOver { node: left, vmid: vm_id(4009), host: parsed("pve1") });
    insta::assert_snapshot!(plan_page(&plan, 80).plain(), @"
    = worker-1  VM 4003 on pve1
    = worker-2  VM 4003 on pve1

    Left over, because their nodes are not in the files:
      worker-9  VM 4009 on pve1
      `pvetalos destroy --left-over worker-9` removes such a VM

    Plan: nothing to do, 2 unchanged, 0 refused
    ");
}

#[test]
fn what_is_not_selected_is_shown_and_not_counted() {
    let nodes = vec![
        NodePlan { selected: false, ..node("worker-1", Verdict::Create(creation())) },
        node("worker-2", Verdict::Nothing),
    ];
    insta::assert_snapshot!(shown(nodes), @"
    + worker-1  create VM 4003 on pve1: worker at 192.168.20.21 (not selected)
                full clone of template 9000 (talos-1.12.0) to local-lvm, not started
    = worker-2  VM 4003 on pve1

    Plan: nothing to do, 1 unchanged, 0 refused, 1 not selected
    ");
}

#[test]
fn programs_get_whole_values_and_a_version() {
    let plan = plan(vec![
        NodePlan { start: true, ..node("worker-1", Verdict::Create(creation())) },
        NodePlan {
            differences: vec![difference("cores", Some("4"), Some("8"), "nodes.yaml:91 vm_cores")],
            ..node("worker-2", Verdict::Update)
        },
    ]);
    insta::assert_snapshot!(super::to_yaml(&plan_json(&plan)), @r#"
    format_version: 1
    acts: true
    counts:
      create: 1
      change: 1
      start: 0
      adopt: 0
      unchanged: 0
      refused: 0
      unknown: 0
      not_selected: 0
    cluster: home
    nodes:
      - node: worker-1
        role: worker
        address: "192.168.20.21"
        vmid: 4003
        host: pve1
        action: create
        automatic: true
        template:
          vmid: 9000
          name: talos-1.12.0
          host: pve1
        clone: full
        storage: local-lvm
        shared_storage: false
        pool: null
        differences: []
        held_back: []
        waiting: []
        power_cycle: false
        start: true
        notes: []
        selected: true
        running: false
      - node: worker-2
        role: worker
        address: "192.168.20.21"
        vmid: 4003
        host: pve1
        action: update
        differences:
          - option: cores
            from: "4"
            to: "8"
            because: "nodes.yaml:91 vm_cores"
            effect: harmless
        held_back: []
        waiting: []
        power_cycle: false
        start: false
        notes: []
        selected: true
        running: false
    left_over: []
    notes: []
    findings: []
    "#);
}
