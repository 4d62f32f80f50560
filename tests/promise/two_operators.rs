//! Two people run the same file at the same time.

use std::time::Duration;

use pvetalos::apply::Outcome;
use pvetalos::proxmox::ProxmoxError;
use pvetalos::sim::Fault;
use serde_json::json;

use crate::lab::{Lab, ONE_HOST, THREE_HOSTS, world};

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        // Good enough to spread a few hundred cases; constants of Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Who is killed, if anybody.
#[derive(Clone, Copy, PartialEq)]
enum Killed {
    Nobody,
    First,
    Second,
}

type Ran = Option<Result<Vec<Outcome>, ProxmoxError>>;

fn is_well(run: &Ran) -> bool {
    run.as_ref().is_some_and(|run| run.as_ref().is_ok_and(|outcomes| outcomes.iter().all(Outcome::is_done)))
}

/// One interleaving: the second begins a while after the first, and some requests take their time.
async fn together(lab: &Lab, seed: u64, killed: Killed) {
    let mut dice = Dice(seed);
    for _ in 0..dice.below(12) {
        let delay = Duration::from_millis(dice.below(4000));
        lab.simulator.inject(Fault::delay(delay).at(1 + dice.below(150)));
    }
    let late = Duration::from_millis(if seed.is_multiple_of(3) { dice.below(50) } else { dice.below(20_000) });
    let life = Duration::from_millis(dice.below(30_000));
    let run = async |later: Duration, dies: bool| {
        tokio::time::sleep(later).await;
        if !dies {
            return Some(Box::pin(lab.provision()).await);
        }
        tokio::time::timeout(life, Box::pin(lab.provision())).await.ok()
    };
    let first = run(Duration::ZERO, killed == Killed::First);
    let second = run(late, killed == Killed::Second);
    let (first, second) = futures_util::future::join(first, second).await;

    let one_is_well = is_well(&first) || is_well(&second);
    let undisturbed_failed = killed != Killed::Nobody && !one_is_well;
    assert!(one_is_well || undisturbed_failed, "seed {seed}: {first:#?}\n{second:#?}");
    // What a killed run left half-done is completed by the next, and then there is nothing left to do.
    let third = lab.provision().await.expect("Proxmox answers");
    assert!(third.iter().all(Outcome::is_done), "seed {seed}: {third:#?}");
    if killed == Killed::Nobody {
        assert!(third.is_empty(), "seed {seed}: {third:#?}");
    }
    assert!(lab.provision().await.expect("Proxmox answers").is_empty(), "seed {seed}");
    assert_eq!(lab.made().len(), lab.cluster.nodes.len(), "seed {seed}: {:?}", lab.made().keys());
    lab.check_promises();
}

async fn interleavings(lab: impl Fn() -> Lab, seeds: std::ops::Range<u64>) -> usize {
    let mut cases = 0;
    for seed in seeds {
        for killed in [Killed::Nobody, Killed::First, Killed::Second] {
            together(&lab(), seed, killed).await;
            cases += 1;
        }
    }
    cases
}

const FIXED: &str = "\
name: fixed
proxmox: {storage: local-lvm, node: pve}
network: {cidr: 192.168.20.0/24}
defaults:
  talos_version: 1.12.0
  schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515
nodes:
  - {name: cp-1, address: 192.168.20.11, controller: true, mac_addr: 'bc:24:11:20:00:11', vm_id: 5001}
  - {name: cp-2, address: 192.168.20.12, controller: true, mac_addr: 'bc:24:11:20:00:12', vm_id: 5002}
  - {name: cp-3, address: 192.168.20.13, controller: true, mac_addr: 'bc:24:11:20:00:13', vm_id: 5003}
";

#[tokio::test(start_paused = true)]
async fn with_numbers_of_their_own_every_node_is_made_once() {
    let cases = Box::pin(interleavings(|| Lab::new(world(ONE_HOST), FIXED), 0..40)).await;
    println!("two operators, declared VMIDs: {cases} interleavings");
}

#[tokio::test(start_paused = true)]
async fn with_automatic_numbers_every_node_is_made_once() {
    let text = FIXED.replace(", vm_id: 5001", "").replace(", vm_id: 5002", "").replace(", vm_id: 5003", "");
    let cases = Box::pin(interleavings(|| Lab::new(world(ONE_HOST), &text), 0..40)).await;
    println!("two operators, automatic VMIDs: {cases} interleavings");
}

/// A token that may do everything in one pool, and sees nothing else.
fn pool_scoped(text: &str) -> Lab {
    let mut world = world(THREE_HOSTS);
    let token = "pool@pve!scoped";
    world["tokens"][token] = json!({ "secret": "44444444-4444-4444-8444-444444444444", "privsep": false });
    world["roles"]["Cloner"] = json!("VM.Audit VM.Clone");
    let acl = world["acl"].as_array_mut().expect("a list");
    for (path, role) in [
        ("/pool/talos", "TalosVMs"),
        ("/vms/9000", "Cloner"),
        ("/storage", "TalosDisks"),
        ("/sdn/zones/localnetwork", "TalosNetwork"),
    ] {
        acl.push(json!({ "path": path, "who": "pool@pve", "role": role }));
    }
    Lab::new(world, text).with_token(token, "44444444-4444-4444-8444-444444444444")
}

#[tokio::test(start_paused = true)]
async fn with_a_token_for_one_pool_every_node_is_made_once() {
    let text = FIXED.replace("node: pve}", "node: pve1, pool: talos, vm_id_base: 4000}");
    let automatic = text.replace(", vm_id: 5001", "").replace(", vm_id: 5002", "").replace(", vm_id: 5003", "");
    let fixed = Box::pin(interleavings(|| pool_scoped(&text), 0..15)).await;
    let automatic = Box::pin(interleavings(|| pool_scoped(&automatic), 0..15)).await;
    println!("two operators, a token for one pool: {} interleavings", fixed + automatic);
}
