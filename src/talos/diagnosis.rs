//! Why a node is not where it should be: likely causes, in the order in which to look.

use std::fmt;
use std::net::IpAddr;

use serde::Serialize;

use super::{Goal, History, NodeState, PORT, Target};

/// What is known about the VM of a node. What is not known is left out, and makes a cause possible rather than certain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VmFacts {
    pub is_running: Option<bool>,
    /// What the guest agent says; addresses that every machine has are left out.
    pub agent_addresses: Vec<IpAddr>,
    pub has_cloud_init_drive: Option<bool>,
    /// The type of cloud-init data in effect, such as `nocloud`.
    pub cloud_init_type: Option<String>,
    /// The static address that cloud-init offers.
    pub offered_address: Option<Option<IpAddr>>,
    /// Somebody else's user-data is on the drive.
    pub has_custom_user_data: Option<bool>,
    pub vlan_tag: Option<u16>,
    /// Talos tags its frames itself, once it is configured.
    pub is_trunk: bool,
    pub bridge: Option<String>,
    /// Proxmox' firewall filters the card.
    pub has_firewall: Option<bool>,
    pub cpu_type: Option<String>,
    /// Microsoft's keys are enrolled in the firmware.
    pub has_enrolled_keys: Option<bool>,
    pub memory_mib: Option<u64>,
    /// The image makes its node join Omni, whose link is then the only way to its API.
    pub joins_siderolink: Option<bool>,
    pub is_worker: Option<bool>,
}

/// One reason, and how to find out whether it is the one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    pub certainty: Certainty,
    pub what: String,
    pub check: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The facts show it.
    Certain,
    /// The facts speak for it.
    Likely,
    /// Nothing speaks against it.
    Possible,
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Possible => "possible",
        })
    }
}

use Certainty::{Certain, Likely, Possible};

/// Collects causes; the order of what is equally certain is the order in which they were found.
#[derive(Default)]
struct Causes(Vec<Cause>);

impl Causes {
    fn add(&mut self, certainty: Certainty, what: impl Into<String>, check: impl Into<String>) {
        self.0.push(Cause { certainty, what: what.into(), check: check.into() });
    }

    fn add_if(&mut self, holds: bool, certainty: Certainty, what: impl Into<String>, check: impl Into<String>) {
        if holds {
            self.add(certainty, what, check);
        }
    }
}

/// Finds what can have kept a node from the goal, the most certain first.
pub fn diagnose(target: &Target, goal: Goal, history: &History, facts: &VmFacts) -> Vec<Cause> {
    let mut causes = Causes::default();
    if facts.is_running == Some(false) {
        causes.add(Certain, "the VM is not running", "start it with `pvetalos provision`, and look at its last tasks");
    }
    match history.last().map(|phase| phase.state) {
        None | Some(NodeState::Unreachable) => unreachable(target, history, facts, &mut causes),
        Some(NodeState::Closed) => closed(history, facts, &mut causes),
        Some(NodeState::NotTalos) => not_talos(target, history, &mut causes),
        Some(NodeState::Starting) => starting(facts, &mut causes),
        Some(NodeState::Maintenance) => causes.add_if(
            goal == Goal::Configured,
            Certain,
            "it waits for a machine configuration",
            format!("apply one: `talosctl apply-config --insecure --nodes {} --file FILE`", target.address),
        ),
        Some(NodeState::Configured) => causes.add_if(
            goal == Goal::Maintenance,
            Certain,
            "it has a machine configuration already: it was given one, its cloud-init user-data holds one, or its \
             template had one",
            "keep it; or wipe it with `talosctl reset --system-labels-to-wipe STATE,EPHEMERAL --reboot`, which deletes \
             its data",
        ),
        Some(NodeState::WrongHost) => causes.add(
            Certain,
            format!("another machine has the address {}", target.address),
            "find it by its MAC address in `ip neighbour` and give one of the two another address; nothing was sent to it",
        ),
    }
    let mut causes = causes.0;
    causes.sort_by_key(|cause| cause.certainty);
    causes
}

