//! Waiting, on paused time: minutes pass in milliseconds, and every time-out still happens in its order.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pvetalos::sim::{GuestNetwork, Profile, Simulator, World};
use pvetalos::talos::{AT_ONCE, Dial, End, Expected, Goal, NodeState, Target, Watch};
use serde_json::{Map, Value, json};
use tokio::io::DuplexStream;
use tokio::time::Instant;

use crate::harness::{config, target, watch, world};

const BOOT: Duration = Duration::from_secs(20);

#[tokio::test(start_paused = true)]
async fn a_boot_is_seen_step_by_step_and_its_end_at_once() {
    for version in ["1.9.6", "1.13.9"] {
        let watch = watch(world(&json!({ "version": version }), &config()), Duration::ZERO).await;
        let mut told = Vec::new();
        let waited = watch
            .wait(&target(), Goal::Maintenance, Duration::from_mins(10), |sighting| told.push(sighting.state))
            .await;
        assert_eq!(waited.end, End::Reached);
        told.dedup();
        let steps = [NodeState::Unreachable, NodeState::Closed, NodeState::Starting, NodeState::Maintenance];
        assert_eq!(told, steps, "{version}");
        assert!(waited.took >= BOOT && waited.took <= BOOT + Duration::from_millis(500), "{:?}", waited.took);
        insta::allow_duplicates! {
            insta::assert_snapshot!(
                waited.history,
                @"unreachable for 11 s, then closed for 6 s, then starting for 2 s, then maintenance"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_answers_the_time_out_is_kept() {
    let time_out = Duration::from_secs(7);
    for profile in Profile::ALL {
        let watch = watch(world(&json!({ "profile": profile }), &config()), Duration::from_mins(1)).await;
        let began = Instant::now();
        let waited = watch.wait(&target(), Goal::Maintenance, time_out, |_| {}).await;
        let expected = match profile {
            Profile::Maintenance | Profile::Used => End::Reached,
            Profile::Configured | Profile::AnotherMachine => End::Lost,
            _ => End::TimedOut,
        };
        assert_eq!(waited.end, expected, "{profile}");
        assert!(began.elapsed() <= time_out, "{profile} took {:?}", began.elapsed());
        if expected == End::TimedOut {
            assert_eq!(waited.took, time_out, "{profile}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_out_shorter_than_one_look_is_kept_too() {
    let watch = watch(world(&json!({ "profile": Profile::Silent }), &config()), Duration::from_mins(1)).await;
    for time_out in [Duration::ZERO, Duration::from_millis(1), Duration::from_secs(1)] {
        let waited = watch.wait(&target(), Goal::Any, time_out, |_| {}).await;
        assert_eq!((waited.end, waited.took), (End::TimedOut, time_out));
        assert_eq!(waited.history.phases().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_become_the_goal_is_not_waited_for() {
    let half_an_hour = Duration::from_mins(30);
    for (profile, goal, end) in [
        (Profile::Configured, Goal::Maintenance, End::Lost),
        (Profile::Configured, Goal::Configured, End::Reached),
        (Profile::Configured, Goal::Any, End::Reached),
        (Profile::AnotherMachine, Goal::Any, End::Lost),
        (Profile::Maintenance, Goal::Any, End::Reached),
        (Profile::Maintenance, Goal::Configured, End::TimedOut),
    ] {
        let watch = watch(world(&json!({ "profile": profile }), &config()), Duration::from_mins(1)).await;
        let waited = watch.wait(&target(), goal, half_an_hour, |_| {}).await;
        assert_eq!(waited.end, end, "{profile} {goal:?}");
        assert_eq!(waited.took < Duration::from_secs(1), end != End::TimedOut);
    }
}

/// Counts the connections that are open at the same time.
#[derive(Clone)]
struct Counting {
    network: GuestNetwork,
    dials: Arc<AtomicUsize>,
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Dial for Counting {
    type Stream = DuplexStream;

    async fn dial(&self, to: SocketAddr) -> io::Result<DuplexStream> {
        self.dials.fetch_add(1, Ordering::Relaxed);
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        let dialled = self.network.dial(to).await;
        self.now.fetch_sub(1, Ordering::Relaxed);
        dialled
    }
}

const NODES: u32 = 200;

#[tokio::test(start_paused = true)]
async fn hundreds_of_nodes_are_waited_for_at_once() {
    let address = |number: u32| format!("10.0.{}.{}", number / 200, number % 200 + 10);
    let vms: Map<String, Value> = (0..NODES)
        .map(|number| {
            let mut config = config();
            config["ipconfig0"] = json!(format!("ip={}/16", address(number)));
            config["smbios1"] = json!(format!("uuid=00000000-0000-4000-8000-{number:012}"));
            let disks = json!({ "scsi0": "20G", "ide2": "cloudinit" });
            let vm = json!({ "name": format!("w-{number}"), "running": true, "config": config, "disks": disks });
            ((1000 + number).to_string(), vm)
        })
        .collect();
    let simulator = Simulator::new(World::from_json(&json!({ "vms": vms })).expect("the world makes sense"));
    let targets: Vec<Target> = (0..NODES)
        .map(|number| Target {
            name: format!("w-{number}"),
            address: address(number).parse().expect("an address"),
            expected: Expected { uuid: Some(format!("00000000-0000-4000-8000-{number:012}")), ..Expected::default() },
        })
        .collect();
    let counting = Counting {
        network: simulator.guest_network(),
        dials: Arc::default(),
        now: Arc::default(),
        most: Arc::default(),
    };
    let watch = Watch::new(counting.clone());
    let mut ready = 0;
    let waited = watch
        .wait_for_all(&targets, Goal::Maintenance, Duration::from_mins(10), |_, sighting| {
            ready += usize::from(sighting.state == NodeState::Maintenance);
        })
        .await;
    assert_eq!(ready, targets.len());
    assert!(waited.iter().all(|waited| waited.end == End::Reached));
    assert!(counting.most.load(Ordering::Relaxed) <= 3 * AT_ONCE);
    let slowest = waited.iter().map(|waited| waited.took).max().expect("there are nodes");
    // Their turns come round within the pause between two looks, so hundreds are ready as soon as one would be.
    assert!(slowest <= BOOT + Duration::from_secs(1), "{slowest:?}");
    assert!(counting.dials.load(Ordering::Relaxed) <= targets.len() * 30, "{:?}", counting.dials);
}

/// The network with a hole: nobody is at the other addresses, and nothing comes back from there.
struct Hole(GuestNetwork);

impl Dial for Hole {
    type Stream = DuplexStream;

    async fn dial(&self, to: SocketAddr) -> io::Result<DuplexStream> {
        if to.ip() == target().address { self.0.dial(to).await } else { std::future::pending().await }
    }
}

#[tokio::test(start_paused = true)]
async fn the_absent_do_not_keep_the_present_waiting() {
    let simulator = Simulator::new(world(&json!({}), &config()));
    let mut targets: Vec<Target> = (0..NODES)
        .map(|number| Target { address: [10, 0, 1, u8::try_from(number).unwrap_or(0)].into(), ..target() })
        .collect();
    targets.push(target());
    let watch = Watch::new(Hole(simulator.guest_network()));
    let waited = watch.wait_for_all(&targets, Goal::Maintenance, Duration::from_mins(2), |_, _| {}).await;
    let (present, absent) = waited.split_last().expect("there are nodes");
    assert_eq!(present.end, End::Reached);
    assert!(present.took <= BOOT + Duration::from_secs(1), "{:?}", present.took);
    assert!(absent.iter().all(|waited| waited.end == End::TimedOut));
}
