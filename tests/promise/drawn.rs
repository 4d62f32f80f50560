//! Files and worlds that nobody would think of, drawn by a seed.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use serde_json::{Value, json};

use crate::lab::{Lab, THREE_HOSTS, world};

/// A key of a node, as it is written in a file, and the values to draw from.
type Choices = &'static [(&'static str, &'static [&'static str])];

/// What was drawn for one list of choices: a value for every key that is given.
pub(crate) type Given = BTreeMap<&'static str, &'static str>;

/// Everything that a node may say about its VM and that may change later.
const KEYS: Choices = &[
    ("vm_cores", &["1", "2", "6"]),
    ("vm_sockets", &["1", "2"]),
    ("vm_memory", &["4096", "8192", "12288"]),
    ("balloon", &["0", "2048", "4096"]),
    ("cpu_type", &["host", "x86-64-v2-AES", "EPYC-v4"]),
    ("numa", &["true", "false"]),
    ("bios", &["ovmf"]),
    ("machine", &["q35", "q35", "q35", "i440fx"]),
    ("scsi_hw", &["virtio-scsi-pci", "virtio-scsi-single", "lsi"]),
    ("ostype", &["l26", "other"]),
    ("qemu_agent", &["true", "false"]),
    ("onboot", &["true", "false"]),
    ("vm_startup_order", &["1", "7"]),
    ("vm_startup_delay", &["0", "30"]),
    ("vm_shutdown_delay", &["0", "90"]),
    ("tags", &["[]", "[rack-3]", "[Rack-3, b_2, a.1]"]),
    ("mtu", &["1450", "9000"]),
    ("net_queues", &["1", "2", "16"]),
    ("bridge", &["vmbr0", "vmbr1"]),
    ("vlan_tag", &["7", "4094"]),
    ("disk", &["/dev/sda", "SERIAL-1", "other_2"]),
    ("vm_disk_size", &["32", "64G", "100"]),
    ("disk_discard", &["true", "false"]),
    ("disk_ssd", &["true", "false"]),
    ("disk_backup", &["true", "false"]),
    ("disk_replicate", &["true", "false"]),
    ("encrypt_disk", &["true", "false"]),
    (
        "data_disks",
        &[
            "[{size: 10}]",
            "[{size: 20, serial: fast}, {size: 1, backup: true}]",
            "[{size: 5, backup: false, serial: Slow-1}]",
            "[{size: 8, storage: shared}]",
        ],
    ),
];

/// What is decided when a VM is made.
const CREATION: Choices = &[
    ("proxmox_node", &["pve1", "pve2", "pve3"]),
    ("pool", &["talos"]),
    ("clone", &["full", "linked"]),
    ("vm_id", &["automatic", "declared"]),
    (
        "nics",
        &[
            "[{bridge: vmbr1, mac_addr: 'bc:24:11:2#:01:01', address: dhcp}]",
            "[{bridge: vmbr0, mac_addr: 'BC:24:11:2#:01:01', address: 10.0.0.2#/24, vlan_tag: 9, mtu: 1500}]",
            "[{bridge: vmbr0, mac_addr: 'bc:24:11:2#:01:01'}, {bridge: vmbr1, mac_addr: 'bc:24:11:2#:02:01'}]",
        ],
    ),
];

/// What the whole cluster says.
const NETWORK: Choices = &[
    ("gateway", &["192.168.20.1", "192.168.20.254"]),
    ("dns_servers", &["[]", "[9.9.9.9]", "[1.1.1.1, 1.0.0.1]"]),
    ("search_domains", &["[]", "[home.arpa]", "[a.example.com, b.example.com]"]),
    ("vlan_mode", &["true", "false"]),
];