/// Nobody is at the address: the guest has not booted, has another address, or the way there is cut.
fn unreachable(target: &Target, history: &History, facts: &VmFacts, causes: &mut Causes) {
    let address = target.address;
    let evidence = history.last().map(|phase| phase.evidence.as_str()).unwrap_or_default();
    if evidence.starts_with("the proxy ") {
        causes.add(Certain, evidence, "is `ssh -D` still running, and is the address of `--talos-proxy` right?");
    }
    let once_there = history.phases().iter().any(|phase| phase.state.is_held());
    no_boot(target, facts, once_there, causes);
    no_address(target, facts, causes);
    let elsewhere: Vec<String> =
        facts.agent_addresses.iter().filter(|found| **found != address).map(ToString::to_string).collect();
    let there = facts.agent_addresses.contains(&address);
    if let (false, Some(first)) = (there, elsewhere.first()) {
        causes.add(
            Likely,
            format!(
                "the guest has the address {} instead: it did not read its cloud-init data, as metal images never do",
                elsewhere.join(", ")
            ),
            format!(
                "`talosctl get platformmetadata --insecure --nodes {first}`: unless the platform is nocloud, make the \
                 template from a nocloud image"
            ),
        );
    }
    let way = if there { Likely } else { Possible };
    match (facts.is_trunk, facts.vlan_tag) {
        (true, _) => causes.add(
            Likely,
            "the card is a trunk: until it is configured the node speaks untagged, and its address must be reachable so",
            "make the node's network the untagged one of the bridge, or let Proxmox tag (`proxmox_vlan_mode`)",
        ),
        (false, Some(tag)) => causes.add(
            way,
            format!("VLAN {tag} does not lead from the host to this machine"),
            format!(
                "is {} VLAN-aware, does its uplink carry tag {tag}, and is there a route from here: `ip route get \
                 {address}`",
                facts.bridge.as_deref().unwrap_or("the bridge")
            ),
        ),
        (false, None) => {}
    }
    causes.add_if(
        facts.has_firewall == Some(true),
        Possible,
        "Proxmox' firewall filters the card",
        format!("does the VM's firewall let TCP {PORT} in?"),
    );
    causes.add(
        way,
        "there is no way from this machine to the address",
        format!("`ping {address}` and `ip route get {address}`; nodes behind a jump host: `--talos-proxy socks5://…`"),
    );
    causes.add_if(
        !there && elsewhere.is_empty(),
        Possible,
        "the image is a metal one, which ignores cloud-init and takes the address that DHCP gives",
        "look at the console or at the DHCP server's leases for the VM's MAC address; images have to be nocloud ones",
    );
    causes.add_if(
        !once_there,
        Possible,
        "the system does not boot",
        "look at the console: `qm terminal VMID` on the host, or in the web interface",
    );
}

/// What keeps Talos from booting at all.
fn no_boot(target: &Target, facts: &VmFacts, once_there: bool, causes: &mut Causes) {
    let cpu = facts.cpu_type.as_deref().unwrap_or_default();
    let too_old = matches!(cpu, "kvm64" | "kvm32" | "qemu64" | "qemu32" | "x86-64-v1");
    causes.add_if(
        too_old,
        Certain,
        format!("Talos does not run on the CPU type {cpu}: it needs x86-64-v2"),
        "set `cpu_type` to host or x86-64-v2-AES; the console says that microarchitecture level 2 is required",
    );
    causes.add_if(
        facts.has_enrolled_keys == Some(true),
        Certain,
        "the firmware has Microsoft's keys enrolled and refuses to start Talos",
        "the console says `Access Denied`; the EFI disk has to be made anew with `pre-enrolled-keys=0`",
    );
    causes.add_if(
        target.expected.secure_boot == Some(true) && facts.has_enrolled_keys != Some(true) && !once_there,
        Possible,
        "with secure boot the first start takes one restart more, because keys are enrolled",
        "wait longer with `--timeout`; the console shows whether the firmware accepts the image",
    );
}

