//! Something goes wrong with one request, at every request, and the same run goes on.

use pvetalos::apply::Outcome;
use pvetalos::proxmox::Method;
use pvetalos::sim::{Fault, WorldFault};

use crate::lab::{Lab, ONE_HOST, world};

/// Two nodes, one of which chooses its number.
fn pair() -> Lab {
    let text = "\
name: pair
proxmox: {node: pve, vm_id_base: 4000}
network: {cidr: 192.168.20.0/24}
defaults:
  talos_version: 1.12.0
  schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515
nodes:
  - {name: cp-1, address: 192.168.20.11, controller: true, mac_addr: 'bc:24:11:20:00:11', vm_id: 5001}
  - {name: worker-1, address: 192.168.20.21, controller: false, mac_addr: 'bc:24:11:20:00:21'}
";
    Lab::new(world(ONE_HOST), text)
}

/// Lets one thing go wrong at every request of a run. Whatever the run itself makes of it, the next one completes it and
/// nothing exists twice. Says how many cases there were, and in how many the first run was enough.
async fn at_every_request(faults: &[Fault]) -> (usize, usize) {
    let undisturbed = pair();
    undisturbed.provision().await.expect("Proxmox answers");
    let (expected, requests) = (undisturbed.made(), undisturbed.simulator.log().total());
    let (mut cases, mut at_once) = (0, 0);
    for fault in faults {
        for at in 1..=requests {
            let lab = pair();
            let fault = fault.clone().at(u64::try_from(at).expect("a small number"));
            lab.simulator.inject(fault.clone());
            let first = lab.provision().await;
            // Polling makes a run longer or shorter: what it did not come to is no case.
            if lab.simulator.log().total() < at {
                continue;
            }
            cases += 1;
            at_once += usize::from(first.is_ok_and(|first| first.len() == 2 && first.iter().all(Outcome::is_done)));
            let second = lab.provision().await.expect("Proxmox answers");
            assert!(second.iter().all(Outcome::is_done), "{fault:?}: {second:#?}");
            lab.check_promises();
            lab.check_made(&expected, &format!("{fault:?}"));
        }
    }
    (cases, at_once)
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_never_makes_a_second_vm() {
    let (cases, at_once) = at_every_request(&[Fault::lose_answer(), Fault::never_arrives()]).await;
    println!("an answer, or a request, lost: {cases} cases, {at_once} of them done by the first run");
    assert_eq!(cases, at_once);
}

#[tokio::test(start_paused = true)]
async fn a_proxy_that_gives_up_is_not_believed() {
    let silent = Fault::answer(596, "Connection timed out");
    let busy = Fault::answer(500, "can't lock file '/var/log/pve/tasks/.active.lock' - got timeout");
    let faults = [silent.clone(), silent.carried_out(), busy.clone(), busy.carried_out()];
    let (cases, at_once) = at_every_request(&faults).await;
    println!("an answer of the proxy instead of Proxmox's: {cases} cases, {at_once} of them done by the first run");
}

/// Whatever happens to one task on the server, the run says so, and the others are done.
#[tokio::test(start_paused = true)]
async fn a_clone_that_fails_concerns_one_node_only() {
    let lab = Lab::sample();
    let fails = WorldFault::TaskFails {
        kind: "qmclone".to_owned(),
        percent: 50,
        text: "clone failed: no space left on device".to_owned(),
    };
    lab.simulator.inject(Fault::in_world(fails).of(Method::Post, "/nodes/*/qemu/*/clone").after(1).once());
    let first = lab.provision().await.expect("Proxmox answers");
    assert_eq!(first.iter().filter(|outcome| outcome.is_done()).count(), 4, "{first:#?}");
    let failed = format!("{:?}", first.iter().find(|outcome| !outcome.is_done()));
    assert!(failed.contains("no space left on device"), "{failed}");
    lab.check_promises();
    let second = lab.provision().await.expect("Proxmox answers");
    assert!(second.len() == 1 && second[0].is_done(), "{second:#?}");
    assert_eq!(lab.made().len(), 5);
    lab.check_promises();
}

/// No token can clear the lock that a killed worker leaves, so somebody has to be told.
#[tokio::test(start_paused = true)]
async fn a_killed_worker_leaves_a_lock_that_is_explained() {
    let lab = Lab::sample();
    let killed = WorldFault::TaskKilled { kind: "qmclone".to_owned(), percent: 50 };
    lab.simulator.inject(Fault::in_world(killed).of(Method::Post, "/nodes/*/qemu/*/clone").once());
    let first = lab.provision().await.expect("Proxmox answers");
    let failed: Vec<&Outcome> = first.iter().filter(|outcome| !outcome.is_done()).collect();
    assert_eq!(failed.len(), 1, "{first:#?}");
    let told = format!("{:?}", failed[0].end);
    assert!(told.contains("qm unlock 4000") && told.contains("vm-4000-disk"), "{told}");
    let again = lab.provision().await.expect("Proxmox answers");
    assert!(again.len() == 1 && format!("{:?}", again[0].end).contains("qm unlock 4000"), "{again:#?}");
}

/// Another tool's backup, or a storage that is busy, is waited for.
#[tokio::test(start_paused = true)]
async fn locks_of_others_are_waited_for() {
    for fault in [
        WorldFault::VmLocked { vmid: 9000, seconds: 40 },
        WorldFault::StorageLocked { host: "pve".to_owned(), storage: "local-lvm".to_owned(), seconds: 40 },
        WorldFault::LockLine { vmid: 9000, lock: Some("backup".to_owned()) },
    ] {
        let lab = Lab::sample();
        let unlocks = matches!(fault, WorldFault::LockLine { .. });
        lab.simulator.inject(Fault::in_world(fault.clone()).of(Method::Post, "/nodes/*/qemu/*/clone").once());
        let unlock = async {
            tokio::time::sleep(std::time::Duration::from_mins(1)).await;
            if unlocks {
                lab.simulator.world(|world| world.inject(WorldFault::LockLine { vmid: 9000, lock: None }));
            }
        };
        let (outcomes, ()) = futures_util::future::join(lab.provision(), unlock).await;
        let outcomes = outcomes.expect("Proxmox answers");
        assert!(outcomes.iter().all(Outcome::is_done), "{fault:?}: {outcomes:#?}");
        assert_eq!(lab.made().len(), 5);
        lab.check_promises();
    }
}