/// What a template may have that its clones inherit, in every spelling that Proxmox takes.
const INHERITED: Choices = &[
    ("protection", &["0", "1"]),
    ("onboot", &["0", "1"]),
    ("tags", &["talos;template", "a;b", "kubernetes,talos"]),
    ("ipconfig0", &["ip=dhcp", "ip=10.9.9.9/24,gw=10.9.9.1", "gw6=fd00::1,ip6=fd00::2/64", "ip6=auto"]),
    ("ipconfig1", &["ip=dhcp"]),
    ("ipconfig3", &["ip=10.9.9.9/24"]),
    ("boot", &["order=ide2;scsi0", "order=scsi0", "order=net0", "c"]),
    ("citype", &["nocloud", "configdrive2"]),
    ("cicustom", &["user=local:snippets/user.yaml"]),
    (
        "net0",
        &[
            "virtio=#,bridge=vmbr0,firewall=1",
            "e1000=#,bridge=vmbr1,link_down=1",
            "model=virtio,macaddr=#,bridge=vmbr0,mtu=1500,queues=2,rate=5,tag=7",
            "bridge=vmbr0,virtio=#,queues=4",
        ],
    ),
    ("net1", &["virtio=#,bridge=vmbr0"]),
    (
        "agent",
        &["1", "0", "enabled=1", "enabled=1,fstrim_cloned_disks=1", "type=virtio,fstrim_cloned_disks=1,enabled=0"],
    ),
    ("cpu", &["host", "cputype=host", "x86-64-v2-AES,flags=+aes", "flags=+aes;-pcid,cputype=host", "kvm64"]),
    ("machine", &["q35", "pc-q35-9.0", "q35,viommu=intel", "type=q35"]),
    ("memory", &["2048", "current=4096", "16384"]),
    ("balloon", &["0", "1024", "2048"]),
    ("numa", &["0", "1"]),
    ("cores", &["1", "4"]),
    ("sockets", &["1", "2"]),
    ("scsihw", &["virtio-scsi-pci", "virtio-scsi-single", "lsi"]),
    ("ostype", &["l26", "other", "win11"]),
    ("nameserver", &["9.9.9.9", "1.1.1.1  1.0.0.1"]),
    ("searchdomain", &["home.arpa", "old.example.com"]),
    ("startup", &["order=1,up=2", "down=5,order=3", "4"]),
    ("hotplug", &["0", "1", "network,disk,usb"]),
    ("vga", &["std", "serial0"]),
];

/// Where the template has its disks.
const DISKS: &[&[(&str, &str)]] = &[
    &[("scsi0", "1246M"), ("efidisk0", "528K"), ("ide2", "cloudinit")],
    &[("scsi0", "1246M"), ("efidisk0", "528K"), ("ide0", "cloudinit")],
    &[("scsi0", "1246M"), ("efidisk0", "528K"), ("scsi1", "cloudinit")],
    &[("scsi0", "1246M"), ("efidisk0", "528K")],
    &[("scsi0", "1246M"), ("efidisk0", "528K"), ("scsi1", "512M")],
    &[("scsi0", "1246M"), ("efidisk0", "528K"), ("scsi4", "2G"), ("ide2", "cloudinit")],
];

/// Draws some of the choices: a few, many, or none at all.
fn given(choices: Choices) -> impl Strategy<Value = Given> {
    let drawn: Vec<_> = choices
        .iter()
        .map(|(key, values)| prop::option::of(select(*values)).prop_map(move |value| (*key, value)))
        .collect();
    (drawn, 0_u8..4, any::<u64>()).prop_map(|(drawn, share, dice)| {
        let kept =
            |at: usize| share > 0 && (dice.rotate_left(u32::try_from(at).unwrap_or(0) * 7) % 3) < u64::from(share);
        let some = drawn.into_iter().enumerate().filter(|(at, _)| kept(*at));
        some.filter_map(|(_, (key, value))| Some((key, value?))).collect()
    })
}

/// A node, apart from who it is.
#[derive(Clone, Debug)]
pub(crate) struct DrawnNode {
    pub(crate) keys: Given,
    creation: Given,
    controller: bool,
}

/// The files of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct DrawnCluster {
    pub(crate) nodes: Vec<DrawnNode>,
    pub(crate) network: Given,
}

/// A cluster and the world that it begins in.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) cluster: DrawnCluster,
    inherited: Given,
    disks: usize,
    /// Whether there is one template for all hosts instead of one on each.
    shared: bool,
    /// Whether the token may do everything.
    pub(crate) admin: bool,
    seed: u64,
}

impl DrawnNode {
    /// Whether it has cards beside the first one.
    pub(crate) fn has_cards(&self) -> bool {
        self.creation.contains_key("nics")
    }
}

fn node() -> impl Strategy<Value = DrawnNode> {
    (given(KEYS), given(CREATION), any::<bool>()).prop_map(|(keys, creation, controller)| DrawnNode {
        keys,
        creation,
        controller,
    })
}

