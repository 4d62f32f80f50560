//! Changes of VMs that run: what is applied, what waits, what is held back, and what is interrupted when asked to.

use pvetalos::apply::{End, Event, EventKind, Settings, Step, Stop, destroy};
use pvetalos::plan::{DestroyOptions, Options, Verdict};
use pvetalos::proxmox::Method;
use pvetalos::sim::Fault;
use serde_json::Value;

use crate::lab::{Lab, cluster, options};

const SAMPLE: &str = pvetalos::config::SAMPLE;

async fn provisioned() -> Lab {
    let lab = Lab::sample();
    let outcomes = lab.provision().await.expect("Proxmox answers");
    assert!(outcomes.iter().all(pvetalos::apply::Outcome::is_done));
    lab
}

fn option<'a>(made: &'a std::collections::BTreeMap<String, Value>, vmid: &str, key: &str) -> &'a Value {
    &made[vmid]["config"][key]
}

#[tokio::test(start_paused = true)]
async fn what_needs_a_power_cycle_is_written_and_waits() {
    let mut lab = provisioned().await;
    lab.cluster = cluster(&SAMPLE.replace("cores: 4", "cores: 6"));
    let outcomes = lab.provision().await.expect("Proxmox answers");
    assert_eq!(outcomes.len(), 3, "{outcomes:#?}");
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    assert!(!plan.acts());
    assert_eq!(plan.nodes[0].waiting, ["cores"]);
    let made = lab.made();
    assert_eq!(option(&made, "4000", "cores"), "4", "it is not in effect yet");
    assert_eq!(made["4000"]["pending"]["cores"], "6");
    lab.check_promises();
}

#[tokio::test(start_paused = true)]
async fn what_disrupts_is_held_back_until_it_is_asked_for() {
    let mut lab = provisioned().await;
    // The worker gets another network card.
    lab.cluster = cluster(&SAMPLE.replace("bc:24:11:20:00:21", "bc:24:11:20:99:21"));
    let plan = lab.plan(&options()).await.expect("Proxmox answers");
    let worker = &plan.nodes[3];
    assert_eq!((&worker.verdict, worker.held_back.len()), (&Verdict::Nothing, 1), "{worker:#?}");
    assert!(lab.provision().await.expect("Proxmox answers").is_empty());

    let disruptive = Options { disruptive: true, ..options() };
    let outcomes = lab.provision_with(&disruptive).await.expect("Proxmox answers");
    assert!(outcomes.len() == 1 && outcomes[0].is_done(), "{outcomes:#?}");
    let card = option(&lab.made(), "4003", "net0").as_str().expect("a card").to_owned();
    assert!(card.to_lowercase().contains("bc:24:11:20:99:21"), "{card}");
    assert!(!lab.plan(&options()).await.expect("Proxmox answers").acts());
    lab.check_promises();
}

#[tokio::test(start_paused = true)]
async fn nodes_are_cycled_one_after_the_other() {
    let mut lab = provisioned().await;
    lab.cluster =
        cluster(&SAMPLE.replace("memory: 16384", "memory: 20480").replace("vm_memory: 32768", "vm_memory: 30720"));
    lab.simulator.clear_log();
    let disruptive = Options { disruptive: true, ..options() };
    let outcomes = lab.provision_with(&disruptive).await.expect("Proxmox answers");
    assert!(outcomes.len() == 2 && outcomes.iter().all(pvetalos::apply::Outcome::is_done), "{outcomes:#?}");
    let log = lab.simulator.log();
    let power: Vec<String> = log
        .requests()
        .iter()
        .map(|logged| logged.request.path.clone())
        .filter(|path| path.ends_with("/status/stop") || path.ends_with("/status/start"))
        .collect();
    let expected = ["4003/status/stop", "4003/status/start", "4004/status/stop", "4004/status/start"];
    assert_eq!(power, expected.map(|path| format!("/nodes/pve/qemu/{path}")));
    lab.check_promises();
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_change_is_refused_is_not_left_off() {
    let mut lab = provisioned().await;
    lab.cluster = cluster(&SAMPLE.replace("bc:24:11:20:00:21", "bc:24:11:20:99:21"));
    let refusal = "Permission check failed (/sdn/zones/localnetwork/vmbr0, SDN.Use)";
    lab.simulator.inject(Fault::answer(403, refusal).of(Method::Put, "/nodes/*/qemu/4003/config").always());
    let disruptive = Options { disruptive: true, ..options() };
    let outcomes = lab.provision_with(&disruptive).await.expect("Proxmox answers");
    assert!(outcomes.len() == 1 && !outcomes[0].is_done(), "{outcomes:#?}");
    assert_eq!(outcomes[0].warnings, ["VM 4003 runs again, without the change"]);
    assert_eq!(lab.made()["4003"]["running"], true);
}

#[tokio::test(start_paused = true)]
async fn a_destroy_that_is_stopped_begins_nothing_new() {
    let lab = provisioned().await;
    let plan = lab.plan_destroy(&DestroyOptions::default()).await.expect("Proxmox answers");
    let (stop, stopped) = Stop::new();
    // One at a time, and stopped as soon as the first begins to go.
    let settings = Settings { volumes_per_storage: 1, ..Settings::default() };
    let tell = |event: Event| {
        if matches!(event.kind, EventKind::Began { step: Step::Delete }) {
            stop.stop();
        }
    };
    let client = lab.client();
    let outcomes = destroy(&client, &lab.cluster, &plan, &settings, &stopped, &tell).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome.end, End::Interrupted { .. })), "{outcomes:#?}");
    lab.check_promises();
    assert_eq!(lab.made().len(), 4, "only the one that had begun is gone");
}

#[tokio::test(start_paused = true)]
async fn a_configured_control_plane_is_not_interrupted() {
    let mut lab = provisioned().await;
    lab.cluster = cluster(&SAMPLE.replace("cores: 4", "cores: 6"));
    let disruptive = Options { disruptive: true, ..options() };
    let plan = lab.plan(&disruptive).await.expect("Proxmox answers");
    assert!(plan.nodes[0].power_cycle, "in maintenance there is nothing to lose: {:#?}", plan.nodes[0]);
    lab.configure_talos("cp-1");
    let plan = lab.plan(&disruptive).await.expect("Proxmox answers");
    assert!(matches!(plan.nodes[0].verdict, Verdict::Refuse { .. }), "{:#?}", plan.nodes[0]);
    assert!(plan.nodes[1].power_cycle, "{:#?}", plan.nodes[1]);
}