/// What keeps Talos from taking the address that Proxmox offers.
fn no_address(target: &Target, facts: &VmFacts, causes: &mut Causes) {
    causes.add_if(
        facts.has_cloud_init_drive == Some(false),
        Certain,
        "the VM has no cloud-init drive, so that nobody tells the guest its address",
        "add one (`pvetalos provision` does), then stop and start the VM",
    );
    let kind = facts.cloud_init_type.as_deref().unwrap_or("nocloud");
    causes.add_if(
        kind != "nocloud",
        Certain,
        format!("the cloud-init data are of the type {kind}, which Talos does not read"),
        "set `citype` to nocloud, then stop and start the VM",
    );
    match facts.offered_address {
        Some(None) => causes.add(
            Certain,
            "cloud-init offers no static address to the first card",
            "`pvetalos plan` shows what is missing; stop and start the VM after the change",
        ),
        Some(Some(offered)) if offered != target.address => causes.add(
            Certain,
            format!("cloud-init offers the address {offered}, not {}", target.address),
            "`pvetalos plan` shows the difference; stop and start the VM after the change",
        ),
        _ => {}
    }
    let version = target.expected.version.as_ref().map(ToString::to_string);
    causes.add_if(
        version.as_deref() == Some("1.7.0"),
        Certain,
        "Talos 1.7.0 reads its cloud-init data only by luck",
        "take 1.7.1 or later",
    );
}

/// Somebody has the address and does not listen: Talos before its API, or one that listens elsewhere.
fn closed(history: &History, facts: &VmFacts, causes: &mut Causes) {
    let was_ready = history.has_seen(NodeState::Maintenance);
    causes.add_if(
        facts.joins_siderolink == Some(true),
        Certain,
        "the image joins a SideroLink (Omni), and its API listens only there",
        "leave `siderolink.api` out of the schematic's kernel arguments",
    );
    causes.add_if(
        facts.has_custom_user_data == Some(true),
        Likely,
        "the user-data of `cicustom` is neither `#cloud-config` nor a machine configuration, and Talos tries it for ever",
        "look at the console; take the user part out of `cicustom`",
    );
    causes.add_if(
        facts.is_worker != Some(false),
        if was_ready { Likely } else { Possible },
        "it is a configured worker that no control plane has given a certificate yet",
        "are the control planes up, and can the worker reach TCP 50001 of one of them?",
    );
    causes.add_if(
        was_ready,
        Likely,
        "it has just been given a machine configuration and restarts its API",
        "wait longer with `--timeout`",
    );
    causes.add_if(
        facts.joins_siderolink.is_none(),
        Possible,
        "the image joins a SideroLink (Omni), and its API listens only there",
        "look for `siderolink.api` among the schematic's kernel arguments",
    );
    causes.add(
        Possible,
        "it is still booting, or another system has the address",
        "look at the console: Talos shows its stage and its addresses there",
    );
}

/// Something listens that is no Talos.
fn not_talos(target: &Target, history: &History, causes: &mut Causes) {
    let seen = history.last().map(|phase| phase.evidence.clone()).unwrap_or_default();
    causes.add(
        Likely,
        format!("another system has the address {}: {seen}", target.address),
        "compare its MAC address in `ip neighbour` with the one in nodes.yaml",
    );
    causes.add(
        Possible,
        "a proxy or a firewall answers in the node's place",
        format!("`openssl s_client -alpn h2 -connect {}` shows who does", target.socket()),
    );
}