pub(crate) fn drawn() -> impl Strategy<Value = Drawn> {
    let cluster = (prop::collection::vec(node(), 1..4), given(NETWORK));
    let cluster = cluster.prop_map(|(nodes, network)| DrawnCluster { nodes, network });
    let template = (given(INHERITED), 0..DISKS.len(), prop::bool::weighted(0.2));
    (cluster, template, any::<bool>(), any::<u64>()).prop_map(|(cluster, (inherited, disks, shared), admin, seed)| {
        Drawn { cluster, inherited, disks, shared, admin, seed }
    })
}

/// The same nodes, saying other things about their VMs.
pub(crate) fn redrawn(before: &DrawnCluster) -> impl Strategy<Value = DrawnCluster> + use<> {
    let nodes: Vec<_> = before
        .nodes
        .iter()
        .cloned()
        .map(|node| given(KEYS).prop_map(move |keys| DrawnNode { keys, ..node.clone() }))
        .collect();
    (nodes, given(NETWORK)).prop_map(|(nodes, network)| DrawnCluster { nodes, network })
}

/// What people do to VMs by hand, in the notation of Proxmox: options of every kind, declared in the files or not.
const BY_HAND: Choices = &[
    ("cores", &["3", ""]),
    ("sockets", &["2", ""]),
    ("memory", &["5120", "current=5120", ""]),
    ("balloon", &["512", "", "0"]),
    ("cpu", &["x86-64-v3", "host,flags=+aes", "cputype=host", ""]),
    ("numa", &["0", ""]),
    ("ostype", &["other", ""]),
    ("scsihw", &["virtio-scsi-single", ""]),
    ("agent", &["0", "enabled=1,fstrim_cloned_disks=1", ""]),
    ("onboot", &["0", "1", ""]),
    ("startup", &["order=9", "up=9,down=9", ""]),
    ("tags", &["mine", "talos;worker", ""]),
    ("name", &["renamed"]),
    ("nameserver", &["8.8.8.8", ""]),
    ("searchdomain", &["by.hand", ""]),
    (
        "ipconfig0",
        &[
            "ip=192.168.20.1@/24,gw=192.168.20.77,ip6=auto",
            "ip=192.168.20.99/24,gw=192.168.20.1",
            "gw=192.168.20.1,ip=192.168.20.1@/24",
        ],
    ),
    ("ipconfig1", &["ip=dhcp"]),
    (
        "net0",
        &[
            "virtio=bc:24:11:20:00:1@,bridge=vmbr0,firewall=1",
            "virtio=BC:24:11:20:00:1@,bridge=vmbr1,mtu=1400,queues=3,rate=10,tag=77",
            "bridge=vmbr0,model=virtio,macaddr=BC:24:11:20:00:1@",
            "virtio=BC:24:11:77:00:1@,bridge=vmbr0",
            "e1000=BC:24:11:20:00:1@,bridge=vmbr0,link_down=1",
        ],
    ),
    ("net4", &["virtio=BC:24:11:78:00:1@,bridge=vmbr0"]),
    ("scsi0", &[",cache=writeback", ",backup=1", ",serial=by-hand,iothread=1"]),
    ("notes", &["rack 3, do not touch", "a\n\nb: c"]),
    ("boot", &["order=scsi0;net0", ""]),
    ("protection", &["1"]),
    ("vga", &["virtio"]),
    ("cpuunits", &["500"]),
    ("hotplug", &["0"]),
    ("machine", &["pc-q35-8.1", "q35,viommu=intel", "pc"]),
    ("hookscript", &["local:snippets/hook.pl"]),
];

/// What somebody did to one VM.
#[derive(Clone, Debug)]
pub(crate) struct ByHand {
    options: Given,
    /// Whether the changes wait for a power cycle.
    waits: bool,
    /// Whether the guest was switched off, from inside and with all that waits.
    off: bool,
}

pub(crate) fn by_hand() -> impl Strategy<Value = ByHand> {
    (given(BY_HAND), any::<bool>(), any::<bool>()).prop_map(|(options, waits, off)| ByHand { options, waits, off })
}

