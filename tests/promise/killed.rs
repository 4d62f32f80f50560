//! The process is killed at every request, before it is sent and after it was carried out, and run again.

use std::collections::BTreeMap;

use pvetalos::apply::Outcome;
use pvetalos::proxmox::ProxmoxError;
use pvetalos::sim::Fault;
use serde_json::Value;

use crate::lab::{Lab, THREE_HOSTS, options, world};

/// What is done, from which beginning, and to what end.
struct Story {
    /// A lab at the moment before the run that is killed.
    begin: fn() -> Lab,
    prepare: fn(&mut Lab) -> Preparing<'_>,
    run: fn(&Lab) -> Running<'_>,
    /// How many VMs there are in the end.
    left: usize,
}

type Preparing<'a> = std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;
type Running<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Vec<Outcome>, ProxmoxError>> + 'a>>;

/// Runs the story once undisturbed, then killed at every request and run again; says how many cases there were.
async fn killed_everywhere(story: &Story) -> usize {
    let mut undisturbed = (story.begin)();
    (story.prepare)(&mut undisturbed).await;
    undisturbed.simulator.clear_log();
    all_done(&(story.run)(&undisturbed).await.expect("Proxmox answers"), "undisturbed");
    undisturbed.check_promises();
    let expected = undisturbed.made();
    assert_eq!(expected.len(), story.left, "{:#?}", undisturbed.plan(&options()).await);
    let requests = undisturbed.simulator.log().total();

    let mut cases = 0;
    for carried_out in [false, true] {
        // Polling makes a run longer or shorter; no request is left out by trying a few more.
        for at in 1..=requests + 5 {
            let fault = Fault::kill_client();
            let fault = if carried_out { fault.carried_out() } else { fault };
            if survived(story, fault.at(u64::try_from(at).expect("a small number")), &expected, at).await {
                break;
            }
            cases += 1;
        }
    }
    cases
}

/// One case. Says whether the run was over before it could be killed.
async fn survived(story: &Story, fault: Fault, expected: &BTreeMap<String, Value>, at: usize) -> bool {
    let mut lab = (story.begin)();
    (story.prepare)(&mut lab).await;
    lab.simulator.clear_log();
    lab.simulator.inject(fault.clone());
    let over = tokio::select! {
        _ = (story.run)(&lab) => true,
        () = lab.simulator.client_killed() => false,
    };
    if over {
        return true;
    }
    lab.simulator.revive_client();
    let again = (story.run)(&lab).await.expect("Proxmox answers");
    all_done(&again, &format!("after {fault:?}"));
    lab.check_promises();
    lab.check_made(expected, &format!("killed at request {at} ({fault:?})"));
    false
}

#[track_caller]
fn all_done(outcomes: &[Outcome], when: &str) {
    for outcome in outcomes {
        assert!(outcome.is_done(), "{when}: {outcome:#?}");
    }
}

fn nothing(_: &mut Lab) -> Preparing<'_> {
    Box::pin(async {})
}

fn provisioned(lab: &mut Lab) -> Preparing<'_> {
    Box::pin(async {
        all_done(&lab.provision().await.expect("Proxmox answers"), "in the beginning");
    })
}

/// A lab whose five nodes are there, and whose files say something else now.
fn changed(lab: &mut Lab) -> Preparing<'_> {
    Box::pin(async {
        all_done(&lab.provision().await.expect("Proxmox answers"), "in the beginning");
        let text = pvetalos::config::SAMPLE.replace("cores: 4", "cores: 6").replace("disk_size: 64", "disk_size: 80");
        let text = text.replace("  # tags: []  ", "  tags: [rack-3]  ");
        lab.cluster = crate::lab::cluster(&text);
    })
}

fn provision(lab: &Lab) -> Running<'_> {
    Box::pin(lab.provision())
}

fn destroy(lab: &Lab) -> Running<'_> {
    Box::pin(lab.destroy())
}

#[tokio::test(start_paused = true)]
async fn a_provision_killed_at_any_request_is_completed_by_the_next() {
    let cases = killed_everywhere(&Story { begin: Lab::sample, prepare: nothing, run: provision, left: 5 }).await;
    println!("provision of five nodes: {cases} cases");
    assert!(cases > 80, "{cases}");
}

#[tokio::test(start_paused = true)]
async fn an_update_killed_at_any_request_is_completed_by_the_next() {
    let cases = killed_everywhere(&Story { begin: Lab::sample, prepare: changed, run: provision, left: 5 }).await;
    println!("update of five nodes: {cases} cases");
    assert!(cases > 30, "{cases}");
}

#[tokio::test(start_paused = true)]
async fn a_destroy_killed_at_any_request_is_completed_by_the_next() {
    let cases = killed_everywhere(&Story { begin: Lab::sample, prepare: provisioned, run: destroy, left: 0 }).await;
    println!("destroy of five nodes: {cases} cases");
    assert!(cases > 40, "{cases}");
}

const RICH: &str = "\
name: rich
proxmox: {storage: local-lvm, node: pve1, vm_id_base: 4000, pool: talos}
network: {cidr: 192.168.20.0/24}
defaults:
  talos_version: 1.12.0
  schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515
  encrypt_disk: true
nodes:
  - {name: cp-1, address: 192.168.20.11, controller: true, mac_addr: 'bc:24:11:20:00:11', vm_id: 5001}
  - name: worker-1
    address: 192.168.20.21
    controller: false
    mac_addr: 'bc:24:11:20:00:21'
    vm_cores: 2
    data_disks: [{size: 100}, {size: 50, serial: fast}]
    nics: [{bridge: vmbr1, mac_addr: 'bc:24:11:21:00:21', address: 10.0.0.21/24}]
";

fn rich() -> Lab {
    let mut world = world(THREE_HOSTS);
    // A template without a cloud-init drive, and with what nobody wants to inherit.
    let template = &mut world["templates"]["9000"];
    template["disks"] = serde_json::json!({ "scsi0": "1246M", "efidisk0": "528K" });
    for (key, value) in [("protection", "1"), ("onboot", "1"), ("ipconfig0", "ip=dhcp"), ("ipconfig3", "ip=dhcp")] {
        template["config"][key] = Value::from(value);
    }
    world["templates"].as_object_mut().expect("a mapping").retain(|vmid, _| vmid == "9000");
    Lab::new(world, RICH)
}

#[tokio::test(start_paused = true)]
async fn disks_tpm_and_pool_survive_it_too() {
    let cases = killed_everywhere(&Story { begin: rich, prepare: nothing, run: provision, left: 2 }).await;
    println!("provision of two nodes with TPM, data disks, a second card and a pool: {cases} cases");
    assert!(cases > 40, "{cases}");
}