/// Talos is there and does not get any further.
fn starting(facts: &VmFacts, causes: &mut Causes) {
    /// What a node needs to get up, in MiB.
    const LEAST_MEMORY: u64 = 1024;
    let memory = facts.memory_mib.unwrap_or(LEAST_MEMORY);
    causes.add_if(
        memory < LEAST_MEMORY,
        Likely,
        format!("{memory} MiB of memory are too little for Talos"),
        "give it 2048 MiB or more",
    );
    causes.add_if(
        facts.has_custom_user_data == Some(true),
        Likely,
        "it works on the user-data of `cicustom`",
        "look at the console",
    );
    causes.add(
        Possible,
        "its start takes longer, or something on it fails again and again",
        "look at the console, or with Talos 1.13 and later: `talosctl dmesg --insecure`; wait longer with `--timeout`",
    );
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::talos::{Expected, Sighting};

    fn target() -> Target {
        let address = "192.168.1.11".parse().expect("an address");
        Target { name: "cp-1".to_owned(), address, expected: Expected::default() }
    }

    fn seen(states: &[NodeState]) -> History {
        let mut history = History::default();
        for (second, state) in (0..).zip(states) {
            history.note(Duration::from_secs(second), &Sighting::new(*state, "this is seen"));
        }
        history
    }

    fn good() -> VmFacts {
        VmFacts {
            is_running: Some(true),
            has_cloud_init_drive: Some(true),
            cloud_init_type: Some("nocloud".to_owned()),
            offered_address: Some(Some(target().address)),
            has_custom_user_data: Some(false),
            cpu_type: Some("host".to_owned()),
            has_enrolled_keys: Some(false),
            memory_mib: Some(2048),
            joins_siderolink: Some(false),
            is_worker: Some(false),
            ..VmFacts::default()
        }
    }

    #[track_caller]
    fn first(history: &[NodeState], facts: &VmFacts, expected: (Certainty, &str)) {
        let causes = diagnose(&target(), Goal::Maintenance, &seen(history), facts);
        let cause = causes.first().expect("there is always something to check");
        assert!((cause.certainty, cause.what.contains(expected.1)) == (expected.0, true), "{causes:#?}");
    }

    #[test]
    fn what_the_facts_show_comes_first() {
        use NodeState::{Closed, Maintenance, NotTalos, Starting, Unreachable, WrongHost};
        let with = |change: fn(&mut VmFacts)| {
            let mut facts = good();
            change(&mut facts);
            facts
        };
        first(&[Unreachable], &with(|vm| vm.is_running = Some(false)), (Certain, "not running"));
        first(&[Unreachable], &with(|vm| vm.has_cloud_init_drive = Some(false)), (Certain, "no cloud-init drive"));
        first(&[Unreachable], &with(|vm| vm.cloud_init_type = Some("configdrive2".into())), (Certain, "configdrive2"));
        first(&[Unreachable], &with(|vm| vm.offered_address = Some(None)), (Certain, "no static address"));
        first(&[Unreachable], &with(|vm| vm.offered_address = Some("10.0.0.1".parse().ok())), (Certain, "10.0.0.1"));
        first(&[Unreachable], &with(|vm| vm.cpu_type = Some("kvm64".into())), (Certain, "kvm64"));
        first(&[Unreachable], &with(|vm| vm.has_enrolled_keys = Some(true)), (Certain, "Microsoft's keys"));
        first(&[Unreachable], &with(|vm| vm.is_trunk = true), (Likely, "trunk"));
        first(&[Unreachable], &with(|vm| vm.vlan_tag = Some(20)), (Possible, "VLAN 20"));
        let dhcp = with(|vm| vm.agent_addresses = vec!["192.168.1.77".parse().expect("an address")]);
        first(&[Unreachable], &dhcp, (Likely, "192.168.1.77 instead"));
        let cut = with(|vm| vm.agent_addresses = vec![target().address]);
        first(&[Unreachable], &cut, (Likely, "no way from this machine"));
        first(&[Unreachable, Closed], &with(|vm| vm.joins_siderolink = Some(true)), (Certain, "SideroLink"));
        first(&[Closed], &with(|vm| vm.has_custom_user_data = Some(true)), (Likely, "cicustom"));
        first(&[Maintenance, Closed], &with(|vm| vm.is_worker = Some(true)), (Likely, "worker"));
        first(&[Closed], &good(), (Possible, "still booting"));
        first(&[NotTalos], &good(), (Likely, "this is seen"));
        first(&[Starting], &with(|vm| vm.memory_mib = Some(512)), (Likely, "512 MiB"));
        first(&[WrongHost], &good(), (Certain, "another machine"));
    }

    #[test]
    fn without_any_facts_there_is_still_something_to_check() {
        for state in NodeState::ALL {
            let causes = diagnose(&target(), Goal::Maintenance, &seen(&[state]), &VmFacts::default());
            assert!(!causes.is_empty() || state == NodeState::Maintenance, "{state}");
            assert!(causes.is_sorted_by_key(|cause| cause.certainty));
        }
        assert!(!diagnose(&target(), Goal::Any, &History::default(), &VmFacts::default()).is_empty());
    }
}