impl ByHand {
    /// Does it to the VM of a node, as it stands in a kept world.
    pub(crate) fn change(&self, vm: &mut Value, node: usize) {
        for (key, value) in &self.options {
            let value = value.replace("1@", &format!("1{node}"));
            let old = vm["config"][*key].as_str().unwrap_or_default().to_owned();
            // Proxmox lets these take effect at once, so that they never wait.
            let at_once = ["notes", "name", "tags", "onboot", "startup", "protection"].contains(key);
            let section = if self.waits && !at_once { "pending" } else { "config" };
            match (*key, value.as_str()) {
                ("notes", notes) => {
                    let mark = vm["config"]["description"].as_str().expect("it has a mark").to_owned();
                    vm["config"]["description"] = json!(format!("{notes}\n\n{mark}"));
                }
                ("scsi0", more) => vm[section]["scsi0"] = json!(with_option(&old, more)),
                (_, "") if section == "config" => drop(vm["config"].as_object_mut().expect("a mapping").remove(*key)),
                (_, "") => vm["pending_delete"][*key] = json!(false),
                (_, value) => vm[section][*key] = json!(value),
            }
        }
        if self.off {
            vm["power"] = json!("stopped");
        }
    }
}

/// A drive with options that stand above those that it has.
fn with_option(drive: &str, more: &str) -> String {
    let keys: Vec<&str> = more.split(',').filter_map(|option| Some(option.split_once('=')?.0)).collect();
    let kept = drive.split(',').filter(|option| option.split_once('=').is_none_or(|(key, _)| !keys.contains(&key)));
    kept.collect::<Vec<_>>().join(",") + more
}

fn written(given: &Given) -> String {
    given.iter().map(|(key, value)| format!(", {key}: {value}")).collect()
}

impl DrawnCluster {
    /// As nodes.yaml.
    pub(crate) fn text(&self, shared: bool) -> String {
        let storage = if shared { "storage: shared, " } else { "" };
        let mut text = format!(
            "name: drawn\nproxmox: {{{storage}vm_id_base: 4000}}\nnetwork: {{cidr: 192.168.20.0/24{}}}\n\
             defaults:\n  talos_version: 1.12.0\n  \
             schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515\nnodes:\n",
            written(&self.network)
        );
        for (at, node) in self.nodes.iter().enumerate() {
            let mut creation = node.creation.clone();
            let vm_id = match creation.remove("vm_id") {
                Some("declared") => format!(", vm_id: {}", 5000 + at),
                _ => String::new(),
            };
            let rest = format!("{}{}", written(&creation), written(&node.keys)).replace("2#", &format!("2{at}"));
            text += &format!(
                "  - {{name: node-{at}, address: 192.168.20.1{at}, controller: {}, mac_addr: 'bC:24:11:20:00:1{at}'{vm_id}\
                 {rest}}}\n",
                node.controller
            );
        }
        text
    }
}

impl Drawn {
    pub(crate) fn text(&self) -> String {
        self.cluster.text(self.shared)
    }

    pub(crate) fn text_of(&self, cluster: &DrawnCluster) -> String {
        cluster.text(self.shared)
    }

    pub(crate) fn lab(&self) -> Lab {
        let mut world = world(THREE_HOSTS);
        world["seed"] = json!(self.seed);
        world["hosts"]["pve3"]["bridges"] = json!(["vmbr0", "vmbr1"]);
        let templates = world["templates"].as_object_mut().expect("a mapping");
        if self.shared {
            templates.retain(|vmid, _| vmid == "9000");
        }
        for (vmid, template) in templates {
            let disks = DISKS[self.disks].iter().map(|(slot, size)| ((*slot).to_owned(), json!(size)));
            template["disks"] = Value::Object(disks.collect());
            if self.shared {
                template["storage"] = json!("shared");
            }
            for (at, (key, value)) in self.inherited.iter().enumerate() {
                let mac = format!("BC:24:11:99:{at:02X}:{}", &vmid[2..]);
                template["config"][*key] = json!(value.replace('#', &mac));
            }
        }
        let lab = Lab::new(world, &self.text());
        if self.admin { lab.with_token("root@pam!admin", "22222222-2222-4222-8222-222222222222") } else { lab }
    }
}

/// Tries a claim on so many draws, the same ones every time.
pub(crate) fn for_all<S: Strategy>(cases: u32, drawn: &S, claim: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(2026),
        failure_persistence: None,
        max_shrink_iters: 40,
        ..Config::default()
    };
    TestRunner::new(config).run(drawn, claim).unwrap_or_else(|failed| panic!("{failed}"));
}

/// Runs what waits on paused time, with pauses that are the same every time.
pub(crate) fn on_paused_time<T>(run: impl Future<Output = T>) -> T {
    fastrand::seed(7);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime can be made").block_on(run)
}
